"""Replacing in ids with special tokens, and in documents."""

from __future__ import annotations

import numpy as np
import pytest
import regex

import tokdfa
from tests.support.tokenizer_files import added_token, as_bytes, tokenizer_json

TOKENIZER = tokdfa.default_tokenizer()


@pytest.fixture(scope="module")
def with_specials(tmp_path_factory: pytest.TempPathFactory) -> tokdfa.AnyTokenizer:
    fields = tokenizer_json([(b"a", b"b"), (b"ab", b"c"), (b" ", b"a")], added_tokens=[added_token(259, "<s>")])
    path = tmp_path_factory.mktemp("specials") / "tokenizer.json"
    path.write_bytes(as_bytes(fields))
    return tokdfa.load(path)


def test_special_tokens_are_cuts(with_specials: tokdfa.AnyTokenizer) -> None:
    ids = with_specials.encode("ab<s>c<s><s>ab")
    for pattern, replacement, expected in [
        ("bc", "x", "ab<s>c<s><s>ab"),
        ("^", "-", "-ab<s>-c<s>-<s>-ab"),
        ("$", "-", "ab-<s>c-<s>-<s>ab-"),
        ("s|<", "x", "ab<s>c<s><s>ab"),
        ("b", "bc", "abc<s>c<s><s>abc"),
        (r"\w+", "", "<s><s><s>"),
    ]:
        found = tokdfa.replace(with_specials, pattern, replacement, ids)
        assert found.ids.tolist() == with_specials.encode(expected).tolist(), pattern


def test_special_tokens_that_a_replacement_spells(with_specials: tokdfa.AnyTokenizer) -> None:
    """`encode` finds them, and so does replacing, across the ids next to a match as well."""
    for before, pattern, replacement in [("a b", " ", "<s>"), ("a <xs> b", "x", ""), ("ab <s b", "s ", "s>")]:
        found = tokdfa.replace(with_specials, pattern, replacement, with_specials.encode(before))
        expected = with_specials.encode(before.replace(pattern, replacement))
        assert 259 in expected
        assert found.ids.tolist() == expected.tolist()


def test_documents_by_their_first_tokens() -> None:
    texts = ["a man", "", "a man of", " fortune", ""]
    parts = [TOKENIZER.encode(text) for text in texts]
    starts = np.cumsum([0, *map(len, parts)])[:-1]
    ids = np.concatenate(parts)
    for pattern, replacement in [("n", ""), ("$", "!"), ("man$", "boy"), (" ", "  ")]:
        replacer = tokdfa.Replacer(TOKENIZER, pattern, replacement)
        expected = [TOKENIZER.encode(regex.sub(pattern, replacement, text)) for text in texts]
        for chunk in (1, 2, 100):
            found = [
                *replacer.iter_replaced((ids[at : at + chunk] for at in range(0, len(ids), chunk)), documents=starts)
            ]
            assert np.concatenate([part.ids for part in found]).tolist() == np.concatenate(expected).tolist()
            new = [start for part in found if part.starts is not None for start in part.starts.tolist()]
            assert new == np.cumsum([0, *map(len, expected)])[:-1].tolist()
        whole = replacer.replace(ids, documents=starts)
        assert whole.starts is not None
        assert whole.starts.tolist() == new
        assert whole.ids.tolist() == np.concatenate(expected).tolist()


@pytest.mark.parametrize("separator", [10, 99_999])
def test_documents_by_a_separator(separator: int) -> None:
    texts = ["a man", "a man of", "", "fortune"]
    ids = [separator]
    expected = [separator]
    for text in texts:
        ids += [*TOKENIZER.encode(text).tolist(), separator]
        expected += [*TOKENIZER.encode(regex.sub("n$|f", "x", text)).tolist(), separator]
    replacer = tokdfa.Replacer(TOKENIZER, "n$|f", "x", check=True)
    assert replacer.replace(ids, documents=separator).ids.tolist() == expected
    found = replacer.iter_replaced(([id] for id in ids), documents=separator)
    assert [id for part in found for id in part.ids.tolist()] == expected

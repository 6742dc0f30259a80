"""Replacing in ids with special tokens, and in documents."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
import regex

import tokdfa
from tests.campaigns.standing.laws.replacing import pattern_of, replacement_of
from tests.support.families import FAMILIES
from tests.support.tokenizer_files import added_token, as_bytes, tokenizer_json
from tokdfa.base.errors import PatternError, TokdfaError, TokenStreamError, UnsupportedFeatureError

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


def alone(replacer: tokdfa.Replacer, parts: list[list[int]]) -> list[tokdfa.Replacement] | type[TokdfaError]:
    """Each document replaced by itself, or the kind of error."""
    try:
        return [replacer.replace(part) for part in parts]
    except TokdfaError as error:
        return type(error)


@pytest.mark.parametrize("family", ["bytes", "bytes, added tokens", "bytes, odd parts", "Llama-2", "ranks"])
def test_documents_together_are_documents_alone(family: str) -> None:
    """Documents may be searched as one text with control tokens between them, whatever they end and begin with."""
    met: Counter[str] = Counter()
    for seed in range(6):
        drawn = random.Random(seed)
        member = FAMILIES[family](drawn)
        for _ in range(6):
            parts = [member.stream(drawn, 6) for _ in range(drawn.randrange(1, 5))]
            ids = [id for part in parts for id in part]
            text = member.decode(ids)
            try:
                replacer = tokdfa.Replacer(
                    member.tokenizer, pattern_of(drawn, text), replacement_of(drawn, text, 0, [])
                )
            except (PatternError, UnsupportedFeatureError):
                continue
            starts = np.cumsum([0, *map(len, parts)])[:-1]
            expected = alone(replacer, parts)
            if isinstance(expected, type):
                with pytest.raises(expected):
                    replacer.replace(ids, documents=starts)
                continue
            found = replacer.replace(ids, documents=starts)
            assert found.ids.tolist() == [id for each in expected for id in each.ids.tolist()]
            assert found.starts is not None
            new_starts = np.cumsum([0, *(len(each.ids) for each in expected)])[:-1]
            assert found.starts.tolist() == new_starts.tolist()
            shifts = zip(expected, starts.tolist(), new_starts.tolist(), strict=True)
            rows = [each.changes.rows + np.array([old, old, new, new]) for each, old, new in shifts]
            assert found.changes.rows.tolist() == np.concatenate(rows).tolist()
            assert found.count == sum(each.count for each in expected)
            met["joined"] += replacer._job.separator is not None
            met["changed"] += len(found.changes) > 0
    assert met["changed"] > 4, met
    assert (met["joined"] > 4) == (family in ("bytes", "bytes, odd parts")), met


def test_matches_among_fallback_bytes_that_are_no_text_are_refused() -> None:
    """Decoding makes a U+FFFD of each byte, also of those that would be a match alone."""
    member = FAMILIES["Gemma"](random.Random(35))
    names = {member.tokenizer.name_of(id): id for id in member.ids}
    ids = [names[b"<0x%02X>" % byte] for byte in b"ii\xf0"]
    for pattern in ("i", "ii"):
        with pytest.raises(TokenStreamError, match="token 0: a match shares a token with bytes that are not UTF-8"):
            tokdfa.replace(member.tokenizer, pattern, "b", ids)

"""Added tokens that strip white space, and are white space themselves: found as tokenizers finds them."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tests.support.tokenizer_files import added_token, tokenizer_json
from tokdfa.base.errors import UnsupportedFeatureError

LEFT, RIGHT = {"lstrip": True}, {"rstrip": True}
BOTH = LEFT | RIGHT


def file_with(path: Path, *tokens: tuple[str, dict[str, bool]]) -> Path:
    fields = tokenizer_json([])
    vocab = {" ": 0, "a": 1, "<": 2, ">": 3}
    fields["model"] |= {"vocab": vocab}
    added = [added_token(4 + i, content, **flags) for i, (content, flags) in enumerate(tokens)]
    fields |= {"pre_tokenizer": None, "decoder": {"type": "Fuse"}, "added_tokens": added}
    path.write_text(json.dumps(fields), encoding="utf-8")
    return path


def test_white_space_that_strips_at_both_sides_is_one_match(tmp_path: Path) -> None:
    tokenizer = tokdfa.load(file_with(tmp_path / "tokenizer.json", ("  ", BOTH)))
    assert tokenizer.encode("    ").tolist() == [4]
    assert tokenizer.encode("a     a").tolist() == [1, 4, 1]
    assert tokenizer.validate([1, 4, 1])
    assert not tokenizer.validate([4, 4])


@pytest.mark.parametrize(
    "tokens",
    [[("  ", flags)] for flags in ({}, LEFT, RIGHT, BOTH)]
    + [
        [("<a>", RIGHT), ("  ", BOTH)],
        [("<a>", BOTH), ("  ", RIGHT)],
        [("<a>", RIGHT), ("  a", LEFT)],
        [("<a>", RIGHT), (" <", BOTH)],
        [("<a>", LEFT), ("  ", LEFT)],
    ],
    ids=str,
)
def test_all_short_texts(tokens: list[tuple[str, dict[str, bool]]], tmp_path: Path) -> None:
    library = pytest.importorskip("tokenizers")
    path = file_with(tmp_path / "tokenizer.json", *tokens)
    tokenizer, peer = tokdfa.load(path), library.Tokenizer.from_file(str(path))
    for length in range(6):
        for parts in product([" ", "a", "<a>", "<"], repeat=length):
            text = "".join(parts)
            assert tokenizer.encode(text).tolist() == peer.encode(text).ids, text


@pytest.mark.parametrize("scheme", ["always", "first", "never"])
@pytest.mark.parametrize("tokens", [[("<a>", RIGHT), ("\n", RIGHT)], [("\n", BOTH), ("a ", RIGHT)]], ids=str)
def test_no_symbol_is_put_between_tokens_that_share_white_space(
    scheme: str, tokens: list[tuple[str, dict[str, bool]]], tmp_path: Path
) -> None:
    library = pytest.importorskip("tokenizers")
    path = file_with(tmp_path / "tokenizer.json", *tokens)
    fields = json.loads(path.read_text("utf-8"))
    fields["model"]["vocab"] = {"▁": 0, "a": 1, "<": 2, ">": 3}
    fields["pre_tokenizer"] = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": True}
    path.write_text(json.dumps(fields), encoding="utf-8")
    tokenizer, peer = tokdfa.load(path), library.Tokenizer.from_file(str(path))
    texts = ["".join(parts) for n in range(6) for parts in product([" ", "a", "<a>", "\n"], repeat=n)]
    expected = [peer.encode(text).ids for text in texts]
    assert [tokenizer.encode(text).tolist() for text in texts] == expected
    encoded = tokdfa.encode_batch(tokenizer, texts)
    assert [ids.tolist() for ids in np.split(encoded.ids, encoded.offsets[1:-1])] == expected
    for ids in expected:
        assert bool(tokenizer.validate(ids)) == (peer.encode(peer.decode(ids, skip_special_tokens=False)).ids == ids)


def test_what_the_library_fails_on_is_refused(tmp_path: Path) -> None:
    path = file_with(tmp_path / "tokenizer.json", ("<a>", RIGHT), ("  ", LEFT))
    with pytest.raises(UnsupportedFeatureError, match=r"\$\.added_tokens\[1\]\.rstrip: .*: '  '"):
        tokdfa.load(path)

"""A tokenizer's answers depend on the question, and not on earlier questions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tokdfa
from tests.support.encoding import key_of
from tests.support.tokenizer_files import as_bytes, ranks, tiktoken_lines, tokenizer_json

BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}


def json_file(folder: Path, *steps: dict[str, Any]) -> tokdfa.Tokenizer:
    path = folder / "tokenizer.json"
    path.write_bytes(as_bytes(tokenizer_json(pre_tokenizer={"type": "Sequence", "pretokenizers": list(steps)})))
    return tokdfa.load(path)


def test_what_a_pattern_leaves_out_is_no_piece_though_it_spells_one_seen_before(tmp_path: Path) -> None:
    (tmp_path / "x.tiktoken").write_bytes(tiktoken_lines())
    tokenizer = tokdfa.load(tmp_path / "x.tiktoken", pretokenizer=r"\d+(?=%)|%")
    assert tokenizer.encode("50").tolist() == []
    ids = tokenizer.encode("50%").tolist()
    assert ids == [ord("5"), ord("0"), ord("%")]
    assert tokenizer.encode("50").tolist() == []
    assert not tokenizer.validate(ids[:2])
    assert tokenizer.validate(ids)


def test_what_two_splits_leave_out_is_no_piece_though_one_keeps_it(tmp_path: Path) -> None:
    letters = {"type": "Split", "pattern": {"Regex": "[ab ]+x"}, "behavior": "Removed", "invert": True}
    tokenizer = json_file(tmp_path, letters, {"type": "Whitespace"}, BYTE_LEVEL)
    seen = tokenizer.encode("ab").tolist(), tokenizer.encode("a bx").tolist()
    assert seen[0] == []
    tokenizer.encode_piece("ab")
    tokenizer.encode_piece(" ")
    assert (tokenizer.encode("ab").tolist(), tokenizer.encode("a bx").tolist()) == seen


def test_what_is_left_out_is_no_piece_though_it_was_encoded_as_one(tmp_path: Path) -> None:
    tokenizer = json_file(tmp_path, {"type": "Whitespace"}, BYTE_LEVEL)
    seen = tokenizer.encode("a b").tolist()
    assert len(tokenizer.encode_piece(" ")) == 1
    assert tokenizer.encode("a b").tolist() == seen
    assert len(seen) == 2


def test_a_token_with_the_hash_of_a_piece_seen_before_is_still_found(tmp_path: Path) -> None:
    # Of equal length and equal in the key under which long pieces are remembered. The token is emitted for a piece
    # that it is the whole of; merging does not make it.
    seen, token = b"abcdefghijklmnopqrstuvwx", b"oaaqswnbS2&Ay;i-qrstuvwx"
    keys = [key_of(word, 0, len(word)) for word in (seen, token)]
    assert keys[0] == keys[1]
    (tmp_path / "x.tiktoken").write_bytes(tiktoken_lines(ranks([token])))
    tokenizer = tokdfa.load(tmp_path / "x.tiktoken", pretokenizer="none")
    assert len(tokenizer.encode_piece(seen)) == len(seen)
    assert tokenizer.encode_piece(token).tolist() == [256]

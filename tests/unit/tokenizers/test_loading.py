"""Tables that are made when a tokenizer is loaded, and tables that wait for the first call."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import tokdfa
from tests.support.tokenizer_files import TEXTS, tiktoken_lines
from tokdfa.tokenizers.encoding.piece_ids import PieceIds
from tokdfa.tokenizers.formats.tiktoken import read_tiktoken
from tokdfa.tokenizers.tokenizer import Tokenizer

HERE = Path("ranks.tiktoken")


def has_tables(piece_ids: PieceIds) -> bool:
    return "_encoder" in vars(piece_ids)


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "none"])
def test_a_rank_file_is_ready_to_encode(name: str, tmp_path: Path) -> None:
    path = tmp_path / HERE
    path.write_bytes(tiktoken_lines())
    tokenizer = tokdfa.load(path, pretokenizer=name)
    assert isinstance(tokenizer, Tokenizer)
    assert has_tables(tokenizer.piece_ids)
    pretokenizer = tokenizer.pretokenizer
    assert name == "none" or "splitter" in vars(pretokenizer)
    unprepared = Tokenizer(read_tiktoken(tiktoken_lines(), HERE), pretokenizer)
    assert not has_tables(unprepared.piece_ids)
    for text in TEXTS:
        assert tokenizer.encode(text).tolist() == unprepared.encode(text).tolist()


def test_the_machine_of_another_pattern_waits(tmp_path: Path) -> None:
    path = tmp_path / HERE
    path.write_bytes(tiktoken_lines())
    tokenizer = tokdfa.load(path, pretokenizer=r"[b-y]+|[^b-y]")
    assert "splitter" not in vars(tokenizer.pretokenizer)
    assert tokenizer.encode("ab").tolist() == [97, 98]


def test_what_depends_on_decisions_about_the_rules_waits() -> None:
    # The default tokenizer itself may have been used already.
    of_characters = PieceIds(tokdfa.default_tokenizer().piece_ids._contents)
    of_characters.prepare()
    assert not has_tables(of_characters)
    contents = replace(read_tiktoken(tiktoken_lines(), HERE), whole_piece=False)
    merging_all = PieceIds(contents)
    merging_all.prepare()
    assert not has_tables(merging_all)

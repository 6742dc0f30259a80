"""Corpora: how large they are, and in which blocks they come."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokdfa.training.corpus import Corpus
from tokdfa.training.counting import CorpusSplitter


def test_the_size_is_that_of_all_files(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("a b\n", encoding="utf-8")
    (tmp_path / "two.txt").write_text("é", encoding="utf-8")
    assert Corpus.find([tmp_path]).size() == 6
    assert Corpus.find([tmp_path / "one.txt", tmp_path / "one.txt"]).size() == 8
    # The size of standard input cannot be known beforehand.
    assert Corpus.find(["-", tmp_path / "one.txt"]).size() is None


def test_blocks_begin_at_the_beginning_and_say_where_they_are(tmp_path: Path) -> None:
    texts = ["a bc d\nef ghi jk\n" * 3, "x y z " * 5]
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.txt").write_text(text, encoding="utf-8")
    blocks = list(Corpus.find([tmp_path], block=7).blocks(CorpusSplitter("whitespace").last_cut))
    assert len(blocks) > 6
    at = {0: 0, 1: 0}
    for block in blocks:
        assert block.offset == at[block.file]
        at[block.file] += len(block.text)
    assert at == {0: len(texts[0]), 1: len(texts[1])}
    assert "".join(bytes(block.text).decode() for block in blocks) == "".join(texts)


@pytest.mark.parametrize(
    ("text", "cut"),
    [(b"", 0), (b"ab", 0), (b"a b", 2), (b"a\nb", 2), (b"a b\nc", 4), (b"a\nb c", 4), (b"a b ", 2), (b"a b\n", 2)],
)
def test_words_are_cut_at_the_last_space_that_is_not_the_end(text: bytes, cut: int) -> None:
    assert CorpusSplitter("whitespace").last_cut(text) == cut

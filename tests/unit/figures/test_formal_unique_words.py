"""Unique words, counted by hand."""

from __future__ import annotations

from pathlib import Path

from figures.papers.formal_unique_words import TEXTS, EveryWord, row
from figures.table import read_table
from tokdfa.training.naive import train_naive

ROWS = read_table(Path(__file__).parents[3] / "figures" / "papers" / "formal_unique_words.csv")


def test_a_small_text() -> None:
    found = row("small", "the cat\n\nthe catalogue the\n", timed=False)
    assert (found["sentences"], found["words"], found["unique_words"]) == (2, 5, 3)
    assert found["unique_percent"] == 60
    assert found["ratio"] == (3 * 3 + 3 + 9) / (3 + 3 + 9)


def test_both_trainers_make_the_same_merges() -> None:
    words = ["the", "cat", "and", "the", "hat", "and", "the"]
    unique = dict.fromkeys(words, 0)
    for word in words:
        unique[word] += 1
    assert train_naive(EveryWord(words), 5) == train_naive(unique, 5)


def test_the_table_has_all_texts() -> None:
    assert {each["text"] for each in ROWS} == {*TEXTS}
    assert all(each["faster"] > 1 for each in ROWS if each["symbols"] <= 1_000_000)

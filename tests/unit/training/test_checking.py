"""Merges are checked as the trainer as printed makes them, counted by hand; and by five trainers of others."""

from __future__ import annotations

import random
import unicodedata
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.support.extra import write_tiktoken
from tests.support.seeds import seeds
from tests.support.tokenizer_files import ranks
from tokdfa import LikelyCause, TokdfaError, check_merges
from tokdfa.training.listed import ListedMerges
from tokdfa.training.naive import train_naive
from tokdfa.training.rules import COUNT_RULES, TIE_RULES

Pair = tuple[Any, Any]


def merged(text: list[Any], pair: Pair) -> list[Any]:
    out: list[Any] = []
    for token in text:
        if out and (out[-1], token) == pair and not isinstance(out[-1], list):
            out[-1] = [out[-1] + token]  # A product does not merge in the same round.
        else:
            out.append(token)
    return [token[0] if isinstance(token, list) else token for token in out]


def counted(pieces: dict[str, int], made: list[Pair], pair: Pair | None, count: str) -> int:
    """Return how often a pair occurs after some merges."""
    total = 0
    for piece, weight in pieces.items():
        text: list[Any] = list(piece)
        for each in made:
            text = merged(text, each)
        if pair is not None and count == "non-overlapping":
            total += weight * (len(text) - len(merged(text, pair)))
        else:
            total += weight * sum(each == pair for each in pairwise(text))
    return total


def random_pieces(dice: random.Random) -> dict[str, int]:
    symbols = dice.choice(["a", "ab", "abc", "abcdef"])
    words = ["".join(dice.choices(symbols, k=dice.randint(1, 9))) for _ in range(dice.randint(1, 7))]
    return {word: dice.randint(1, 5) for word in words}


def spoiled(merges: list[Pair], dice: random.Random) -> list[Pair]:
    """Return merges with one mistake at most."""
    found, at = list(merges), dice.randrange(len(merges)) if merges else 0
    mistake = dice.choice(["none", "swapped", "dropped", "twice", "reversed"])
    if mistake == "swapped" and len(found) > 1:
        other = dice.randrange(len(found))
        found[at], found[other] = found[other], found[at]
    elif mistake == "dropped" and found:
        del found[at]
    elif mistake == "twice" and found:
        found.insert(at, found[at])
    elif mistake == "reversed" and found:
        found[at] = found[at][::-1]
    return found


def assert_as_by_hand(seed: int) -> bool:
    """Check merges of random pieces, spoiled or by another trainer; return whether a merge was wrong."""
    dice = random.Random(seed)
    trainer = dice.choice(["ours", "ours", "ours", "another tie", "int32"])
    pieces, tie, count = random_pieces(dice), dice.choice(TIE_RULES), dice.choice(COUNT_RULES)
    rules: dict[str, Any] = {"count": count, "min_frequency": dice.choice([1, 1, 2])}
    n_merges = dice.randint(0, 12)
    if trainer == "int32":
        pieces = {piece: count * dice.choice([1, 1 << 29]) for piece, count in pieces.items()}
        listed = trained_in("int32", pieces, n_merges)
    else:
        other = dice.choice(TIE_RULES) if trainer == "another tie" else tie
        made = [(u, v) for u, v in train_naive(pieces, n_merges, tie=other, **rules)]
        listed = spoiled(made, dice) if trainer == "ours" else made
    every = [(u, v) for u, v in train_naive(pieces, 13, tie=tie, **rules)]
    index = next((i for i, pair in enumerate(listed) if i >= len(every) or every[i] != pair), None)
    found = check_merges(listed, pieces, tie=tie, **rules)
    assert bool(found) == (index is None), (seed, listed)
    if index is not None:
        assert found.witness is not None
        best = every[index] if index < len(every) else None
        assert (found.witness.index, found.witness.best) == (index, best), (seed, listed)
        assert found.witness.count == counted(pieces, every[:index], listed[index], count), (seed, listed)
        assert found.witness.best_count == (counted(pieces, every[:index], best, count) if best else 0), (seed, listed)
    return index is not None


def test_the_first_wrong_merge_is_the_one_found_by_hand() -> None:
    wrong = [assert_as_by_hand(seed) for seed in seeds(400)]
    assert sum(wrong) >= len(wrong) // 4
    assert wrong.count(False) >= len(wrong) // 4


@pytest.mark.slow
def test_the_first_wrong_merge_10_000_times(tally: Tally) -> None:
    wrong = [assert_as_by_hand(seed) for seed in range(1000, 11_000)]
    assert min(sum(wrong), wrong.count(False)) >= 2500
    tally("training", "random cases", len(wrong))


def test_any_tie_accepts_each_maximum_and_nothing_else() -> None:
    for seed in seeds(150):
        dice = random.Random(seed)
        pieces = random_pieces(dice)
        made: list[Pair] = []
        wrong = None
        while wrong is None and len(made) < 9:
            texts = [list(piece) for piece in pieces]
            for pair in made:
                texts = [merged(text, pair) for text in texts]
            pairs = sorted({pair for text in texts for pair in pairwise(text)})
            if not pairs:
                break
            counts = {pair: counted(pieces, made, pair, "overlapping") for pair in pairs}
            best = [pair for pair in pairs if counts[pair] == max(counts.values())]
            others = [pair for pair in pairs if pair not in best]
            if others and dice.random() < 0.1:
                wrong = len(made)
            made.append(dice.choice(best if wrong is None else others))
        found = check_merges(made, pieces, tie="any", count="overlapping")
        assert bool(found) == (wrong is None), (seed, made)
        assert wrong is None or found.witness.index == wrong


def trained_in(dtype: str, pieces: dict[str, int], merges: int) -> list[Pair]:
    """Train with counts that are such integers; pairs with counts below 1 are not merged."""
    made: list[Pair] = []
    while len(made) < merges:
        texts = [list(piece) for piece in pieces]
        for pair in made:
            texts = [merged(text, pair) for text in texts]
        pairs = {pair: None for text in texts for pair in pairwise(text)}
        counts = {pair: int(np.array(counted(pieces, made, pair, "overlapping")).astype(dtype)) for pair in pairs}
        most = max(counts.values(), default=0)
        if most < 1:
            break
        made.append(next(pair for pair, count in counts.items() if count == most))
    return made


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int16", "uint16"])
def test_an_overflow_is_found_where_it_happened_and_named(dtype: str) -> None:
    large = np.iinfo(dtype).max // 3 + 1
    seen = 0
    for seed in seeds(60):
        dice = random.Random(seed)
        pieces = {
            piece: count * dice.choice([1, 1, large]) + dice.randrange(3)
            for piece, count in random_pieces(dice).items()
        }
        honest, listed = trained_in("int64", pieces, 5), trained_in(dtype, pieces, 5)
        index = next((i for i, pair in enumerate(listed) if honest[i] != pair), None)
        found = check_merges(listed, pieces, count="overlapping")
        assert bool(found) == (index is None), (seed, pieces)
        if index is not None and found.witness.count != found.witness.best_count:
            assert found.witness.index == index
            assert found.witness.cause == LikelyCause.OVERFLOW, (seed, pieces)
            seen += 1
    assert seen >= 8


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC"])
def test_another_normalization_is_named(form: str, tmp_path: Path) -> None:
    other = "NFD" if form == "NFC" else "NFC"
    corpus, normal = tmp_path / "corpus.txt", tmp_path / "normal.txt"
    text = unicodedata.normalize(other, ("ﬁn ﬁsh " if form == "NFKC" else "") + "é à ü ö thé é à") * 3
    corpus.write_text(text, encoding="utf-8")
    normal.write_text(unicodedata.normalize(form, text), encoding="utf-8")
    listed = tokdfa.train(normal, 12, min_frequency=1)
    assert check_merges(listed, normal)
    found = check_merges(listed, corpus)
    assert found.witness.cause == LikelyCause.NORMALIZATION
    assert found.witness.detail == form


CAUSES: list[tuple[str, list[Pair], dict[str, int], dict[str, Any], str]] = [
    ("tie", [("c", "d")], {"ab": 2, "cd": 2, "d": 1}, {}, "subword-nmt"),
    ("count", [("a", "a")], {"aaaa": 2, "bc": 5}, {}, "overlapping"),
    ("length", [("ab", "c"), ("b", "c")], {"abc": 2}, {"max_token_length": 2}, "2"),
    ("min-frequency", [("a", "b")], {"ab": 2}, {"min_frequency": 3}, "3"),
    ("order", [("c", "d"), ("a", "b")], {"ab": 3, "cd": 2}, {}, "merge 1"),
    ("dropped", [("c", "d")], {"ab": 3, "cd": 2}, {}, ""),
    ("absent", [("x", "y")], {"ab": 3}, {}, ""),
]


@pytest.mark.parametrize(("cause", "listed", "pieces", "options", "detail"), CAUSES, ids=[each[0] for each in CAUSES])
def test_each_likely_cause_is_named(
    cause: str, listed: list[Pair], pieces: dict[str, int], options: dict[str, Any], detail: str
) -> None:
    found = check_merges(listed, pieces, **options)
    assert not found
    assert found.witness.cause.value == cause
    assert detail in found.witness.detail
    assert found.witness.cause.meaning in found.reason


def test_tokens_that_nothing_makes_and_symbols_that_are_left_out(tmp_path: Path) -> None:
    path = write_tiktoken(ranks([b"abc"]), tmp_path / "x.tiktoken")
    found = check_merges(path, {b"abc": 3})
    assert found.witness.cause == LikelyCause.NO_PARTS
    assert (found.witness.pair, found.witness.product) == (None, b"abc")


def test_merges_over_bytes_are_not_replayed_on_characters() -> None:
    with pytest.raises(TokdfaError, match="level"):
        check_merges([(b"a", b"b")], {"ab": 2})
    with pytest.raises(TokdfaError, match="no text"):
        check_merges([(b"a", b"b")], {})


def test_the_parts_of_an_entry_of_wordpiece_are_those_that_the_entries_before_leave(tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    path.write_text("[UNK] t ##h ##e ##r ##he th the ther".replace(" ", "\n"), encoding="utf-8")
    assert ListedMerges.read(path).pairs[2:] == ((("t",), ("##h", "##e")), (("t", "##h", "##e"), ("##r",)))
    found = check_merges(path, {("t", "##h", "##e"): 3, ("##h", "##e"): 5, ("t", "##h"): 1})
    assert (found.witness.index, found.witness.pair) == (1, (("t",), ("##h",)))


def test_counts_of_32_bits_are_found_in_entries_of_wordpiece(tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    path.write_text("[UNK] t o ##h ##e ##t ##r ##th oth".replace(" ", "\n"), encoding="utf-8")
    found = check_merges(path, {("t", "##h", "##e"): 3_000_000_000, ("o", "##t", "##h", "##e", "##r"): 1_000})
    assert (found.witness.cause, found.witness.detail) == (LikelyCause.OVERFLOW, "int32")


def test_a_symbol_that_the_file_does_not_have_is_named(tmp_path: Path) -> None:
    small, large, path = tmp_path / "small.txt", tmp_path / "large.txt", tmp_path / "tokenizer.json"
    small.write_text("low low lower", encoding="utf-8")
    large.write_text("low low lower zz zz zz zz", encoding="utf-8")
    tokdfa.train(small, 2, level="character").save(path, pretokenizer="gpt2")
    found = check_merges(path, large)
    assert (found.witness.cause, found.witness.detail) == (LikelyCause.ALPHABET, "'z'")


def test_a_merges_txt_of_ascii_alone_is_of_bytes_or_of_characters(tmp_path: Path) -> None:
    path = tmp_path / "merges.txt"
    for lines, index in (("l o\nlo w\n", None), ("lo w\nl o\n", 0), ("", None)):
        path.write_text(f"#version: 0.2\n{lines}", encoding="utf-8")
        for pieces in ({"low": 3, "lo": 1}, {b"low": 3, b"lo": 1}, {("l", "o", "w"): 3, ("l", "o"): 1}):
            found = check_merges(path, pieces)
            assert (found.witness and found.witness.index) == index, (lines, pieces)

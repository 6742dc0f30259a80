"""Pieces in UTF-8 are the sequence of strings that they were made of."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest

from tokdfa.tokenizers.models.unigram.model import PieceTexts, UnigramModel

PIECES = ("▁", "", "aé", "\0", "中\U0001f600", "a")


def with_gaps(pieces: list[str]) -> PieceTexts:
    parts = [piece.encode() + b"\0" for piece in pieces]
    return PieceTexts(np.frombuffer(b"".join(parts), np.uint8), np.cumsum([0, *map(len, parts)]), 1)


@pytest.mark.parametrize("made", [PieceTexts.of(PIECES), with_gaps([piece for piece in PIECES if piece != "\0"])])
def test_they_are_a_sequence(made: PieceTexts) -> None:
    expected = PIECES if made.gap == 0 else tuple(piece for piece in PIECES if piece != "\0")
    for twin in (made, pickle.loads(pickle.dumps(made))):
        # One by one, before all are strings, and after.
        for _ in range(2):
            assert [twin[place] for place in range(-len(twin), len(twin))] == [*expected, *expected]
            with pytest.raises(IndexError):
                twin[len(twin)]
            assert (tuple(twin), twin[1:3], len(twin), "aé" in twin) == (expected, expected[1:3], len(expected), True)
    assert PieceTexts.of(made) is made


@pytest.mark.parametrize("gap", [0, 1])
def test_found_words_ascend(gap: int) -> None:
    pieces = ["?", "b", "a", "é", "▁a", "ab", "▁", "\U0001f600", "zz"]
    is_found = np.array([False, *[True] * 7, False])
    given = with_gaps(pieces) if gap else tuple(pieces)
    model = UnigramModel(given, np.zeros(9), is_found, 0, -1.0, "tokenizers")
    found, offsets, found_gap, ids = model.found_words
    text = found.tobytes()
    words = [text[begin : end - gap].decode() for begin, end in pairwise(offsets)]
    assert found_gap == gap
    assert words == sorted(pieces[1:8], key=str.encode)
    assert [pieces[id] for id in ids.tolist()] == words


@pytest.mark.parametrize(
    ("pieces", "found", "has"),
    [
        (("▁a", "a"), [1, 1], False),
        (("▁a", "a▁"), [1, 1], True),
        (("▁a", "a▁"), [1, 0], False),
        (("▁▁", "a"), [1, 1], True),
        (("▁", "▂"), [1, 1], False),
        ((), [], False),
    ],
)
def test_inner_spaces(pieces: tuple[str, ...], found: list[int], has: bool) -> None:
    for given in (pieces, with_gaps([*pieces])):
        model = UnigramModel(given, np.zeros(len(pieces)), np.array(found, np.bool_), 0, -1.0, "tokenizers")
        assert model.has_inner_spaces == has

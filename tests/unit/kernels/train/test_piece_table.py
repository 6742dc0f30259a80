"""The table of pieces against a dict."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tokdfa.kernels.train.merging import Pieces


def contents(pieces: Pieces) -> dict[bytes, int]:
    text, ends, counts = pieces.contents()
    starts = [0, *ends.tolist()]
    found = [text[start:end].tobytes() for start, end in zip(starts, ends.tolist(), strict=False)]
    assert len(set(found)) == len(pieces)
    return dict(zip(found, counts.tolist(), strict=True))


@pytest.mark.parametrize("longest", [3, 15, 16, 17, 24, 40, 300])
def test_pieces_of_every_length_up_to_the_end_of_the_text(longest: int) -> None:
    dice = random.Random(longest)
    pieces, expected = Pieces(), dict[bytes, int]()
    for _ in range(100):
        # Long pieces that differ in one place; and spans that end where the text does.
        text = bytearray(dice.choices(b"ab" if longest < 16 else b"a", k=dice.randint(1, 2 * longest)))
        text[dice.randrange(len(text))] = ord("c")
        spans = []
        for _ in range(dice.randrange(6)):
            start = dice.randrange(len(text))
            spans.append((start, min(len(text), start + dice.choice([longest, dice.randint(1, longest)]))))
        weights = [dice.randrange(5) for _ in spans]
        array = np.array(spans, np.int64).reshape(-1, 2)
        pieces.add(np.frombuffer(bytes(text), np.uint8), array, np.array(weights, np.int64))
        pieces.add(np.frombuffer(bytes(text), np.uint8), array, None)
        for (start, end), weight in zip(spans, weights, strict=True):
            piece = bytes(text[start:end])
            expected[piece] = expected.get(piece, 0) + weight + 1
    assert list(contents(pieces).items()) == list(expected.items())
    assert max(map(len, expected)) == longest


def test_the_table_grows() -> None:
    dice = random.Random(1)
    text = np.frombuffer(dice.randbytes(200_000), np.uint8)
    starts = np.arange(0, 199_900, 8)
    spans = np.stack((starts, starts + 5 + starts // 8 % 20), axis=1)
    pieces = Pieces()
    pieces.add(text, spans, None)
    pieces.add(text, spans[::-1].copy(), None)
    expected = dict[bytes, int]()
    for start, end in spans.tolist():
        piece = text[start:end].tobytes()
        expected[piece] = expected.get(piece, 0) + 2
    assert len(expected) > 20_000
    assert list(contents(pieces).items()) == list(expected.items())


def test_nothing_is_no_piece() -> None:
    pieces = Pieces()
    pieces.add(np.empty(0, np.uint8), np.empty((0, 2), np.int64), None)
    assert len(pieces) == 0
    assert contents(pieces) == {}


def test_arrays_of_another_type_do_not_reach_c() -> None:
    with pytest.raises(TypeError, match="int64"):
        Pieces().add(np.zeros(3, np.uint8), np.array([[0, 1]], np.int32), None)
    with pytest.raises(TypeError, match="contiguous"):
        Pieces().add(np.zeros(6, np.uint8)[::2], np.array([[0, 1]], np.int64), None)

"""The completions of an incomplete symbol: runs of classes, compared with the tries over the bytes of UTF-8."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest

from tests.support.utf8 import completions as completions_of
from tokdfa.kernels.walk.parts import Completions
from tokdfa.regex.utf8 import SymbolTries

CUTS = [
    *(bytes([lead]) for lead in range(0xC2, 0xF5)),
    *(bytes([lead, second]) for lead in range(0xE0, 0xF5) for second in (0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF)),
    *(bytes([lead, *rest]) for lead in range(0xF0, 0xF5) for rest in product((0x80, 0x90, 0x9F), (0x80, 0xBF))),
]
# The longest runs begin and end at the edges of blocks read at a time, and of planes.
EDGES = [0, 0x80, 0x7C0, 0x800, 0x3040, 0xD7C0, 0xE000, 0xFFC0, 0x10000, 0x1F600, 0x3FFFF, 0x10FF80]


def classes_of(seed: int) -> np.ndarray:
    dice = random.Random(seed)
    classes = np.zeros(0x110000, dtype=np.uint16)
    for _ in range(80):
        first = dice.choice(EDGES) + dice.randrange(100)
        classes[first : first + dice.choice([1, 2, 3, 4, 5, 70, 5000])] = dice.randrange(1, 5)
    return classes


def expanded(runs: bytes, no_symbol: int) -> list[int]:
    pairs = np.frombuffer(runs, dtype=np.int32).reshape(-1, 2)
    assert (pairs[1:, 0] != pairs[:-1, 0]).all()
    assert (pairs[:, 1] > 0).all()
    return np.repeat(np.where(pairs[:, 0] < 0, no_symbol, pairs[:, 0]), pairs[:, 1]).tolist()


@pytest.mark.parametrize("seed", range(4))
def test_runs_are_the_completions(seed: int) -> None:
    classes = classes_of(seed)
    tries, completions = SymbolTries.of_classes(classes), Completions(classes)
    standing: dict[bytes, bytes] = {}
    n_empty = 0
    for cut in CUTS:
        expected = completions_of(tries, cut)
        found = expanded(completions.runs(cut), tries.no_symbol)
        assert found == expected.tolist(), cut
        n_empty += set(found) == {tries.no_symbol}
        assert completions.standing_for(cut) == standing.setdefault(expected.tobytes(), cut)
    assert n_empty > 10
    assert 10 < len(standing) < len(CUTS)


@pytest.mark.parametrize("cut", [b"", b"a", b"\x80", b"\xc1", b"\xf5", b"\xc3\xa9", b"\xe4a", b"\xe4\xb8\xad"])
def test_what_begins_no_symbol_is_refused(cut: bytes) -> None:
    with pytest.raises(ValueError, match="beginning"):
        Completions(np.zeros(0x110000, dtype=np.uint16)).runs(cut)


def test_every_code_point_needs_a_class() -> None:
    with pytest.raises(ValueError, match="class"):
        Completions(np.zeros(0x10FFFF, dtype=np.uint16))

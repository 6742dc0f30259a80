"""Classes of code points over the bytes of UTF-8, against decoding every completion of a symbol cut short."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest

from tests.support.utf8 import completions
from tokdfa.regex.utf8 import SymbolTries

CONTINUATIONS = [bytes([byte]) for byte in range(0x80, 0xC0)]
CUTS = [
    *(bytes([lead]) for lead in (*range(0xC2, 0xE0), 0xE0, 0xE1, 0xED, 0xEF, 0xF4)),
    *(bytes(cut) for cut in [(0xE0, 0xA0), (0xE3, 0x81), (0xED, 0x9F), (0xEE, 0x80), (0xEF, 0xBF), (0xF4, 0x8F)]),
    *(bytes(cut) for cut in [(0xF0, 0x90), (0xF0, 0x9F), (0xF0, 0x9F, 0x98), (0xF0, 0x90, 0x80), (0xF4, 0x8F, 0xBF)]),
]


def code_point(data: bytes) -> int | None:
    try:
        return ord(data.decode())
    except UnicodeDecodeError:
        return None


@pytest.mark.parametrize("seed", range(2))
def test_completions_are_the_symbols_that_begin_so(seed: int) -> None:
    dice = random.Random(seed)
    classes = np.zeros(0x110000, dtype=np.uint16)
    for _ in range(60):
        first = dice.choice([0, 0x80, 0x7C0, 0x800, 0x3040, 0xD7C0, 0xE000, 0xFFC0, 0x10000, 0x1F600, 0x10FF80])
        first += dice.randrange(100)
        classes[first : first + dice.choice([1, 2, 70, 5000])] = dice.randrange(1, 5)
    tries = SymbolTries.of_classes(classes)
    for cut in CUTS:
        missing = (2 if cut[0] < 0xE0 else 3 if cut[0] < 0xF0 else 4) - len(cut)
        points = [code_point(cut + b"".join(rest)) for rest in product(CONTINUATIONS, repeat=missing)]
        expected = [tries.no_symbol if point is None else int(classes[point]) for point in points]
        assert completions(tries, cut).tolist() == expected, cut

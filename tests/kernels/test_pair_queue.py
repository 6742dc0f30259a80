"""The hash table and the heap of pairs against a dict and sorting."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tokdfa.kernels.pair_queue import (
    COUNT,
    FIXED,
    FROM,
    KEY,
    SENTENCEPIECE,
    SUBWORD_NMT,
    TIE,
    enter,
    find,
    push,
    rows_for,
    sift_down,
    table_for,
)


def test_the_table_is_a_dict_that_grows() -> None:
    dice = random.Random(1)
    pairs, table, plain = np.empty((2, 5), np.int64), np.full(4, -1, np.int64), {}
    for _ in range(5000):
        key = dice.randrange(40) << 32 | dice.randrange(40)
        row = find(table, pairs, key)
        assert (row if row >= 0 else None) == plain.get(key)
        if row < 0:
            table = table_for(table, pairs, len(plain), 1)
            pairs = rows_for(pairs, len(plain), 1)
            enter(table, -1 - find(table, pairs, key), key, len(plain))
            pairs[len(plain), KEY] = key
            plain[key] = len(plain)
    assert len(plain) > 1500


@pytest.mark.parametrize("tie", [FIXED, SENTENCEPIECE, SUBWORD_NMT])
def test_the_heap_gives_the_rows_in_order(tie: int) -> None:
    dice = random.Random(2)
    # One text of single letters; a row stands at its position and takes one or two letters to either side.
    letters = [dice.choice("ab") for _ in range(200)]
    units, unit_at = np.array([ord(letter) for letter in letters], np.int32), np.arange(201)
    length, pool = np.array([1, 2], np.int32), np.arange(200, dtype=np.int32)
    rows = np.zeros((150, 5), np.int64)
    order = []
    for row in range(len(rows)):
        u, v = dice.choice([(0, 0), (0, 1), (1, 0), (1, 1)])
        at, count, number = dice.randrange(190), dice.randrange(3), dice.randrange(3)
        rows[row] = u << 32 | v, count, number, at, at + 1
        left, right = "".join(letters[at : at + u + 1]), "".join(letters[at + u + 1 : at + u + v + 2])
        greatest = [(*tuple(-ord(letter) for letter in part), 0) for part in (left, right)]
        spelling = {FIXED: (), SENTENCEPIECE: (left + right, u), SUBWORD_NMT: greatest}[tie]
        order.append((-count, number, spelling))
    heap = np.empty((len(rows), 3), np.int64)
    for row in range(len(rows)):
        push(tie, heap, row, row, rows, pool, length, units, unit_at)
    popped = []
    for size in range(len(rows) - 1, -1, -1):
        popped.append(int(heap[0, 2]))
        assert heap[0, 0] == rows[heap[0, 2], COUNT]
        assert heap[0, 1] == rows[heap[0, 2], TIE]
        assert rows[heap[0, 2], FROM] >= 0
        sift_down(tie, heap, size, *heap[size], rows, pool, length, units, unit_at)
    assert sorted(popped) == list(range(len(rows)))
    assert [order[row] for row in popped] == sorted(order)

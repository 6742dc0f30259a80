"""The kernels of masks, against plain Python."""

from __future__ import annotations

import random

import numpy as np

from tokdfa.kernels.guiding import product as kernels


def bits_of(ids: set[int], n_words: int) -> np.ndarray:
    bits = np.zeros(32 * n_words, dtype=np.bool_)
    bits[list(ids)] = True
    return np.packbits(bits, bitorder="little").view(np.uint32)


def rows(source: random.Random, n_rows: int, n_ids: int) -> tuple[list[list[tuple[int, int]]], list[int]]:
    spans = []
    for _ in range(n_rows):
        starts = [source.randrange(n_ids) for _ in range(source.randrange(4))]
        spans.append([(start, min(n_ids, start + source.randint(1, 9))) for start in sorted(starts)])
    id_at = [*range(n_ids)]
    source.shuffle(id_at)
    return spans, [id if source.random() < 0.9 else -1 for id in id_at]


def test_what_rows_forbid() -> None:
    source = random.Random(0)
    taken = 0
    for _ in range(200):
        n_ids = source.randint(1, 80)
        n_words = -(-n_ids // 32)
        spans, id_at = rows(source, 5, n_ids)
        pointer = np.cumsum([0, *map(len, spans)]).astype(np.int32)
        flat = np.array([span for row in spans for span in row], dtype=np.int32).reshape(-1, 2)
        struct = kernels.followers_of(pointer, flat[:, 0].copy(), flat[:, 1].copy(), np.array(id_at, dtype=np.int32))
        for row, of_row in enumerate(spans):
            forbidden = {id_at[at] for start, stop in of_row for at in range(start, stop)} - {-1}
            fragile = {id for id in range(n_ids) if source.random() < 0.5}
            allowed = {id for id in range(n_ids) if source.random() < 0.7} | fragile
            mask = bits_of(allowed, n_words)
            kernels.forbid(struct, row, bits_of(fragile, n_words), mask)
            assert (mask == bits_of(allowed - (fragile & forbidden), n_words)).all()
            taken += len(fragile & forbidden)
    assert taken > 200

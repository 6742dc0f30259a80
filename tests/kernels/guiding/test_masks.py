"""The kernels of masks, against plain Python."""

from __future__ import annotations

import random

import numpy as np

from tokdfa.kernels.guiding import masks as kernels


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
        position = source.randrange(n_ids)
        chosen = np.array([source.randrange(5) for _ in range(9)], dtype=np.int32)
        expected = [any(start <= position < stop for start, stop in spans[row]) for row in chosen.tolist()]
        assert kernels.forbidding(struct, chosen, position).tolist() == expected
    assert taken > 200


def test_next_ids() -> None:
    source = random.Random(1)
    n_open = 0
    for _ in range(200):
        n_ids, n_classes, n_states, n_texts = 70, 6, 5, 4
        class_of = np.array([source.randrange(n_classes) for _ in range(n_ids)], dtype=np.int32)
        spelled = np.array([source.choice((0, 0, 0, -1, 2)) for _ in range(n_ids)], dtype=np.int32)
        allowed = np.array([source.randrange(n_states) for _ in range(n_classes)], dtype=np.int32)
        cut = np.array([source.choice((0, target)) for target in allowed.tolist()], dtype=np.int32)
        place_of = np.array([-1, *(source.randrange(-1, 3) for _ in range(n_states - 1))], dtype=np.int32)
        verdicts = np.array([[source.randrange(3) for _ in range(n_texts)] for _ in range(3)], dtype=np.uint8)
        ids = np.array(source.sample(range(n_ids), 40), dtype=np.int32)
        texts = np.array([source.randrange(n_texts) for _ in range(40)], dtype=np.int32)
        found = kernels.next_ids(
            ids,
            texts,
            class_of=class_of,
            spelled=spelled,
            allowed=allowed,
            cut=cut,
            place_of=place_of,
            verdicts=verdicts,
            n_words=3,
        )
        expected: tuple[set[int], set[int], list[int]] = set(), set(), []
        for place, (id, text) in enumerate(zip(ids.tolist(), texts.tolist(), strict=True)):
            targets = [int(of[class_of[id]]) for of in (allowed, cut)]
            if not targets[0] or spelled[id] < 0:
                continue
            known = [kernels.OPEN if place_of[to] < 0 else int(verdicts[place_of[to], text]) for to in targets]
            if not targets[1]:
                known[1] = kernels.DEAD_END
            if spelled[id] > 0 or known[0] == kernels.OPEN:
                expected[2].append(place)
            elif known[0] == kernels.GOES_ON:
                if known[1] == kernels.OPEN:
                    expected[2].append(place)
                    continue
                expected[0].add(id)
                if known[1] == kernels.DEAD_END:
                    expected[1].add(id)
        assert (found[0] == bits_of(expected[0], 3)).all()
        assert (found[1] == bits_of(expected[1], 3)).all()
        assert found[2].tolist() == expected[2]
        n_open += len(expected[2])
    assert 100 < n_open < 7_000

"""The table of doubtful sequences holds the sequences that were put into it."""

from __future__ import annotations

import random

from tokdfa.jobs.validation.model import Doubts, doubts

Sequence = tuple[int, ...]


def contents(table: Doubts) -> dict[Sequence, set[Sequence]]:
    """For each last two ids the sequences that the table has; no two slots have the same."""
    found: dict[Sequence, set[Sequence]] = {}
    for slot, key in enumerate(table.keys.tolist()):
        if key >= 0:
            pair = (key >> 32, key & 0xFFFFFFFF)
            assert pair not in found
            low, high = table.range[2 * slot : 2 * slot + 2].tolist()
            before = [tuple(table.ids[table.bounds[k] : table.bounds[k + 1]].tolist()) for k in range(low, high)]
            found[pair] = {(*ids, *pair) for ids in before}
            assert len(found[pair]) == high - low
    return found


def test_what_is_put_in_is_found() -> None:
    dice = random.Random(5)
    longer = 0
    for _ in range(300):
        sequences = {tuple(dice.choices(range(5), k=dice.randint(2, 4))) for _ in range(dice.randint(1, 20))}
        expected: dict[Sequence, set[Sequence]] = {}
        for sequence in sequences:
            expected.setdefault(sequence[-2:], set()).add(sequence)
        assert contents(doubts(sequences)) == expected
        longer += any(len(group) > 1 for group in expected.values())
    assert longer > 100


def test_nothing_is_doubtful() -> None:
    assert contents(doubts([])) == {}

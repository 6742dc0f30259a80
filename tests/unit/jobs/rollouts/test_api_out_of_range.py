"""Ids that a tokenizer does not have, in rollouts: each is a bug or drift, and cuts the text."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

import tokdfa
from tests.support.families import FAMILIES
from tests.support.rollouts import sampled
from tokdfa import Rollout, SpanClass, ViolationKind
from tokdfa.jobs.rollouts.result import RolloutCheck

Row = tuple[int, str, tuple[int, ...], tuple[int, ...] | None, str]


def rows(check: RolloutCheck, moved: int = 0) -> list[Row]:
    """Return the first id of each span, its class, its ids, the canonical ones and the kind, in order."""
    found = [
        (each.start + moved, name.value, each.ids, each.canonical_ids, each.kind.value)
        for name in SpanClass
        for each in check.of_class(name)
    ]
    return sorted(found, key=lambda row: (row[0], row[4] == ViolationKind.ID_OUT_OF_RANGE))


@pytest.mark.parametrize("family", FAMILIES)
def test_each_is_a_span_and_the_ids_between_them_are_rollouts(family: str) -> None:
    met: Counter[str] = Counter()
    for seed in range(3):
        drawn = random.Random(f"{family} {seed}")
        member = FAMILIES[family](drawn)
        tokenizer = member.tokenizer
        unknown = [-1, tokenizer.n_ids, 2**31, 2**40]
        rollouts, expected = [], []
        for _ in range(5):
            ids: list[int] = []
            of_rollout: list[Row] = []
            parts = [member.stream(drawn, 6) for _ in range(drawn.randrange(1, 4))]
            mask = sampled(drawn, sum(map(len, parts)) + len(parts) - 1)
            for number, part in enumerate(parts):
                if number:
                    name = "drift" if mask[len(ids)] else "bugs"
                    of_rollout.append((len(ids), name, (drawn.choice(unknown),), None, "id-out-of-range"))
                    ids.append(of_rollout[-1][2][0])
                # A part without ids has no mask; one with insertions only takes the class of its neighbours.
                alone = tokdfa.check_rollout(tokenizer, part, mask[len(ids) : len(ids) + len(part)])
                of_rollout += rows(alone, len(ids))
                ids += part
            rollouts.append(Rollout(ids, mask))
            expected.append(of_rollout)
        checks = tokdfa.check_rollouts(tokenizer, [each.ids for each in rollouts], [each.mask for each in rollouts])
        for rollout, check, right in zip(rollouts, checks, expected, strict=True):
            found = rows(check)
            assert without_classes_of_insertions(found) == without_classes_of_insertions(right), rollout
            assert rows(tokdfa.check_rollout(tokenizer, *rollout)) == found
            assert sum(check.counts) == len(found)
            outside = [row for row in found if row[4] == "id-out-of-range"]
            assert check.out_of_range == len(outside)
            assert [cause.token for *_, cause in check.iter_causes() if cause.kind.value == "id-out-of-range"] == [
                row[2][0] for row in outside
            ]
            offsets = {
                each.start: each.byte_offset
                for each in tokdfa.validate(tokenizer, rollout.ids, all=True).violations
                if each.kind == ViolationKind.ID_OUT_OF_RANGE
            }
            assert offsets == {
                each.start: each.byte_offset
                for each in (*check.bugs, *check.drift)
                if each.kind == ViolationKind.ID_OUT_OF_RANGE
            }
            met["outside"] += len(outside)
            met["others"] += len(found) - len(outside)
    assert met["outside"] > 3, met
    assert met["others"], met


def without_classes_of_insertions(found: list[Row]) -> list[Row]:
    """Return rows without the classes of spans without ids, which depend on their neighbours in the rollout."""
    return [(start, name if ids else "", ids, right, kind) for start, name, ids, right, kind in found]


@pytest.mark.parametrize("unknown", [-1, 4096, 2**31, 2**63])
def test_the_mask_decides_the_class_and_labels_may_be_unknown_ids(unknown: int) -> None:
    tokenizer = tokdfa.default_tokenizer()
    for mask, name in (([1, 1], "drift"), ([1, 0], "bugs"), ([-100, unknown], "drift"), ([64, -100], "bugs")):
        ids = np.array([64, unknown], dtype=np.uint64 if unknown > 0 else np.int64)
        check = tokdfa.check_rollout(tokenizer, ids, mask)
        assert check.counts == tokdfa.Counts(**{name: 1})
        assert bool(check) == (name == "drift")
        (found,) = check.of_class(SpanClass(name))
        assert (found.index, found.detected_at, found.byte_offset, found.ids) == (1, 1, 1, (unknown,))
        assert found.reason == f"the tokenizer has no id {unknown}"


def test_documents_may_be_separated_by_an_id_that_the_tokenizer_does_not_have() -> None:
    tokenizer = tokdfa.default_tokenizer()
    check = tokdfa.check_rollout(tokenizer, [64, 5000, 9999, 261, 1193], documents=9999)
    assert [(each.start, each.byte_offset, each.ids) for each in check.drift] == [(1, 1, (5000,)), (3, 1, (261, 1193))]
    assert check.out_of_range == 1
    check = tokdfa.check_rollout(tokenizer, [261, 1193, 5000, 261, 1193], documents=[0, 1, 2, 3])
    assert [each.ids for each in check.drift] == [(5000,), (261, 1193)]

"""Groups are the equal violations that validation finds document by document, and say when they are not exact."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tests.support.families import FAMILIES
from tests.support.written_stores import write_jsonl
from tokdfa.base.errors import TokdfaError
from tokdfa.jobs.shards.check import check_shard
from tokdfa.jobs.validation.groups import MOST_IDS, Group, GroupCounter, GroupSum, keys_out_of_range
from tokdfa.jobs.validation.recent import LastIds


@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 8), marks=pytest.mark.slow)], ids=["few", "many"])
@pytest.mark.parametrize("family", FAMILIES)
def test_groups_are_the_violations_of_all_documents(family: str, seeds: range, tmp_path: Path) -> None:
    n_found = n_repeated = 0
    for seed in seeds:
        drawn = random.Random(seed)
        member = FAMILIES[family](drawn)
        streams = [member.stream(drawn, 10) for _ in range(6)]
        documents = [*streams, *streams[:3]]
        expected: Counter[tuple[object, ...]] = Counter()
        first: dict[tuple[object, ...], tuple[int, int]] = {}
        tenths = [0] * 10
        try:
            for number, ids in enumerate(documents, 1):
                for found in tokdfa.validate(member.tokenizer, ids, all=True).violations:
                    right = found.canonical_ids
                    shown = None if right is None else right[:MOST_IDS]
                    key = found.kind.value, found.ids[:MOST_IDS], shown, len(found.ids), len(right or ()), found.rule
                    expected[key] += 1
                    first.setdefault(key, (number, found.index))
                    tenths[min(10 * found.start // max(len(ids), 1), 9)] += 1
            report = check_shard(member.tokenizer, write_jsonl(tmp_path / f"{seed}.jsonl", documents))
        except TokdfaError:
            continue
        keys = [(g.kind, g.ids, g.canonical_ids, g.n_ids, g.n_canonical_ids, g.rule) for g in report.groups]
        assert dict(zip(keys, (group.count for group in report.groups), strict=True)) == expected, (seed, documents)
        # Without ids, the end of a document and the beginning of the next are one place.
        assert [(group.number, group.token) for group in report.groups if group.ids] == [
            first[key] for key in keys if key[1]
        ]
        assert (report.groups_error, sum(report.tenths)) == (0, report.violations)
        assert [group.count for group in report.groups] == sorted(expected.values(), reverse=True)
        if all(documents) and all(group.ids for group in report.groups):
            assert [*report.tenths] == tenths
        n_found += len(keys)
        n_repeated += sum(count > 1 for count in expected.values())
    assert n_found > len(seeds)
    assert n_repeated


def test_the_text_around_ends_with_its_document(tmp_path: Path) -> None:
    tokenizer = tokdfa.default_tokenizer()
    documents = [[64, 64], [2513, 261, 1193, 462], [64, 64]]
    (group,) = check_shard(tokenizer, write_jsonl(tmp_path / "x.jsonl", documents)).groups
    assert (group.before, group.text, group.after) == (" single", " single", " man")
    assert group.merge == ("' s'", "'ingle'")
    ids = [11, *[id for document in documents for id in document], 11]
    np.save(tmp_path / "x.npy", np.array(ids))
    (group,) = check_shard(tokenizer, tmp_path / "x.npy", documents=11).groups
    assert (group.before, group.text, group.after) == ("aa single", " single", " manaa")


def test_ids_out_of_range_are_groups_by_id(tmp_path: Path) -> None:
    far = (1 << 63) + 5
    np.save(tmp_path / "x.npy", np.array([64, far, 64, 99_999, 64, far], dtype=np.uint64))
    report = check_shard(tokdfa.default_tokenizer(), tmp_path / "x.npy")
    assert [(group.ids, group.count, group.kind) for group in report.groups] == [
        ((far,), 2, "id-out-of-range"), ((99_999,), 1, "id-out-of-range")
    ]  # fmt: skip
    assert [group.before + group.text + group.after for group in report.groups] == ["a\ufffda\ufffda\ufffd"] * 2
    assert [Group.from_dict(json.loads(json.dumps(group.to_dict()))) for group in report.groups] == [*report.groups]


@pytest.mark.parametrize(
    ("n_shards", "n_chunks", "n_ids"),
    [(1, 1, 400), (1, 12, 60), (12, 1, 60), (6, 12, 80)],
    ids=["in a chunk", "in a shard", "in the sum", "everywhere"],
)
def test_too_many_groups_are_counted_within_the_error(n_shards: int, n_chunks: int, n_ids: int) -> None:
    drawn = np.random.default_rng(3)
    total, expected = GroupSum(64), Counter[int]()
    for shard in range(n_shards):
        counter = GroupCounter(64)
        for _ in range(n_chunks):
            # Few ids are frequent, and many are rare.
            values = (2e4 * drawn.random(n_ids) ** 4).astype(np.int64) + 10**6
            keys, counts, at, error = keys_out_of_range(values, 64)
            counter.error += error
            for number in counter.count(keys, counts):
                counter.note(keys[number], (f"{shard:02}", "token", 0, int(at[number])), LastIds(), (0, 0), 0)
            counter.close(LastIds(), np.zeros(0, dtype=np.int64))
            expected.update(values.tolist())
        total.add(counter.groups(tokdfa.default_tokenizer()), counter.error)
    found = total.largest()
    assert len(found) == 64
    assert len(expected) > 4 * 64
    assert 0 < total.error < max(expected.values()) / 2
    known = {group.ids[0]: group.count for group in found}
    for value, count in expected.items():
        assert known.get(value, 0) <= count <= known.get(value, 0) + total.error

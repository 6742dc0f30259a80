"""One pass over a stream has the verdict of validation and the report of a shard."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tokdfa
from tests.support.families import FAMILIES
from tests.support.written_stores import write_jsonl
from tokdfa.base.errors import TokdfaError, TokenStreamError
from tokdfa.jobs.shards.check import Options, check_shard
from tokdfa.jobs.shards.stream import IdStream, check_stream
from tokdfa.jobs.validation.violations import Validation
from tokdfa.stores.opening import open_store


def judged(member: Any, ids: list[int], how: dict[str, Any], *, every: bool) -> list[Validation | str]:
    """Return the verdicts of one pass, and of validation; or the error of each."""
    documents = how.get("documents")
    starts = np.array(documents) if isinstance(documents, list) else None
    chunks = [np.array(ids[at : at + 9]) for at in range(0, len(ids), 9)]
    separator = documents if isinstance(documents, int) else None
    options = Options(documents=separator, literal=how.get("literal", False), window=how.get("window", False))

    def one_pass() -> Validation:
        stream = IdStream("ids", iter(chunks), starts)
        verdict, report = check_stream(member.tokenizer, stream, options, all=every)
        if every:
            assert (report.ids, report.violations) == (len(ids), len(verdict.violations))
        return verdict

    def usual() -> Validation:
        return tokdfa.validate(member.tokenizer, iter(chunks), all=every, **how)

    found: list[Validation | str] = []
    for make in (one_pass, usual):
        try:
            found.append(make())
        except TokdfaError as error:
            found.append(str(error))
    return found


@pytest.mark.parametrize(
    "seeds", [range(1, 2), pytest.param(range(2, 12), marks=pytest.mark.slow)], ids=["few", "many"]
)
@pytest.mark.parametrize("family", FAMILIES)
def test_one_pass_has_the_verdict_of_validation(family: str, seeds: range) -> None:
    n_wrong = n_out = 0
    for seed in seeds:
        drawn = random.Random(seed)
        member = FAMILIES[family](drawn)
        ids = [id for _ in range(3) for id in member.stream(drawn, 10)]
        if seed % 2:
            ids.insert(drawn.randrange(len(ids) + 1), 10**6 + seed)
        separator = drawn.choice(ids) if ids and seed % 3 else 10**7
        starts = sorted(drawn.choices(range(len(ids) + 1), k=3))
        for how in ({}, {"window": True}, {"documents": separator}, {"documents": starts}, {"literal": True}):
            mine, theirs = judged(member, ids, how, every=bool(drawn.randrange(2)))
            assert mine == theirs, (seed, ids, how)
            n_wrong += not mine
            n_out += isinstance(theirs, Validation) and any(each.ids == (10**6 + seed,) for each in theirs.violations)
    assert n_wrong > 2 * len(seeds)
    assert n_out


def test_a_store_has_the_report_of_a_shard(tmp_path: Path) -> None:
    tokenizer = tokdfa.default_tokenizer()
    path = write_jsonl(tmp_path / "x.jsonl", [[64, 261, 1193], [], [99_999, 64], [261, 1193] * 9])
    verdict, report = check_stream(tokenizer, open_store(path), Options(), all=True)
    assert report == check_shard(tokenizer, path)
    assert [each.index for each in verdict.violations][:2] == [1, 3]
    assert replace(report, groups=()) == replace(check_stream(tokenizer, open_store(path), Options())[1], groups=())


def test_a_document_after_the_end_is_an_error() -> None:
    stream = IdStream("ids", iter([np.array([64, 2513])]), np.array([0, 3]))
    with pytest.raises(TokenStreamError, match="a document begins after the end of the stream"):
        check_stream(tokdfa.default_tokenizer(), stream, Options())

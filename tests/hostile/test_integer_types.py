"""Ids of every integer type and byte order: each job answers as for a list of the same ids."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tokdfa
from tokdfa.base.errors import TokenStreamError

TYPES = ["i1", "u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", ">i2", ">u2", ">i4", ">u4", ">i8", ">u8"]
TOKENIZER = tokdfa.default_tokenizer()
SEPARATOR, NO_ID = 64, 10**6

# Canonical; not canonical near the beginning, and after more ids than are walked over in one call; with unknown ids.
GOOD = TOKENIZER.encode("a single man. " * 1500).tolist()
STREAMS = {
    "small": [64, 65, 66],
    "none": [],
    "wrong": [64, 261, 1193, 13],
    "long and wrong": [*GOOD, 64, 261, 1193],
    "unknown": [64, -1, 65],
    "unknown and large": [64, 2**63 - 1, 2**31, 65],
}


def by_shard(ids: Any, folder: Path) -> tuple[int, ...]:
    np.save(folder / "ids.npy", ids if isinstance(ids, np.ndarray) else np.array(ids, dtype=np.int64))
    report = tokdfa.check_shard(TOKENIZER, folder / "ids.npy", documents=SEPARATOR)
    return report.violations, report.wrong_documents, report.out_of_range, report.documents


JOBS: dict[str, Callable[[Any, Path], Any]] = {
    "validate": lambda ids, _: tokdfa.validate(TOKENIZER, ids),
    "validate all": lambda ids, _: tokdfa.validate(TOKENIZER, ids, all=True),
    "validate chunks": lambda ids, _: tokdfa.validate(TOKENIZER, iter([ids, ids]), all=True),
    "validate a window": lambda ids, _: tokdfa.validate(TOKENIZER, ids, window=True, all=True),
    "validate with a separator": lambda ids, _: tokdfa.validate(TOKENIZER, ids, documents=SEPARATOR, all=True),
    "validate with one that is no id": lambda ids, _: tokdfa.validate(TOKENIZER, ids, documents=NO_ID, all=True),
    "feed": lambda ids, _: tokdfa.Validator(TOKENIZER).feed(ids),
    "shard": by_shard,
    "report": lambda ids, _: tokdfa.validation_report(TOKENIZER, ids).n_violations,
    "search": lambda ids, _: [*tokdfa.search(TOKENIZER, "an?", ids)],
    "replace": lambda ids, _: tokdfa.replace(TOKENIZER, "a", "b", ids, check=False).ids.tolist(),
    "decode": lambda ids, _: TOKENIZER.decode(ids),
    "safe cuts": lambda ids, _: TOKENIZER.safe_cuts(ids).tolist(),
    "rollout": lambda ids, _: tokdfa.check_rollout(TOKENIZER, ids, documents=SEPARATOR).counts,
}


def answer(job: Callable[[Any, Path], Any], ids: Any, folder: Path) -> Any:
    try:
        return job(ids, folder)
    except TokenStreamError as error:
        return str(error)


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("stream", STREAMS)
def test_the_answer_does_not_depend_on_the_type_of_integers(tmp_path: Path, job: str, stream: str) -> None:
    ids = STREAMS[stream]
    expected = answer(JOBS[job], ids, tmp_path)
    fitting = [kind for kind in TYPES if all(np.iinfo(kind).min <= id <= np.iinfo(kind).max for id in ids)]
    assert fitting
    for kind in fitting:
        assert answer(JOBS[job], np.array(ids, dtype=kind), tmp_path) == expected, kind

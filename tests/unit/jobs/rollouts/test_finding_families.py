"""The spans found in many streams at once are the spans by the definition in each of them."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.support.families import FAMILIES
from tests.support.seeds import seeds
from tokdfa.base.arrays import running_sum
from tokdfa.base.errors import TokdfaError
from tokdfa.jobs.rollouts.finding import _by_encoding, finder_of
from tokdfa.jobs.rollouts.spans import in_order, joined


@pytest.mark.parametrize("family", FAMILIES)
def test_streams_at_once_have_the_spans_of_each(family: str) -> None:
    n_found = 0
    for seed in seeds(8):
        drawn = random.Random(seed)
        member = FAMILIES[family](drawn)
        tokenizer = member.tokenizer
        streams = [np.array(member.stream(drawn, 16), dtype=np.int32) for _ in range(8)]
        offsets = running_sum(np.array([*map(len, streams)]))
        begins, ends = offsets[:-1], offsets[1:]
        try:
            finder = finder_of(tokenizer)
        except TokdfaError:
            continue
        given = zip(streams, begins.tolist(), strict=True)
        parts = [_by_encoding(tokenizer.round_trip, ids).moved(begin) for ids, begin in given if len(ids)]
        expected = in_order(joined(parts), begins)
        found = finder.find(np.concatenate(streams), begins, ends)
        for mine, theirs in zip(found, expected, strict=True):
            assert mine.tolist() == theirs.tolist(), (seed, [ids.tolist() for ids in streams])
        n_found += len(found.bounds)
    assert n_found > 20

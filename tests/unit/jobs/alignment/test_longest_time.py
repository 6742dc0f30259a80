"""A clock that is advanced by hand ends the search for the longest unit at any moment: a bound is still one."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest

import tokdfa
from tests.unit.jobs.alignment.test_longest_families import DRAWS, PAIRS, Peer, longest_of
from tests.unit.jobs.measures.test_bounds_time import MAX_SECONDS, clock_of
from tokdfa.base.errors import LimitExceededError


def outcomes(seeds: range, patch: pytest.MonkeyPatch) -> Counter[str]:
    """Compare the answers without time with those with all of it; return how many there were of each kind."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        source = random.Random(seed)
        files = [DRAWS[kind](source) for kind in PAIRS[seed % len(PAIRS)]]
        loaded = [tokdfa.load(json.dumps(file).encode()) for file in files]
        peers = [Peer(file) for file in files]
        with clock_of(None, 0, patch) as clock:
            try:
                exact = tokdfa.longest_unit(loaded[0], loaded[1], max_seconds=MAX_SECONDS)
            except LimitExceededError:
                continue
        for moment in source.sample(range(clock.n_asked), min(4, clock.n_asked)):
            with clock_of(moment, source.choice([MAX_SECONDS + 1, MAX_SECONDS + 1000]), patch):
                try:
                    found = tokdfa.longest_unit(loaded[0], loaded[1], max_seconds=MAX_SECONDS)
                except LimitExceededError:
                    seen["no answer"] += 1
                    continue
            assert found.witness is not None
            assert longest_of(found.witness.text, peers) == found.witness.stop - found.witness.start, seed
            if found.most is None:
                assert exact.most is None, seed
            else:
                # A unit of a text is never beyond a bound.
                assert exact.most is not None, seed
                assert found.most >= exact.most, seed
            seen["bounded" if found.most != exact.most or found.is_exact != exact.is_exact else "as before"] += 1
    return seen


def test_a_clock_that_ends_the_search_leaves_valid_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = outcomes(range(1063, 1075), monkeypatch)
    assert min(seen["no answer"], seen["bounded"], seen["as before"]) >= 3, seen

"""Words that are left out are canonical, and the others are encoded as their texts are."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.support.families import FAMILIES
from tokdfa.base.errors import AlphabetError
from tokdfa.tokenizers.models.wordpiece.end_to_end import Reencoder


def test_words_are_those_of_the_texts() -> None:
    n_left_out = n_words = 0
    for seed in range(60):
        drawn = random.Random(seed)
        member = FAMILIES["WordPiece"](drawn)
        tokenizer = member.tokenizer
        trip = tokenizer.round_trip
        if trip.boundaries.why_none is not None:
            continue
        ids = np.array(member.stream(drawn, 30), dtype=np.int32)
        if not len(ids):
            continue
        words = tokenizer.derived(Reencoder).encode(ids, np.array([0, len(ids)]))
        n_left_out += len(ids) - len(words.indices)
        n_words += len(words.is_odd)
        assert np.array_equal(ids[words.indices], words.ids)
        if words.is_odd.any():
            continue
        # The words that are left out stand for themselves between the canonical ids of the others.
        canonical, done = [], 0
        for number, (low, high) in enumerate(zip(words.bounds[:-1], words.bounds[1:], strict=True)):
            first, last = words.indices[low], words.indices[high - 1]
            canonical += [ids[done:first], words.canonical[slice(*words.canonical_bounds[number : number + 2])]]
            done = last + 1
        try:
            expected = trip.encode(trip.decode(ids).text)
        except AlphabetError:
            pytest.fail("a word without a tokenization is odd")
        assert np.concatenate((*canonical, ids[done:])).tolist() == expected.tolist(), seed
    assert n_left_out > 100
    assert n_words > 100

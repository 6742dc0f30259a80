"""Many texts of ids compared at once with their canonical ids, next to each of them alone."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.support.families import FAMILIES
from tokdfa.base.arrays import running_sum
from tokdfa.base.errors import AlphabetError, TokenStreamError
from tokdfa.jobs.validation.differences import compare_texts, differences
from tokdfa.tokenizers.round_trip import RoundTrip

N_SEEDS, N_TEXTS = 30, 12

# Of the others most texts, or all, are compared one by one.
AT_ONCE = {
    *("ranks", "improper ranks", "bytes", "bytes, whole words", "bytes, odd parts"),
    *("bytes, added tokens", "bytes, NFC"),
    *("bytes, other forms", "Llama-2", "Gemma"),
}


def differing_alone(trip: RoundTrip, ids: np.ndarray) -> list[tuple[list[int], list[int]]] | None:
    """Return the parts of ids that differ, next to the canonical ones; None if the canonical ids have another text."""
    try:
        decoded = trip.decode(ids)
        canonical = trip.encode(decoded.text)
        again = trip.decode(canonical)
    except (AlphabetError, TokenStreamError):
        return None
    if again.text != decoded.text:
        return None
    (data, ends), (other_data, others) = trip.spelled(ids), trip.spelled(canonical)
    if data != other_data:
        return None
    parts = differences(ids, ends, canonical, others).tolist()
    return [(ids[start:stop].tolist(), canonical[low:high].tolist()) for start, stop, low, high in parts]


@pytest.mark.parametrize("family", FAMILIES)
def test_texts_at_once_differ_where_each_does(family: str) -> None:
    n_compared = n_texts = 0
    for seed in range(N_SEEDS):
        drawn = random.Random(seed)
        member = FAMILIES[family](drawn)
        trip = member.tokenizer.round_trip
        texts = [np.array(member.stream(drawn, 30), dtype=np.int32) for _ in range(N_TEXTS)]
        texts = [ids for ids in texts if len(ids) and not trip.cuts[ids].any()]
        bounds = running_sum(np.array([*map(len, texts)], dtype=np.int64))
        ids = np.concatenate([np.zeros(0, dtype=np.int32), *texts])
        compared = compare_texts(trip, ids, bounds)
        for number, own in enumerate(texts):
            if compared is None or compared.is_odd[number]:
                continue
            rows = compared.rows[compared.rows[:, 0] == number].tolist()
            found = [
                (ids[start:stop].tolist(), compared.canonical[low:high].tolist())
                for _, start, stop, low, high, _ in rows
            ]
            assert found == differing_alone(trip, own), (seed, own.tolist())
            n_compared += 1
        n_texts += len(texts)
    assert n_texts > N_SEEDS
    assert (n_compared > n_texts // 4) == (family in AT_ONCE)

"""Rules as a hash table from pairs of tokens to what merging them makes.

A bucket is a cache line: four pairs ``u << 32 | v``, -1 where there is none, and behind them what each makes,
``priority << 32 | product``, so that the least value is the strongest rule. A bucket that is full is continued in the
next one. Most pairs are no rule, and a bit for each hash in the table tells so in most cases without touching it. Pairs
of tokens below 256, which are asked for most, have a table of their own.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from tokdfa.kernels.packed import add_bit, hash_pair, kernel, may_have, power_of_two
from tokdfa.kernels.types import INTS, LONGS

__all__ = ["NOTHING", "find_rules", "merged"]

# What merging a pair makes that is no rule: weaker than all rules.
NOTHING = np.int64((1 << 63) - 1)

BUCKET = 8
WAYS = 4

RULES = nb.types.Tuple((nb.int64[::1], nb.uint64[::1], nb.int64[::1]))  # type: ignore[no-untyped-call]


@kernel(nb.int64(LONGS, nb.int64, nb.int64))
def _merged_behind(rules, bucket, pair):  # type: ignore[no-untyped-def]
    """Return what :func:`merged` does of a pair that is not in `bucket`, which is full."""
    while rules[bucket + WAYS - 1] >= 0:
        bucket = (bucket + BUCKET) & (len(rules) - 1)
        for way in range(WAYS):
            if rules[bucket + way] == pair:
                return rules[bucket + WAYS + way]
    return NOTHING


@nb.njit(inline="always")
def merged(rules, bits, u, v):  # type: ignore[no-untyped-def]
    """Return ``priority << 32 | product`` of the rule u≀v, or NOTHING.

    What a pair is, no predictor can know; so this is arithmetic without branches, but for full buckets.
    """
    pair = (u << 32) | v
    hashed = hash_pair(pair)
    known = -np.int64(may_have(bits, hashed))
    bucket = BUCKET * (np.int64(hashed >> np.uint64(20)) & (len(rules) // BUCKET - 1) & known)
    first, second = np.int64(rules[bucket] == pair), np.int64(rules[bucket + 1] == pair)
    third, fourth = np.int64(rules[bucket + 2] == pair), np.int64(rules[bucket + 3] == pair)
    missing = first + second + third + fourth - 1
    value = (rules[bucket + WAYS + second + 2 * third + 3 * fourth] & ~missing) | (NOTHING & missing)
    if known & missing & ~(rules[bucket + WAYS - 1] >> 63):
        value = _merged_behind(rules, bucket, pair)
    return value


@nb.njit(RULES(INTS, INTS, INTS, INTS), cache=True, nogil=True)
def find_rules(left, right, priority, product):  # type: ignore[no-untyped-def]
    """Build the table of the rules ``left[i]≀right[i]``; of equal pairs the first one counts.

    Returns
    -------
    rules : int64 array
    filter : uint64 array
    of_symbols : int64 array of shape (65536,)
        What merging makes of the tokens u and v below 256, at ``u << 8 | v``.
    """
    rules = np.full(BUCKET * power_of_two(len(left) // 2), -1, np.int64)
    bits = np.zeros(power_of_two(len(left) // 4), np.uint64)
    of_symbols = np.full(1 << 16, NOTHING, np.int64)
    for i in range(len(left)):
        u, v = np.int64(left[i]), np.int64(right[i])
        if merged(rules, bits, u, v) != NOTHING:
            continue
        pair = (u << 32) | v
        hashed = hash_pair(pair)
        add_bit(bits, hashed)
        bucket = BUCKET * (np.int64(hashed >> np.uint64(20)) & (len(rules) // BUCKET - 1))
        while rules[bucket + WAYS - 1] >= 0:
            bucket = (bucket + BUCKET) & (len(rules) - 1)
        way = 0
        while rules[bucket + way] >= 0:
            way += 1
        value = (np.int64(priority[i]) << 32) | np.int64(product[i])
        rules[bucket + way] = pair
        rules[bucket + WAYS + way] = value
        if u < 256 and v < 256:
            of_symbols[(u << 8) | v] = value
    return rules, bits, of_symbols

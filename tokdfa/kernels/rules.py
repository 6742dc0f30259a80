"""Rules as a hash table from pairs of tokens to what merging them makes, small enough for the second-level cache.

Tokens are numbered such that what a stronger rule makes has the smaller number, the symbols before all others; so the
number of the product is the priority, too. An entry is one machine word: the two parts and the product, of 21 bits
each. A bucket is a cache line of eight entries, 0 where there is none, which are compared at once. The sign of its last
entry tells that there were more, and that they are in the buckets behind it. Pairs of tokens below 256, which are asked
for most, have a table of their own.
"""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np
import numpy.typing as npt
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic

from tokdfa.kernels.packed import get, hash_pair, kernel
from tokdfa.kernels.types import INTS, LONGS, Longs

__all__ = ["NOTHING", "NO_NUMBER", "find_rules", "merged", "room_for_rules"]

NUMBER_BITS = 21
# No token has it: it stands for the neighbour that the first and the last token do not have.
NO_NUMBER = np.int64((1 << NUMBER_BITS) - 1)
# What merging a pair makes that is no rule.
NOTHING = np.int64(0)

BUCKET = 8
# On average; the more, the smaller the table, and the oftener a bucket has too few places.
_IN_BUCKET = 4.4
_OVERFULL = np.int64(-(1 << 63))
_PAIR = ((1 << 2 * NUMBER_BITS) - 1) << NUMBER_BITS


def _define_among(typing_context: Any, rules: Any, bucket: Any, pair: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        word, lane = ir.IntType(64), ir.IntType(32)
        vector = ir.VectorType(word, BUCKET)

        def every(value: Any) -> Any:
            one = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(lane, 0))
            places = ir.Constant(ir.VectorType(lane, BUCKET), [0] * BUCKET)
            return builder.shuffle_vector(one, ir.Constant(vector, ir.Undefined), places)

        pointer = builder.bitcast(builder.gep(array.data, [arguments[1]]), vector.as_pointer())
        entries = builder.load(pointer, align=8)
        wanted = every(builder.shl(arguments[2], word(NUMBER_BITS)))
        differ = builder.and_(builder.xor(entries, wanted), every(word(_PAIR)))
        none = ir.Constant(vector, [0] * BUCKET)
        found = builder.select(builder.icmp_unsigned("==", differ, none), entries, none)
        kind = ir.FunctionType(word, [vector])
        reduce = get_or_insert_function(builder.module, kind, f"llvm.vector.reduce.or.v{BUCKET}i64")  # type: ignore[no-untyped-call]
        return builder.and_(builder.call(reduce, [found]), word((1 << NUMBER_BITS) - 1))

    return types.int64(rules, types.int64, types.int64), generate


# The product of a pair among the entries from a place on, or 0.
_among: Any = intrinsic(_define_among)


@nb.njit(inline="always")
def _bucket_of(rules, pair):  # type: ignore[no-untyped-def]
    n_buckets = np.uint64(len(rules) // BUCKET)
    return BUCKET * np.int64(((hash_pair(pair) & np.uint64(0xFFFFFFFF)) * n_buckets) >> np.uint64(32))


@kernel(nb.int64(LONGS, nb.int64, nb.int64, nb.int64))
def _merged_behind(rules, bucket, pair, made):  # type: ignore[no-untyped-def]
    """Return what :func:`merged` does of a pair, when `bucket` had too few places and `made` was found in it."""
    while made == NOTHING and rules[bucket + BUCKET - 1] < 0:
        bucket += BUCKET
        if bucket == len(rules):
            bucket = 0
        made = _among(rules, bucket, pair)
    return made


@nb.njit(inline="always")
def merged(rules, u, v):  # type: ignore[no-untyped-def]
    """Return the number of what the rule u≀v makes, or NOTHING if there is no such rule.

    What a pair is, no predictor can know; so this is arithmetic without branches, but for overfull buckets, which are
    few.
    """
    pair = (u << NUMBER_BITS) | v
    bucket = _bucket_of(rules, pair)
    made = _among(rules, bucket, pair)
    if get(rules, bucket + BUCKET - 1) < 0:
        made = _merged_behind(rules, bucket, pair, made)
    return made


def room_for_rules(n: int) -> Longs:
    """Return an empty table for so many rules, its buckets being cache lines."""
    size = BUCKET * (int(n / _IN_BUCKET) + 1)
    room = np.zeros(size + BUCKET, dtype=np.int64)
    first = -(room.ctypes.data // 8) % BUCKET
    table: npt.NDArray[np.int64] = room[first : first + size]
    return table


@nb.njit(nb.int32[::1](INTS, INTS, INTS, nb.int64[::1]), cache=True, nogil=True)
def find_rules(left, right, product, rules):  # type: ignore[no-untyped-def]
    """Put the rules ``left[i]≀right[i]`` into a table; of equal pairs the first one counts.

    Parameters
    ----------
    left, right, product : int32 arrays
        Numbers of tokens, those of products greater than 0, and all less than NO_NUMBER.
    rules : int64 array
        Empty, of :func:`room_for_rules`.

    Returns
    -------
    int32 array of shape (65536,)
        What merging makes of the tokens u and v below 256, at ``u << 8 | v``.
    """
    of_symbols = np.zeros(1 << 16, np.int32)
    for i in range(len(left)):
        u, v = np.int64(left[i]), np.int64(right[i])
        if merged(rules, u, v) != NOTHING:
            continue
        pair = (u << NUMBER_BITS) | v
        bucket = _bucket_of(rules, pair)
        while rules[bucket + BUCKET - 1] != 0:
            rules[bucket + BUCKET - 1] |= _OVERFULL
            bucket += BUCKET
            if bucket == len(rules):
                bucket = 0
        way = 0
        while rules[bucket + way] != 0:
            way += 1
        rules[bucket + way] = (pair << NUMBER_BITS) | np.int64(product[i])
        if u < 256 and v < 256:
            of_symbols[(u << 8) | v] = product[i]
    return of_symbols

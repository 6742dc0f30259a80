"""Merging many short words together: one merge in each of them in turn.

The merges within a word wait for each other, and for memory; those of different words do not. So in each round every
word has its strongest pair merged, of equals the leftmost, without a branch that a predictor could get wrong, and the
processor overlaps them. A word is given by its lanes, one a byte, of which there are 16 or 64: which bytes begin tokens
(a bit each), the number of each token, and for each the rank of its pair with the next one: the number of what merging
them makes and, below it, the lane.
"""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic

from tokdfa.kernels.packed import BYTES, kernel
from tokdfa.kernels.rules import NO_NUMBER, merged
from tokdfa.kernels.types import INTS, LONGS

__all__ = ["FEW_LANES", "LANES", "WORD", "begin_word", "finish_word", "merge_together"]

# Words are shorter than this; the last lane stands for the neighbours that the first and the last token do not have.
LANE_BITS = 6
FEW_LANES, LANES = 16, 1 << LANE_BITS
# The ranks of a word, and behind them the tokens.
WORD = 2 * LANES

_UNRANKED = np.int32(0x7FFFFFFF)
_LANE = np.int64(LANES - 1)
_1, _63 = np.uint64(1), np.uint64(63)


def _bit_scan(name: str) -> Any:
    def define(typing_context: Any, bits: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return getattr(builder, name)(arguments[0], ir.Constant(ir.IntType(1), 0))

        return types.uint64(types.uint64), generate

    return intrinsic(define)


# The number of zeros below the lowest and above the highest one; 64 of 0.
_trailing_zeros = _bit_scan("cttz")
_leading_zeros = _bit_scan("ctlz")


def _least_of(n_lanes: int) -> Any:
    def define(typing_context: Any, lanes: Any, at: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, arguments[0])
            vector = ir.VectorType(ir.IntType(32), n_lanes)
            pointer = builder.bitcast(builder.gep(array.data, [arguments[1]]), vector.as_pointer())
            kind = ir.FunctionType(ir.IntType(32), [vector])
            name = f"llvm.vector.reduce.smin.v{n_lanes}i32"
            reduce = get_or_insert_function(builder.module, kind, name)  # type: ignore[no-untyped-call]
            return builder.call(reduce, [builder.load(pointer, align=4)])

        return types.int32(lanes, types.int64), generate

    return intrinsic(define)


# The least of so many numbers of an array from a place on.
_least_of_few = _least_of(FEW_LANES)
_least_of_all = _least_of(LANES)


@nb.njit(inline="always")
def _rank(made, lane):  # type: ignore[no-untyped-def]
    return np.int32((np.int64(made) << LANE_BITS) | lane) if made else _UNRANKED


@kernel(nb.uint64(INTS, INTS, BYTES, nb.int64, nb.int64, nb.int32[::1], nb.int64, nb.int64))
def begin_word(of_symbols, symbol, text, begin, end, lanes, word, n_lanes):  # type: ignore[no-untyped-def]
    """Set up the word ``text[begin:end]``, of fewer than `n_lanes` bytes, in the lanes from `word` on.

    Returns
    -------
    int
        The bits of the lanes where tokens begin; 0 if a byte is not in the alphabet.
    """
    n = end - begin
    foreign = np.int64(0)
    tokens = word + n_lanes
    for lane in range(n_lanes):
        lanes[word + lane] = _UNRANKED
    lanes[tokens + n_lanes - 1] = np.int32(NO_NUMBER)
    for lane in range(n):
        token = symbol[text[begin + lane]]
        foreign |= np.int64(token)
        lanes[tokens + lane] = token
    if foreign < 0:
        return np.uint64(0)
    for lane in range(n - 1):
        first, second = np.int64(lanes[tokens + lane]), np.int64(lanes[tokens + lane + 1])
        lanes[word + lane] = _rank(of_symbols[(first << 8) | second], lane)
    return (_1 << np.uint64(n)) - _1


@kernel(nb.void(LONGS, nb.int32[::1], nb.uint64[::1], nb.int64[::1], nb.int64, nb.int64))
def merge_together(rules, lanes, starts, waiting, n_waiting, n_lanes):  # type: ignore[no-untyped-def]
    """Merge words until no rule applies in any.

    Parameters
    ----------
    rules : int64 array
        See :func:`~tokdfa.kernels.rules.find_rules`.
    lanes : int32 array
        Word w has the lanes from ``WORD * w`` on.
    starts : uint64 array
        For each word the lanes where tokens begin.
    waiting : int64 array
        The words, `n_waiting` of them; used up.
    n_lanes : int
        How many lanes they have, FEW_LANES or LANES.
    """
    last = np.int64(n_lanes - 1)
    neighbour = _1 << np.uint64(last)
    while n_waiting:
        kept = 0
        for i in range(n_waiting):
            w = waiting[i]
            word = WORD * w
            tokens = word + n_lanes
            strongest = _least_of_few(lanes, word) if n_lanes == FEW_LANES else _least_of_all(lanes, word)
            waiting[kept] = w
            if strongest == _UNRANKED:
                continue
            kept += 1
            here = np.int64(strongest) & _LANE
            token = np.int64(strongest) >> LANE_BITS
            bit = _1 << np.uint64(here)
            behind = (starts[w] | neighbour) & ~((bit << _1) - _1)
            gone = np.int64(_trailing_zeros(behind))
            after = np.int64(_trailing_zeros(behind & (behind - _1)))
            # No bit below gives -1, the last lane.
            ahead = np.int64(_63 - _leading_zeros(starts[w] & (bit - _1))) & last
            starts[w] &= ~(_1 << np.uint64(gone))
            next_token, last_token = np.int64(lanes[tokens + after]), np.int64(lanes[tokens + ahead])
            lanes[tokens + here] = np.int32(token)
            lanes[word + gone] = _UNRANKED
            lanes[word + here] = _rank(merged(rules, token, next_token), here)
            lanes[word + ahead] = _rank(merged(rules, last_token, token), ahead)
        n_waiting = kept


@nb.njit(inline="always")
def finish_word(lanes, word, n_lanes, starts, ids, out, n):  # type: ignore[no-untyped-def]
    """Write the ids of the tokens of a word to `out` from `n` on, and return how many they are."""
    first = n
    while starts:
        out[n] = ids[lanes[word + n_lanes + np.int64(_trailing_zeros(starts))]]
        starts &= starts - _1
        n += 1
    return n - first

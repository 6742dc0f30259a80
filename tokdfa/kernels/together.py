"""Merging many short words together: one merge in each of them in turn.

The merges within a word wait for each other, and for memory; those of different words do not. So in each round every
word has its strongest pair merged, of equals the leftmost, without a branch that a predictor could get wrong, and the
processor overlaps them. A word is given by its lanes, one a byte, of which there are 16 or 64: which bytes begin tokens
(a bit each), the number of each token, and for each the rank of its pair with the next one: one less than the number of
what merging them makes and, below it, the lane. Ranks are compared as unsigned numbers, so that the pairs that do not
merge, whose number is nothing, come behind all others by that arithmetic.
"""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic

from tokdfa.kernels.packed import BYTES, get, kernel, put
from tokdfa.kernels.rules import NO_NUMBER, merged
from tokdfa.kernels.types import INTS, LONGS

__all__ = [
    "AT_ONCE",
    "FEW_LANES",
    "LANES",
    "WORD",
    "begin_long_word",
    "begin_short_word",
    "finish_word",
    "merge_together",
]

# Words are shorter than this; the last lane stands for the neighbours that the first and the last token do not have.
LANE_BITS = 6
FEW_LANES, LANES = 16, 1 << LANE_BITS
# The ranks of a word, and behind them the tokens.
WORD = 2 * LANES
# So many ids of a word are written without asking how many it has.
AT_ONCE = 4

_UNRANKED = np.int32(-1)
# The ranks of pairs that do not merge are this at least.
_NO_RANK = 0x100000000 - LANES
_LANE = np.int64(LANES - 1)
_1, _63 = np.uint64(1), np.uint64(63)


def _of_bits(name: str, *flags: Any) -> Any:
    def define(typing_context: Any, bits: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return getattr(builder, name)(arguments[0], *flags)

        return types.uint64(types.uint64), generate

    return intrinsic(define)


# The number of zeros below the lowest and above the highest one; 64 of 0.
_trailing_zeros = _of_bits("cttz", ir.Constant(ir.IntType(1), 0))
_leading_zeros = _of_bits("ctlz", ir.Constant(ir.IntType(1), 0))
# The number of ones.
_count = _of_bits("ctpop")


def _least_of(n_lanes: int) -> Any:
    def define(typing_context: Any, lanes: Any, at: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, arguments[0])
            vector = ir.VectorType(ir.IntType(32), n_lanes)
            pointer = builder.bitcast(builder.gep(array.data, [arguments[1]]), vector.as_pointer())
            kind = ir.FunctionType(ir.IntType(32), [vector])
            name = f"llvm.vector.reduce.umin.v{n_lanes}i32"
            reduce = get_or_insert_function(builder.module, kind, name)  # type: ignore[no-untyped-call]
            return builder.zext(builder.call(reduce, [builder.load(pointer, align=4)]), ir.IntType(64))

        return types.int64(lanes, types.int64), generate

    return intrinsic(define)


# The least of so many numbers of an array from a place on.
_least_of_few = _least_of(FEW_LANES)
_least_of_all = _least_of(LANES)


@nb.njit(inline="always")
def _rank(made, lane):  # type: ignore[no-untyped-def]
    return np.int32(((np.int64(made) - 1) << LANE_BITS) | lane)


@nb.njit(inline="always")
def begin_short_word(of_symbols, symbol, low, high, n, lanes, word):  # type: ignore[no-untyped-def]
    """Set up the word of `n` bytes whose packing is `low` and `high` in the few lanes from `word` on.

    All of them are written, whatever the length: how long a word is, no predictor can know.

    Returns
    -------
    int
        The bits of the lanes where tokens begin; 0 if a byte is not in the alphabet.
    """
    tokens = word + FEW_LANES
    foreign = np.int64(0)
    token = np.int64(get(symbol, np.int64(low & np.uint64(0xFF))))
    for lane in range(FEW_LANES - 1):
        # All ones for the lanes that the word has.
        inside = (np.int64(lane) - n) >> 63
        foreign |= token & inside
        put(lanes, tokens + lane, np.int32(token))
        part = low if lane < 7 else high
        byte = np.int64((part >> np.uint64(8 * ((lane + 1) & 7))) & np.uint64(0xFF))
        following = np.int64(get(symbol, byte))
        made = np.int64(get(of_symbols, (token & 0xFF) << 8 | (following & 0xFF)))
        pairs = (np.int64(lane) - n + 1) >> 63
        put(lanes, word + lane, np.int32(_rank(made, lane) | ~pairs))
        token = following
    put(lanes, word + FEW_LANES - 1, _UNRANKED)
    put(lanes, tokens + FEW_LANES - 1, np.int32(NO_NUMBER))
    return ((_1 << np.uint64(n)) - _1) & ~np.uint64(foreign >> 63)


@kernel(nb.uint64(INTS, INTS, BYTES, nb.int64, nb.int64, nb.int32[::1], nb.int64))
def begin_long_word(of_symbols, symbol, text, begin, end, lanes, word):  # type: ignore[no-untyped-def]
    """Set up the word ``text[begin:end]``, of fewer than LANES bytes, in the lanes from `word` on.

    Returns
    -------
    int
        The bits of the lanes where tokens begin; 0 if a byte is not in the alphabet.
    """
    n = end - begin
    foreign = np.int64(0)
    tokens = word + LANES
    for lane in range(LANES):
        lanes[word + lane] = _UNRANKED
    lanes[tokens + LANES - 1] = np.int32(NO_NUMBER)
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
            w = get(waiting, i)
            word = WORD * w
            tokens = word + n_lanes
            strongest = _least_of_few(lanes, word) if n_lanes == FEW_LANES else _least_of_all(lanes, word)
            put(waiting, kept, w)
            if strongest >= _NO_RANK:
                continue
            kept += 1
            here = strongest & _LANE
            token = (strongest >> LANE_BITS) + 1
            bit = _1 << np.uint64(here)
            begun = get(starts, w)
            behind = (begun | neighbour) & ~((bit << _1) - _1)
            gone = np.int64(_trailing_zeros(behind))
            after = np.int64(_trailing_zeros(behind & (behind - _1)))
            # No bit below gives -1, the last lane.
            ahead = np.int64(_63 - _leading_zeros(begun & (bit - _1))) & last
            put(starts, w, begun & ~(_1 << np.uint64(gone)))
            next_token, last_token = np.int64(get(lanes, tokens + after)), np.int64(get(lanes, tokens + ahead))
            put(lanes, tokens + here, np.int32(token))
            put(lanes, word + gone, _UNRANKED)
            put(lanes, word + here, _rank(merged(rules, token, next_token), here))
            put(lanes, word + ahead, _rank(merged(rules, last_token, token), ahead))
        n_waiting = kept


@nb.njit(inline="always")
def finish_word(lanes, word, n_lanes, starts, ids, out, n):  # type: ignore[no-untyped-def]
    """Write the ids of the tokens of a word to `out` from `n` on, and return how many they are; there is one at least.

    Up to AT_ONCE entries of `out` are written, even if the ids are fewer: how many, no predictor can know.
    """
    n_ids = np.int64(_count(starts))
    tokens = word + n_lanes
    for i in range(AT_ONCE):
        # Where no more begin, this is the first lane.
        lane = np.int64(_trailing_zeros(starts)) & _LANE
        put(out, n + i, get(ids, np.int64(get(lanes, tokens + lane))))
        starts &= starts - _1
    for i in range(AT_ONCE, n_ids):
        lane = np.int64(_trailing_zeros(starts))
        put(out, n + i, get(ids, np.int64(get(lanes, tokens + lane))))
        starts &= starts - _1
    return n_ids

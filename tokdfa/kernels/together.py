"""Merging many short words together: one merge in each of them in turn.

The merges within a word wait for each other, and for memory; those of different words do not. So in each round every
word has its strongest pair merged, of equals the leftmost, without a branch that a predictor could get wrong, and the
processor overlaps them. A word is given by its lanes, one a byte: which bytes begin tokens (a bit each), what these
tokens are, and for each the rank of its pair with the next one (the priority of the rule and, below it, the lane) and
what merging that would make.
"""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic

from tokdfa.kernels.packed import BYTES, WORDS, kernel
from tokdfa.kernels.rules import merged
from tokdfa.kernels.types import INTS, LONGS

__all__ = ["LANES", "WORD", "begin_word", "finish_word", "merge_together"]

# Words are shorter than this; the last lane stands for the neighbours that the first and the last token do not have.
LANE_BITS = 6
LANES = 1 << LANE_BITS
RANK, MADE, TOKEN = 0, LANES, 2 * LANES
WORD = 3 * LANES

_UNRANKED = np.int32(0x7FFFFFFF)
_NO_TOKEN = np.int32(0x7FFFFFFF)
_LAST = np.int64(LANES - 1)
_NEIGHBOUR = np.uint64(1 << (LANES - 1))
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


def _define_least(typing_context: Any, lanes: Any, at: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        vector = ir.VectorType(ir.IntType(32), LANES)
        pointer = builder.bitcast(builder.gep(array.data, [arguments[1]]), vector.as_pointer())
        kind = ir.FunctionType(ir.IntType(32), [vector])
        name = f"llvm.vector.reduce.smin.v{LANES}i32"
        reduce = get_or_insert_function(builder.module, kind, name)  # type: ignore[no-untyped-call]
        return builder.call(reduce, [builder.load(pointer, align=4)])

    return types.int32(lanes, types.int64), generate


# The least of the LANES numbers of an array from a place on.
_least: Any = intrinsic(_define_least)


@nb.njit(inline="always")
def _rank(value, lane):  # type: ignore[no-untyped-def]
    return np.int32(min(((value >> 32) << LANE_BITS) | lane, np.int64(_UNRANKED)))


@kernel(nb.uint64(LONGS, INTS, BYTES, nb.int64, nb.int64, nb.int32[::1], nb.int64))
def begin_word(of_symbols, symbol, text, begin, end, lanes, word):  # type: ignore[no-untyped-def]
    """Set up the word ``text[begin:end]`` in the lanes from `word` on.

    Returns
    -------
    int
        The bits of the lanes where tokens begin; 0 if a byte is not in the alphabet.
    """
    n = end - begin
    foreign = np.int64(0)
    for lane in range(LANES):
        lanes[word + RANK + lane] = _UNRANKED
    lanes[word + TOKEN + LANES - 1] = _NO_TOKEN
    for lane in range(n):
        token = symbol[text[begin + lane]]
        foreign |= np.int64(token)
        lanes[word + TOKEN + lane] = token
    if foreign < 0:
        return np.uint64(0)
    for lane in range(n - 1):
        first, second = np.int64(lanes[word + TOKEN + lane]), np.int64(lanes[word + TOKEN + lane + 1])
        value = of_symbols[(first << 8) | second]
        lanes[word + RANK + lane] = _rank(value, lane)
        lanes[word + MADE + lane] = np.int32(value & 0xFFFFFFFF)
    return (_1 << np.uint64(n)) - _1


@kernel(nb.void(LONGS, WORDS, nb.int32[::1], nb.uint64[::1], nb.int64[::1], nb.int64))
def merge_together(rules, bits, lanes, starts, waiting, n_waiting):  # type: ignore[no-untyped-def]
    """Merge words until no rule applies in any.

    Parameters
    ----------
    rules, bits : int64 and uint64 arrays
        See :func:`~tokdfa.kernels.rules.find_rules`.
    lanes : int32 array
        Word w has the lanes from ``WORD * w`` on.
    starts : uint64 array
        For each word the lanes where tokens begin.
    waiting : int64 array
        The words, `n_waiting` of them; used up.
    """
    while n_waiting:
        kept = 0
        for i in range(n_waiting):
            w = waiting[i]
            word = WORD * w
            strongest = _least(lanes, word + RANK)
            waiting[kept] = w
            if strongest == _UNRANKED:
                continue
            kept += 1
            here = np.int64(strongest) & _LAST
            bit = _1 << np.uint64(here)
            behind = (starts[w] | _NEIGHBOUR) & ~((bit << _1) - _1)
            gone = np.int64(_trailing_zeros(behind))
            after = np.int64(_trailing_zeros(behind & (behind - _1)))
            ahead = np.int64(_63 - _leading_zeros(starts[w] & (bit - _1))) & _LAST
            starts[w] &= ~(_1 << np.uint64(gone))
            token = np.int64(lanes[word + MADE + here])
            next_token = np.int64(lanes[word + TOKEN + after])
            last_token = np.int64(lanes[word + TOKEN + ahead])
            lanes[word + TOKEN + here] = np.int32(token)
            lanes[word + RANK + gone] = _UNRANKED
            value = merged(rules, bits, token, next_token)
            lanes[word + RANK + here] = _rank(value, here)
            lanes[word + MADE + here] = np.int32(value & 0xFFFFFFFF)
            value = merged(rules, bits, last_token, token)
            lanes[word + RANK + ahead] = _rank(value, ahead)
            lanes[word + MADE + ahead] = np.int32(value & 0xFFFFFFFF)
        n_waiting = kept


@nb.njit(inline="always")
def finish_word(lanes, word, starts, ids, out, n):  # type: ignore[no-untyped-def]
    """Write the ids of the tokens of a word to `out` from `n` on, and return how many they are."""
    first = n
    while starts:
        out[n] = ids[lanes[word + TOKEN + np.int64(_trailing_zeros(starts))]]
        starts &= starts - _1
        n += 1
    return n - first

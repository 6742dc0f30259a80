"""Encoding pieces with a memory of those seen before, a block at a time.

What is in memory comes late, and so it is asked for early: in each of several passes over a block something is found
out about every piece, and what the next pass needs is requested.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np

from tokdfa.kernels.memory import ENTRY, MEMORY, SET, find_among, key_of, move_up, recall, remember, set_of
from tokdfa.kernels.one_pass import TABLES, find_word, prefetch_word, tokenize
from tokdfa.kernels.packed import BYTES, Words, get, kernel, prefetch, put
from tokdfa.kernels.split import BEGINS, EVENT_BITS
from tokdfa.kernels.together import (
    FEW_LANES,
    LANES,
    WORD,
    begin_long_word,
    begin_short_word,
    finish_word,
    merge_together,
)
from tokdfa.kernels.types import LONGS, Ints, Longs

__all__ = ["BLOCK", "DONE", "FOREIGN", "SCRATCH", "TOO_LONG", "Scratch", "encode_pieces"]

BLOCK = 32

# How an encoding ends: with all pieces, or before one with a symbol that is not in the alphabet, or before one that is
# too long for rules that are improper.
DONE, FOREIGN, TOO_LONG = 0, 1, 2

_EVENT = (1 << EVENT_BITS) - 1

# What is noted of a piece: its key, its set, and where its ids are: in an entry of the memory, or in one of these ways,
# or in the token that is _TOKEN minus this.
_PIECE = 4
_LOW, _HIGH, _SET, _WHERE = range(_PIECE)
_LEFT_OUT, _MERGED, _ALONE, _TOKEN = -1, -2, -3, -4


class Scratch(NamedTuple):
    """Room to work in.

    Attributes
    ----------
    noted : int64 array of shape (4 * BLOCK,)
    rest, waiting, waiting_long, firsts, counts : int64 arrays of shape (BLOCK,)
    lanes : int32 array of shape (WORD * BLOCK,)
    starts : uint64 array of shape (BLOCK,)
    left : uint64 array
        For :func:`~tokdfa.kernels.one_pass.tokenize`: all zeros, enough for the longest piece.
    """

    noted: Words
    rest: Longs
    waiting: Longs
    waiting_long: Longs
    firsts: Longs
    counts: Longs
    lanes: Ints
    starts: Words
    left: Words


_LONGS = nb.int64[::1]
_WORDS = nb.uint64[::1]
SCRATCH = nb.types.NamedTuple((_WORDS, *[_LONGS] * 5, nb.int32[::1], _WORDS, _WORDS), Scratch)  # type: ignore[no-untyped-call]


@kernel(nb.int64(TABLES, nb.boolean, BYTES, nb.int64, nb.int64, nb.int32[::1], nb.int64, _WORDS))
def _tokenize_alone(tables, proper, text, begin, end, out, n, left):  # type: ignore[no-untyped-def]
    """Write the ids of a piece and return how many they are, or minus how the encoding ends here."""
    if not proper:
        return np.int64(-TOO_LONG)
    n_ids = tokenize(tables, text, begin, end, out, n, left)
    for i in range(n, n + n_ids):
        out[i] = tables.ids[out[i]]
    return n_ids


@nb.njit(inline="always")
def _lanes_for(begin, end):  # type: ignore[no-untyped-def]
    return np.int64(FEW_LANES) if end - begin < FEW_LANES else np.int64(LANES)


@nb.njit(inline="always")
def _look_into_memory(memory, whole, text, begun, start, count, noted, rest):  # type: ignore[no-untyped-def]
    """Note the keys of all pieces and where those are that are remembered; return how many need another look.

    Text that is left out may spell a piece that is remembered, so it is told from pieces before the memory answers.
    """
    entries = memory.entries
    for k in range(count):
        begin, end = get(begun, start + k) >> EVENT_BITS, get(begun, start + k + 1) >> EVENT_BITS
        low, high = key_of(text, begin, end)
        at = set_of(memory, low, high)
        put(noted, _PIECE * k + _LOW, low)
        put(noted, _PIECE * k + _HIGH, high)
        put(noted, _PIECE * k + _SET, np.uint64(at))
        prefetch(entries, at)
    n_rest = 0
    for k in range(count):
        low, high = get(noted, _PIECE * k + _LOW), get(noted, _PIECE * k + _HIGH)
        at = np.int64(get(noted, _PIECE * k + _SET))
        in_first = (get(entries, at) == low) & (get(entries, at + 1) == high)
        entry = at if in_first else at + ENTRY
        is_piece = get(begun, start + k) & _EVENT == BEGINS
        put(noted, _PIECE * k + _WHERE, np.uint64(entry if is_piece else _LEFT_OUT))
        if is_piece & ((get(entries, entry) != low) | (get(entries, entry + 1) != high)):
            prefetch(entries, at + SET // 2)
            prefetch_word(whole, low, high)
            put(rest, n_rest, np.int64(k))
            n_rest += 1
    return n_rest


@nb.njit(inline="always")
def _look_further(tables, whole, text, begun, start, n_rest, memory, scratch):  # type: ignore[no-untyped-def]
    """Note where the ids are of pieces that are not in the front of their sets, and merge those that are not known."""
    noted = scratch.noted
    n_waiting = n_long = 0
    for i in range(n_rest):
        k = get(scratch.rest, i)
        begin, end = get(begun, start + k) >> EVENT_BITS, get(begun, start + k + 1) >> EVENT_BITS
        low, high = get(noted, _PIECE * k + _LOW), get(noted, _PIECE * k + _HIGH)
        at = np.int64(get(noted, _PIECE * k + _SET))
        where = find_among(memory.entries, at + SET // 2, at + SET, low, high)
        if where < 0:
            token = find_word(whole, text, begin, end, low, high)
            if token >= 0:
                where = _TOKEN - token
            elif end - begin < LANES and len(tables.symbol):
                where = np.int64(_MERGED)
                lanes, word = scratch.lanes, WORD * k
                if end - begin < FEW_LANES:
                    starts = begin_short_word(tables.of_symbols, tables.symbol, low, high, end - begin, lanes, word)
                    put(scratch.waiting, n_waiting, k)
                    n_waiting += 1
                else:
                    starts = begin_long_word(tables.of_symbols, tables.symbol, text, begin, end, lanes, word)
                    put(scratch.waiting_long, n_long, k)
                    n_long += 1
                put(scratch.starts, k, starts)
            else:
                where = np.int64(_ALONE)
        put(noted, _PIECE * k + _WHERE, np.uint64(where))
    if n_waiting:
        merge_together(tables.rules, scratch.lanes, scratch.starts, scratch.waiting, n_waiting, FEW_LANES)
    if n_long:
        merge_together(tables.rules, scratch.lanes, scratch.starts, scratch.waiting_long, n_long, LANES)


@kernel(
    nb.int64(
        TABLES, TABLES, nb.boolean, BYTES, LONGS, nb.int64, _LONGS, MEMORY, nb.int32[::1], _LONGS, SCRATCH,
    )
)  # fmt: skip
def encode_pieces(tables, whole, proper, text, begun, stop, cursor, memory, out, ends, scratch):  # type: ignore[no-untyped-def]
    """Encode pieces.

    Parameters
    ----------
    tables : Tables
        The dictionary.
    whole : Tables
        Tokens that stand for a piece when they are all of it.
    proper : bool
        Whether the dictionary is proper.
    text : uint8 array
    begun : int64 array
        Where pieces and text that is left out begin, ascending: ``offset << EVENT_BITS | event``. Each ends where the
        next one begins. No piece is empty.
    stop : int
        The last entry of `begun` to be encoded is the one before it.
    cursor : int64 array of shape (2,)
        The entry of `begun` to begin with, and where in `out` its ids go. Comes to where the encoding ends.
    memory : Memory
    out : int32 array
        Gets the ids; has room for one a byte and AT_ONCE more.
    ends : int64 array
        Gets, at i, where the ids of entry i end; empty when that is not wanted.
    scratch : Scratch

    Returns
    -------
    int
        DONE, FOREIGN or TOO_LONG.
    """
    n = cursor[1]
    noted, rest, firsts, counts = scratch.noted, scratch.rest, scratch.firsts, scratch.counts
    for start in range(cursor[0], stop, BLOCK):
        count = min(BLOCK, stop - start)
        n_rest = _look_into_memory(memory, whole, text, begun, start, count, noted, rest)
        if n_rest:
            _look_further(tables, whole, text, begun, start, n_rest, memory, scratch)
        for k in range(count):
            begin, end = get(begun, start + k) >> EVENT_BITS, get(begun, start + k + 1) >> EVENT_BITS
            where = np.int64(get(noted, _PIECE * k + _WHERE))
            put(firsts, k, n)
            n_ids = np.int64(-1)
            if where >= 0:
                n_ids = recall(memory, where, text, begin, end, out, n)
                if n_ids < 0:
                    # Another long piece has this hash. This one may be a token, which only now is looked for.
                    token = find_word(whole, text, begin, end, np.uint64(0), np.uint64(0))
                    if token >= 0:
                        out[n] = whole.ids[token]
                        n_ids = np.int64(1)
            elif where <= _TOKEN:
                out[n] = whole.ids[_TOKEN - where]
                n_ids = np.int64(1)
            elif where == _MERGED:
                starts = get(scratch.starts, k)
                if starts == 0:
                    cursor[0], cursor[1] = start + k, n
                    return FOREIGN
                n_lanes = _lanes_for(begin, end)
                n_ids = finish_word(scratch.lanes, WORD * k, n_lanes, starts, tables.ids_of_numbers, out, n)
            elif where == _LEFT_OUT:
                n_ids = np.int64(0)
            if n_ids < 0:
                n_ids = _tokenize_alone(tables, proper, text, begin, end, out, n, scratch.left)
                if n_ids < 0:
                    cursor[0], cursor[1] = start + k, n
                    return -n_ids
            put(counts, k, n_ids)
            n += n_ids
            if len(ends):
                ends[start + k] = n
        for i in range(n_rest):
            k = get(rest, i)
            where = np.int64(get(noted, _PIECE * k + _WHERE))
            if where >= 0:
                move_up(memory, where)
            else:
                begin, end = get(begun, start + k) >> EVENT_BITS, get(begun, start + k + 1) >> EVENT_BITS
                low, high = get(noted, _PIECE * k + _LOW), get(noted, _PIECE * k + _HIGH)
                at = np.int64(get(noted, _PIECE * k + _SET))
                remember(memory, at, low, high, text, begin, end, out, get(firsts, k), get(counts, k))
    cursor[0], cursor[1] = max(cursor[0], stop), n
    return DONE

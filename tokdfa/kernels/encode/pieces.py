"""Encoding pieces, with a cache of the pieces seen before: bounded in size and exact; see ``piece_cache.h``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array, Uint64Array
from tokdfa.kernels.library import Struct, call, check_memory, ffi, lib, readable, writable
from tokdfa.kernels.pages import LARGE_PAGE, untouched, zeros

LONGEST_KEPT = 512
"""The maximum length in bytes of a piece that is cached."""

ENTRY = 4
_WAYS = 4
SET = ENTRY * _WAYS
"""The number of machine words of a set."""

_FIRST_SETS = LARGE_PAGE // (8 * SET)
"""The number of sets that a cache begins with."""

MANY_MISSED = 4096
"""The number of missing pieces after which it is time to ask whether a larger cache would help."""

# Entries for each piece that was seen, if the cache grows: looking at more than the first two of a set is slow, and
# with fewer entries too many pieces are among the others.
_ENTRIES_FOR_EACH = 4

# Bits of `seen` for each piece that the cache may have.
_BITS = 4


def new_cache(n_pieces: int, overflow: int | None = None) -> Struct:
    """Return an empty cache, for `grow`: of `n_pieces` at most, rounded up to a power of two, of 32 bytes each.

    The `overflow` area, of LONGEST_KEPT machine words or more, is for long pieces and many ids. Unused parts take no
    memory.
    """
    sets = min(_sets_for(n_pieces), _FIRST_SETS)
    size = max(SET * sets, 2 * LONGEST_KEPT) if overflow is None else max(overflow, LONGEST_KEPT)
    return Struct(
        "tokdfa_piece_cache", entries=zeros(SET * sets, np.uint64), overflow=untouched(size, np.uint64), used=0,
        seen=_none_seen(sets, n_pieces), n_distinct=0, n_missed=0, n_again=0,
    )  # fmt: skip


def _sets_for(n_pieces: int) -> int:
    return 1 << max(0, (n_pieces + _WAYS - 1) // _WAYS - 1).bit_length()


def _none_seen(sets: int, n_pieces: int) -> Uint64Array:
    """Return the bits of pieces that were seen before any was; none for a cache that cannot grow."""
    most = _sets_for(n_pieces)
    return np.zeros((_BITS * _WAYS * most + 63) // 64 if sets < most else 0, dtype=np.uint64)


def grow(cache: Struct, n_pieces: int) -> None:
    """Let a cache grow, up to `n_pieces` as :func:`new_cache` takes them, if most missing pieces were there before.

    Growing costs as much as merging some thousands of pieces, so that many are waited for.
    """
    pointer = cache.pointer
    n_missed, n_again = pointer.n_missed, pointer.n_again
    if n_missed < MANY_MISSED:
        return
    pointer.n_missed = pointer.n_again = 0
    largest = _sets_for(n_pieces)
    if 4 * pointer.used > 3 * len(cache.fields["overflow"]):
        # When it is full, everything is forgotten. As long as it may be longer, that costs more than a longer one.
        _lengthen_overflow(cache, min(4 * len(cache.fields["overflow"]), SET * largest))
    n_distinct, sets = pointer.n_distinct, len(cache.fields["entries"]) // SET
    if n_distinct > n_pieces:
        # With more bits set, most pieces would seem to have been seen.
        cache.fields["seen"].fill(0)
        pointer.n_distinct = 0
    wanted = min(_sets_for(_ENTRIES_FOR_EACH * n_distinct), largest)
    if 2 * n_again < n_missed or wanted <= sets:
        return
    entries = zeros(SET * wanted, np.uint64)
    call(lib.tokdfa_move_pieces, pointer, out=(entries, len(entries)))
    cache.set("entries", entries)
    _lengthen_overflow(cache, len(entries))
    if wanted == largest:
        cache.set("seen", _none_seen(wanted, n_pieces))
    else:
        # All that were seen, and are not there, come again before it can be said whether this was enough.
        pointer.n_missed = pointer.n_again = -n_distinct


def _lengthen_overflow(cache: Struct, size: int) -> None:
    old, used = cache.fields["overflow"], cache.pointer.used
    if len(old) < size:
        overflow = untouched(size, np.uint64)
        overflow[:used] = old[:used]
        cache.set("overflow", overflow)


LongTables: TypeAlias = Struct | Callable[[], Struct | None] | None


DONE, FOREIGN, TOO_LONG, _PAUSED = 0, -1, -2, -7
"""How an encoding of pieces ends: after all of them, before one with a symbol that is not in the alphabet, or before
one that is too long to be merged."""

SLACK = 4
"""The maximum number of entries that are written after the last id."""

_FIRST_CAPACITY = 1 << 14

AT_A_TIME = 1 << 18
"""Bytes after which a call comes back, so that signals are heeded: a few milliseconds."""


class PieceRun:
    """An encoder of pieces, with its working memory. It must not be used by two threads at the same time.

    It merges by `tables`, ``tokdfa_token_tables``, unless a piece is spelled like a token of `whole`, and caches
    `cached` pieces at most; see :func:`new_cache`. With `characters`, ``tokdfa_characters``, unknown pieces are
    encoded by these instead. Pieces too long to be merged are tokenized by `one_pass`, which may be a function that
    returns these tables, or None, when the first such piece comes; without them they are left to the caller.

    `struct` is the ``tokdfa_piece_encoder`` for C, `longest` the number of bytes of the longest text that the buffers
    are for.
    """

    def __init__(
        self, tables: Struct, whole: Struct, cached: int, one_pass: LongTables, characters: Struct | None = None
    ) -> None:
        self.longest = _FIRST_CAPACITY
        self._most_cached = cached
        self._cache = new_cache(cached)
        self._one_pass = one_pass
        known = None if callable(one_pass) else one_pass
        pause = Struct("tokdfa_pause", is_on=0, n=0, place=0, token=0, furthest=0, returned=0)
        self.struct = Struct(
            "tokdfa_piece_encoder", tables=tables, whole=whole, cache=self._cache, characters=characters,
            one_pass=known, left=_bits(self.longest), next=0, n=0, at_a_time=AT_A_TIME,
            added=np.zeros(1, dtype=np.int32), next_added=0, pause=pause,
        )  # fmt: skip

    def grow_to(self, longest: int) -> None:
        """Enlarge the buffers to texts of this number of bytes."""
        self.struct.set("left", _bits(longest))
        self.longest = longest

    def let_cache_grow(self) -> None:
        """Let the cache grow if it is crowded."""
        grow(self._cache, self._most_cached)

    def learn_long(self) -> bool:
        """Get the tables for long pieces, if there are any that are not known yet; return whether there are."""
        known, self._one_pass = self._one_pass, None
        tables = known() if callable(known) else None
        if tables is not None:
            self.struct.set("one_pass", tables)
        return tables is not None

    @property
    def next(self) -> int:
        """The piece that comes next."""
        return int(self.struct.pointer.next)

    @property
    def n(self) -> int:
        """The number of ids so far."""
        return int(self.struct.pointer.n)

    def continue_at(self, next: int, n: int) -> None:
        """Continue with another piece, and from this number of ids on."""
        pointer = self.struct.pointer
        pointer.next, pointer.n = next, n
        if pointer.pause.is_on:
            # An interrupted call has not cleared its bits.
            pointer.pause.is_on = 0
            self.struct.fields["left"].fill(0)

    def encode(self, text: bytes, begun: Int64Array, out: Int32Array, ends: Int64Array) -> int:
        """Encode pieces of a text, no longer than `longest`, from `next` on.

        `begun` has where pieces and text that is left out begin, ascending: ``offset << EVENT_BITS | event``, and last
        the end; each ends where the next one begins, and no piece is empty. The caller checks all that. `out` gets the
        ids, with a capacity of one a byte and SLACK more, and `ends` where the ids of each piece end.

        Returns DONE, or FOREIGN or TOO_LONG, before the piece `next`. TOO_LONG is not returned if `learn_long` helps.
        """
        assert len(text) <= self.longest
        assert len(out) >= len(text) + SLACK
        assert len(ends) >= len(begun) - 1
        pointers = writable(out, np.int32), writable(ends, np.int64) if len(ends) else ffi.NULL
        given = self.struct.pointer, text, len(text), readable(begun, np.int64), len(begun) - 1, *pointers
        status = _PAUSED
        # Between the calls signals are heeded, such as Ctrl-C.
        self.let_cache_grow()
        while status == _PAUSED or (status == TOO_LONG and self.learn_long()):
            status = check_memory(int(lib.tokdfa_encode_pieces(*given)))
            self.let_cache_grow()
        return status


def _bits(size: int) -> Uint64Array:
    """Return zeros, a bit for each byte of a text and one more."""
    return np.zeros((size >> 6) + 1, dtype=np.uint64)

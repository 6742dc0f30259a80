"""The searches: for the leftmost matches, none overlapping another, and for all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array
from tokdfa.kernels import pages
from tokdfa.kernels.library import Struct, call, ffi, lib, readable, writable
from tokdfa.kernels.search.tables import TOLD

__all__ = ["ALIGNED", "FINAL", "Copying", "Search", "n_lines"]

ALIGNED, FINAL = 1, 2
"""Options: matches begin and end at boundaries of tokens; the stream ends with the chunk."""

# Why a search has stopped; see search.h.
_MORE_MATCHES = 1

# The number of matches that are fetched at a time.
_ROOM = 1 << 14
# The number of entries for what was read in vain beyond the end of a match.
_MEMORY = 1 << 14
# The number of lines for pairs of a state and a token that are remembered, unless more pairs than that share a tag; see
# at_rest.h. A line has eight numbers, four pairs. Long lists of words lead to some ten thousand pairs, of which hardly
# any five may share a line, and all of which have to stay in the second-level cache.
_LINES, _LINE, _TAGS = 1 << 15, 8, 1 << 24
# Room for what is noted about a stretch of tokens; see at_rest.h.
_STRETCHES = 8 * (1024 + 66)
_STARTS = 1 << 10

# The place in the first token is in the bits of its number from this one on.
_OFFSET = 40

_NOTHING: Int64Array = np.empty(0, dtype=np.int64)
# All fields that are not working memory: those with which the struct begins, and the others; see ``api.h``.
_PLACES = (
    *("token", "offset", "state", "position", "pending", "end_token", "end_offset", "end", "start", "last"),
    *("floor", "idle_token", "first", "more", "settled"),
)
_MORE_PLACES = ("has_futile", "stretch_begin", "stretch_end", "run", "leads", "leads_next")
assert tuple(name for name, _ in ffi.typeof("tokdfa_search").fields[: len(_PLACES)]) == _PLACES
_BEGINNING = bytes(ffi.sizeof("int64_t") * len(_PLACES))

_COPYING = ffi.typeof("tokdfa_copying *")


class Copying:
    """What is known of ids that are copied while they are searched.

    `source` has the ids, which need not be checked: those below `limit` are ids that the machine's text has; `filled`
    are where these are copied to, `done` are not copied any more, and `step` are copied at a time. The longest match
    has `longest` bytes, 0 if there is none.

    `pointer` has the fields of ``tokdfa_copying``, which explains them. A search of a few ids takes little longer than
    making this, so it is no :class:`Struct`.
    """

    __slots__ = ("_source", "pointer")

    def __init__(
        self, source: Int32Array, *, limit: int, filled: int = 0, done: int = 0, longest: int = 0, step: int
    ) -> None:
        n_source = len(source)
        if not 0 <= done <= n_source or step < 1:
            raise TypeError("these are not places in the ids")
        self._source = readable(source, np.int32)  # which keeps the array alive
        self.pointer: Any = ffi.new(_COPYING, (self._source, n_source, limit, step, done, filled, longest))


def n_lines(n_pairs: int) -> int:
    """Return the number of lines for so many pairs of a state and a token: a line and a tag tell them apart.

    Examples
    --------
    >>> [n_lines(n) for n in (1, 1 << 39, (1 << 39) + 1)]
    [32768, 32768, 65536]
    """
    return max(_LINES, 1 << ((n_pairs - 1) // _TAGS).bit_length())


class Search:
    """A search under way, with its working memory.

    One thread at a time runs a search; several searches may share one machine. `at` is the place of the search: the
    fields of ``tokdfa_search``, which explains them. Tokens are counted from the first id of the current chunk, which
    is number ``at.first`` in the stream; bytes are counted from the beginning of the stream. `offsets` has, for each
    leftmost match yielded last, the number of bytes of its first token that come before it. Whoever runs the search may
    use and replace `buffer`.
    """

    __slots__ = ("_beginning", "_found", "_struct", "at", "buffer", "offsets")

    def __init__(self) -> None:
        self._found: Int64Array = np.empty(4 * _ROOM, dtype=np.int64)
        room = {
            "found": self._found,
            "passed": np.empty(_MEMORY, dtype=np.int64),
            "futile": np.empty(2 * _MEMORY, dtype=np.int64),
            "starts": np.empty(_STARTS, dtype=np.int64),
            "room": np.empty(_STRETCHES, dtype=np.int64),
            "steps": _NOTHING,
        }
        self._struct = Struct("tokdfa_search", **room, **dict.fromkeys(_PLACES + _MORE_PLACES, 0))
        self.at: Any = self._struct.pointer
        self._beginning = ffi.buffer(self.at, len(_BEGINNING))
        self.offsets: Int64Array = self._found[:0]
        self.buffer: Int32Array = np.empty(0, dtype=np.int32)

    def begin(self, state: int) -> None:
        """Begin a new stream in a state."""
        self._beginning[:] = _BEGINNING
        self.at.state = state
        self.at.has_futile = 0

    def leftmost(self, machine: Struct, ids: Int32Array, options: int) -> Iterator[Int64Array]:
        """Yield the leftmost matches in a chunk of ids, as many at a time as there is room for.

        `machine` is of :func:`tokdfa.kernels.search.tables.machine_of`; the first id, checked against its text, is the
        one at which `at` counts tokens from. `options` is a sum of `ALIGNED` and, when the stream ends with this chunk,
        `FINAL`.

        An int64 array has four numbers a match, counted from the beginning of the stream: start and end in bytes, its
        first token and the token after its last.
        """
        at = self.at
        self._prepare(machine)
        pointer = readable(ids, np.int32)
        while at.more:
            yield self._leftmost(lib.tokdfa_find_leftmost(machine.pointer, at, pointer, len(ids), options))

    def leftmost_in_copy(
        self, machine: Struct, copying: Copying, ids: Int32Array, options: int
    ) -> Iterator[Int64Array]:
        """Yield the leftmost matches as :meth:`leftmost` does, while ids are copied to an array.

        The first of these is the one at which `at` counts tokens from, and those that fill it have been checked. It
        ends before an id that is not below the limit, when less is copied than there is; and if too much is to be kept,
        when `at.more` is not 0. Then it may be called again with more room.
        """
        at, job = self.at, copying.pointer
        if not 0 <= job.filled <= len(ids) or (not len(ids) and job.done < job.n_source):
            raise TypeError("there is no room for ids")
        self._prepare(machine)
        into = writable(ids, np.int32)
        while at.more == _MORE_MATCHES:
            n_found = lib.tokdfa_find_leftmost_in_copy(machine.pointer, at, job, into, len(ids), options)
            yield self._leftmost(n_found)

    def forget(self, machine: Struct, ids: Int32Array, longest: int) -> int:
        """Forget those of the ids at hand that no later match needs; return how many others move to their front.

        The longest match has `longest` bytes, 0 if there is none. The first id is number ``at.first`` in the stream
        then, and no match begins before number ``at.settled``.
        """
        n_kept: int = call(lib.tokdfa_forget, machine.pointer.text, self.at, out=(ids, len(ids), longest))
        return n_kept

    def _prepare(self, machine: Struct) -> None:
        """Make ready for another chunk of ids."""
        at = self.at
        if machine.pointer.moves.n_runs and not at.n_steps:
            n_states = machine.pointer.forward.n_told // len(TOLD)
            steps = pages.zeros(n_lines(n_states * (machine.pointer.text.n_starts - 1)) * _LINE, np.int64)
            steps[:] = -1
            self._struct.set("steps", steps)
        at.run = at.stretch_begin = at.stretch_end = 0
        at.more = _MORE_MATCHES

    def _leftmost(self, n_found: int) -> Int64Array:
        """Return a copy of what has been found, with the offsets set apart."""
        if not n_found:
            self.offsets = _NOTHING
            return _NOTHING
        found = self._found[:n_found].copy()
        self.offsets = found[2::4] >> _OFFSET
        found[2::4] &= (1 << _OFFSET) - 1
        return found

    def all(self, machine: Struct, ids: Int32Array, options: int) -> Iterator[Int64Array]:
        """Yield all matches, in the order of their ends and then of their starts; otherwise like :meth:`leftmost`."""
        at = self.at
        self._prepare(machine)
        pointer = readable(ids, np.int32)
        while at.more:
            n_found = lib.tokdfa_find_all(machine.pointer, at, pointer, len(ids), options)
            if n_found >= 0:
                yield self._found[:n_found].copy()
                continue
            self._struct.set("starts", np.empty(-2 * n_found, dtype=np.int64))
            if -4 * n_found > len(self._found):
                self._found = np.empty(-8 * n_found, dtype=np.int64)
                self._struct.set("found", self._found)

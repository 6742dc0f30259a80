"""Searching streams of ids for matches in their text: the leftmost ones, none overlapping another, or all of them.

First the tables of a search, each built once: the spellings of ids, the automaton of the pattern, and the effects of
tokens on its states. Then the search under way. ``api.h`` explains the fields of the structs, ``search.h`` the bits in
their arrays. Callers have checked ids against the vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, IntegerArray, Uint8Array, Uint16Array
from tokdfa.kernels import pages
from tokdfa.kernels.library import Struct, call, check_memory, ffi, lib, readable, writable

ALIGNED, FINAL, KINDS = 1, 2, 4
"""Options: matches begin and end at boundaries of tokens; the stream ends with the chunk; the kinds of matches are
wanted, and no outcomes of tokens are known."""

STATE_INFO = ("delay", "restart", "right", "fixed", "shorter", "ending", "alive", "end_restart")
"""The fields of ``tokdfa_state_info``, each a column of an int64 array."""
assert [name for name, _ in ffi.typeof("tokdfa_state_info").fields] == list(STATE_INFO)

MOST_CLASSES = 1 << 16
"""The exclusive upper bound on the number of classes of tokens."""
LONGEST_IN_CLASS = 0x7FFF
"""The maximum length of tokens that have classes or marks."""

_N_SYMBOLS, _MOST_COLUMNS, _N_ROWS = 257, 258, 33


def spelled_of(text: Uint8Array, offsets: Int64Array, cuts: BoolArray) -> Struct:
    """Return the spellings ``text[offsets[i]:offsets[i + 1]]`` of ids; `cuts` says which are special tokens."""
    starts = offsets << 1
    starts[:-1] |= cuts
    return Struct("tokdfa_spelled", bytes=np.ascontiguousarray(text), starts=starts)


def forward_of(table: Int32Array, column_of: IntegerArray, boundary: int, info: Int64Array, idle: int) -> Struct:
    """Return a searching automaton: `table` of shape (states, columns), `info` (states, 8) but for `alive`."""
    n_states, n_columns = table.shape
    fits = len(column_of) == _N_SYMBOLS and n_columns <= _MOST_COLUMNS and -1 <= boundary < n_columns
    if not fits or info.shape != (n_states, len(STATE_INFO)):
        raise TypeError("these arrays are not those of one searching automaton")
    column_of = np.ascontiguousarray(column_of, dtype=np.uint16)
    table = np.ascontiguousarray(table).reshape(-1)
    info = info.reshape(-1)
    call(lib.tokdfa_alive_columns, table, n_states, n_columns, column_of, boundary, out=(info,))
    return Struct(
        "tokdfa_forward", column_of=column_of, table=table, n_columns=n_columns, boundary=boundary, info=info, idle=idle
    )


_NOTHING: dict[str, Any] = {
    **dict.fromkeys(("properties", "entries", "runs"), np.zeros(0, dtype=np.int32)),
    **dict.fromkeys(("codes", "rows"), np.zeros(0, dtype=np.uint16)),
    **dict.fromkeys(("marks", "groups"), np.zeros(0, dtype=np.uint64)),
    "outcomes": np.zeros(0, dtype=np.int64),
    "n_classes": 0,
    "second": -1,
}

NO_MOVES = Struct("tokdfa_moves", **_NOTHING)
"""The effects of tokens before they are known: each token is read symbol by symbol."""


def token_effects(text: Struct, forward: Struct, max_effects: int) -> tuple[Int32Array, Int32Array]:
    """Return the index of each token's effect on all states, and the effects, of shape (effects, states).

    Effect 0 is the effect of reading nothing. An effect has four times the state reached from each state, plus 1 if a
    match has ended or the search has died on the way, plus 2 if it has died on the first symbol. There are none if more
    than `max_effects` were needed, at most 2^29 divided by the number of states. Each symbol of a token takes one
    look-up.
    """
    n_ids, n_states = text.pointer.n_starts - 1, forward.pointer.n_info // len(STATE_INFO)
    if max_effects < 1:
        return np.empty(0, dtype=np.int32), np.empty((0, n_states), dtype=np.int32)
    effect: Int32Array = np.empty(n_ids, dtype=np.int32)
    # Untouched pages of this take no memory.
    effects: Int32Array = np.empty((max_effects + 1, n_states), dtype=np.int32)
    found = call(lib.tokdfa_token_effects, text.pointer, forward.pointer, max_effects, out=(effect, effects))
    return effect, effects[: check_memory(found)]


def classes_of(
    text: Struct, forward: Struct, effect: Int32Array, effects: Int32Array
) -> tuple[Int32Array, Int32Array, int]:
    """Return the properties of ids, the entries of states and classes, and the number of classes of tokens.

    The states times the classes are at most 2^29, and no token is longer than `LONGEST_IN_CLASS`.
    """
    n_effects, n_states = effects.shape
    class_of: Int32Array = np.empty(n_effects, dtype=np.int32)
    n_classes = call(lib.tokdfa_number_classes, effect, len(effect), n_effects, out=(class_of,))
    properties: Int32Array = np.empty(len(effect), dtype=np.int32)
    entries: Int32Array = np.empty(n_states * n_classes, dtype=np.int32)
    job = Struct(
        "tokdfa_class_job", effect=effect, effects=effects, n_effects=n_effects, class_of=class_of,
        n_classes=n_classes, properties=properties, entries=entries,
    )  # fmt: skip
    lib.tokdfa_fill_classes(text.pointer, forward.pointer, job.pointer)
    return properties, entries, n_classes


def prefilter_of(
    properties: Int32Array, entries: Int32Array, n_classes: int, n_states: int, idle: int
) -> tuple[Uint16Array, Uint16Array, int]:
    """Return the prefilter's codes of ids, its 33 rows, and its second state, -1 for none; see ``prefilter.c``."""
    codes: Uint16Array = np.empty(len(properties), dtype=np.uint16)
    rows: Uint16Array = np.empty(_N_ROWS, dtype=np.uint16)
    known = properties, len(properties), entries, n_classes, n_states, idle
    return codes, rows, check_memory(call(lib.tokdfa_fill_prefilter, *known, out=(codes, rows)))


def idle_outcomes(text: Struct, forward: Struct, backward: Struct, *, with_runs: bool) -> tuple[Int64Array, Int32Array]:
    """Return the outcomes of tokens from the idle state; and, if wanted, the state after each byte.

    The pattern has no assertions and is not aligned, so that a search restarts in the idle state.
    """
    outcomes: Int64Array = np.empty(text.pointer.n_starts - 1, dtype=np.int64)
    runs: Int32Array = np.empty(text.pointer.n_bytes if with_runs else 0, dtype=np.int32)
    known = text.pointer, forward.pointer, backward.pointer
    call(lib.tokdfa_idle_outcomes, *known, out=(outcomes, runs if with_runs else None))
    return outcomes, runs


def moves_by_class(
    text: Struct, forward: Struct, effect: Int32Array, effects: Int32Array, backward: Struct | None
) -> Struct:
    """Return the effects of tokens that have classes; outcomes are among them if `backward` is given."""
    properties, entries, n_classes = classes_of(text, forward, effect, effects)
    n_states = len(entries) // n_classes
    codes, rows, second = prefilter_of(properties, entries, n_classes, n_states, forward.pointer.idle)
    found: dict[str, Any] = {"properties": properties, "entries": entries, "n_classes": n_classes}
    if backward is not None:
        found["outcomes"] = idle_outcomes(text, forward, backward, with_runs=False)[0]
    return Struct("tokdfa_moves", **_NOTHING | found | {"codes": codes, "rows": rows, "second": second})


def accelerated_moves(text: Struct, forward: Struct, backward: Struct) -> Struct:
    """Return the effects of tokens if there are too many classes; no token is longer than `LONGEST_IN_CLASS`."""
    outcomes, runs = idle_outcomes(text, forward, backward, with_runs=True)
    groups = np.empty(2 * (forward.pointer.n_info // len(STATE_INFO)), dtype=np.uint64)
    marks = np.empty(len(outcomes), dtype=np.uint64)
    call(lib.tokdfa_mark_groups, text.pointer, forward.pointer, outcomes, out=(groups, marks))
    found = {"outcomes": outcomes, "runs": runs, "marks": marks, "groups": groups}
    return Struct("tokdfa_moves", **_NOTHING | found)


# Why a search has stopped; see search.h.
_MORE_MATCHES = 1
# The number of matches that are fetched at a time, of keys of tokens read in vain, and of matches with one end.
_MOST_FOUND, _MOST_PASSED, _MOST_STARTS = 1 << 14, 1 << 14, 1 << 10
# The number of lines of the cache, unless more pairs than that share a tag; see pair_cache.h. Long lists of words lead
# to some ten thousand pairs. Hardly any five of these may share a line, and all have to stay in the second-level cache.
_LINES, _LINE, _TAGS = 1 << 15, 8, 1 << 24
# The size of the buffer for a block of tokens; see runs.h.
_BLOCK = 8 * (1024 + 66)
# The offset in the first token, or the kind of a match, is in the bits of an index from this one on.
_OFFSET = 40

_NO_MATCHES: Int64Array = np.empty(0, dtype=np.int64)

# The fields that are numbers: those with which the struct begins, and the others.
_STATE = (
    *("token", "offset", "state", "position", "pending", "end_token", "end_offset", "end", "start", "last"),
    *("floor", "idle_token", "first", "more", "settled"),
)
_OF_BLOCK = ("has_futile", "block_begin", "block_end", "run", "leads", "leads_next")
assert tuple(name for name, _ in ffi.typeof("tokdfa_search").fields[: len(_STATE)]) == _STATE
_BEGINNING = bytes(ffi.sizeof("int64_t") * len(_STATE))
_COPYING = ffi.typeof("tokdfa_copying *")


class Copying:
    """Ids that are copied while they are searched: `source`, unchecked; only ids below `limit` are copied.

    `pointer` has the fields of ``tokdfa_copying``. A search of a few ids takes little longer than making this, so it is
    not a :class:`Struct`.
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
    """Return the number of lines for so many pairs of a state and a token: a line and a tag tell them apart."""
    return max(_LINES, 1 << ((n_pairs - 1) // _TAGS).bit_length())


class Search:
    """A search under way, and its buffers.

    One thread at a time runs a search; several searches may share one machine. `at` has the fields of
    ``tokdfa_search``. `offsets` has, for each leftmost match yielded last, the number of bytes of its first token that
    come before it, and `kinds`, with that option, the kind of the symbol after it. Whoever runs the search may use and
    replace `buffer`.
    """

    __slots__ = ("_beginning", "_found", "_struct", "at", "buffer", "kinds", "offsets")

    def __init__(self) -> None:
        self._found: Int64Array = np.empty(4 * _MOST_FOUND, dtype=np.int64)
        self._struct = Struct(
            "tokdfa_search", found=self._found, passed=np.empty(_MOST_PASSED, dtype=np.int64),
            futile=np.empty(2 * _MOST_PASSED, dtype=np.int64), starts=np.empty(_MOST_STARTS, dtype=np.int64),
            buffer=np.empty(_BLOCK, dtype=np.int64), cache=_NO_MATCHES, **dict.fromkeys(_STATE + _OF_BLOCK, 0),
        )  # fmt: skip
        self.at: Any = self._struct.pointer
        self._beginning = ffi.buffer(self.at, len(_BEGINNING))
        self.offsets: Int64Array = self._found[:0]
        self.kinds: Int64Array = self._found[:0]
        self.buffer: Int32Array = np.empty(0, dtype=np.int32)

    def begin(self, state: int) -> None:
        """Begin a new stream in a state."""
        self._beginning[:] = _BEGINNING
        self.at.state = state
        self.at.has_futile = 0

    def leftmost(self, machine: Struct, ids: Int32Array, options: int) -> Iterator[Int64Array]:
        """Yield the leftmost matches in a chunk of ids, some at a time.

        `machine` is a ``tokdfa_machine``; `at` counts tokens from the first id. An int64 array has four numbers a
        match, counted from the beginning of the stream: start and end in bytes, its first token and the token after its
        last.
        """
        at = self.at
        self._prepare(machine)
        pointer = readable(ids, np.int32)
        while at.more:
            yield self._leftmost(lib.tokdfa_find_leftmost(machine.pointer, at, pointer, len(ids), options), options)

    def leftmost_in_copy(
        self, machine: Struct, copying: Copying, ids: Int32Array, options: int
    ) -> Iterator[Int64Array]:
        """Yield the leftmost matches as :meth:`leftmost` does, while ids are copied to an array.

        Those that fill it already have been checked. It ends before an id that is not below the limit, when less is
        copied than there is; and if too much is to be kept, when `at.more` is not 0: then call it again with a larger
        array.
        """
        at, job = self.at, copying.pointer
        if not 0 <= job.filled <= len(ids) or (not len(ids) and job.done < job.n_source):
            raise TypeError("there is no room for ids")
        self._prepare(machine)
        into = writable(ids, np.int32)
        while at.more == _MORE_MATCHES:
            n_found = lib.tokdfa_find_leftmost_in_copy(machine.pointer, at, job, into, len(ids), options)
            yield self._leftmost(n_found, options)

    def forget(self, machine: Struct, ids: Int32Array, longest: int) -> int:
        """Forget the ids at hand that no later match needs; return how many others move to their front.

        The longest match has `longest` bytes, 0 if there is none. The first id is number ``at.first`` in the stream
        then, and no match begins before number ``at.settled``.
        """
        n_kept: int = call(lib.tokdfa_forget, machine.pointer.text, self.at, out=(ids, len(ids), longest))
        return n_kept

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

    def _prepare(self, machine: Struct) -> None:
        """Make ready for another chunk of ids."""
        at = self.at
        if machine.pointer.moves.n_runs and not at.n_cache:
            n_states = machine.pointer.forward.n_info // len(STATE_INFO)
            cache = pages.zeros(n_lines(n_states * (machine.pointer.text.n_starts - 1)) * _LINE, np.int64)
            cache[:] = -1
            self._struct.set("cache", cache)
        at.run = at.block_begin = at.block_end = 0
        at.more = _MORE_MATCHES

    def _leftmost(self, n_found: int, options: int) -> Int64Array:
        """Return a copy of the matches found, with the offsets and the kinds set apart."""
        if not n_found:
            self.offsets = self.kinds = _NO_MATCHES
            return _NO_MATCHES
        found = self._found[:n_found].copy()
        self.offsets = found[2::4] >> _OFFSET
        found[2::4] &= (1 << _OFFSET) - 1
        if options & KINDS:
            self.kinds = found[3::4] >> _OFFSET
            found[3::4] &= (1 << _OFFSET) - 1
        return found

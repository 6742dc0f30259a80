"""Automata over classes of code points as automata over the bytes of UTF-8."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tokdfa.base.arrays import BoolArray, Int32Array, distinct
from tokdfa.base.budget import Budget
from tokdfa.regex.class_dfa import ClassDFA
from tokdfa.regex.unicode import LAST

EDGE = 256
BOUNDARY = 257
_N_COLUMNS = 258
_CONTINUATIONS = slice(0x80, 0xC0)

FIRST_LEADS = {2: 0xC2, 3: 0xE0, 4: 0xF0}
"""The least of the bytes that begin symbols of two, three and four bytes."""


@dataclass(frozen=True)
class ByteDFA:
    """A DFA over bytes and two more symbols: the edge of a text and the boundary between two tokens; state 0 is a sink.

    - `table`, of shape (states, columns), has the targets; `column`, of shape (258,), the column of each byte, of the
      edge, and of the boundary; equal columns are shared.
    - `delay`: if a match has ended, the number of bytes read since then; otherwise -1. `restart` is the state in which
      to restart at the end of that match, `right` the kind of the symbol after it. `end_delay`, `end_right` and
      `end_restart` are the same if the text ends here.
    - `starts` has the initial state after a symbol of each kind; the last one is for an edge.
    - `is_within`: for each state, whether a part of a symbol has been read.
    """

    table: Int32Array
    column: Int32Array
    delay: Int32Array
    restart: Int32Array
    right: Int32Array
    end_delay: Int32Array
    end_right: Int32Array
    end_restart: Int32Array
    starts: Int32Array
    is_within: BoolArray

    @property
    def initial(self) -> int:
        """The initial state at an edge."""
        return int(self.starts[-1])

    @property
    def n_states(self) -> int:
        """The number of states, including the sink."""
        return len(self.table)


def to_bytes(dfa: ClassDFA, budget: Budget | None = None) -> ByteDFA:
    """Return the automaton that reads the same texts byte by byte; the budget allows ten times as many states for it.

    Bytes that are not UTF-8 are read as symbols that are not code points: a lead byte with its continuation bytes is
    one such symbol, and so is every byte that is invalid at its offset.
    """
    return _Expansion(dfa, Budget() if budget is None else budget).run()


class Tries(NamedTuple):
    """The UTF-8 symbols of one length as a trie with shared equal subtrees.

    `classes` are the classes to which last bytes lead, or the number for no symbol. `levels` have the continuations, of
    shape (rows, 64), from the last byte to the second: the entries of a row lead to rows of the previous level and, on
    the first level, to classes. `leads` has the row of the last level to which each first byte leads.
    """

    classes: Int32Array
    levels: tuple[Int32Array, ...]
    leads: Int32Array

    @classmethod
    def of(cls, levels: list[Int32Array], leads: Int32Array) -> Tries:
        """Return the trie with only the rows that can be reached from the first bytes."""
        kept = []
        for rows in reversed(levels):
            used, index = np.unique(leads, return_inverse=True)
            kept.append(index.reshape(leads.shape).astype(np.int32))
            leads = rows[used]
        return cls(distinct(leads), (leads, *kept[:0:-1]), kept[0])


class SymbolTries(NamedTuple):
    """The classes of all symbols of two, three and four bytes, as tries over the bytes of UTF-8, by this length.

    `no_symbol` replaces the class where no symbol exists: at surrogates, in overlong forms, above U+10FFFF.
    """

    no_symbol: int
    of_length: dict[int, Tries]

    @classmethod
    def of_partition(cls, bounds: Int32Array, class_of_interval: Int32Array, no_symbol: int) -> SymbolTries:
        """Return the tries for classes given by intervals, as :class:`~tokdfa.regex.class_dfa.Partition` does."""
        return cls(no_symbol, _tries(bounds, class_of_interval, no_symbol))

    @classmethod
    def of_classes(cls, class_of_code_point: npt.NDArray[np.integer[Any]]) -> SymbolTries:
        """Return the tries for the class of every code point; `no_symbol` is one more than the largest."""
        bounds = np.append(0, np.flatnonzero(np.diff(class_of_code_point)) + 1).astype(np.int32)
        class_of_interval = class_of_code_point[bounds].astype(np.int32)
        return cls.of_partition(bounds, class_of_interval, int(class_of_interval.max()) + 1)


def _tries(bounds: Int32Array, class_of_interval: Int32Array, no_symbol: int) -> dict[int, Tries]:
    """Return the tries by the length of symbols."""
    last, block = _blocks(bounds, class_of_interval, no_symbol)
    nothing, block = block[-1], block[:-1]
    three = block[: 0x10000 >> 6].reshape(16, 64).copy()
    three[0, : 0x800 >> 6] = nothing  # overlong
    four = np.full((5 * 64, 64), nothing, np.int32)  # so are those below U+10000
    four[0x10000 >> 12 : len(block) >> 6] = block[0x10000 >> 6 :].reshape(-1, 64)
    four, planes = unique_rows(four)
    return {
        2: Tries.of([last], block[0x80 >> 6 : 0x800 >> 6]),
        3: Tries.of([last, three], np.arange(16, dtype=np.int32)),
        4: Tries.of([last, four, planes.reshape(5, 64)], np.arange(5, dtype=np.int32)),
    }


def _blocks(bounds: Int32Array, class_of_interval: Int32Array, no_symbol: int) -> tuple[Int32Array, Int32Array]:
    """Return the distinct rows of the classes of 64 code points, and the row of each block; an empty block is last."""
    starts = np.arange(0, LAST + 1, 64)
    interval = np.searchsorted(bounds, starts, side="right")
    mixed = np.flatnonzero(interval != np.searchsorted(bounds, starts + 63, side="right"))
    block = np.append(class_of_interval[interval - 1], np.int32(no_symbol))
    surrogates = slice(0xD800 >> 6, 0xE000 >> 6)
    block[surrogates] = no_symbol
    mixed = mixed[block[mixed] != no_symbol]
    uniform = np.repeat(np.arange(no_symbol + 1, dtype=np.int32), 64).reshape(-1, 64)
    within = np.searchsorted(bounds, starts[mixed, np.newaxis] + np.arange(64), side="right") - 1
    rows, number = unique_rows(class_of_interval[within])
    block[mixed] = number + np.int32(len(uniform))
    return np.concatenate((uniform, rows)), block


def unique_rows(rows: Int32Array) -> tuple[Int32Array, Int32Array]:
    """Return the distinct rows, and for each row its number among them."""
    buffer = np.ascontiguousarray(rows).tobytes()
    width = rows.shape[1] * rows.itemsize
    numbers: dict[bytes, int] = {}
    number = [numbers.setdefault(buffer[at : at + width], len(numbers)) for at in range(0, len(buffer), width)]
    distinct = np.frombuffer(b"".join(numbers), dtype=rows.dtype).reshape(-1, rows.shape[1])
    return distinct, np.array(number, dtype=np.int32)


class _Plain(NamedTuple):
    """The targets on all bytes that do not continue a symbol, as in a state between two symbols.

    `state` is the state of the given automaton. If `read` is positive, a symbol turned out broken after that many
    bytes, and a match ended before it, which the state `broken` records.
    """

    state: int
    read: int
    broken: int


class _Expansion:
    """The states over bytes, numbered in the order of their first visit.

    There are three kinds. A state between two symbols is a state of the given automaton with the number of bytes since
    a match ended. A state within a symbol consists of its continuations and a plain row for all other bytes. A late
    state is a copy of another state that also records that a match ended before a symbol that turned out broken.

    Most states are within symbols. Those of one state of the given automaton are made all at once, and only their
    continuations are kept.
    """

    def __init__(self, dfa: ClassDFA, budget: Budget) -> None:
        self.dfa = dfa
        self.budget = budget
        partition = dfa.partition
        self.tries = SymbolTries.of_partition(partition.bounds, partition.class_of_interval, dfa.no_symbol).of_length
        self.ascii, self.ascii_class = np.unique(dfa.partition.classes(np.arange(0x80)), return_inverse=True)
        self.waiting = dfa.accepts & dfa.delayed
        self.plain: dict[_Plain, int] = {}
        self.rows_between: dict[int, Int32Array] = {}
        # For each state: its plain row, its continuations, and the state to which a boundary within a symbol leads.
        self.plain_of: list[int] = []
        self.children: list[bytes] = []
        self.at_boundary: list[int] = []
        # For each state: the states of the given automaton that record a match ended here, or ending with the text, and
        # the number of bytes since then.
        self.ended: list[tuple[int, int]] = []
        self.delay: list[tuple[int, int]] = []
        self.numbers_between: dict[tuple[int, int], int] = {}
        self.numbers_within: dict[_Plain, dict[bytes, int]] = {}
        self.numbers_late: dict[tuple[int, int, int], int] = {}
        self.leads: dict[tuple[bytes, int, int], Int32Array] = {}
        self.between(0, 0)

    def add(self, plain: int, children: bytes, at_boundary: int, ended: tuple[int, int], delay: tuple[int, int]) -> int:
        self.plain_of.append(plain)
        self.children.append(children)
        self.at_boundary.append(at_boundary)
        self.ended.append(ended)
        self.delay.append(delay)
        return len(self.plain_of) - 1

    def between(self, state: int, length: int) -> int:
        """Return the number of a state reached by a symbol of `length` bytes."""
        dfa = self.dfa
        ago = length + int(dfa.late[state]) if self.waiting[state] else 0
        if (state, ago) not in self.numbers_between:
            plain = self.plain.setdefault(_Plain(state, 0, 0), len(self.plain))
            at_end = int(dfa.table[state, dfa.edge])
            delay = (ago if dfa.accepts[state] else -1, int(dfa.late[at_end]) if self.waiting[at_end] else -1)
            self.numbers_between[state, ago] = self.add(plain, b"", -1, (state, at_end), delay)
        return self.numbers_between[state, ago]

    def late(self, number: int, broken: int, ago: int) -> int:
        """Return the number of the copy of a state that also records that a match ended `ago` bytes ago."""
        if (number, broken, ago) not in self.numbers_late:
            same = self.plain_of[number], self.children[number], self.at_boundary[number]
            # Where all matches are wanted, one may end with the text, too.
            ended, delay = (broken, self.ended[number][1]), (ago, self.delay[number][1])
            self.numbers_late[number, broken, ago] = self.add(*same, ended, delay)
        return self.numbers_late[number, broken, ago]

    def within(self, children: Int32Array, broken: int, read: int) -> Int32Array:
        """Return, for each row of continuations, the number of the state that has read `read` bytes of a symbol.

        The number of bytes read is recorded only where it matters: where a match ends before a broken symbol.
        """
        read = read if self.waiting[broken] else 0
        after_boundary = int(self.dfa.table[broken, self.dfa.boundary])
        known = self.numbers_within.setdefault(_Plain(broken, read, broken), {})
        width = children.shape[1] * children.itemsize
        buffer = children.tobytes()
        numbers = np.zeros(len(children), dtype=np.int32)
        for row in range(len(children)) if broken else np.flatnonzero(children.any(axis=1)).tolist():
            key = buffer[row * width : (row + 1) * width]
            number = known.get(key)
            if number is None:
                number = known[key] = len(self.plain_of)
                ended, delay = (0, broken if read else 0), (-1, read or -1)
                plain = self.plain.setdefault(_Plain(broken, read, broken), len(self.plain))
                if after_boundary == broken:
                    self.add(plain, key, number, ended, delay)
                else:
                    # If the symbol is broken, the boundary after its last byte counts; if not, it was within a symbol.
                    self.add(plain, key, number + 1, ended, delay)
                    plain = self.plain.setdefault(_Plain(after_boundary, read, broken), len(self.plain))
                    self.add(plain, key, number + 1, ended, delay)
            numbers[row] = number
        return numbers

    def lead(self, state: int, length: int) -> Int32Array:
        """Return the targets of the bytes that begin symbols of `length` bytes."""
        self.budget.check_byte_states(len(self.plain_of))
        dfa, tries = self.dfa, self.tries[length]
        broken = int(dfa.table[state, dfa.no_symbol])
        numbers = np.zeros(dfa.no_symbol + 1, dtype=np.int32)
        numbers[tries.classes] = _mapped(dfa.table[state, tries.classes], lambda target: self.between(target, length))
        key = (numbers.tobytes(), broken, length)
        if key not in self.leads:
            for level, rows in enumerate(tries.levels):
                numbers = self.within(numbers[rows], broken, length - 1 - level)
            self.leads[key] = numbers[tries.leads]
        return self.leads[key]

    def row_between(self, state: int) -> Int32Array:
        """Return the targets of a state between two symbols."""
        if state not in self.rows_between:
            dfa = self.dfa
            row = np.full(_N_COLUMNS, self.between(int(dfa.table[state, dfa.no_symbol]), 1), dtype=np.int32)
            of_class = _mapped(dfa.table[state, self.ascii], lambda target: self.between(target, 1))
            row[:0x80] = of_class[self.ascii_class]
            row[0xC2:0xE0], row[0xE0:0xF0], row[0xF0:0xF5] = (self.lead(state, length) for length in (2, 3, 4))
            row[EDGE] = self.between(int(dfa.table[state, dfa.edge]), 1)
            row[BOUNDARY] = self.between(int(dfa.table[state, dfa.boundary]), 0)
            self.rows_between[state] = row
        return self.rows_between[state]

    def plain_row(self, plain: _Plain) -> Int32Array:
        """Return the targets of a plain row."""
        row = self.row_between(plain.state)
        if plain.read:
            row = row.copy()
            row[: EDGE + 1] = _mapped(row[: EDGE + 1], lambda target: self.late(target, plain.broken, plain.read + 1))
        return row

    def run(self) -> ByteDFA:
        """Return the automaton."""
        dfa = self.dfa
        starts = np.array([self.between(int(state), 0) for state in dfa.initial], dtype=np.int32)
        restarts = np.array([self.between(int(state), 0) for state in dfa.restart], dtype=np.int32)
        rows: list[Int32Array] = []
        while len(rows) < len(self.plain):
            rows += [self.plain_row(plain) for plain in list(islice(self.plain, len(rows), None))]
        ended, delay = np.array(self.ended, dtype=np.int32).T, np.array(self.delay, dtype=np.int32).T
        table, column = self.table(np.array(rows))
        right, restart = dfa.kind[ended], restarts[ended]
        is_within = np.array(self.at_boundary, dtype=np.int32) >= 0
        return ByteDFA(table, column, delay[0], restart[0], right[0], delay[1], right[1], restart[1], starts, is_within)

    def table(self, rows: Int32Array) -> tuple[Int32Array, Int32Array]:
        """Return the table with equal columns shared, and the column of each symbol."""
        children = np.frombuffer(b"".join(self.children), dtype=np.int32).reshape(-1, 64)
        at_boundary = np.array(self.at_boundary, dtype=np.int32)
        # Columns with equal parts are equal; the few that remain are compared as a whole.
        kind = np.zeros((_N_COLUMNS, 1), dtype=np.int32)
        kind[_CONTINUATIONS], kind[BOUNDARY] = 1, 2
        if len(children):
            kind[_CONTINUATIONS, 0] += 2 * unique_rows(np.ascontiguousarray(children.T))[1] + 2
        _, number = unique_rows(np.concatenate((rows.T, kind), axis=1))
        first = np.unique(number, return_index=True)[1]
        table = rows[np.array(self.plain_of)[:, np.newaxis], first]
        is_within = at_boundary >= 0
        for index, symbol in enumerate(first.tolist()):
            if symbol == BOUNDARY:
                table[is_within, index] = at_boundary[is_within]
            elif _CONTINUATIONS.start <= symbol < _CONTINUATIONS.stop:
                table[is_within, index] = children[:, symbol - _CONTINUATIONS.start]
        self.budget.check_time()
        table, shared = shared_columns(table)
        return table, shared[number]


def _mapped(values: Int32Array, function: Callable[[int], int]) -> Int32Array:
    """Return `function` of each value, called once per distinct value."""
    listed = values.tolist()
    found = {value: function(value) for value in dict.fromkeys(listed)}
    return np.array([found[value] for value in listed], dtype=np.int32)


def shared_columns(rows: Int32Array) -> tuple[Int32Array, Int32Array]:
    """Return the table with equal columns shared, and the column of each symbol."""
    columns, number = unique_rows(np.ascontiguousarray(rows.T))
    return np.ascontiguousarray(columns.T), number

"""Automata over classes of code points as automata over the bytes of UTF-8."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tokdfa.automata.class_dfa import ClassDFA
from tokdfa.automata.partition import Partition
from tokdfa.errors import LimitExceededError
from tokdfa.unicode import LAST

__all__ = ["BORDER", "EDGE", "ByteDFA", "to_bytes"]

Int32Array: TypeAlias = npt.NDArray[np.int32]

EDGE = 256
BORDER = 257
_N_COLUMNS = 258
_CONTINUATIONS = slice(0x80, 0xC0)

DEFAULT_MAX_STATES = 200_000


@dataclass(frozen=True)
class ByteDFA:
    """A deterministic automaton over bytes and two symbols more: the edge of a text and the border of two tokens.

    State 0 is the sink. int32 arrays.

    Attributes
    ----------
    table : shape (states, columns)
        Targets.
    column : shape (258,)
        The column of each byte, of the edge, and of the border; equal columns are shared.
    delay : one entry a state
        When a match has ended, how many bytes ago; otherwise -1.
    restart : one entry a state
        Where to begin anew at the end of that match.
    right : one entry a state
        The kind of the symbol behind that match.
    end_delay, end_right, end_restart : one entry a state
        The same if the text ends here.
    starts : one entry a kind
        The initial state behind a symbol of each kind; the last one is that at an edge.
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

    @property
    def initial(self) -> int:
        """The initial state at an edge."""
        return int(self.starts[-1])

    @property
    def n_states(self) -> int:
        """The number of states, the sink included."""
        return len(self.table)


def to_bytes(dfa: ClassDFA, *, max_states: int = DEFAULT_MAX_STATES) -> ByteDFA:
    """Return the automaton that reads the same texts byte by byte.

    What is not UTF-8 stands for no code point: a lead byte with what continues it, and every byte that cannot stand
    where it stands.

    Parameters
    ----------
    dfa : ClassDFA
        The automaton.
    max_states : int
        The budget.

    Raises
    ------
    LimitExceededError
        If it would have more states.
    """
    return _Expansion(dfa, max_states).run()


class _Sequences:
    """The classes of a partition as a trie of UTF-8, equal subtrees shared.

    `last` has the classes of the 64 code points that share all but their last byte, `middle` rows of 64 numbers of
    rows of `last`, `first` five rows of 64 numbers of rows of `middle`. `two` and `three` say where the lead bytes of
    two and three bytes lead.
    """

    def __init__(self, partition: Partition, no_symbol: int) -> None:
        self.last, block = _blocks(partition, no_symbol)
        nothing = block[-1]
        block = block[:-1]
        self.two = block[: 0x800 >> 6]
        three = block[: 0x10000 >> 6].reshape(16, 64).copy()
        three[0, : 0x800 >> 6] = nothing  # overlong
        four = block.reshape(-1, 64)
        rows = np.concatenate((three, four, np.full((1, 64), nothing, np.int32)))
        self.middle, number = _unique_rows(rows)
        self.three = number[:16]
        first = np.full((5, 64), number[-1], np.int32)
        first.reshape(-1)[: len(four)] = number[16:-1]
        first[0, : 0x10000 >> 12] = number[-1]  # overlong
        self.first = first
        self._distinct: dict[tuple[int, int], tuple[list[int], npt.NDArray[np.intp]]] = {}

    def distinct(self, level: int, row: int) -> tuple[list[int], npt.NDArray[np.intp]]:
        """Return the distinct entries of a row of `last`, `middle` or `first`, and the place of each entry in them."""
        key = (level, row)
        if key not in self._distinct:
            entries = (self.last, self.middle, self.first)[level - 1][row]
            distinct, place = np.unique(entries, return_inverse=True)
            self._distinct[key] = distinct.tolist(), place
        return self._distinct[key]


def _blocks(partition: Partition, no_symbol: int) -> tuple[Int32Array, Int32Array]:
    """Return the distinct rows of classes of 64 code points, and the row of every block; a block of nothing is last."""
    starts = np.arange(0, LAST + 1, 64)
    interval = np.searchsorted(partition.bounds, starts, side="right")
    mixed = np.flatnonzero(interval != np.searchsorted(partition.bounds, starts + 63, side="right"))
    block = np.append(partition.class_of_interval[interval - 1], np.int32(no_symbol))
    surrogates = slice(0xD800 >> 6, 0xE000 >> 6)
    block[surrogates] = no_symbol
    mixed = mixed[block[mixed] != no_symbol]
    uniform = np.repeat(np.arange(no_symbol + 1, dtype=np.int32), 64).reshape(-1, 64)
    rows, number = _unique_rows(partition.classes(starts[mixed, np.newaxis] + np.arange(64)))
    block[mixed] = number + np.int32(len(uniform))
    return np.concatenate((uniform, rows)), block


def _unique_rows(rows: Int32Array) -> tuple[Int32Array, Int32Array]:
    """Return the distinct rows, and for each row its number among them."""
    buffer = np.ascontiguousarray(rows).tobytes()
    width = rows.shape[1] * rows.itemsize
    numbers: dict[bytes, int] = {}
    number = [numbers.setdefault(buffer[at : at + width], len(numbers)) for at in range(0, len(buffer), width)]
    distinct = np.frombuffer(b"".join(numbers), dtype=rows.dtype).reshape(-1, rows.shape[1])
    return distinct, np.array(number, dtype=np.int32)


class _Between(NamedTuple):
    """A state between two symbols: that of the given automaton, and how many bytes ago a match has ended."""

    state: int
    delay: int


class _Within(NamedTuple):
    """A state within a symbol: where its last bytes lead, as an array's bytes, and where a broken symbol leads.

    How many bytes have been read is told only where it matters, because a match ends before a broken symbol.
    """

    children: bytes
    broken: int
    read: int


class _Late(NamedTuple):
    """A state that is another one, but knows now that a match has ended before a symbol that turned out broken."""

    number: int
    broken: int
    delay: int


class _Expansion:
    def __init__(self, dfa: ClassDFA, max_states: int) -> None:
        self.dfa = dfa
        self.max_states = max_states
        self.sequences = _Sequences(dfa.partition, dfa.no_symbol)
        self.no_symbol = dfa.no_symbol
        self.ascii = dfa.partition.classes(np.arange(0x80))
        self.waiting = dfa.accepts & dfa.delayed
        self.numbers: dict[_Between | _Within | _Late, int] = {}
        self.nodes: dict[tuple[int, int, int, int], int] = {}
        self.rows_between: dict[int, Int32Array] = {0: np.zeros(_N_COLUMNS, dtype=np.int32)}
        # Most states go the same ways on what is not ASCII: these are expanded once, for the first of them.
        bounds, classes = dfa.partition.bounds, dfa.partition.class_of_interval
        beyond = np.unique(classes[np.append(bounds[1:], LAST + 1) > 0x80])
        _, alike = _unique_rows(dfa.table[:, [*beyond, dfa.no_symbol]])
        self.first_alike: list[int] = np.unique(alike, return_index=True)[1][alike].tolist()
        self.targets: list[list[int]] = dfa.table.tolist()
        self.leads: dict[int, list[int]] = {}
        self.between(0, 0)

    def number(self, state: _Between | _Within | _Late) -> int:
        number = self.numbers.setdefault(state, len(self.numbers))
        if number >= self.max_states:
            raise LimitExceededError(
                f"the automaton of the pattern has more than {self.max_states} states over bytes", hint="narrow it"
            )
        return number

    def between(self, state: int, length: int) -> int:
        """Return the number of a state reached by a symbol of `length` bytes."""
        return self.number(_Between(state, length + int(self.dfa.late[state]) if self.waiting[state] else 0))

    def within(self, state: int, level: int, row: int, read: int) -> int:
        """Return the number of the state that has read `read` bytes of a symbol and expects `level` more."""
        key = (state, level, row, read)
        if key in self.nodes:
            return self.nodes[key]
        entries, place = self.sequences.distinct(level, row)
        if level == 1:
            targets = self.targets[state]
            numbers = [self.between(targets[symbol], read + 1) for symbol in entries]
        else:
            numbers = [self.within(state, level - 1, child, read + 1) for child in entries]
        broken = self.targets[state][self.no_symbol]
        number = 0
        if broken or any(numbers):
            children = np.array(numbers, dtype=np.int32)[place]
            number = self.number(_Within(children.tobytes(), broken, read if self.waiting[broken] else 0))
        self.nodes[key] = number
        return number

    def after_lead(self, state: int) -> list[int]:
        """Return the targets of a state between two symbols on the bytes that begin a symbol of several."""
        if state not in self.leads:
            sequences = self.sequences
            self.leads[state] = [
                *(self.within(state, 1, child, 1) for child in sequences.two[2:].tolist()),
                *(self.within(state, 2, child, 1) for child in sequences.three.tolist()),
                *(self.within(state, 3, lead, 1) for lead in range(5)),
            ]
        return self.leads[state]

    def row_between(self, state: int) -> Int32Array:
        """Return the targets of a state between two symbols."""
        if state not in self.rows_between:
            dfa = self.dfa
            row = np.full(_N_COLUMNS, self.between(int(dfa.table[state, dfa.no_symbol]), 1), dtype=np.int32)
            row[:0x80] = _mapped(dfa.table[state, self.ascii], lambda target: self.between(target, 1))
            row[0xC2:0xF5] = self.after_lead(self.first_alike[state])
            row[EDGE] = self.between(int(dfa.table[state, dfa.edge]), 1)
            row[BORDER] = self.between(int(dfa.table[state, dfa.border]), 0)
            self.rows_between[state] = row
        return self.rows_between[state]

    def row(self, number: int, states: list[_Between | _Within | _Late]) -> Int32Array:
        """Return the targets of a state."""
        state = states[number]
        if isinstance(state, _Between):
            return self.row_between(state.state)
        if isinstance(state, _Late):
            return self.row(state.number, states)
        row = self.row_between(state.broken).copy()
        if state.read:
            row[: EDGE + 1] = _mapped(
                row[: EDGE + 1], lambda target: self.number(_Late(target, state.broken, state.read + 1))
            )
        row[_CONTINUATIONS] = np.frombuffer(state.children, dtype=np.int32)
        row[BORDER] = number
        return row

    def run(self) -> ByteDFA:
        """Return the automaton."""
        dfa = self.dfa
        starts = np.array([self.between(int(state), 0) for state in dfa.initial], dtype=np.int32)
        restarts = np.array([self.between(int(state), 0) for state in dfa.restart], dtype=np.int32)
        rows: list[Int32Array] = []
        states: list[_Between | _Within | _Late] = []
        while len(rows) < len(self.numbers):
            states.extend(islice(self.numbers, len(states), None))
            rows.append(self.row(len(rows), states))
        # The state of the given automaton that tells of a match that has ended, and of one that ends with the text.
        ended = np.zeros((2, len(states)), dtype=np.int32)
        delay = np.full((2, len(states)), -1, dtype=np.int32)
        for number, state in enumerate(states):
            if isinstance(state, _Late):
                ended[0, number], delay[0, number] = state.broken, state.delay
            elif isinstance(state, _Within) and state.read:
                ended[1, number], delay[1, number] = state.broken, state.read
            elif isinstance(state, _Between):
                ended[0, number], ended[1, number] = state.state, dfa.table[state.state, dfa.edge]
                delay[0, number] = state.delay if dfa.accepts[state.state] else -1
                delay[1, number] = dfa.late[ended[1, number]] if self.waiting[ended[1, number]] else -1
        table, column = _shared_columns(np.array(rows))
        right = dfa.kind[ended]
        restart = restarts[ended]
        return ByteDFA(table, column, delay[0], restart[0], right[0], delay[1], right[1], restart[1], starts)


def _mapped(values: Int32Array, function: Callable[[int], int]) -> Int32Array:
    """Return `function` of each value, called once for equal ones."""
    distinct, place = np.unique(values, return_inverse=True)
    return np.array([function(value) for value in distinct.tolist()], dtype=np.int32)[place]


def _shared_columns(rows: Int32Array) -> tuple[Int32Array, Int32Array]:
    """Return the table with equal columns shared, and the column of each symbol."""
    columns, number = _unique_rows(np.ascontiguousarray(rows.T))
    return np.ascontiguousarray(columns.T), number

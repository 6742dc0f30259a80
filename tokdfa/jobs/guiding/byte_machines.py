"""Automata over bytes as tables: for languages, for texts without some words, and products."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.base.errors import LimitExceededError
from tokdfa.kernels.dfa import explicit as kernels
from tokdfa.regex.trie import TokenTrie

MAX_ENTRIES = 1 << 27
MAX_PAIRS = 1 << 26

NOWHERE = 0
"""The state from which no text continues."""


class ByteMachine(NamedTuple):
    """A deterministic automaton over bytes, and over special tokens if it reads them. State 0 is a dead end."""

    table: Int32Array  # Of shape (states, columns): the targets
    # Of 256 entries or more: the column of each byte, and then of each special token. No byte shares one with a special
    # token; the columns of bytes are first.
    column: Int32Array
    final: BoolArray  # One entry a state
    initial: int

    def after(self, data: bytes) -> Int32Array:
        """Return for each state the state after some bytes: int32[states]."""
        return next(self.after_each([data]))

    def after_each(self, words: Iterable[bytes]) -> Iterator[Int32Array]:
        """Yield for each word, and each state, the state after it; prefixes shared with the last word are read once."""
        path, last = [np.arange(len(self.table), dtype=np.int32)], b""
        for word in words:
            n_common = next(
                (at for at, pair in enumerate(zip(word, last, strict=False)) if pair[0] != pair[1]), len(word)
            )
            del path[n_common + 1 :]
            for byte in word[len(path) - 1 :]:
                path.append(self.table[path[-1], self.column[byte]])
            last = word
            yield path[-1]

    def with_specials(self, targets: Iterable[Int32Array]) -> ByteMachine:
        """Return an automaton over bytes that reads special tokens, too: the state after each, for each state."""
        width = self.table.shape[1]
        numbers: dict[bytes, int] = {}
        column = np.array([numbers.setdefault(target.tobytes(), len(numbers)) for target in targets], dtype=np.int32)
        added = [np.frombuffer(target, dtype=np.int32)[:, None] for target in numbers]
        if len(self.table) * (width + len(added)) > MAX_ENTRIES:
            raise LimitExceededError("the automaton of the language has too many states", value=len(self.table))
        return self._replace(
            table=np.hstack((self.table, *added)), column=np.append(self.column, column + np.int32(width))
        )

    def behind(self, data: bytes) -> ByteMachine:
        """Return the automaton of the texts with some bytes before each; no special tokens are read so far.

        State 1 + k is the one after the first k bytes, and the states of this automaton follow.
        """
        if not data:
            return self
        n, width = len(data), self.table.shape[1]
        values, which = np.unique(np.frombuffer(data, dtype=np.uint8), return_inverse=True)
        # A byte on the way is apart from all that shared its column.
        marks = np.zeros(256, dtype=np.int64)
        marks[values] = np.arange(1, len(values) + 1)
        both, column = np.unique(self.column + width * marks, return_inverse=True)
        if (len(self.table) + n) * len(both) > MAX_ENTRIES:
            raise LimitExceededError("the automaton of the texts has too many states", value=len(self.table) + n)
        later = self.table[1:, both % width]
        table = np.zeros((len(self.table) + n, len(both)), dtype=np.int32)
        table[n + 1 :] = np.where(later == NOWHERE, NOWHERE, later + n)
        targets = np.arange(2, n + 2)
        targets[-1] = self.initial + n
        table[np.arange(1, n + 1), column[values[which]]] = targets
        final = np.concatenate((np.zeros(n + 1, dtype=np.bool_), self.final[1:]))
        return ByteMachine(table, column.reshape(-1).astype(np.int32), final, 1)

    def spaced(self) -> ByteMachine:
        """Return the automaton of the texts with a space before each but the empty one; its initial state comes last.

        No special tokens are read so far.
        """
        table, column = self.table, self.column.copy()
        space = int(column[0x20])
        if (column == space).sum() > 1:
            column[0x20] = table.shape[1]
            table = np.hstack((table, table[:, [space]]))
        first = np.where(np.arange(table.shape[1]) == column[0x20], self.initial, NOWHERE).astype(np.int32)
        final = np.append(self.final, self.final[self.initial])
        return ByteMachine(np.vstack((table, first)), column, final, len(table))

    def without(self, symbols: Int64Array) -> ByteMachine:
        """Return the automaton that does not read some special tokens: the indices of their columns in `column`."""
        column = self.column.copy()
        column[symbols] = self.table.shape[1]
        nothing = np.zeros((len(self.table), 1), dtype=np.int32)
        return self._replace(table=np.hstack((self.table, nothing)), column=column)

    def apart(self) -> tuple[ByteMachine, Int32Array, Int32Array]:
        """Return the automaton over bytes alone, the state after special tokens, and the column of each there.

        The states are int32[states, columns].
        """
        column = self.column[:256]
        table = np.ascontiguousarray(self.table[:, : column.max() + 1])
        used, numbers = np.unique(self.column[256:], return_inverse=True)
        after = np.ascontiguousarray(self.table[:, used])
        return self._replace(table=table, column=column), after, numbers.reshape(-1).astype(np.int32)


def machine_of(dfa: TokenDFA) -> ByteMachine:
    """Return an automaton over bytes as a table; its states are numbered from 1."""
    n = dfa.n_states + 1
    if n * 256 > MAX_ENTRIES:
        raise LimitExceededError("the automaton of the language has too many states", value=dfa.n_states)
    by_byte = np.zeros((256, n), dtype=np.int32)
    byte_of = np.array([symbol[0] for symbol in dfa.alphabet.symbols], dtype=np.int64)
    by_byte[byte_of[dfa.tokens], dfa.sources + 1] = dfa.targets + 1
    numbers: dict[bytes, int] = {}
    column = np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in by_byte], dtype=np.int32)
    firsts = np.unique(column, return_index=True)[1]
    return ByteMachine(np.ascontiguousarray(by_byte[firsts].T), column, np.append(False, dfa.final), dfa.initial + 1)


def without_words(words: Sequence[bytes]) -> ByteMachine:
    """Return the automaton of all sequences of bytes in which none of some words, none of them empty, occurs.

    A. Aho, M. Corasick, *Efficient string matching*, 1975.
    """
    every = np.frombuffer(b"".join(words), dtype=np.uint8)
    used = np.unique(every)
    # Column 0 is for bytes that are in no word.
    column = np.zeros(256, dtype=np.int32)
    column[used] = np.arange(1, len(used) + 1)
    offsets = np.cumsum([0, *map(len, words)], dtype=np.int64)
    trie = TokenTrie(column[every], offsets)
    n_columns = len(used) + 1
    if (trie.n_nodes + 1) * n_columns > MAX_ENTRIES:
        raise LimitExceededError("the automaton of the words has too many states", value=trie.n_nodes)
    struct = kernels.trie_of(np.maximum(trie.symbol, 0), trie.depth, trie.end, trie.first)
    table, length, _ = kernels.find_words(struct, n_columns, False)
    table[length[table] > 0] = NOWHERE
    final = length == 0
    final[NOWHERE] = False
    return ByteMachine(table.reshape(-1, n_columns), column, final, 1)


def product(
    first: ByteMachine, second: ByteMachine, *, outside: bool = False, also: Sequence[tuple[int, int]] = ()
) -> ByteMachine:
    """Return the automaton of the texts of one language that are in another one too, or that are `outside` of it.

    It has the states from `also`, pairs of states other than the initial ones, too: these are states 2, 3, ...
    """
    return paired(first, second, outside=outside, also=also)[0]


def paired(
    first: ByteMachine, second: ByteMachine, *, outside: bool = False, also: Sequence[tuple[int, int]] = ()
) -> tuple[ByteMachine, Int32Array]:
    """Return a product, and the state of the first automaton for each of its states."""
    width = len(second.table)
    if len(first.table) * width > MAX_PAIRS:
        what = "the automata have too many pairs of states"
        raise LimitExceededError(what, value=f"{len(first.table)} * {width}")
    n_columns = second.table.shape[1]
    both, column = np.unique(first.column.astype(np.int64) * n_columns + second.column, return_inverse=True)
    of_first, of_second = both // n_columns, both % n_columns
    number = np.zeros(len(first.table) * width, dtype=np.int32)
    starts = [(first.initial, second.initial), *also]
    layer = np.array([a * width + b for a, b in starts], dtype=np.int64)
    n = 1 + len(layer)
    number[layer] = np.arange(1, n)
    layers, rows = [np.zeros(1, dtype=np.int64)], [np.zeros((1, len(both)), dtype=np.int64)]
    while len(layer):
        layers.append(layer)
        a = first.table[(layer // width)[:, None], of_first[None, :]].astype(np.int64)
        b = second.table[(layer % width)[:, None], of_second[None, :]]
        targets = np.where((a != NOWHERE) & (outside | (b != NOWHERE)), a * width + b, 0)
        rows.append(targets)
        layer = np.unique(targets[number[targets] == 0])
        layer = layer[layer >= width]
        number[layer] = np.arange(n, n + len(layer), dtype=np.int32)
        n += len(layer)
        if n * len(both) > MAX_ENTRIES:
            raise LimitExceededError("the automaton of the texts has too many states", value=n)
    keys = np.concatenate(layers)
    final = first.final[keys // width] & (second.final[keys % width] != outside)
    table = number[np.concatenate(rows)]
    made = ByteMachine(table, column.reshape(-1).astype(np.int32), final, 1)
    return made, (keys // width).astype(np.int32)


def merged(machine: ByteMachine) -> tuple[ByteMachine, Int32Array]:
    """Return a small automaton with equal states and equal columns merged, and the new number of each state."""
    number: Int32Array = np.where(np.arange(len(machine.table)) == NOWHERE, NOWHERE, 1 + machine.final)
    n, n_before = 1, 0
    while n_before < n:
        rows = np.column_stack((number, number[machine.table]))
        _, kept, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        number, n_before, n = inverse.reshape(-1).astype(np.int32), n, len(kept)
    # No byte shares a column with a special token.
    is_special = np.arange(machine.table.shape[1]) > machine.column[:256].max()
    columns, merged_column = np.unique(
        np.vstack((is_special, number[machine.table[kept]])), axis=1, return_inverse=True
    )
    column = merged_column.reshape(-1).astype(np.int32)[machine.column]
    table = np.ascontiguousarray(columns[1:], dtype=np.int32)
    return ByteMachine(table, column, machine.final[kept], int(number[machine.initial])), number


def has_size(machine: ByteMachine, total: int) -> bool:
    """Return whether some text that a trimmed automaton over bytes reads has `total` bytes."""
    here = np.zeros(len(machine.table), dtype=np.bool_)
    here[machine.initial] = True
    known: dict[bytes, int] = {}
    step = 0
    while step < total:
        before = known.setdefault(here.tobytes(), step)
        if before < step:
            # The sets repeat from here on: whole periods are left out.
            step, known = total - (total - step) % (step - before), {}
            if step == total:
                break
        after = np.zeros_like(here)
        after[np.unique(machine.table[here])] = True
        after[NOWHERE] = False
        here, step = after, step + 1
    return bool((here & machine.final).any())


def trimmed(machine: ByteMachine, distance: Int32Array | None = None) -> ByteMachine:
    """Return an automaton with all targets that lead to the end of no text replaced by `NOWHERE`."""
    distance = distances(machine.table, machine.final) if distance is None else distance
    return machine._replace(table=np.where(distance[machine.table] < 0, NOWHERE, machine.table))


def distances(table: Int32Array, final: BoolArray) -> Int32Array:
    """Return for each state the least number of symbols up to a final one; -1 if there is none."""
    if final[1:].all():
        return np.where(final, 0, -1).astype(np.int32)
    sources, columns = np.nonzero(table)
    return steps_to(sources, table[sources, columns].astype(np.int64), final)


def steps_to(sources: Int64Array, targets: Int64Array, final: BoolArray) -> Int32Array:
    """Return for each state the least number of edges, from sources to targets, up to a final one; -1 for none."""
    distance = np.where(final, 0, -1).astype(np.int32)
    edges = np.unique(targets << 32 | sources)
    targets, sources = edges >> 32, edges & 0xFFFFFFFF
    bounds = np.searchsorted(targets, np.arange(len(final) + 1))
    queue = np.flatnonzero(final).tolist()
    for state in queue:  # grows during the loop
        for source in sources[bounds[state] : bounds[state + 1]].tolist():
            if distance[source] < 0:
                distance[source] = distance[state] + 1
                queue.append(source)
    return distance

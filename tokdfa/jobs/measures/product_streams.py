"""The graph of canonical streams as a product of automata over labels, each with one thing to say about the next label.

Llama-2 has three: whether the text has begun (its first label lacks the space), how many bytes of a character have been
spelled that has no token, and the state of the language of texts. A base is a triple of their states. They are numbered
as they are reached. The states from which no stream ends are found first, and left out.
"""

from __future__ import annotations

import math
from collections import ChainMap
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from tokdfa.automata.protocol import Numbering
from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.base.budget import Budget
from tokdfa.base.errors import PatternError
from tokdfa.jobs.guiding.byte_machines import NOWHERE, ByteMachine, distances, has_size, trimmed
from tokdfa.jobs.guiding.tokens import ALL, FollowSets
from tokdfa.jobs.measures.streams import Edges, Streams, numbered
from tokdfa.kernels.dfa.explicit import tokens_from, trie_of
from tokdfa.regex.trie import TokenTrie
from tokdfa.tokenizers.decoder import Spellings

_UNMET = -2


class Factor(Protocol):
    """One of the automata of a product; its initial state is 0."""

    def after(self, state: int) -> Int32Array:
        """Return the state after each label, -1 for none."""

    def is_final(self, state: int) -> bool:
        """Return whether a stream may end in a state."""


class TableFactor(Factor):
    """An automaton as a table: for each state, the state after a label of each kind, -1 for none.

    Without `kinds`, one entry a label, each label is a kind of its own.
    """

    def __init__(self, table: Int32Array, final: Sequence[bool], kinds: Int32Array | None = None) -> None:
        self._table, self._final, self._kinds = table, final, kinds

    def after(self, state: int) -> Int32Array:
        found: Int32Array = self._table[state]
        return found if self._kinds is None else found[self._kinds]

    def is_final(self, state: int) -> bool:
        return self._final[state]


class TextFactor(Factor):
    """A language of texts, over the bytes of labels; `specials` are labels that the machine reads as symbols.

    A special label has the index of its column after the 256 columns of bytes.
    """

    def __init__(self, machine: ByteMachine, spellings: Spellings, specials: Mapping[int, int] | None = None) -> None:
        distance = distances(machine.table, machine.final)
        if distance[machine.initial] < 0:
            raise PatternError("no text is in the language")
        self.machine = machine = trimmed(machine, distance)
        self._table = machine.table[:, machine.column[:256]].reshape(-1)
        specials = specials or {}
        self._specials = np.array([*specials], dtype=np.int64)
        self._after_special = machine.table[:, machine.column[[256 + number for number in specials.values()]]]
        self._trie = TokenTrie(spellings.text.astype(np.int32), spellings.offsets)
        trie = self._trie
        symbol = np.maximum(trie.symbol, 0).astype(np.int32)
        self._struct = trie_of(symbol, trie.depth, trie.end, trie.first)
        self._empty: BoolArray = np.diff(spellings.offsets) == 0
        self._states = [machine.initial]
        # The number of each state of the machine; `_UNMET` for those without one so far.
        self._number: Int32Array = np.full(len(machine.table), _UNMET, dtype=np.int32)
        self._number[[NOWHERE, machine.initial]] = -1, 0
        self._latest: tuple[int, Int32Array] | None = None

    def after(self, state: int) -> Int32Array:
        # PERF: within characters, all states of a product have one state of this factor.
        if self._latest is None or self._latest[0] != state:
            self._latest = state, self._after(self._states[state])
        return self._latest[1]

    def _after(self, origin: int) -> Int32Array:
        indices, reached = tokens_from(self._struct, self._table, 256, origin)
        targets = np.full(len(self._empty), NOWHERE, dtype=np.int32)
        targets[self._trie.words[indices]] = reached
        targets[self._empty] = origin
        targets[self._specials] = self._after_special[origin]
        new = np.unique(targets[self._number[targets] == _UNMET])
        self._number[new] = np.arange(len(self._states), len(self._states) + len(new))
        self._states += new.tolist()
        found: Int32Array = self._number[targets]
        return found

    def is_final(self, state: int) -> bool:
        return bool(self.machine.final[self._states[state]])


class ProductStreams(Streams):
    """The product of some automata over labels, and of the labels that may follow each other; see `Streams`."""

    def __init__(
        self,
        sets: FollowSets,
        ordinary: BoolArray,
        ids: Int32Array,
        spellings: Spellings,
        factors: Sequence[Factor],
        texts: ByteMachine | None = None,
        *,
        has_dead_ends: bool = False,
    ) -> None:
        super().__init__(sets, ordinary, ids, spellings)
        self._text = None if texts is None else TextFactor(texts, spellings)
        self._factors = [*factors, *([] if self._text is None else [self._text])]
        self._labels = np.flatnonzero(ordinary).astype(np.int32)
        self._numbers: Numbering[tuple[int, ...]] = Numbering((0,) * len(self._factors))
        self._budget = Budget(max_seconds=math.inf, what="the graph of canonical streams")
        # One entry a position, and False at the end for labels that no row forbids.
        counts = sets.count_forbidding(np.arange(-1, len(sets.id_at), dtype=np.int32), np.arange(self.n_rows))
        self._is_ever_forbidden: BoolArray = np.roll(counts > 1, -1)  # Row `ALL` is one
        # The rows from which a stream ends, for each base that is not final and was met so far; None if from all.
        self._live: dict[int, BoolArray] | None = {} if has_dead_ends or texts is not None else None

    def _edges_from(self, base: int) -> Edges:
        edges = self._all_edges(base)
        if self._live is not None:
            self._live |= self._found_live(edges, self._live)
            kept = np.flatnonzero(self._ends_after(edges, self._live))
            edges = Edges(*(part[kept] for part in edges))
        return edges

    def is_final(self, base: int) -> bool:
        return all(
            factor.is_final(state) for factor, state in zip(self._factors, self._numbers.states[base], strict=True)
        )

    def has_size(self, n_bytes: int) -> bool:
        return self._text is None or has_size(self._text.machine, n_bytes)

    def _all_edges(self, base: int) -> Edges:
        """Return the edges of a base, dead ends included."""
        self._budget.check_time()
        labels, reached = self._labels, list[Int32Array]()
        for factor, state in zip(self._factors, self._numbers.states[base], strict=True):
            targets = factor.after(state)[labels]
            kept = np.flatnonzero(targets >= 0)
            labels, reached = labels[kept], [*(each[kept] for each in reached), targets[kept]]
        bases = numbered(self._numbers, reached, len(labels))
        return Edges(labels, bases, np.full(len(labels), -1, np.int32), self.sets.position[labels])

    def _ends_after(self, edges: Edges, live: Mapping[int, BoolArray]) -> BoolArray:
        """Return for each label of some edges whether a stream ends after it."""
        rows = self.sets.row_of[edges.labels]
        found = np.ones(len(rows), dtype=np.bool_)
        for target in self._not_final_after(edges):
            these = np.flatnonzero(edges.free == target)
            found[these] = live[target][rows[these]]
        return found

    def _not_final_after(self, edges: Edges) -> list[int]:
        return [base for base in np.unique(edges.free).tolist() if not self.is_final(base)]

    def _found_live(self, edges: Edges, known: dict[int, BoolArray]) -> dict[int, BoolArray]:
        """Return for each base and row whether a stream ends after such a state: the least fixed point.

        The bases are those that follow some edges without a final base between, and are not known.
        """
        live: dict[int, BoolArray] = {}
        waiting = self._not_final_after(edges)
        for base in waiting:  # It grows during the loop.
            if base not in live and base not in known:
                live[base] = np.zeros(self.n_rows, dtype=np.bool_)
                waiting += self._not_final_after(self._all_edges(base))
        found = ChainMap(live, known)
        changed = bool(live)
        while changed:
            changed = False
            for base in reversed(live):
                edges = self._all_edges(base)
                rows = self._are_free(edges.position[self._ends_after(edges, found)])
                changed |= bool((rows > live[base]).any())
                live[base] = rows
        return live

    def _are_free(self, positions: Int32Array) -> BoolArray:
        """Return for each row whether it does not forbid all labels with these positions."""
        sets = self.sets
        if not self._is_ever_forbidden[positions].all():
            # Row 1 forbids all that rows forbid.
            every: BoolArray = (np.arange(self.n_rows) != ALL) | bool((positions < 0).any())
            return every
        before: Int64Array = np.append(0, np.cumsum(np.bincount(positions, minlength=len(sets.id_at))))
        hits = np.append(0, np.cumsum(before[sets.stop] - before[sets.start]))
        free: BoolArray = hits[sets.pointer[1:]] - hits[sets.pointer[:-1]] < len(positions)
        return free

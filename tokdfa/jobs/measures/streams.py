"""The graph of the canonical streams of ordinary text: its paths from the beginning to a final state are the streams.

A state is a base and a row. The base is everything that decides which ids may follow, except for the last id: how far
the pre-tokenizer is, and which special token the text may be spelling. The row is the set of ids that the last id
forbids within a piece. From one base, an id leads to one base for all rows that do not forbid it (`free`), and to one
for all others (`cut`: a piece begins with it), if to any. Control tokens are not ordinary text.

Edges have *labels*. Most are ids. In Llama-2, id 15043 is ` Hello`, but `Hello` at the beginning of a text: these are
two labels. A path spells its text label by label.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tokdfa.automata.protocol import Numbering
from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, IntegerArray
from tokdfa.base.recent import Recent
from tokdfa.jobs.guiding.tokens import FollowSets
from tokdfa.tokenizers.decoder import Spellings, words_of


class Edges(NamedTuple):
    """The labels that may follow in the states of one base, ascending: arrays with an entry a label."""

    labels: Int32Array
    free: Int32Array  # The base after a label that the row does not forbid; -1 for none
    cut: Int32Array  # The base after a label that the row forbids; -1 for none
    position: Int32Array  # The position of each label in the rows; -1 for labels that none forbids


_MAX_KEPT = 1 << 25
_MOST_COUNTED = 1 << 20

_Paths = dict[tuple[int, int], tuple[int, ...]]


class Streams(ABC):
    """The graph of the canonical streams of a tokenizer; base 0 and row 0 are the beginning.

    From every state some stream continues to its end. All canonical streams are paths. Other paths are few; a text of a
    path must be encoded before it is believed. `ordinary` are the labels of the graph, one entry a label, `ids` their
    ids, and `spellings` their bytes.
    """

    def __init__(self, sets: FollowSets, ordinary: BoolArray, ids: Int32Array, spellings: Spellings) -> None:
        self.sets = sets
        self.n_rows = len(sets.pointer) - 1
        self.ordinary, self.ids, self.spellings = ordinary, ids, spellings
        self._edges: Recent[int, Edges] = Recent(_MAX_KEPT, lambda edges: edges.labels)
        self.sizes: Int64Array = np.diff(spellings.offsets).astype(np.int64)

    most_repeated = 3
    """How often the part of a text may have to be repeated to see that it can be repeated at will."""

    def edges(self, base: int) -> Edges:
        """Return the edges of a base."""
        return self._edges.get(base, self._edges_from)

    @abstractmethod
    def _edges_from(self, base: int) -> Edges:
        """Return the edges of a base, which are made anew."""

    @abstractmethod
    def is_final(self, base: int) -> bool:
        """Return whether a stream may end in the states of a base."""

    @abstractmethod
    def has_size(self, n_bytes: int) -> bool:
        """Return whether some text of the language has a number of bytes."""

    @cached_property
    def words(self) -> list[bytes]:
        """The bytes of each label."""
        return words_of(self.spellings)

    def spelled(self, labels: Iterable[int]) -> bytes:
        """Return the text of labels."""
        return b"".join(self.words[label] for label in labels)

    def ids_of(self, labels: Iterable[int]) -> tuple[int, ...]:
        """Return the ids of labels."""
        return tuple(self.ids[[*labels]].tolist())

    @cached_property
    def _labels_of(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for label in np.flatnonzero(self.ordinary).tolist():
            found.setdefault(int(self.ids[label]), []).append(label)
        return found

    def after(self, base: int, row: int, labels: IntegerArray) -> Int32Array:
        """Return the base after each of some labels, in the state of a base and a row; -1 where there is none."""
        edges = self.edges(base)
        if not len(edges.labels):
            return np.full(len(labels), -1, dtype=np.int32)
        at = np.minimum(np.searchsorted(edges.labels, labels), len(edges.labels) - 1)
        first, stop = int(self.sets.pointer[row]), int(self.sets.pointer[row + 1])
        position = edges.position[at]
        span = np.searchsorted(self.sets.start[first:stop], position, side="right") - 1
        forbidden = (position >= 0) & (span >= 0)
        forbidden[forbidden] = position[forbidden] < self.sets.stop[first:stop][span[forbidden]]
        found = np.where(forbidden, edges.cut[at], edges.free[at])
        found[edges.labels[at] != labels] = -1
        return found

    def step(self, base: int, row: int, label: int) -> int:
        """Return the base after a label in the state of a base and a row; -1 if there is none."""
        return int(self.after(base, row, np.array([label]))[0])

    def labels_of(self, ids: Iterable[int]) -> tuple[int, ...] | None:
        """Return the labels of a path with some ids that ends in a final state; None if there is none."""
        paths: _Paths = {(0, 0): ()}
        for id in ids:
            paths = self._stepped(paths, id)
        return next((path for state, path in paths.items() if self.is_final(state[0])), None)

    def _stepped(self, paths: _Paths, id: int) -> _Paths:
        """Return the paths that follow some paths by an id, by the states in which they end."""
        labels, found = self._labels_of.get(id, []), _Paths()
        for (base, row), path in paths.items() if labels else ():
            for label, target in zip(labels, self.after(base, row, np.array(labels)).tolist(), strict=True):
                if target >= 0:
                    found[target, int(self.sets.row_of[label])] = (*path, label)
        return found

    def forbids(self, rows: IntegerArray, label: int) -> BoolArray:
        """Return which of some rows forbid a label."""
        sets = self.sets
        position = int(sets.position[label])
        spans, lengths = sets.spans_of(rows)
        hits = (sets.start[spans] <= position) & (position < sets.stop[spans])
        found: BoolArray = np.bincount(np.repeat(np.arange(len(rows)), lengths), weights=hits, minlength=len(rows)) > 0
        return found


def grouped(keys: Int64Array) -> list[Int64Array]:
    """Return the indices of equal keys, one array a key."""
    order = np.argsort(keys, kind="stable")
    bounds = np.flatnonzero(np.diff(keys[order])) + 1
    return np.split(order, bounds) if len(keys) else []


def are_first(keys: Int64Array) -> BoolArray:
    """Return whether each of some keys, of which equal ones follow each other, is the first one of these."""
    return np.append(True, keys[1:] != keys[:-1])[: len(keys)]


def numbered(numbers: Numbering[Any], columns: Sequence[Int32Array], n: int) -> Int32Array:
    """Return the numbers of `n` tuples, which have an entry of each column."""
    code = np.zeros(n, dtype=np.int64)
    for column in columns:
        code = code * (int(column.max(initial=0)) + 1) + column
    _, first, inverse = distinct(code)
    keys = np.reshape([column[first] for column in columns], (len(columns), len(first))).T.tolist()
    found: Int32Array = np.array([numbers[tuple(key)] for key in keys], dtype=np.int32)[inverse]
    return found


def distinct(codes: Int64Array) -> tuple[Int64Array, Int64Array, Int64Array]:
    """Return the values of some codes, an index of each, and the index of the value of each code, as np.unique does."""
    top = int(codes.max(initial=0)) + 1
    if top > _MOST_COUNTED:
        return np.unique(codes, return_index=True, return_inverse=True)
    first = np.full(top, -1, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    values = np.flatnonzero(first >= 0)
    number = np.zeros(top, dtype=np.int64)
    number[values] = np.arange(len(values))
    return values, first[values], number[codes]

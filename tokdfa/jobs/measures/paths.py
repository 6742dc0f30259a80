"""Sums along the streams of a graph: whether all of them are 0, or the shortest stream with another sum.

All sums are 0 if and only if the states have potentials: 0 at the beginning and in final states, and the potential
after an id is the one before it plus the weight of the id. They are assigned state by state; the first state that would
have two shows that two streams to it differ.

The shortest stream with another sum than 0 is found by Dijkstra's algorithm with two labels a state: its shortest path,
and the shortest one with another sum. A part of a stream that leads to a state may be replaced by one of these two
labels, which are not longer, such that the sum of the whole is still not 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.base.budget import Budget
from tokdfa.jobs.measures.streams import Streams, grouped


class Weights(NamedTuple):
    """The weight of each id, given the class of the id before it; class 0 is the beginning of a text."""

    difference: Int64Array  # Of shape (classes, ids): the summands
    size: Int64Array  # Of shape (classes, ids): by how many bytes an id makes the text longer
    class_of: Int64Array  # One entry an id: its class, from 1 on


class Paths:
    """The states of a graph as numbers: base, class of the last id, and row."""

    def __init__(self, streams: Streams, weights: Weights, budget: Budget) -> None:
        self.streams, self.weights, self.budget = streams, weights, budget
        self.n_classes = len(weights.difference)

    def within(self, budget: Budget) -> Paths:
        """Return the same paths with another budget."""
        return Paths(self.streams, self.weights, budget)

    def coded(self, base: Int32Array, ids: Int32Array) -> Int64Array:
        """Return the states with some bases after ids."""
        rows = self.streams.sets.row_of[ids]
        return (base.astype(np.int64) * self.n_classes + self.weights.class_of[ids]) * self.streams.n_rows + rows

    def parts(self, code: int) -> tuple[int, int]:
        """Return the base and the class of a state."""
        return divmod(code // self.streams.n_rows, self.n_classes)

    def following(self, base: int, rows: Int64Array, useful: BoolArray | None) -> tuple[Int64Array, Int32Array]:
        """Return the states after the ids that follow any of some rows, with the ids: those that are `useful`."""
        self.budget.check_time()
        edges = self.streams.edges(base)
        if useful is not None:
            kept = np.flatnonzero(useful[edges.labels])
            edges = type(edges)(*(part[kept] for part in edges))
        n_forbidding = self.streams.sets.count_forbidding(edges.position, rows)
        free = (n_forbidding < len(rows)) & (edges.free >= 0)
        cut = (n_forbidding > 0) & (edges.cut >= 0) & ~(free & (edges.cut == edges.free))
        ids = np.concatenate((edges.labels[free], edges.labels[cut]))
        return self.coded(np.concatenate((edges.free[free], edges.cut[cut])), ids), ids


def paths_of(streams: Streams, budget: Budget) -> Paths:
    """Return the paths of a graph with all differences 0."""
    none = np.zeros_like(streams.sizes)
    return Paths(streams, Weights(none[None], streams.sizes[None], none), budget)


def are_zero(paths: Paths) -> bool:
    """Return whether the sums of all streams are 0."""
    known, potential = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    layer = known, potential
    while len(layer[0]):
        ends = {base: paths.streams.is_final(base) for base in np.unique(layer[0] // _width(paths)).tolist()}
        if any(layer[1][[ends[base] for base in (layer[0] // _width(paths)).tolist()]]):
            return False
        found = _next_potentials(paths, *layer)
        if found is None:
            return False
        codes, potentials = found
        at = np.minimum(np.searchsorted(known, codes), len(known) - 1)
        is_known = known[at] == codes
        if (potential[at] != potentials)[is_known].any():
            return False
        layer = codes[~is_known], potentials[~is_known]
        known, potential = np.append(known, layer[0]), np.append(potential, layer[1])
        order = np.argsort(known)
        known, potential = known[order], potential[order]
    return True


def _width(paths: Paths) -> int:
    return paths.n_classes * paths.streams.n_rows


def _next_potentials(paths: Paths, codes: Int64Array, potentials: Int64Array) -> tuple[Int64Array, Int64Array] | None:
    """Return the states after some states, with their potentials; None if a state has two."""
    found: list[tuple[Int64Array, Int64Array]] = []
    _, value = np.unique(potentials, return_inverse=True)
    n_rows = paths.streams.n_rows
    n_values = int(value.max(initial=0)) + 1
    for group in grouped((codes // n_rows) * n_values + value):
        base, number = paths.parts(int(codes[group[0]]))
        after, ids = paths.following(base, codes[group] % n_rows, None)
        found.append((after, potentials[group[0]] + paths.weights.difference[number, ids]))
        if len(found) == _MOST_TOGETHER:
            merged = _merged(found)
            if merged is None:
                return None
            found = [merged]
    return _merged(found)


_MOST_TOGETHER = 64


def _merged(found: list[tuple[Int64Array, Int64Array]]) -> tuple[Int64Array, Int64Array] | None:
    """Return states with their potentials, each once, ascending; None if a state has two."""
    pairs = np.unique(np.stack([np.concatenate(parts) for parts in zip(*found, strict=True)]), axis=1)
    codes, potentials = pairs
    return None if (codes[1:] == codes[:-1]).any() else (codes, potentials)


class _Labels(NamedTuple):
    """Arrays with an entry a label: a state, the sum of its path, and the last step of that."""

    codes: Int64Array
    sums: Int64Array
    group: Int64Array  # The group of labels before the last step
    ids: Int64Array


class Search:
    """A search for the shortest streams with a sum that is not 0, of up to `longest` bytes."""

    def __init__(self, paths: Paths, longest: int) -> None:
        self._paths, self._longest = paths, longest
        # The labels by the length of their paths, before it is known which of them are kept.
        none = np.zeros(0, dtype=np.int64)
        zero = np.zeros(1, dtype=np.int64)
        self._waiting: dict[int, list[_Labels]] = {0: [_Labels(zero, zero, zero - 1, zero)]}
        self._kept: list[_Labels] = []
        self._n_kept = 0
        # The labels of each group; their states differ only in the row.
        self._groups: list[Int64Array] = []
        # The states, ascending; the sum of the first label of each, and whether it has a second one.
        self._codes, self._sums, self._are_two = none, none, np.zeros(0, dtype=np.bool_)

    def streams(self) -> Iterator[tuple[int, ...]]:
        """Yield streams whose sum is not 0, the shortest texts first: one for each last id and state at most."""
        for length in range(self._longest + 1):
            while self._waiting.get(length):
                begin = self._n_kept
                labels = self._settled(self._waiting.pop(length))
                yield from self._ended(labels, begin)
                self._expand(labels, begin, length)

    def _settled(self, waiting: list[_Labels]) -> _Labels:
        """Return the labels that are kept of some of one length: the first of a state, and one with another sum."""
        joined = _Labels(*(np.concatenate(parts) for parts in zip(*waiting, strict=True)))
        _, first = np.unique(np.stack(joined[:2]), axis=1, return_index=True)
        labels = _Labels(*(part[first] for part in joined))
        at = np.minimum(np.searchsorted(self._codes, labels.codes), max(len(self._codes) - 1, 0))
        known = self._codes[at] == labels.codes if len(self._codes) else np.zeros(len(labels.codes), dtype=np.bool_)
        useful = np.ones(len(labels.codes), dtype=np.bool_)
        useful[known] = ~self._are_two[at[known]] & (self._sums[at[known]] != labels.sums[known])
        labels, known, at = _Labels(*(part[useful] for part in labels)), known[useful], at[useful]
        begins = np.append(True, labels.codes[1:] != labels.codes[:-1])[: len(labels.codes)]
        rank = np.arange(len(begins)) - np.maximum.accumulate(np.where(begins, np.arange(len(begins)), 0))
        kept = rank < np.where(known, 1, 2)
        self._are_two[at[kept & known]] = True
        new = kept & ~known & begins
        two = np.zeros(len(begins), dtype=np.bool_)
        two[np.flatnonzero(kept & ~known & ~begins) - 1] = True
        self._enter(labels.codes[new], labels.sums[new], two[new])
        labels = _Labels(*(part[kept] for part in labels))
        self._kept.append(labels)
        self._n_kept += len(labels.codes)
        return labels

    def _enter(self, codes: Int64Array, sums: Int64Array, two: np.ndarray) -> None:
        joined = np.append(self._codes, codes)
        order = np.argsort(joined)
        self._codes = joined[order]
        self._sums = np.append(self._sums, sums)[order]
        self._are_two = np.append(self._are_two, two)[order]

    def _expand(self, labels: _Labels, begin: int, length: int) -> None:
        """Have the labels wait that follow some of a length."""
        paths, n_rows = self._paths, self._paths.streams.n_rows
        _, value = np.unique(labels.sums, return_inverse=True)
        for group in grouped((labels.codes // n_rows) * (int(value.max(initial=0)) + 1) + value):
            base, number = paths.parts(int(labels.codes[group[0]]))
            size = paths.weights.size[number]
            codes, ids = paths.following(base, labels.codes[group] % n_rows, size <= self._longest - length)
            if not len(ids):
                continue
            sums = labels.sums[group[0]] + paths.weights.difference[number, ids]
            made = _Labels(codes, sums, np.full(len(ids), len(self._groups)), ids.astype(np.int64))
            self._groups.append(group + begin)
            for same in grouped(size[ids]):
                ends = length + int(size[ids[same[0]]])
                self._waiting.setdefault(ends, []).append(_Labels(*(part[same] for part in made)))

    def _ended(self, labels: _Labels, begin: int) -> Iterator[tuple[int, ...]]:
        """Yield the streams of labels with a sum that is not 0, in final states."""
        width = _width(self._paths)
        for number in np.flatnonzero(labels.sums).tolist():
            if self._paths.streams.is_final(int(labels.codes[number]) // width):
                yield self._spelled(begin + number)

    def _spelled(self, label: int) -> tuple[int, ...]:
        """Return the ids of the path of a label."""
        kept = _Labels(*(np.concatenate(parts) for parts in zip(*self._kept, strict=True)))
        streams, ids = self._paths.streams, []
        while kept.group[label] >= 0:
            target, id = self._paths.parts(int(kept.codes[label]))[0], int(kept.ids[label])
            group = self._groups[kept.group[label]]
            base = self._paths.parts(int(kept.codes[group[0]]))[0]
            edges = streams.edges(base)
            number = int(np.searchsorted(edges.labels, id))
            forbidden = streams.forbids(kept.codes[group] % streams.n_rows, id)
            leads = np.where(forbidden, edges.cut[number] == target, edges.free[number] == target)
            ids.append(id)
            label = int(group[np.flatnonzero(leads)[0]])
        return tuple(reversed(ids))

"""Sums along the streams of a graph: whether all of them are 0, or the shortest stream with another sum.

All sums are 0 if and only if the states have potentials: 0 at the beginning and in final states, and the potential
after an id is the one before it plus the weight of the id. They are assigned state by state; the first state that would
have two shows that two streams to it differ.

The shortest stream with another sum than 0 is found by Dijkstra's algorithm with two labels a state: its shortest path,
and the shortest one with another sum. A part of a stream that leads to a state may be replaced by one of these two
labels, which are not longer, such that the sum of the whole is still not 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, IntegerArray
from tokdfa.base.budget import Budget
from tokdfa.jobs.measures.streams import Streams, are_first, grouped


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

    def before(self, group: Int64Array, id: int, code: int) -> int:
        """Return the index of one of a group of states, equal but for their rows, from which an id leads to a state."""
        streams, target = self.streams, self.parts(code)[0]
        edges = streams.edges(self.parts(int(group[0]))[0])
        number = int(np.searchsorted(edges.labels, id))
        forbidden = streams.forbids(group % streams.n_rows, id)
        leads = np.where(forbidden, edges.cut[number] == target, edges.free[number] == target)
        return int(np.flatnonzero(leads)[0])

    def are_final(self, codes: Int64Array) -> BoolArray:
        """Return whether a stream may end, for each of some states."""
        bases, inverse = np.unique(codes // (self.n_classes * self.streams.n_rows), return_inverse=True)
        final = np.array([self.streams.is_final(base) for base in bases.tolist()], dtype=np.bool_)
        return final[inverse]

    def groups(self, codes: Int64Array, sums: Int64Array) -> Iterator[tuple[Int64Array, int]]:
        """Yield the indices of the states that are equal but for their rows, and have equal sums; and the sum."""
        _, value = np.unique(sums, return_inverse=True)
        for group in grouped((codes // self.streams.n_rows) * (int(value.max(initial=0)) + 1) + value):
            yield group, int(sums[group[0]])


class StateTable:
    """States, ascending, and arrays with an entry a state: its values."""

    def __init__(self, codes: Int64Array, *values: npt.NDArray[Any]) -> None:
        self.codes, self.values = codes, values

    def find(self, codes: Int64Array) -> tuple[Int64Array, BoolArray]:
        """Return the index of each of some states, and whether it has one."""
        at = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        return at, self.codes[at] == codes

    def enter(self, codes: Int64Array, *values: npt.NDArray[Any]) -> None:
        """Enter states that the table lacks, with their values."""
        joined = np.append(self.codes, codes)
        order = np.argsort(joined, kind="stable")
        self.codes = joined[order]
        self.values = tuple(np.append(old, new)[order] for old, new in zip(self.values, values, strict=True))


class Reached(NamedTuple):
    """States that paths lead to: arrays with an entry a path."""

    codes: Int64Array
    sums: Int64Array
    group: Int64Array  # The index of the group of states before the last step; -1 where a path begins
    ids: Int64Array  # The last step

    def at(self, index: IntegerArray | BoolArray) -> Reached:
        """Return those at an index."""
        return Reached(*(part[index] for part in self))

    @staticmethod
    def joined(several: Iterable[Reached]) -> Reached:
        """Return several, one after the other."""
        return Reached(*(np.concatenate(parts) for parts in zip(*several, strict=True)))


def paths_of(streams: Streams, budget: Budget) -> Paths:
    """Return the paths of a graph with all differences 0."""
    none = np.zeros_like(streams.sizes)
    return Paths(streams, Weights(none[None], streams.sizes[None], none), budget)


def are_zero(paths: Paths) -> bool:
    """Return whether the sums of all streams are 0."""
    layer = codes, potentials = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    known = StateTable(codes, potentials)
    while len(layer[0]):
        if layer[1][paths.are_final(layer[0])].any():
            return False
        found = _next_potentials(paths, *layer)
        if found is None:
            return False
        codes, potentials = found
        at, is_known = known.find(codes)
        if (known.values[0][at] != potentials)[is_known].any():
            return False
        layer = codes[~is_known], potentials[~is_known]
        known.enter(*layer)
    return True


def _next_potentials(paths: Paths, codes: Int64Array, potentials: Int64Array) -> tuple[Int64Array, Int64Array] | None:
    """Return the states after some states, with their potentials; None if a state has two."""
    found: list[tuple[Int64Array, Int64Array]] = []
    for group, potential in paths.groups(codes, potentials):
        base, number = paths.parts(int(codes[group[0]]))
        after, ids = paths.following(base, codes[group] % paths.streams.n_rows, None)
        found.append((after, potential + paths.weights.difference[number, ids]))
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


class Search:
    """A search for the shortest streams with a sum that is not 0, of up to `longest` bytes."""

    def __init__(self, paths: Paths, longest: int) -> None:
        self._paths, self._longest = paths, longest
        # The labels by the length of their paths, before it is known which of them are kept.
        zero = np.zeros(1, dtype=np.int64)
        self._waiting: dict[int, list[Reached]] = {0: [Reached(zero, zero, zero - 1, zero)]}
        self._kept: list[Reached] = []
        self._n_kept = 0
        # The labels of each group; their states differ only in the row.
        self._groups: list[Int64Array] = []
        # The sum of the first label of each state, and whether it has a second one; no state is -1.
        self._known = StateTable(zero - 1, zero, np.zeros(1, dtype=np.bool_))

    def streams(self) -> Iterator[tuple[int, ...]]:
        """Yield streams whose sum is not 0, the shortest texts first: one for each last id and state at most."""
        for length in range(self._longest + 1):
            while self._waiting.get(length):
                begin = self._n_kept
                labels = self._settled(self._waiting.pop(length))
                for number in np.flatnonzero((labels.sums != 0) & self._paths.are_final(labels.codes)).tolist():
                    yield self._spelled(begin + number)
                self._expand(labels, begin, length)

    def _settled(self, waiting: list[Reached]) -> Reached:
        """Return the labels that are kept of some of one length: the first of a state, and one with another sum."""
        joined = Reached.joined(waiting)
        labels = joined.at(np.unique(np.stack(joined[:2]), axis=1, return_index=True)[1])
        at, known = self._known.find(labels.codes)
        sums, are_two = self._known.values
        useful = ~known | (~are_two[at] & (sums[at] != labels.sums))
        labels, known, at = labels.at(useful), known[useful], at[useful]
        first = are_first(labels.codes)
        second = ~first & np.roll(first, 1) & ~known
        are_two[at[first & known]] = True
        new = first & ~known
        self._known.enter(labels.codes[new], labels.sums[new], np.roll(second, -1)[new])
        labels = labels.at(first | second)
        self._kept.append(labels)
        self._n_kept += len(labels.codes)
        return labels

    def _expand(self, labels: Reached, begin: int, length: int) -> None:
        """Have the labels wait that follow some of a length."""
        paths = self._paths
        for group, sum in paths.groups(labels.codes, labels.sums):
            base, number = paths.parts(int(labels.codes[group[0]]))
            size = paths.weights.size[number]
            rows = labels.codes[group] % paths.streams.n_rows
            codes, ids = paths.following(base, rows, size <= self._longest - length)
            if not len(ids):
                continue
            sums = sum + paths.weights.difference[number, ids]
            made = Reached(codes, sums, np.full(len(ids), len(self._groups)), ids.astype(np.int64))
            self._groups.append(group + begin)
            for same in grouped(size[ids]):
                ends = length + int(size[ids[same[0]]])
                self._waiting.setdefault(ends, []).append(made.at(same))

    def _spelled(self, label: int) -> tuple[int, ...]:
        """Return the ids of the path of a label."""
        kept, ids = Reached.joined(self._kept), list[int]()
        while kept.group[label] >= 0:
            group = self._groups[kept.group[label]]
            ids.append(int(kept.ids[label]))
            label = int(group[self._paths.before(kept.codes[group], ids[-1], int(kept.codes[label]))])
        return tuple(reversed(ids))

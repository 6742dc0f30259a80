"""Classes of code points that a pattern does not distinguish, and deterministic automata over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tokdfa.base.arrays import BoolArray, Int32Array, Uint16Array
from tokdfa.base.budget import Budget
from tokdfa.regex.unicode.ranges import LAST, Ranges


class Partition:
    """The coarsest partition of all code points such that each of some sets is a union of its classes.

    The code points from ``bounds[i]`` to the next bound are in class ``class_of_interval[i]``; `members`, of shape
    (classes, sets), says whether a class is a subset of a set.
    """

    def __init__(self, sets: Sequence[Ranges], budget: Budget | None = None) -> None:
        budget = Budget() if budget is None else budget
        edges = {0, *(edge for ranges in sets for first, last in ranges for edge in (first, last + 1) if edge <= LAST)}
        self.bounds: Int32Array = np.array(sorted(edges), dtype=np.int32)
        budget.check_size(len(self.bounds) * len(sets), "sets of symbols")
        inside = np.zeros((len(self.bounds), len(sets)), dtype=np.bool_)
        for column, ranges in enumerate(sets):
            budget.check_time()
            edges_of_set = np.array(ranges, dtype=np.int64).reshape(-1) + np.tile([0, 1], len(ranges))
            inside[:, column] = np.searchsorted(edges_of_set, self.bounds, side="right") % 2
        packed = np.packbits(inside, axis=1) if sets else np.zeros((len(self.bounds), 1), np.uint8)
        _, first, class_of_interval = np.unique(packed, axis=0, return_index=True, return_inverse=True)
        self.members: BoolArray = inside[first]
        self.class_of_interval: Int32Array = class_of_interval.reshape(-1).astype(np.int32)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.members)

    def classes(self, code_points: npt.ArrayLike) -> Int32Array:
        """Return the class of each code point."""
        interval = np.searchsorted(self.bounds, np.asarray(code_points), side="right") - 1
        return self.class_of_interval[interval]

    @cached_property
    def dense(self) -> Uint16Array:
        """The class of every code point, one after the other."""
        lengths = np.diff(self.bounds, append=LAST + 1)
        return np.repeat(self.class_of_interval.astype(np.uint16), lengths)


@dataclass(frozen=True)
class ClassDFA:
    """A deterministic automaton over the classes of a partition and three symbols that are not code points.

    State 0 is the sink. The arrays are int32, except the bools `accepts` and `late`.

    - `table`, of shape (states, classes + 3), has the targets. The last three columns are for bytes that are not a code
      point, for an edge of the text, and for the boundary between two tokens.
    - `accepts`: for each state, whether a match has ended: here or, if `delayed`, before the symbol just read. It is
      `delayed` if there are assertions: a match is then recognized only by the symbol after it.
    - `late`: whether that match ended one symbol earlier still, before a line feed that turned out to be the last
      symbol.
    - `restart`: for a state that accepts, the state in which to restart at the end of that match.
    - `kind`: for each state, the kind of the symbol just read; for a match that ended earlier, the kind of a line feed
      as the last symbol. Assertions do not distinguish symbols of one kind. If pattern number `w` of several has
      matched, the number of kinds is added `w` times.
    - `kind_of`: the kind of the symbols of each class, of bytes that are not a code point, and of an edge.
    - `initial`: the initial state after a symbol of each kind. The last entry is for an edge of the text. The one
      before it, if `has_last_line`, is for a line feed that is the last symbol.
    """

    partition: Partition
    table: Int32Array
    accepts: BoolArray
    late: BoolArray
    restart: Int32Array
    kind: Int32Array
    kind_of: Int32Array
    initial: Int32Array
    delayed: bool
    has_last_line: bool

    @property
    def no_symbol(self) -> int:
        """The column of bytes that are not a code point."""
        return self.partition.n_classes

    @property
    def edge(self) -> int:
        """The column of an edge of the text."""
        return self.partition.n_classes + 1

    @property
    def boundary(self) -> int:
        """The column of the boundary between two tokens."""
        return self.partition.n_classes + 2

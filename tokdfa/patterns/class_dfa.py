"""Deterministic automata over classes of code points."""

from __future__ import annotations

from dataclasses import dataclass

from tokdfa.arrays import BoolArray, Int32Array
from tokdfa.patterns.partition import Partition

__all__ = ["ClassDFA"]


@dataclass(frozen=True)
class ClassDFA:
    """A deterministic automaton over the classes of a partition and a few symbols that are not code points.

    State 0 is the sink.

    Attributes
    ----------
    partition : Partition
    table : int32 array of shape (states, classes + 3)
        Targets. The last three columns are those of what stands for no code point, of an edge of the text, and of the
        border of two tokens.
    accepts : bool array, one entry a state
        Whether a match has ended: here, or, if `delayed`, before the symbol just read.
    late : bool array, one entry a state
        Whether that match ended still one symbol earlier, before a line feed that turned out to be the last symbol.
    restart : int32 array, one entry a state
        For a state that accepts: the state to begin anew with at the end of that match.
    kind : int32 array, one entry a state
        The kind of the symbol just read; for a match that ended earlier, of a line feed that is the last symbol.
    kind_of : int32 array, one entry a class and two more
        The kind of the symbols of each class, of what stands for no code point, and of an edge. Symbols of one kind
        are alike to all assertions.
    initial : int32 array, one entry a kind
        The initial state behind a symbol of each kind; the last one is that at an edge of the text, and the one before,
        if `has_last_line`, is that at a line feed that is the last symbol.
    delayed : bool
        Whether the symbol behind a match must be known to know that it is one: when there are assertions.
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
        """The column of what stands for no code point."""
        return self.partition.n_classes

    @property
    def edge(self) -> int:
        """The column of an edge of the text."""
        return self.partition.n_classes + 1

    @property
    def border(self) -> int:
        """The column of the border of two tokens."""
        return self.partition.n_classes + 2

"""Deterministic automata over classes of code points."""

from __future__ import annotations

from dataclasses import dataclass

from tokdfa.arrays import BoolArray, Int32Array
from tokdfa.patterns.partition import Partition

__all__ = ["ClassDFA"]


@dataclass(frozen=True)
class ClassDFA:
    """A deterministic automaton over the classes of a partition and three symbols that are not code points.

    State 0 is the sink.

    Attributes
    ----------
    partition : Partition
    table : int32 array of shape (states, classes + 3)
        Targets. The last three columns are for bytes that are no code point, for an edge of the text, and for the
        border between two tokens.
    accepts : bool array, one entry per state
        Whether a match has ended: here or, if `delayed`, before the symbol just read.
    late : bool array, one entry per state
        Whether that match ended one symbol earlier still, before a line feed that turned out to be the last symbol.
    restart : int32 array, one entry per state
        For a state that accepts, the state in which to restart at the end of that match.
    kind : int32 array, one entry per state
        The kind of the symbol just read; for a match that ended earlier, that of a line feed as the last symbol.
    kind_of : int32 array, one entry per class and two more
        The kind of the symbols of each class, of bytes that are no code point, and of an edge. Assertions do not
        distinguish symbols of one kind.
    initial : int32 array, one entry per kind
        The initial state after a symbol of each kind. The last entry is for an edge of the text. The one before it, if
        `has_last_line`, is for a line feed that is the last symbol.
    delayed : bool
        Whether a match is recognized only by the symbol after it, which is the case if there are assertions.
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
        """The column of bytes that are no code point."""
        return self.partition.n_classes

    @property
    def edge(self) -> int:
        """The column of an edge of the text."""
        return self.partition.n_classes + 1

    @property
    def border(self) -> int:
        """The column of the border between two tokens."""
        return self.partition.n_classes + 2

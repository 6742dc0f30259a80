"""Where every text is cut: pairs of symbols that no piece can have side by side.

Whether a piece ends at some place may depend on text far to the right. Between two symbols that no match of the pattern
has next to each other it does not: every text has a border there, and the text to the left of it is split in the same
way whatever follows, except for the one symbol that a look-ahead may see. At such places a stream can be cut, and its
parts can be split separately.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array, Uint16Array
from tokdfa.splitting.known_machines import known_borders, known_certain
from tokdfa.splitting.pretokenizer import PreTokenizer

__all__ = ["CONTEXT", "Borders"]


CONTEXT = 2
"""The number of symbols after a border that must be available when the text before it is split: a look-ahead sees one,
and an anchor may ask whether that one is the last."""


class Borders:
    """Finds places in a text that are borders of pieces, whatever surrounds it.

    Parameters
    ----------
    pretokenizer : PreTokenizer

    Attributes
    ----------
    certain : bool array of shape (classes, classes)
        Whether there is a border between two symbols of these classes in every text.
    n_classes : int
        The number of classes of symbols. How the pairs are found is said in :mod:`tokdfa.splitting.border_pairs`.
    """

    def __init__(self, pretokenizer: PreTokenizer) -> None:
        self._splitting = pretokenizer.splitting
        certain = known_certain(self._splitting)
        if certain is None:
            from tokdfa.splitting.border_pairs import border_pairs

            self._class_of_code_point, certain = border_pairs(
                self._splitting, lambda: None if pretokenizer.splitter is None else pretokenizer.splitter.machine
            )
        self.certain: BoolArray = certain
        self.n_classes = len(self.certain)

    @cached_property
    def _class_of_code_point(self) -> Uint16Array:
        """The classes of all code points; of a known splitting they are read when they are first needed."""
        found = known_borders(self._splitting)
        assert found is not None
        return found[0]

    def classes(self, text: str) -> Int32Array:
        """Return the classes of the symbols of a text."""
        return self.classes_of(np.array([*map(ord, text)], dtype=np.int32))

    def classes_of(self, code_points: Int32Array) -> Int32Array:
        """Return the classes of many symbols; negative numbers get arbitrary classes."""
        return self._class_of_code_point[code_points].astype(np.int32)

    def last(self, text: str, begin: int, end: int) -> int:
        """Return the last place after `begin` and up to `end` where `text` is certainly cut; `begin` if none is found.

        Place i is the one before symbol i; the symbol at `end` must exist.
        """
        # Ordinary text is cut every few symbols, so begin with a few.
        step = 64
        while end > begin:
            low = max(begin, end - step)
            classes = self.classes(text[low : end + 1])
            places = np.flatnonzero(self.certain[classes[:-1], classes[1:]])
            if len(places):
                return low + 1 + int(places[-1])
            end = low
            step *= 4
        return begin

"""The offsets where a pre-tokenizer always cuts: between two symbols that no piece has side by side.

GPT-2's pattern cuts every text between n and a space, between a and 1, and between n and an apostrophe. Between a space
and n it never cuts (" n" begins a piece), and between two spaces the text after them decides. Only the first three are
certain.

For the known splittings these pairs are prebuilt, so that no pattern is read; for others `building` finds them.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Uint16Array
from tokdfa.tokenizers.pretokenizers.machine import known_boundaries, known_certain

if TYPE_CHECKING:
    from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer

CONTEXT = 2
"""The number of symbols after such a boundary that must be available when the text before it is split: a look-ahead
sees one, and an anchor may ask whether that one is the last."""


class CertainPairs:
    """The pairs of symbols between which a pre-tokenizer cuts every text.

    `certain`, a bool array of shape (classes, classes), is whether every text is cut between two symbols of these
    classes.
    """

    def __init__(self, pretokenizer: PreTokenizer) -> None:
        self._splitting = pretokenizer.splitting
        certain = known_certain(self._splitting)
        if certain is None:
            from tokdfa.tokenizers.pretokenizers.building import certain_pairs

            self._class_of_code_point, certain = certain_pairs(
                self._splitting, lambda: None if pretokenizer.splitter is None else pretokenizer.splitter.machine
            )
        self.certain: BoolArray = certain
        self.n_classes = len(self.certain)

    @cached_property
    def _class_of_code_point(self) -> Uint16Array:
        """The classes of all code points; of a known splitting they are read when they are first needed."""
        found = known_boundaries(self._splitting)
        assert found is not None
        return found[0]

    def classes(self, text: str) -> Int32Array:
        """Return the classes of the symbols of a text."""
        return self.classes_of(np.array([*map(ord, text)], dtype=np.int32))

    def classes_of(self, code_points: Int32Array) -> Int32Array:
        """Return the classes of many symbols; negative numbers get arbitrary classes."""
        return self._class_of_code_point[code_points].astype(np.int32)

    def last(self, text: str, begin: int, end: int) -> int:
        """Return the last offset after `begin` and up to `end` where `text` is always cut; `begin` if none is found.

        Offset i is before symbol i; the symbol at `end` must exist.
        """
        # Ordinary text is cut every few symbols, so begin with a few.
        step = 64
        while end > begin:
            low = max(begin, end - step)
            classes = self.classes(text[low : end + 1])
            offsets = np.flatnonzero(self.certain[classes[:-1], classes[1:]])
            if len(offsets):
                return low + 1 + int(offsets[-1])
            end = low
            step *= 4
        return begin

"""Words as arrays of code points, so that what holds for all of them is found out at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array, Int64Array

__all__ = ["Words"]


class Words(NamedTuple):
    """Words with ids.

    Attributes
    ----------
    codes : int32 array
        The code points of the words, one word after the other.
    offsets : int64 array
        Word i is ``codes[offsets[i] : offsets[i + 1]]``.
    ids : int32 array
    """

    codes: Int32Array
    offsets: Int64Array
    ids: Int32Array

    @classmethod
    def of(cls, words: Iterable[str], ids: Iterable[int]) -> Words:
        """Return words given as strings."""
        listed = list(words)
        offsets = np.zeros(len(listed) + 1, dtype=np.int64)
        np.cumsum(np.fromiter(map(len, listed), np.int64, len(listed)), out=offsets[1:])
        return cls(code_points("".join(listed)), offsets, np.fromiter(ids, np.int32, len(listed)))

    @property
    def lengths(self) -> Int64Array:
        """The number of characters of each word."""
        return np.diff(self.offsets)

    def where(self, chosen: BoolArray) -> Words:
        """Return the chosen words."""
        return Words(self.codes[np.repeat(chosen, self.lengths)], _ends(self.lengths[chosen]), self.ids[chosen])

    def after(self, sign: str) -> Words:
        """Return what is left of the words that start with a sign and are longer."""
        size = len(sign)
        chosen = self.lengths > size
        for place, code in enumerate(code_points(sign).tolist()):
            chosen[chosen] &= self.codes[self.offsets[:-1][chosen] + place] == code
        if not size:
            return self if chosen.all() else self.where(chosen)
        longer = self.where(chosen)
        stays = np.ones(len(longer.codes), dtype=np.bool_)
        for place in range(size):
            stays[longer.offsets[:-1] + place] = False
        return Words(longer.codes[stays], _ends(longer.lengths - size), longer.ids)

    def consist_of(self, is_allowed: BoolArray) -> BoolArray:
        """Return for each word, none of which is empty, whether all of its characters are allowed, by code point."""
        if not len(self.ids):
            return np.empty(0, dtype=np.bool_)
        found: BoolArray = np.logical_and.reduceat(is_allowed[self.codes], self.offsets[:-1])
        return found


def code_points(text: str) -> Int32Array:
    """Return the code points of a text, in which surrogates may be as well."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<i4").astype(np.int32, copy=False)


def _ends(lengths: Int64Array) -> Int64Array:
    """Return where words of these lengths begin and end."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets

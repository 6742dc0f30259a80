"""Words and entries as arrays, so that one call of numpy checks all of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, Uint8Array, running_sum
from tokdfa.kernels.spelling.lookup import WordTable
from tokdfa.regex.unicode.utf8 import code_points


class Words(NamedTuple):
    """Words with ids: word i has the code points ``codes[offsets[i] : offsets[i + 1]]``."""

    codes: Int32Array
    offsets: Int64Array
    ids: Int32Array

    @classmethod
    def of(cls, words: Iterable[str], ids: Iterable[int]) -> Words:
        """Return words given as strings."""
        listed = list(words)
        offsets = running_sum(np.fromiter(map(len, listed), np.int64, len(listed)))
        return cls(code_points("".join(listed)), offsets, np.fromiter(ids, np.int32, len(listed)))

    @property
    def lengths(self) -> Int64Array:
        """The number of characters of each word."""
        return np.diff(self.offsets)

    def where(self, chosen: BoolArray) -> Words:
        """Return the chosen words."""
        return Words(self.codes[np.repeat(chosen, self.lengths)], running_sum(self.lengths[chosen]), self.ids[chosen])

    def after(self, sign: str) -> Words:
        """Return the words that start with a sign and are longer, without the sign."""
        size = len(sign)
        chosen = self.lengths > size
        for index, code in enumerate(code_points(sign).tolist()):
            chosen[chosen] &= self.codes[self.offsets[:-1][chosen] + index] == code
        if not size:
            return self if chosen.all() else self.where(chosen)
        longer = self.where(chosen)
        stays = np.ones(len(longer.codes), dtype=np.bool_)
        for index in range(size):
            stays[longer.offsets[:-1] + index] = False
        return Words(longer.codes[stays], running_sum(longer.lengths - size), longer.ids)

    def consist_of(self, is_allowed: BoolArray) -> BoolArray:
        """Return for each word whether all of its characters are allowed, by code point; no word is empty."""
        if not len(self.ids):
            return np.empty(0, dtype=np.bool_)
        found: BoolArray = np.logical_and.reduceat(is_allowed[self.codes], self.offsets[:-1])
        return found


class EntryTexts(NamedTuple):
    """Entries, distinct and not empty, with ids of their own.

    Entry i is ``text[offsets[i] : offsets[i + 1] - 1]`` in UTF-8, and a zero byte, which no entry has, follows it. Ids
    are not negative. `table` finds these entries; strings of them are made when they are asked for.
    """

    text: Uint8Array
    offsets: Int64Array
    ids: Int32Array
    table: WordTable

    @property
    def n_characters(self) -> int:
        """The number of characters of all entries."""
        return int(np.count_nonzero(self.text & 0xC0 != 0x80)) - len(self.ids)

    def as_dict(self) -> dict[str, int]:
        """Return the ids by entry."""
        entries = self.text.tobytes().decode("utf-8").split("\0")[:-1]
        return dict(zip(entries, self.ids.tolist(), strict=True))

    def id(self, entry: str) -> int | None:
        """Return the id of an entry, None if there is none."""
        index = int(self.table.find([entry.encode("utf-8", "surrogatepass")])[0])
        return None if index < 0 else int(self.ids[index])

    def as_words(self) -> Words:
        """Return the entries as arrays of code points."""
        codes = np.frombuffer(self.text.tobytes().decode("utf-8").encode("utf-32-le"), dtype="<i4")
        is_letter = codes != 0
        ends = np.flatnonzero(~is_letter)
        offsets = np.append(0, ends - np.arange(len(ends)))
        return Words(codes[is_letter].astype(np.int32), offsets, self.ids)

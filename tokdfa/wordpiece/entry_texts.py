"""The entries of a vocabulary in UTF-8, of which strings are made when they are asked for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tokdfa.arrays import Int32Array, Int64Array, Uint8Array
from tokdfa.kernels.spelling.lookup import WordTable
from tokdfa.wordpiece.words import Words

__all__ = ["EntryTexts"]


class EntryTexts(NamedTuple):
    """Entries, distinct and not empty, with ids of their own.

    Attributes
    ----------
    text, offsets : uint8 and int64 arrays
        Entry i is ``text[offsets[i] : offsets[i + 1] - 1]``, and a zero byte, which no entry has, follows it.
    ids : int32 array
        The id of each, not negative.
    table : WordTable
        The table of these entries.
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
        place = int(self.table.find([entry.encode("utf-8", "surrogatepass")])[0])
        return None if place < 0 else int(self.ids[place])

    def as_words(self) -> Words:
        """Return the entries as arrays of code points."""
        codes = np.frombuffer(self.text.tobytes().decode("utf-8").encode("utf-32-le"), dtype="<i4")
        is_letter = codes != 0
        ends = np.flatnonzero(~is_letter)
        offsets = np.append(0, ends - np.arange(len(ends)))
        return Words(codes[is_letter].astype(np.int32), offsets, self.ids)

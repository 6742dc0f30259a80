"""The words of a character table of SentencePiece, which is a double-array trie."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Int64Array, Uint8Array, Uint32Array
from tokdfa.kernels.library import Struct, call, check_memory, lib
from tokdfa.kernels.spelling.lookup import check_words

CROWDED: int = lib.TOKDFA_CROWDED_TABLE
LARGE: int = lib.TOKDFA_LARGE_TABLE
MOST_PREFIXES: int = lib.TOKDFA_MOST_PREFIXES
"""So many words of a table may be prefixes of each other."""

_OUTSIDE = "units that point outside of the table"


class TableWords(NamedTuple):
    """The words of a table, ascending by their bytes, the value of each, and whether all words are UTF-8.

    Word i is ``text[offsets[i] : offsets[i + 1] - 1]``, and a zero byte, which no word has, follows it.
    """

    text: Uint8Array
    offsets: Int64Array
    values: Int64Array
    is_utf8: np.bool_


class UnreadableTableError(ValueError):
    """A table that is too large, or in which too many words are prefixes of each other.

    `why` is LARGE or CROWDED, and the bytes of `path` lead there.
    """

    def __init__(self, why: int, path: bytes) -> None:
        super().__init__(why, path)
        self.why = why
        self.path = path


def read_table(units: Uint32Array, expected: tuple[int, int] = (8, 64)) -> TableWords:
    """Return the words of a table: O(units and bytes of words).

    The units are the trie as Darts-clone writes it: 256, or a multiple of that; those that are not values point into
    it, or a ValueError is raised. More than 2²⁰ nodes, a word of more than 256 bytes, or too many words that are
    prefixes of each other are an UnreadableTableError. The first buffers hold `expected` words and bytes a unit.
    """
    if not len(units) or len(units) % 256 or len(units) >= 1 << 30:
        raise ValueError(_OUTSIDE)
    n_words, n_bytes = (each * len(units) for each in expected)
    while True:
        # Untouched pages take no memory.
        text: Uint8Array = np.empty(n_bytes, dtype=np.uint8)
        offsets: Int64Array = np.empty(n_words + 1, dtype=np.int64)
        values: Int64Array = np.empty(n_words, dtype=np.int64)
        path: Uint8Array = np.zeros(lib.TOKDFA_LONGEST_KEY + 1, dtype=np.uint8)
        offsets[0] = 0
        table = Struct(
            "tokdfa_charsmap", units=units, text=text, most_bytes=n_bytes, offsets=offsets, values=values,
            most_words=n_words, path=path, n_path=0, n_words=0, n_bytes=0, is_utf8=0,
        )  # fmt: skip
        status = check_memory(lib.tokdfa_read_charsmap(table.pointer))
        found = table.pointer
        if status == lib.TOKDFA_OUTSIDE_TABLE:
            raise ValueError(_OUTSIDE)
        if status < 0:
            raise UnreadableTableError(status, path[: found.n_path].tobytes())
        if found.n_words <= n_words and found.n_bytes < n_bytes:
            is_utf8 = np.bool_(found.is_utf8)
            return TableWords(text[: found.n_bytes], offsets[: found.n_words + 1], values[: found.n_words], is_utf8)
        n_words, n_bytes = int(found.n_words), int(found.n_bytes) + 1


class Characters(NamedTuple):
    """Whether each code point is a word, is in a longer one but not first, and is first in a longer one."""

    alone: BoolArray
    inside: BoolArray
    first: BoolArray


def characters_in(text: Uint8Array, offsets: Int64Array) -> Characters:
    """Return where code points are in the words ``text[offsets[i] : offsets[i + 1] - 1]``, which are UTF-8."""
    found = Characters(*(np.zeros(lib.TOKDFA_LAST_CODE_POINT + 1, dtype=np.bool_) for _ in range(3)))
    if len(offsets) > 1:
        check_words(text, offsets, 1)
        call(lib.tokdfa_mark_characters, text, offsets, len(offsets) - 1, out=found)
    return found

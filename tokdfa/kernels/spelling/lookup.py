"""Words by their spelling: finding single ones, and the rules of a file in its vocabulary; sorting them."""

from __future__ import annotations

import os

import numpy as np

from tokdfa.arrays import Int32Array, Int64Array, Uint8Array
from tokdfa.kernels.library import Struct, check_memory, lib, readable, writable

__all__ = ["WordTable", "check_words", "sort_words"]


class WordTable:
    """Words by their spelling.

    Parameters
    ----------
    text, offsets : uint8 and int64 arrays
        Word i is ``text[offsets[i] : offsets[i + 1] - gap]``. There is one word at least, and less than 2**31.
    gap : {0, 1}
        The number of bytes that separate words.

    Attributes
    ----------
    again : int
        The first word that is equal to an earlier one; -1 if all are distinct. If some are equal, the table is not
        complete, and finds nothing.

    Raises
    ------
    ValueError
        If the offsets are not those of words.

    Notes
    -----
    The key of the hash is drawn anew for each table, so that no file can be written whose words collide.
    """

    def __init__(self, text: Uint8Array, offsets: Int64Array, gap: int = 0) -> None:
        check_words(text, offsets, gap)
        n_slots = 4
        while n_slots < 2 * (len(offsets) - 1):
            n_slots *= 2
        keys = np.frombuffer(os.urandom(16), dtype=np.uint64).tolist()
        self._table = Struct(
            "tokdfa_word_table",
            text=text,
            offsets=offsets,
            gap=gap,
            slots=np.zeros(n_slots, dtype=np.uint64),
            key_0=keys[0],
            key_1=keys[1],
        )
        self.again = int(lib.tokdfa_enter_words(self._table.pointer))

    @classmethod
    def of_text(cls, text: bytes, n_words: int, separator: int) -> WordTable:
        """Return the table of words, each but the last followed by the separator, which none of them contains.

        Raises
        ------
        ValueError
            If the text has another number of words.
        """
        data = np.frombuffer(text + bytes([separator]), dtype=np.uint8)
        places = np.flatnonzero(data == separator)
        if not 0 < len(places) == n_words:
            raise ValueError(f"there are {len(places)} words, not {n_words}")
        offsets = np.zeros(n_words + 1, dtype=np.int64)
        offsets[1:] = places + 1
        return cls(data, offsets, 1)

    def find(self, words: list[bytes]) -> Int32Array:
        """Return the numbers of some words; -1 for those that the table lacks."""
        offsets = np.zeros(len(words) + 1, dtype=np.int64)
        np.cumsum(np.fromiter(map(len, words), dtype=np.int64, count=len(words)), out=offsets[1:])
        return self.find_in(np.frombuffer(b"".join(words), dtype=np.uint8), offsets)

    def find_in(self, text: Uint8Array, offsets: Int64Array) -> Int32Array:
        """Return the numbers of the words ``text[offsets[i] : offsets[i + 1]]``; -1 for those that the table lacks.

        Raises
        ------
        ValueError
            If the offsets are not those of words.
        """
        n_words = len(offsets) - 1
        found: Int32Array = np.full(n_words, -1, dtype=np.int32)
        if n_words and self.again < 0:
            check_words(text, offsets, 0)
            # An empty array has no address.
            text = text if len(text) else np.zeros(1, dtype=np.uint8)
            lib.tokdfa_look_up_words(
                self._table.pointer,
                readable(text, np.uint8),
                readable(offsets, np.int64),
                n_words,
                writable(found, np.int32),
            )
        return found

    def splits(self, unit: int, low: int, high: int) -> Int32Array:
        """Return every split of some words into two words of the table; none if some are equal.

        Parameters
        ----------
        unit : int
            The words are cut at multiples of so many bytes; the length of each is a multiple of it.
        low, high : int
            Words ``low`` to ``high - 1``.

        Returns
        -------
        int32 array of shape (n, 3)
            Left part, right part and word, by word and cut.

        Raises
        ------
        ValueError
            If there are no such words.
        """
        offsets = self._table.fields["offsets"]
        if unit < 1 or not 0 <= low <= high < len(offsets):
            raise ValueError(f"no words from {low} to {high}, in units of {unit}")
        room: Int32Array = np.empty((int(offsets[high] - offsets[low]) // unit + 1, 3), dtype=np.int32)
        if self.again >= 0:
            return room[:0]
        n = int(lib.tokdfa_find_splits(self._table.pointer, unit, low, high, writable(room, np.int32)))
        return room[:n].copy()

    def find_rules(
        self, text: bytes | Uint8Array, n_rules: int, inner: int, outer: int, skipped: int = 0
    ) -> tuple[Int32Array, int]:
        """Look up the parts of rules and the words that they make.

        Parameters
        ----------
        text : bytes or uint8 array
            The rules, separated by `outer`; each is two parts, not empty, separated by `inner`. No part contains
            either.
        n_rules : int
        inner, outer : int
            Bytes, which may be the same.
        skipped : int
            The number of bytes at the beginning of each right part that the word lacks.

        Returns
        -------
        found : int32 array of shape (rules, 3)
            The numbers of the left part, the right part and the word.
        n_found : int
            The number of rules up to the first one that is not written so, or that needs a word that there is not.
            The rows from there on have no meaning.
        """
        found: Int32Array = np.zeros((n_rules, 3), dtype=np.int32)
        if not (n_rules and len(text)) or self.again >= 0:
            return found, 0
        lines = Struct(
            "tokdfa_rule_lines",
            text=np.frombuffer(text, dtype=np.uint8),
            inner=inner,
            outer=outer,
            skipped=skipped,
            found=found,
            n_rules=n_rules,
        )
        n_found = int(lib.tokdfa_find_rules_in(self._table.pointer, lines.pointer))
        return found, n_found


def check_words(text: Uint8Array, offsets: Int64Array, gap: int) -> None:
    """Raise ValueError unless words lie one after the other in a text, with a gap of one byte or none after each."""
    n_words = len(offsets) - 1
    if not 0 < n_words < 1 << 31 or gap not in (0, 1):
        raise ValueError(f"{n_words} words with gaps of {gap}")
    if offsets[0] < 0 or offsets[-1] > len(text) or (np.diff(offsets) < gap).any():
        raise ValueError("the offsets are not those of words")


def sort_words(text: Uint8Array, offsets: Int64Array, gap: int) -> Int32Array:
    """Return the numbers of words in the order of their bytes: O(bytes) but for the sorting of eight at a time.

    Equal words keep their order.

    Parameters
    ----------
    text, offsets : uint8 and int64 arrays
        Word i is ``text[offsets[i] : offsets[i + 1] - gap]``. There is one word at least, and less than 2**31.
    gap : {0, 1}
        The number of bytes between words.

    Raises
    ------
    ValueError
        If the offsets are not those of words.
    """
    check_words(text, offsets, gap)
    order: Int32Array = np.empty(len(offsets) - 1, dtype=np.int32)
    # An empty array has no address.
    text = text if len(text) else np.zeros(1, dtype=np.uint8)
    check_memory(
        lib.tokdfa_sort_words(
            readable(text, np.uint8), readable(offsets, np.int64), len(order), gap, writable(order, np.int32)
        )
    )
    return order

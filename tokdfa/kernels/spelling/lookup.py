"""Words by their spelling: finding single ones, and the rules of a file in its vocabulary; sorting them."""

from __future__ import annotations

import os

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array, Uint8Array, offsets_of
from tokdfa.kernels.library import Struct, call, check_memory, lib, slots_for


class WordTable:
    """Words by their spelling: word i is ``text[offsets[i] : offsets[i + 1] - gap]``; at least one word.

    `gap`, 0 or 1, is the number of bytes that separate words; they are less than 2**31, and other offsets are a
    ValueError. `again` is the first word that is equal to an earlier one; -1 if all are distinct. If some are equal,
    the table is not complete, and finds nothing. The key of the hash is drawn anew for each table, so that no file can
    force collisions.
    """

    def __init__(self, text: Uint8Array, offsets: Int64Array, gap: int = 0) -> None:
        check_words(text, offsets, gap)
        keys = np.frombuffer(os.urandom(16), dtype=np.uint64).tolist()
        slots = np.zeros(slots_for(len(offsets) - 1), dtype=np.uint64)
        self._table = Struct(
            "tokdfa_word_table", text=text, offsets=offsets, gap=gap, slots=slots, key_0=keys[0], key_1=keys[1]
        )
        self.again = int(lib.tokdfa_enter_words(self._table.pointer))

    @classmethod
    def of_text(cls, text: bytes, n_words: int, separator: int) -> WordTable:
        """Return the table of `n_words` words, each but the last followed by the separator, which none contains."""
        data = np.frombuffer(text + bytes([separator]), dtype=np.uint8)
        ends = np.flatnonzero(data == separator)
        if not 0 < len(ends) == n_words:
            raise ValueError(f"there are {len(ends)} words, not {n_words}")
        return cls(data, np.append(0, ends + 1).astype(np.int64), 1)

    def find(self, words: list[bytes]) -> Int32Array:
        """Return the numbers of some words; -1 for those that the table lacks."""
        return self.find_in(np.frombuffer(b"".join(words), dtype=np.uint8), offsets_of(words))

    def find_in(self, text: Uint8Array, offsets: Int64Array) -> Int32Array:
        """Return the numbers of the words ``text[offsets[i] : offsets[i + 1]]``; -1 for those that the table lacks."""
        n_words = len(offsets) - 1
        found: Int32Array = np.full(n_words, -1, dtype=np.int32)
        if n_words and self.again < 0:
            check_words(text, offsets, 0)
            # An empty array has no address.
            text = text if len(text) else np.zeros(1, dtype=np.uint8)
            call(lib.tokdfa_look_up_words, self._table.pointer, text, offsets, n_words, out=(found,))
        return found

    def splits(self, unit: int, low: int, high: int) -> Int32Array:
        """Return the splits of the words `low` to ``high - 1`` into two words, cut at multiples of `unit` bytes.

        An int32 array of shape (n, 3) has left part, right part and word, by word and cut; none if some are equal.
        """
        offsets = self._table.fields["offsets"]
        if unit < 1 or not 0 <= low <= high < len(offsets):
            raise ValueError(f"no words from {low} to {high}, in units of {unit}")
        splits: Int32Array = np.empty((int(offsets[high] - offsets[low]) // unit + 1, 3), dtype=np.int32)
        if self.again >= 0:
            return splits[:0]
        n = call(lib.tokdfa_find_splits, self._table.pointer, unit, low, high, out=(splits,))
        return splits[:n].copy()

    def find_rules(
        self, text: bytes | Uint8Array, n_rules: int, inner: int, outer: int, skipped: int = 0
    ) -> tuple[Int32Array, int]:
        """Look up the parts of `n_rules` rules and the words that they make: shape (rules, 3), left, right and word.

        Rules are separated by the byte `outer`; each is two parts, not empty, separated by `inner`, which may be the
        same byte, and contain neither. The word lacks the first `skipped` bytes of the right part. Last is returned
        the number of rules up to the first one that is written otherwise, or lacks a word; later rows are undefined.
        """
        found: Int32Array = np.zeros((n_rules, 3), dtype=np.int32)
        if not (n_rules and len(text)) or self.again >= 0:
            return found, 0
        data = np.frombuffer(text, dtype=np.uint8)
        lines = Struct(
            "tokdfa_rule_lines", text=data, inner=inner, outer=outer, skipped=skipped, found=found, n_rules=n_rules
        )
        n_found = int(lib.tokdfa_find_rules_in(self._table.pointer, lines.pointer))
        return found, n_found


def check_words(text: Uint8Array, offsets: Int64Array, gap: int) -> None:
    """Raise ValueError unless words lie one after the other in a text, with a gap of one byte or none after each."""
    n_words = len(offsets) - 1
    if not 0 < n_words < 1 << 31 or gap not in (0, 1):
        raise ValueError(f"{n_words} words with gaps of {gap}")
    if offsets[0] < 0 or offsets[-1] > len(text) or (np.diff(offsets) < gap).any():
        raise ValueError("the offsets are not offsets of words")


def sort_words(text: Uint8Array, offsets: Int64Array, gap: int) -> Int32Array:
    """Return the numbers of words in the order of their bytes: O(bytes) but for the sorting of eight at a time.

    Words are given as to :class:`WordTable`. Equal ones keep their order.
    """
    check_words(text, offsets, gap)
    order: Int32Array = np.empty(len(offsets) - 1, dtype=np.int32)
    # An empty array has no address.
    text = text if len(text) else np.zeros(1, dtype=np.uint8)
    check_memory(call(lib.tokdfa_sort_words, text, offsets, len(order), gap, out=(order,)))
    return order

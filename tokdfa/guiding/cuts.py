"""Incomplete symbols, as far as a pre-tokenizer can tell them apart: by the classes of what completes them."""

from __future__ import annotations

import numpy as np

from tokdfa.arrays import Int32Array, Uint16Array
from tokdfa.patterns.utf8 import unique_rows
from tokdfa.unicode import SURROGATES

__all__ = ["Cuts"]


class Cuts:
    """The incomplete symbols of UTF-8, those with equal completions being one.

    Parameters
    ----------
    class_of_code_point : uint16 array of shape (0x110000,)

    Attributes
    ----------
    n_cuts : int
        Their number, with cut 0, which stands for none.
    following : int32 array, 64 entries a cut
        ``following[64 * cut + (byte & 63)]`` is the cut after one more byte of a symbol; 0 if no symbol has it there;
        -1 - c for a whole symbol of class c.
    leads : list of int
        The cut of each first byte; 0 for others.
    """

    def __init__(self, class_of_code_point: Uint16Array) -> None:
        whole = -1 - class_of_code_point.astype(np.int32)
        for low, high in SURROGATES:
            whole[low : high + 1] = 0
        # What one, two and three more bytes complete: rows of 64 code points, of 64 such rows, and of 64 of those. The
        # first rows would be of symbols in more bytes than they need, which is no UTF-8.
        levels: list[Int32Array] = [np.zeros((1, 64), dtype=np.int32)]
        n_cuts = 1
        blocks, numbers = whole, []
        for n_overlong in (0, 0x800 >> 6, 0x10000 >> 12):
            blocks[:n_overlong] = 0
            blocks = np.append(blocks, np.zeros(-len(blocks) % 64, dtype=np.int32)).reshape(-1, 64)
            rows, inverse = unique_rows(blocks)
            is_any = rows.any(axis=1)
            levels.append(rows[is_any])
            number = np.where(is_any, n_cuts + np.cumsum(is_any) - 1, 0).astype(np.int32)
            blocks = number[inverse]
            numbers.append(blocks.copy())
            n_cuts += int(is_any.sum())
        self.n_cuts = n_cuts
        self.following: Int32Array = np.ascontiguousarray(np.concatenate(levels), dtype=np.int32).reshape(-1)
        self.leads = [0] * 256
        for lead in range(0xC2, 0xE0):
            self.leads[lead] = int(numbers[0][lead & 0x1F])
        for lead in range(0xE0, 0xF0):
            self.leads[lead] = int(numbers[1][lead & 0x0F])
        for lead in range(0xF0, 0xF5):
            self.leads[lead] = int(numbers[2][lead & 0x07])

    def of(self, data: bytes) -> int:
        """Return the cut of the first bytes of a symbol; 0 if no symbol begins with them, or if they are none."""
        if not data:
            return 0
        cut = self.leads[data[0]]
        for byte in data[1:]:
            cut = max(int(self.following[64 * cut + (byte & 0x3F)]), 0)
        return cut

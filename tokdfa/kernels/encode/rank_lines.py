"""Reading lines of a base64 word, a space and a rank."""

from __future__ import annotations

import numpy as np

from tokdfa.arrays import Int64Array, Uint8Array
from tokdfa.kernels.library import Struct, lib

__all__ = ["LARGEST_RANK", "read_rank_lines"]

LARGEST_RANK = 0xFFFFFFFF


def read_rank_lines(data: bytes) -> tuple[Uint8Array, Int64Array, Int64Array, Int64Array, int, int]:
    """Read every line that is not empty: O(n).

    Returns
    -------
    text, offsets : uint8 and int64 arrays
        Word i is ``text[offsets[i]:offsets[i + 1]]``.
    ranks, lines : int64 arrays
        Its rank, and the number of its line, from 1 on.
    fault, place : int
        0 if there is no fault, otherwise the fault of the last line that was read, and its place as a byte of `data`:
        1 a character outside the base64 alphabet, 2 base64 of an invalid length, 3 no word, 4 no space after the word,
        5 no rank, 6 something after the rank, 7 a rank greater than LARGEST_RANK.
    """
    n_lines = lib.tokdfa_count_lines(data, len(data))
    text = np.empty(3 * (len(data) // 4) + 3, dtype=np.uint8)
    offsets, ranks, lines = (np.empty(n_lines + more, dtype=np.int64) for more in (1, 0, 0))
    found = Struct(
        "tokdfa_rank_lines", text=text, offsets=offsets, ranks=ranks, lines=lines, n_words=0, fault=0, place=0
    )
    lib.tokdfa_read_rank_lines(data, len(data), found.pointer)
    n, fault, place = found.pointer.n_words, found.pointer.fault, found.pointer.place
    return text[: offsets[n]].copy(), offsets[: n + 1].copy(), ranks[:n].copy(), lines[:n].copy(), fault, place

"""Reading lines of a base64 word, a space and a rank."""

from __future__ import annotations

from typing import TypeAlias

import numba as nb
import numpy as np
import numpy.typing as npt

__all__ = ["LARGEST_RANK", "read_rank_lines"]

Longs: TypeAlias = npt.NDArray[np.int64]
Bytes: TypeAlias = npt.NDArray[np.uint8]

BYTES = nb.types.Array(nb.uint8, 1, "C", readonly=True)
LINES = nb.types.Tuple((nb.uint8[::1], nb.int64[::1], nb.int64[::1], nb.int64[::1], nb.int64, nb.int64))  # type: ignore[no-untyped-call]

LARGEST_RANK = 0xFFFFFFFF

# Faults of a line, in the order of the messages that the caller has for them.
NOT_BASE64, BAD_PADDING, NO_WORD, NO_SPACE, NO_RANK, AFTER_RANK, HUGE_RANK = range(1, 8)

_SIX_BITS = np.full(256, -1, np.int16)
_SIX_BITS[np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", np.uint8)] = np.arange(64)


@nb.njit(LINES(BYTES), cache=True)
def read_rank_lines(data: Bytes) -> tuple[Bytes, Longs, Longs, Longs, int, int]:
    """Read every line that is not empty.

    Returns
    -------
    text, offsets : uint8 and int64 arrays
        Word i is ``text[offsets[i]:offsets[i + 1]]``.
    ranks, lines : int64 arrays
        Its rank, and the number of its line, from 1 on.
    fault, place : int
        0 if all is well, else what is wrong with the last of the lines read, and at which byte of `data`.
    """
    n_lines = 1
    for byte in data:
        n_lines += byte == 10
    text = np.empty(3 * (len(data) // 4) + 3, np.uint8)
    offsets = np.zeros(n_lines + 1, np.int64)
    ranks = np.zeros(n_lines, np.int64)
    lines = np.zeros(n_lines, np.int64)
    n_words = 0
    end = 0
    line = 0
    i = 0
    fault = 0
    while i < len(data) and fault == 0:
        line += 1
        if data[i] == 10:
            i += 1
            continue
        lines[n_words] = line
        start = i
        bits = 0
        n_bits = 0
        while i < len(data) and _SIX_BITS[data[i]] >= 0:
            bits = (bits << 6 | _SIX_BITS[data[i]]) & 0xFFFF
            n_bits += 6
            if n_bits >= 8:
                n_bits -= 8
                text[end] = (bits >> n_bits) & 0xFF
                end += 1
            i += 1
        digits = i - start
        padding = 0
        while i < len(data) and data[i] == 61:
            padding += 1
            i += 1
        if digits == 0 and padding == 0 and i < len(data) and data[i] == 32:
            fault = NO_WORD
        elif i < len(data) and data[i] != 32 and data[i] != 10:
            fault = NOT_BASE64
        elif i == len(data) or data[i] == 10:
            fault = NO_SPACE
        elif digits % 4 == 1 or padding != -digits % 4 or bits & ((1 << n_bits) - 1):
            fault = BAD_PADDING
            i = start
        else:
            i += 1
            start = i
            rank = 0
            while i < len(data) and 48 <= data[i] <= 57 and rank <= LARGEST_RANK:
                rank = 10 * rank + data[i] - 48
                i += 1
            if rank > LARGEST_RANK:
                fault = HUGE_RANK
                i = start
            elif i == start:
                fault = NO_RANK
            elif i < len(data) and data[i] != 10:
                fault = AFTER_RANK
            else:
                i += 1
                ranks[n_words] = rank
        n_words += 1
        offsets[n_words] = end
    return text[:end].copy(), offsets[: n_words + 1].copy(), ranks[:n_words].copy(), lines[:n_words].copy(), fault, i

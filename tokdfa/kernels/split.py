"""Splitting UTF-8 by the machine of a split pattern.

Where the machine has one hypothesis, what a symbol does is known when it is read. Where it has several, the steps are
kept on a trail, and when one hypothesis is left, the trail is walked back along its ancestors.
"""

from __future__ import annotations

from typing import TypeAlias

import numba as nb
import numpy as np
import numpy.typing as npt

from tokdfa.kernels.packed import BYTES, Bytes, kernel
from tokdfa.kernels.types import INTS, LONGS, Ints, Longs

__all__ = [
    "BEGINS",
    "BLOCK_BITS",
    "CONTINUES",
    "DROPPED",
    "EVENT_BITS",
    "UNSETTLED",
    "Pages",
    "close",
    "split",
    "split_lines",
    "walk_back",
]

Pages: TypeAlias = npt.NDArray[np.uint16]

_PAGES = nb.types.Array(nb.uint16, 1, "C", readonly=True)

BLOCK_BITS = 7
"""Code points that agree but for as many bits share a page of the table of classes."""

EVENT_BITS = 2

CONTINUES = 0
BEGINS = 1
DROPPED = 2
"""What a symbol does: go on with the piece, begin one, or begin text that is left out."""

UNSETTLED = 3
"""What a symbol does when hypotheses differ in it."""


@nb.njit(inline="always")
def _length(text, at, end):  # type: ignore[no-untyped-def]
    """Return the length of the UTF-8 sequence at `at`, which is not ASCII; 0 if it is cut short, -1 if it is none."""
    first = text[at]
    low, high = 0x80, 0xBF
    if first < 0xC2:
        return -1
    if first < 0xE0:
        length = 2
    elif first < 0xF0:
        length = 3
        if first == 0xE0:
            low = 0xA0
        elif first == 0xED:
            high = 0x9F
    elif first < 0xF5:
        length = 4
        if first == 0xF0:
            low = 0x90
        elif first == 0xF4:
            high = 0x8F
    else:
        return -1
    if at + 1 < end and not low <= text[at + 1] <= high:
        return -1
    for place in range(at + 2, min(at + length, end)):
        if text[place] & 0xC0 != 0x80:
            return -1
    return length if at + length <= end else 0


@nb.njit(inline="always")
def _back(parent, event, width, trail, trail_at, n_trail, hypothesis, out, n_out):  # type: ignore[no-untyped-def]
    """Append what the symbols of the trail do, given the hypothesis behind them; return the number of entries."""
    first = n_out
    for place in range(n_trail - 1, -1, -1):
        cell = np.int64(trail[place]) * width + hypothesis
        if event[cell]:
            out[n_out] = trail_at[place] << EVENT_BITS | event[cell]
            n_out += 1
        hypothesis = parent[cell]
    last = n_out - 1
    while first < last:
        out[first], out[last] = out[last], out[first]
        first += 1
        last -= 1
    return n_out


@kernel(
    nb.types.UniTuple(nb.int64, 5)(  # type: ignore[no-untyped-call]
        *(BYTES, nb.int64, BYTES, _PAGES, BYTES, INTS, BYTES, BYTES, BYTES, BYTES, nb.int64, nb.int64),
        *(nb.int32[::1], nb.int64[::1], nb.int64, nb.int64[::1]),
    )
)
def split(
    text: Bytes,
    base: int,
    ascii_class: Bytes,
    pages: Pages,
    classes: Bytes,
    target: Ints,
    quick: Bytes,
    single: Bytes,
    parent: Bytes,
    event: Bytes,
    width: int,
    state: int,
    trail: Ints,
    trail_at: Longs,
    n_trail: int,
    out: Longs,
) -> tuple[int, int, int, int, int]:
    """Run the machine over a stretch of text.

    Parameters
    ----------
    text : uint8 array
        UTF-8; its last symbol may be cut short.
    base : int
        The offset of its first byte in the whole text.
    ascii_class : uint8 array of shape (128,)
    pages, classes : uint16 and uint8 arrays
        The class of code point c is ``classes[(pages[c >> BLOCK_BITS] << BLOCK_BITS) | (c & (1 << BLOCK_BITS) - 1)]``.
    target : int32 array
        Entry ``target[q + c]`` for a state and a class; states are numbered in steps of the number of classes.
    quick : uint8 array of the same shape
        What the symbol does, UNSETTLED when there are several hypotheses before or behind it.
    single : uint8 array, indexed by states
        Whether a state has one hypothesis.
    parent, event : uint8 arrays
        For cell q + c and hypothesis h of its target, at ``(q + c) * width + h``.
    width : int
    state : int
        Where to begin.
    trail, trail_at : int32 and int64 arrays
        The cells, and the offsets of the symbols, since there was one hypothesis; there is room for one a byte more.
    n_trail : int
        Their number.
    out : int64 array
        Gets the symbols that begin something, ascending: the offset, shifted by EVENT_BITS, and what begins. There is
        room for one for each byte and each entry of the trail, and one more.

    Returns
    -------
    state : int
    at : int
        Where the reading ended: before a symbol that is cut short, or at what is not UTF-8.
    n_trail, n_out : int
    valid : int
        0 when it ended at what is not UTF-8, else 1.
    """
    at = 0
    n_out = 0
    end = len(text)
    while at < end:
        first = text[at]
        if first < 0x80:
            cell = state + ascii_class[first]
            length = 1
        else:
            length = _length(text, at, end)
            if length <= 0:
                return state, at, n_trail, n_out, length + 1
            point = np.int64(first) & (0xFF >> (length + 1))
            for place in range(at + 1, at + length):
                point = point << 6 | (np.int64(text[place]) & 0x3F)
            page = np.int64(pages[point >> BLOCK_BITS])
            cell = state + classes[page << BLOCK_BITS | (point & ((1 << BLOCK_BITS) - 1))]
        state = int(target[cell])
        done = quick[cell]
        if done == UNSETTLED:
            trail[n_trail] = cell
            trail_at[n_trail] = base + at
            n_trail += 1
            if single[state]:
                n_out = _back(parent, event, width, trail, trail_at, n_trail, 0, out, n_out)
                n_trail = 0
        else:
            # Written in any case: where pieces begin is no matter for the branch predictor.
            out[n_out] = (base + at) << EVENT_BITS | done
            n_out += 1 if done else 0
        at += length
    return state, at, n_trail, n_out, 1


@kernel(
    nb.int64(
        *(BYTES, BYTES, nb.int64, INTS, LONGS, nb.int64, nb.int64, nb.int64[::1]),
    )
)
def walk_back(
    parent: Bytes,
    event: Bytes,
    width: int,
    trail: Ints,
    trail_at: Longs,
    n_trail: int,
    hypothesis: int,
    out: Longs,
) -> int:
    """Settle a trail for the hypothesis that the end of the text bears out; parameters as for :func:`split`.

    Returns
    -------
    int
        The number of entries written.
    """
    n_out: int = _back(parent, event, width, trail, trail_at, n_trail, hypothesis, out, 0)
    return n_out


@kernel(
    nb.int64(
        *(BYTES, BYTES, _PAGES, BYTES, INTS, BYTES, BYTES, BYTES, BYTES, nb.int64, BYTES),
        *(nb.int32[::1], nb.int64[::1], nb.int64[::1]),
    )
)
def split_lines(
    text: Bytes,
    ascii_class: Bytes,
    pages: Pages,
    classes: Bytes,
    target: Ints,
    quick: Bytes,
    single: Bytes,
    parent: Bytes,
    event: Bytes,
    width: int,
    borne_out: Bytes,
    trail: Ints,
    trail_at: Longs,
    out: Longs,
) -> int:
    """Split each line of a text by itself; a line ends behind its line feed.

    Parameters
    ----------
    text : uint8 array
    ascii_class, pages, classes, target, quick, single, parent, event, width
        See :func:`split`.
    borne_out : uint8 array, one entry a state
        The hypothesis that the end of the text bears out.
    trail, trail_at : int32 and int64 arrays
        Room for one entry a byte.
    out : int64 array
        Gets what begins, as :func:`split` writes it: a line begins something in any case. There is room for one entry
        a byte.

    Returns
    -------
    int
        The number of entries; -1 if a line is not UTF-8.
    """
    n_classes = len(target) // len(borne_out)
    n_out = 0
    start = 0
    while start < len(text):
        stop = start
        while stop < len(text) and text[stop] != 0x0A:
            stop += 1
        stop = min(stop + 1, len(text))
        state, read, n_trail, n_found, valid = split(
            text[start:stop], start, ascii_class, pages, classes, target, quick, single, parent, event, width,
            0, trail, trail_at, 0, out[n_out:],
        )  # fmt: skip
        if not valid or read < stop - start:
            return -1
        n_out += n_found
        n_out += walk_back(parent, event, width, trail, trail_at, n_trail, borne_out[state // n_classes], out[n_out:])
        start = stop
    return n_out


@kernel(nb.int64(LONGS, nb.int64, nb.int64, nb.int64[:, ::1]))
def close(begun: Longs, n_begun: int, before: int, spans: Longs) -> int:
    """Write down the pieces that end where something else begins.

    Parameters
    ----------
    begun : int64 array
        What begins, as :func:`split` writes it.
    n_begun : int
    before : int
        What has begun before.
    spans : int64 array of shape (n_begun, 2)
        Gets the pieces, start and end.

    Returns
    -------
    int
        Their number.
    """
    n_spans = 0
    for i in range(n_begun):
        spans[n_spans, 0] = before >> EVENT_BITS
        spans[n_spans, 1] = begun[i] >> EVENT_BITS
        n_spans += 1 if before & ((1 << EVENT_BITS) - 1) == BEGINS else 0
        before = begun[i]
    return n_spans

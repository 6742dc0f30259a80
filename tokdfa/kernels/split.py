"""Splitting UTF-8 by the machine of a split pattern.

Where the machine has one hypothesis, what a symbol does is known when it is read. Where it has several, the steps are
kept on a trail, and when one hypothesis is left, the trail is walked back along its ancestors.

Each step waits for the one before it. So two symbols of ASCII are one step where nothing is unsettled by them.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numba as nb
import numpy as np
import numpy.typing as npt

from tokdfa.kernels.packed import BYTES, Bytes, get, kernel, put
from tokdfa.kernels.types import INTS, LONGS, Ints, Longs

__all__ = [
    "BEGINS",
    "BLOCK_BITS",
    "CONTINUES",
    "DROPPED",
    "EVENT_BITS",
    "PAIR_EVENTS",
    "SPLITTING",
    "UNSETTLED",
    "Pages",
    "Splitting",
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

_EVENT = (1 << EVENT_BITS) - 1

UNSETTLED = 3
"""What a symbol does when hypotheses differ in it."""

PAIR_EVENTS = 2 * EVENT_BITS + 1
"""The bits of an entry for two symbols that tell what they do: whether anything is unsettled, the first, the second."""


class Splitting(NamedTuple):
    """The machine of a split pattern.

    The states are numbered from 0 in steps of ``1 << class_bits``, and a cell is a state plus a class.

    Attributes
    ----------
    ascii_class : uint8 array of shape (128,)
    pages, classes : uint16 and uint8 arrays
        The class of code point c is ``classes[(pages[c >> BLOCK_BITS] << BLOCK_BITS) | (c & (1 << BLOCK_BITS) - 1)]``.
    target : int32 array, one entry a cell
    quick : uint8 array, one entry a cell
        What the symbol does, UNSETTLED when there are several hypotheses before or behind it.
    single : uint8 array, one entry a state
        Whether it has one hypothesis.
    parent, event : uint8 arrays
        For cell c and hypothesis h of its target, at ``c * width + h``.
    width, class_bits : int
    pairs : int32 array
        For the state of number q and symbols of ASCII whose entries in `pair_class` are c and d, at
        ``(q << 2 * pair_bits) + (c << pair_bits) + d``: where the entries of the state behind them begin, above
        PAIR_EVENTS bits.
    pair_class : uint8 array of shape (128,)
    pair_bits : int
    borne_out : uint8 array, one entry a state
        The hypothesis that the end of the text bears out.
    """

    ascii_class: Bytes
    pages: Pages
    classes: Bytes
    target: Ints
    quick: Bytes
    single: Bytes
    parent: Bytes
    event: Bytes
    width: int
    class_bits: int
    pairs: Ints
    pair_class: Bytes
    pair_bits: int
    borne_out: Bytes


SPLITTING = nb.types.NamedTuple(
    (
        *(BYTES, _PAGES, BYTES, INTS, BYTES, BYTES, BYTES, BYTES, nb.int64, nb.int64),
        *(INTS, BYTES, nb.int64, BYTES),
    ),
    Splitting,
)  # type: ignore[no-untyped-call]


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
        *(SPLITTING, BYTES, nb.int64, nb.int64, nb.int32[::1], nb.int64[::1], nb.int64, nb.int64[::1]),
    )
)
def split(
    tables: Splitting,
    text: Bytes,
    base: int,
    state: int,
    trail: Ints,
    trail_at: Longs,
    n_trail: int,
    out: Longs,
) -> tuple[int, int, int, int, int]:
    """Run the machine over a stretch of text.

    Parameters
    ----------
    tables : Splitting
    text : uint8 array
        UTF-8; its last symbol may be cut short.
    base : int
        The offset of its first byte in the whole text.
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
    parent, event, width = tables.parent, tables.event, tables.width
    class_bits, pair_bits = tables.class_bits, tables.pair_bits
    row = (state >> class_bits) << 2 * pair_bits
    at = 0
    n_out = 0
    end = len(text)
    while at < end:
        first = np.int64(get(text, at))
        if at + 1 < end:
            second = np.int64(get(text, at + 1))
            if first | second < 0x80:
                column = np.int64(get(tables.pair_class, first)) << pair_bits
                entry = int(get(tables.pairs, row + (column | np.int64(get(tables.pair_class, second)))))
                if not entry & (1 << 2 * EVENT_BITS):
                    # Written in any case: where pieces begin is no matter for the branch predictor.
                    does, then = entry >> EVENT_BITS & _EVENT, entry & _EVENT
                    put(out, n_out, (base + at) << EVENT_BITS | does)
                    n_out += does != CONTINUES
                    put(out, n_out, (base + at + 1) << EVENT_BITS | then)
                    n_out += then != CONTINUES
                    row = entry >> PAIR_EVENTS
                    at += 2
                    continue
        state = (row >> 2 * pair_bits) << class_bits
        if first < 0x80:
            cell = state + np.int64(get(tables.ascii_class, first))
            length = 1
        else:
            length = _length(text, at, end)
            if length <= 0:
                return state, at, n_trail, n_out, length + 1
            point = first & (0xFF >> (length + 1))
            for place in range(at + 1, at + length):
                point = point << 6 | (np.int64(get(text, place)) & 0x3F)
            page = np.int64(get(tables.pages, point >> BLOCK_BITS))
            cell = state + np.int64(get(tables.classes, page << BLOCK_BITS | (point & ((1 << BLOCK_BITS) - 1))))
        number = int(get(tables.target, cell)) >> class_bits
        row = number << 2 * pair_bits
        does = int(get(tables.quick, cell))
        if does == UNSETTLED:
            put(trail, n_trail, np.int32(cell))
            put(trail_at, n_trail, base + at)
            n_trail += 1
            if get(tables.single, number):
                n_out = _back(parent, event, width, trail, trail_at, n_trail, 0, out, n_out)
                n_trail = 0
        else:
            put(out, n_out, (base + at) << EVENT_BITS | does)
            n_out += does != CONTINUES
        at += length
    return (row >> 2 * pair_bits) << class_bits, at, n_trail, n_out, 1


@kernel(
    nb.int64(
        *(SPLITTING, INTS, LONGS, nb.int64, nb.int64, nb.int64[::1]),
    )
)
def walk_back(
    tables: Splitting,
    trail: Ints,
    trail_at: Longs,
    n_trail: int,
    state: int,
    out: Longs,
) -> int:
    """Settle a trail for the hypothesis that the end of the text bears out; parameters as for :func:`split`.

    Returns
    -------
    int
        The number of entries written.
    """
    hypothesis = tables.borne_out[state >> tables.class_bits]
    n_out: int = _back(tables.parent, tables.event, tables.width, trail, trail_at, n_trail, hypothesis, out, 0)
    return n_out


@kernel(nb.int64(SPLITTING, BYTES, nb.int32[::1], nb.int64[::1], nb.int64[::1]))
def split_lines(tables: Splitting, text: Bytes, trail: Ints, trail_at: Longs, out: Longs) -> int:
    """Split each line of a text by itself; a line ends behind its line feed.

    Parameters
    ----------
    tables : Splitting
    text : uint8 array
    trail, trail_at : int32 and int64 arrays
        Room for one entry a byte.
    out : int64 array
        Gets what begins, as :func:`split` writes it: a line begins something in any case. There is room for one entry
        a byte, and one more.

    Returns
    -------
    int
        The number of entries; -1 if a line is not UTF-8.
    """
    n_out = 0
    start = 0
    while start < len(text):
        stop = start
        while stop < len(text) and text[stop] != 0x0A:
            stop += 1
        stop = min(stop + 1, len(text))
        state, read, n_trail, n_found, valid = split(
            tables, text[start:stop], start, 0, trail, trail_at, 0, out[n_out:]
        )
        if not valid or read < stop - start:
            return -1
        n_out += n_found
        n_out += walk_back(tables, trail, trail_at, n_trail, state, out[n_out:])
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

"""Reading a stream of ids backwards, symbol by symbol; and what all searches are given."""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

from tokdfa.kernels.types import INTS, LONGS, Ints, Longs

__all__ = ["BACKWARD", "EDGE", "TEXT", "Backward", "Text", "starts_of", "symbol_before"]

EDGE = 256

BYTES = nb.types.Array(nb.uint8, 1, "C", readonly=True)
SHORTS = nb.types.Array(nb.uint16, 1, "C", readonly=True)
FLAGS = nb.types.Array(nb.boolean, 1, "C", readonly=True)


class Text(NamedTuple):
    """What ids stand for: the bytes ``bytes[offsets[i]:offsets[i + 1]]``; and whether id i is a special token."""

    bytes: npt.NDArray[np.uint8]
    offsets: Longs
    cuts: npt.NDArray[np.bool_]


class Backward(NamedTuple):
    """A reversed automaton over classes of code points; see :class:`tokdfa.automata.class_dfa.ClassDFA`.

    State q goes to ``table[q * (n_classes + 3) + c]`` on class c, classes being those of code points, then that of
    broken symbols, then that of an edge of the text. `class_of` has the classes of all code points.
    """

    table: Ints
    accepts: npt.NDArray[np.bool_]
    initial: Ints
    class_of: npt.NDArray[np.uint16]
    n_classes: int
    delayed: bool


TEXT = nb.types.NamedTuple((BYTES, LONGS, FLAGS), Text)  # type: ignore[no-untyped-call]
BACKWARD = nb.types.NamedTuple((INTS, FLAGS, INTS, SHORTS, nb.int64, nb.boolean), Backward)  # type: ignore[no-untyped-call]


@nb.njit(cache=True)
def _byte_before(ids, text, token, offset):  # type: ignore[no-untyped-def]
    """Return the byte before a position and the position before it; -1 at the beginning, EDGE for a special token."""
    while offset == 0:
        if token == 0:
            return -1, token, offset
        token -= 1
        if text.cuts[ids[token]]:
            return EDGE, token, offset
        offset = text.offsets[ids[token] + 1] - text.offsets[ids[token]]
    offset -= 1
    return np.int64(text.bytes[text.offsets[ids[token]] + offset]), token, offset


@nb.njit(cache=True)
def symbol_before(ids, text, class_of, n_classes, token, offset):  # type: ignore[no-untyped-def]
    """Return the class of the symbol before a position, the position before it, and the bytes in between.

    The class is -1 at the beginning; those of broken symbols and of special tokens stand behind those of code points.
    """
    byte, token, offset = _byte_before(ids, text, token, offset)
    if byte < 0:
        return -1, token, offset, 0
    if byte == EDGE:
        return n_classes + 1, token, offset, 0
    if byte < 0x80:
        return np.int64(class_of[byte]), token, offset, 1
    code_point = byte & 0x3F
    shift = 6
    other_token, other_offset = token, offset
    if byte < 0xC0:
        for length in range(2, 5):
            byte, other_token, other_offset = _byte_before(ids, text, other_token, other_offset)
            if 0x80 <= byte < 0xC0:
                code_point |= (byte & 0x3F) << shift
                shift += 6
                continue
            valid = False
            if length == 2 and 0xC2 <= byte < 0xE0:
                code_point |= (byte & 0x1F) << shift
                valid = True
            elif length == 3 and 0xE0 <= byte < 0xF0:
                code_point |= (byte & 0x0F) << shift
                valid = code_point >= 0x800 and not 0xD800 <= code_point < 0xE000
            elif length == 4 and 0xF0 <= byte < 0xF5:
                code_point |= (byte & 0x07) << shift
                valid = 0x10000 <= code_point < 0x110000
            if valid:
                return np.int64(class_of[code_point]), other_token, other_offset, length
            break
    return n_classes, token, offset, 1


@nb.njit(cache=True)
def starts_of(ids, text, backward, aligned, right, token, offset, end, starts):  # type: ignore[no-untyped-def]
    """Return how many matches end at a position.

    Where they begin is put into `starts`, the nearest first, as far as there is room. `right` is the kind of the
    symbol behind the position.
    """
    count = np.int64(0)
    position = end
    state = np.int64(backward.initial[right])
    while state > 0:
        symbol, next_token, next_offset, length = symbol_before(
            ids, text, backward.class_of, backward.n_classes, token, offset
        )
        at_start = symbol < 0
        if at_start:
            symbol = np.int64(backward.n_classes + 1)
        state = np.int64(backward.table[state * (backward.n_classes + 3) + symbol])
        if backward.accepts[state]:
            # With assertions it takes the symbol before the match to know that it begins behind that symbol.
            start_offset = offset if backward.delayed else next_offset
            if not (aligned and start_offset > 0):
                if count < len(starts):
                    starts[count] = position if backward.delayed else position - length
                count += 1
        position -= length
        token, offset = next_token, next_offset
        if at_start:
            break
    return count

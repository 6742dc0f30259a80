"""One text to ids with as little handed over as can be: a call costs more than a short line's work.

Handing over an array takes a kernel about as long as three words of text, and there are a dozen of tables. So all of
them are parts of one array, and what the kernel writes, its own room included, is another.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba.core import types

from tokdfa.kernels.end_to_end import LONGEST_INDEXED, Machine, encode
from tokdfa.kernels.packed import BYTES, Bytes, kernel
from tokdfa.kernels.types import Ints

__all__ = ["encode_text", "pack_tables", "room_for"]

# In front of the tables, as int64: the unknown id, the longest word, two flags, and where each table begins and ends.
_NUMBERS = 4
_HEADER = 8 * (_NUMBERS + 2 * len(Machine._fields))
_ALIGNMENT = 64
# Behind the ids: where the text ends and the two bounds of its ids, as int64.
_BOUNDS = 6


def pack_tables(machine: Machine, unknown: int, longest_word: int, fast: bool, folds: bool) -> tuple[Bytes, Machine]:
    """Return the tables of a machine as one array with what :func:`encode` is told besides, and as parts of it."""
    bounds: list[tuple[int, int]] = []
    size = _HEADER
    arrays: tuple[npt.NDArray[Any], ...] = machine
    for array in arrays:
        start = -size % _ALIGNMENT + size
        size = start + array.nbytes
        bounds.append((start, size))
    tables = np.zeros(size, np.uint8)
    tables[:_HEADER].view(np.int64)[:] = [unknown, longest_word, fast, folds, *(at for pair in bounds for at in pair)]
    parts: list[npt.NDArray[Any]] = []
    for (start, stop), array in zip(bounds, arrays, strict=True):
        parts.append(tables[start:stop].view(array.dtype))
        parts[-1][:] = array
    for part in [tables, *parts]:
        part.setflags(write=False)
    return tables, Machine(*parts)


def room_for(n_bytes: int, longest_word: int) -> int:
    """Return how long the array has to be into which a text of so many bytes is tokenized."""
    return n_bytes + 2 + _BOUNDS + 2 * _symbols(n_bytes, longest_word)


def _symbols(n_bytes: int, longest_word: int) -> int:
    # One symbol more than the limit shows that a word exceeds it.
    return max(LONGEST_INDEXED, n_bytes if longest_word < 0 else min(longest_word, n_bytes)) + 1


@kernel(types.int64(BYTES, BYTES, types.int32[::1]))
def encode_text(text: Bytes, tables: Bytes, ids: Ints) -> int:
    """Tokenize one text; see :func:`tokdfa.kernels.end_to_end.encode`.

    Parameters
    ----------
    text : uint8 array
        Valid UTF-8.
    tables : uint8 array
        From :func:`pack_tables`.
    ids : int32 array
        Written: the tokens; as long as :func:`room_for` says. Behind them it is used.

    Returns
    -------
    int
        How many tokens there are.
    """
    head = tables[:_HEADER].view(np.int64)
    at = head[_NUMBERS:]
    machine = (
        tables[at[0] : at[1]],
        tables[at[2] : at[3]].view(np.uint64),
        tables[at[4] : at[5]].view(np.uint16),
        tables[at[6] : at[7]].view(np.uint32),
        tables[at[8] : at[9]].view(np.uint32),
        tables[at[10] : at[11]].view(np.int32),
        tables[at[12] : at[13]].view(np.int32),
        tables[at[14] : at[15]].view(np.int32),
        tables[at[16] : at[17]].view(np.int32),
        tables[at[18] : at[19]].view(np.int32),
        tables[at[20] : at[21]],
        tables[at[22] : at[23]].view(np.int32),
    )
    n = len(text)
    bounds_at = (n + 2) & ~1
    bounds = ids[bounds_at : bounds_at + _BOUNDS].view(np.int64)
    bounds[0] = n
    room = (len(ids) - bounds_at - _BOUNDS) >> 1
    symbols_at = bounds_at + _BOUNDS
    nothing = bounds[:0]
    n_tokens: int = encode(
        text,
        bounds[:1],
        machine,
        head[0],
        head[1],
        head[2] != 0,
        head[3] != 0,
        False,
        ids[: n + 1],
        bounds[1:],
        nothing,
        nothing,
        ids[symbols_at : symbols_at + room],
        nothing,
        ids[symbols_at + room : symbols_at + 2 * room],
    )
    return n_tokens

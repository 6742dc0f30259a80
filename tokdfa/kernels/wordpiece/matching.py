"""LinMaxMatch over symbol numbers: the trie as a double array, and matching one word."""

from __future__ import annotations

from threading import local
from typing import Any

import numpy as np

from tokdfa.arrays import Int32Array
from tokdfa.errors import LimitExceededError
from tokdfa.kernels.library import Struct, check_memory, ffi, lib, readable, writable

__all__ = ["count_cells_read", "match_word", "pack_trie", "word_trie"]


def pack_trie(
    pointer: Int32Array, symbol: Int32Array, child: Int32Array, n_symbols: int
) -> tuple[Int32Array, Int32Array]:
    """Lay a trie out as a double array, with room for failure links and pops.

    Parameters
    ----------
    pointer : int32 array, one entry per node and one more
        Node v has the edges ``pointer[v]`` to ``pointer[v + 1]``. Nodes 0 and 1 are the roots; every other node is
        numbered after its parent.
    symbol, child : int32 arrays, one entry per edge
        The symbol of each edge, and the node to which it leads. The symbols of one node ascend.
    n_symbols : int
        Symbols are less than this.

    Returns
    -------
    cells : int32 array, four entries per cell
        The cell's base, the cell of its parent, and two entries that are -1. The edge of cell c with symbol s leads
        to cell ``t = cells[4 * c] + s`` if and only if ``cells[4 * t + 1] == c``; this test is valid for every s less
        than `n_symbols`.
    place : int32 array, one entry per node
        The cell of each node; the roots are cells 0 and 1.

    Raises
    ------
    LimitExceededError
        If there are 2³¹ cells or more.
    """
    place = np.empty(len(pointer) - 1, np.int32)
    packed = ffi.new("tokdfa_cells *")
    n_cells = check_memory(
        lib.tokdfa_pack_trie(
            readable(pointer, np.int32),
            len(place),
            readable(symbol, np.int32),
            readable(child, np.int32),
            n_symbols,
            writable(place, np.int32),
            packed,
        )
    )
    if n_cells < 0:
        raise LimitExceededError("the vocabulary has too many symbols", value=n_symbols, hint="2³¹ cells can be packed")
    try:
        cells = np.frombuffer(ffi.buffer(packed.cells, 16 * n_cells), np.int32).copy()
    finally:
        lib.tokdfa_free_cells(packed)
    return cells, place


def word_trie(cells: Int32Array, pops: Int32Array, points: Int32Array) -> Struct:
    """Return a trie in the form that C reads.

    Parameters
    ----------
    cells : int32 array, four entries per cell
        The base and parent as given by :func:`pack_trie`; the cell of the failure link, -1 if there is none; and the
        failure pops. A non-negative number is the id of the only token, which is the whole path to this cell, and
        -1 - p points to `pops`.
    pops : int32 array
        From p on: the number of pops, then the id and the number of symbols of each.
    points : int32 array
        The code points beyond ASCII that are symbols, ascending. Number i is symbol 128 + i, and every code point that
        is missing is the symbol after the last.
    """
    return Struct("tokdfa_word_trie", cells=cells, pops=pops, points=points)


# Words of up to this many bytes are matched in a room that each thread keeps.
_SHORT = 256


class _Rooms(local):
    def __init__(self) -> None:
        self.short = ffi.new("int32_t[]", 3 * _SHORT)


_rooms = _Rooms()


def match_word(trie: Any, word: str, limit: int) -> list[int] | None:
    """Tokenize one word: O(len(word)).

    Parameters
    ----------
    trie : pointer
        The pointer of a :func:`word_trie`.
    word : str
    limit : int
        The greatest number of symbols of a word that has a tokenization.

    Returns
    -------
    list of int or None
        The ids of the tokens; None if the word has no tokenization or is empty.
    """
    if not 0 < len(word) <= limit:
        return None
    try:
        text = word.encode()
    except UnicodeEncodeError:
        text = word.encode("utf-8", "surrogatepass")
    size = len(text)
    room = _rooms.short if size <= _SHORT else ffi.new("int32_t[]", 3 * size)
    n = lib.tokdfa_match_word(trie, text, size, room)
    if n == 1:
        return [room[0]]
    return ffi.unpack(room, n) if n > 0 else None


def count_cells_read(trie: Struct, word: str) -> int:
    """Return the number of cells that :func:`match_word` reads for a word: ``3 * len(word) + 1`` at most."""
    text = word.encode("utf-8", "surrogatepass")
    return int(lib.tokdfa_count_cells_read(trie.pointer, text, len(text), ffi.new("int32_t[]", 3 * len(text))))

"""LinMaxMatch over symbol numbers: the trie as a double array, and matching one word."""

from __future__ import annotations

import numba as nb
import numpy as np

from tokdfa.kernels.types import INTS, Ints

__all__ = ["match_word", "pack_trie", "tokenize_word"]

# How many free cells are tried for a node before it goes to the end of the array.
_TRIES = 64


@nb.njit((INTS, INTS, INTS, nb.int64), cache=True)
def pack_trie(pointer: Ints, symbol: Ints, child: Ints, n_symbols: int) -> tuple[Ints, Ints]:
    """Lay a trie out as a double array, with room for failure links and pops.

    Parameters
    ----------
    pointer : int32 array, one entry a node and one more
        Node v has the edges ``pointer[v]`` to ``pointer[v + 1]``. Nodes 0 and 1 are the roots; every other node is
        numbered behind its parent.
    symbol, child : int32 arrays, one entry an edge
        Its symbol, and the node it leads to. The symbols of one node ascend.
    n_symbols : int
        Symbols are less than this.

    Returns
    -------
    cells : int32 array, four entries a cell
        The cell's base, the cell of its parent, and two entries that are -1. The edge of cell c with symbol s leads
        to cell ``t = cells[4 * c] + s`` if and only if ``cells[4 * t + 1] == c``; this may be asked for every s less
        than `n_symbols`.
    place : int32 array, one entry a node
        The cell of each node; the roots are cells 0 and 1.
    """
    n_nodes = len(pointer) - 1
    place = np.zeros(n_nodes, np.int32)
    place[1] = 1
    cells = np.full(4 * (2 * n_nodes + 2 * n_symbols + 64), -1, np.int32)
    # Free cells behind `start` are tried in order; when many have not fitted, those before them are given up.
    end = 2
    start = 2
    for node in range(n_nodes):
        first, last = pointer[node], pointer[node + 1]
        cell = place[node]
        cells[4 * cell] = 0
        if first == last:
            continue
        low = symbol[first]
        while start < end and cells[4 * start + 1] != -1:
            start += 1
        at = start
        tries = 0
        while at < end:
            if at >= low and cells[4 * at + 1] == -1:
                fits = True
                for edge in range(first + 1, last):
                    if cells[4 * (at - low + symbol[edge]) + 1] != -1:
                        fits = False
                        break
                if fits:
                    break
                tries += 1
                if tries == _TRIES:
                    start = at
                    at = end
                    break
            at += 1
        base = max(at, low) - low
        for edge in range(first, last):
            target = base + symbol[edge]
            while 4 * (target + n_symbols + 1) >= len(cells):
                cells = np.concatenate((cells, np.full(len(cells), -1, np.int32)))
            cells[4 * target + 1] = cell
            place[child[edge]] = target
            end = max(end, target + 1)
        cells[4 * cell] = base
    # Every base is less than `end`, so that asking stays inside with n_symbols cells more.
    return cells[: 4 * (end + n_symbols)].copy(), place


@nb.njit(inline="always")
def match_word(symbols: Ints, length: int, cells: Ints, pops: Ints, ids: Ints, lengths: Ints, at: int) -> int:
    """Tokenize the word ``symbols[:length]``, writing its tokens to `ids`, from `at` on, and to `lengths`.

    Parameters
    ----------
    symbols : int32 array
        Symbol numbers.
    length : int
        At least 1.
    cells : int32 array, four entries a cell
        Base and parent as :func:`pack_trie` gives them; then the cell of the failure link, -1 where there is none;
        then the failure pops: a number from 0 on is the id of the one token that is the whole path to this cell, and
        -1 - p points to `pops`.
    pops : int32 array
        From p on: how many pops, then for each its id and its number of symbols.
    ids, lengths : int32 arrays
        Written: for each token its id and its number of symbols. There must be room for `length` entries.
    at : int
        Where to write in `ids`; in `lengths` it is at the beginning.

    Returns
    -------
    int
        Where in `ids` the next token would be written; -1 when the word has no tokenization.
    """
    cell = 0
    n = 0
    # The path to `cell` is what was read from symbol `begin` on. Reading no symbol at the end leads to a root.
    begin = 0
    i = 0
    while True:
        if i < length:
            target = cells[4 * cell] + symbols[i]
            if cells[4 * target + 1] == cell:
                cell = target
                i += 1
                continue
        elif cell == 1:
            return at + n
        pop = cells[4 * cell + 3]
        cell = cells[4 * cell + 2]
        if cell < 0:
            return -1
        if pop >= 0:
            ids[at + n] = pop
            lengths[n] = i - begin
            begin = i
            n += 1
        else:
            for row in range(pops[-1 - pop]):
                ids[at + n] = pops[2 * row - pop]
                lengths[n] = pops[2 * row - pop + 1]
                begin += lengths[n]
                n += 1


@nb.njit((INTS, INTS, INTS), cache=True)
def tokenize_word(symbols: Ints, cells: Ints, pops: Ints) -> tuple[Ints, Ints, bool]:
    """Tokenize one word of one symbol or more; see :func:`match_word`.

    Returns
    -------
    ids, lengths : int32 arrays
        The tokens.
    found : bool
        Whether there is a tokenization; the arrays are empty when there is none.
    """
    ids = np.empty(len(symbols), np.int32)
    lengths = np.empty(len(symbols), np.int32)
    n = match_word(symbols, len(symbols), cells, pops, ids, lengths, 0)
    return ids[: max(n, 0)].copy(), lengths[: max(n, 0)].copy(), n >= 0

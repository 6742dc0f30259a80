"""LinMaxMatch over symbol numbers: the trie as a double array, and matching one word."""

from __future__ import annotations

import os
from threading import local
from typing import Any, NamedTuple

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array
from tokdfa.base.errors import LimitExceededError
from tokdfa.kernels.library import Struct, check_memory, ffi, lib

_NO_POPS: Int32Array = np.empty(0, dtype=np.int32)


class BuiltTrie(NamedTuple):
    """A trie with failure links as a double array, see :func:`word_trie`; `n_nodes` cells are in use."""

    cells: Int32Array
    pops: Int32Array
    n_nodes: int


def build_trie(symbols: Int32Array, offsets: Int64Array, ids: Int32Array, n_beginnings: int, n_kinds: int) -> BuiltTrie:
    """Build the trie of words, with its failure links and failure pops.

    Word i, not empty, is ``symbols[offsets[i] : offsets[i + 1]]``, of symbols less than `n_kinds`; each may be looked
    up in the trie. Its id is not negative; of equal words the last one counts. The first `n_beginnings` words begin
    words of texts; the others continue them. Other words are a ValueError; more than 2²⁸ nodes, 2³¹ cells or more, or
    more than 2²⁶ pops in total, which takes words of thousands of symbols, a LimitExceededError.

    *Fast WordPiece Tokenization*, EMNLP 2021, algorithm 2; :class:`tokdfa.tokenizers.models.wordpiece.trie.FailureTrie`
    is the slow twin. The key of the hash is drawn anew for each trie, so that no file can force collisions.
    """
    _check_words(symbols, offsets, ids, n_beginnings, n_kinds)
    keys = np.frombuffer(os.urandom(16), dtype=np.uint64).tolist()
    words = Struct(
        "tokdfa_trie_words",
        # An empty array has no address.
        symbols=symbols if len(symbols) else np.zeros(1, np.int32),
        n_symbols=len(symbols),
        offsets=offsets,
        ids=ids if len(ids) else np.zeros(1, np.int32),
        n_beginnings=n_beginnings,
        n_kinds=n_kinds,
        key_0=keys[0],
        key_1=keys[1],
    )
    built = ffi.new("tokdfa_built_trie *")
    status = check_memory(lib.tokdfa_build_word_trie(words.pointer, built))
    if status == lib.TOKDFA_MANY_CELLS:
        raise LimitExceededError("the vocabulary has too many symbols", value=n_kinds, hint="2³¹ cells can be packed")
    if status == lib.TOKDFA_MANY_POPS:
        raise LimitExceededError(f"this vocabulary has more than {lib.TOKDFA_MOST_POPS} failure pops")
    try:
        cells = np.frombuffer(ffi.buffer(built.cells, 16 * built.n_cells), np.int32).copy()
        pops = np.frombuffer(ffi.buffer(built.pops, 4 * built.n_pops), np.int32).copy() if built.n_pops else _NO_POPS
        return BuiltTrie(cells, pops, int(built.n_nodes))
    finally:
        lib.tokdfa_free_word_trie(built)


def _check_words(symbols: Int32Array, offsets: Int64Array, ids: Int32Array, n_beginnings: int, n_kinds: int) -> None:
    if not 0 <= n_beginnings <= len(ids) == len(offsets) - 1 or not 0 < n_kinds < 1 << 24:
        raise ValueError(f"{len(ids)} ids of {len(offsets) - 1} words, {n_beginnings} and {n_kinds}")
    if offsets[0] != 0 or offsets[-1] != len(symbols) or (np.diff(offsets) < 1).any() or len(symbols) >= 1 << 30:
        raise ValueError("the offsets are not offsets of words")
    if symbols.min(initial=0) < 0 or symbols.max(initial=0) >= n_kinds or ids.min(initial=0) < 0:
        raise ValueError("a symbol or an id out of range")


def word_trie(cells: Int32Array, pops: Int32Array, points: Int32Array) -> Struct:
    """Return a trie in the form that C reads.

    A cell has four entries: the base, the cell of the parent, the cell of the failure link, -1 if there is none; and
    the failure pops. The edge of cell c with symbol s leads to cell ``t = cells[4 * c] + s`` if and only if ``cells[4 *
    t + 1] == c``. Cells 0 and 1 are the roots. Of the pops a non-negative number is the id of the only token, which is
    the whole path to this cell, and -1 - p points to `pops`: from p on the number of pops, then the id and the number
    of symbols of each. `points` has the code points beyond ASCII that are symbols, ascending: number i is symbol 128 +
    i, and every code point that is missing is the symbol after the last.
    """
    return Struct("tokdfa_word_trie", cells=cells, pops=pops, points=points)


# Words of up to this many bytes are matched in a buffer that each thread keeps.
_SHORT = 256


class _Short(local):
    def __init__(self) -> None:
        self.short = ffi.new("int32_t[]", 3 * _SHORT)


_own = _Short()


def match_word(trie: Any, word: str, limit: int) -> list[int] | None:
    """Tokenize one word by the pointer of a :func:`word_trie`: O(len(word)).

    None if it has no tokenization, which only words of up to `limit` symbols have, or is empty.
    """
    if not 0 < len(word) <= limit:
        return None
    try:
        text = word.encode()
    except UnicodeEncodeError:
        text = word.encode("utf-8", "surrogatepass")
    size = len(text)
    buffer = _own.short if size <= _SHORT else ffi.new("int32_t[]", 3 * size)
    n = lib.tokdfa_match_word(trie, text, size, buffer)
    if n == 1:
        return [buffer[0]]
    return ffi.unpack(buffer, n) if n > 0 else None


def count_cells_read(trie: Struct, word: str) -> int:
    """Return the number of cells that :func:`match_word` reads for a word: ``3 * len(word) + 1`` at most."""
    text = word.encode("utf-8", "surrogatepass")
    return int(lib.tokdfa_count_cells_read(trie.pointer, text, len(text), ffi.new("int32_t[]", 3 * len(text))))

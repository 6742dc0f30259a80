"""WordPiece from UTF-8 to ids in one pass: cleaning, splitting and LinMaxMatch.

Words are gathered as symbol numbers and matched when they end. Words of ASCII letters and digits are read eight bytes
at a time and first looked up whole, for a word that is an entry is its own longest match.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba as nb
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.extending import intrinsic

from tokdfa.kernels.code_points import (
    ALONE,
    CODES,
    KIND,
    KIND_BITS,
    PAGES,
    REORDER,
    SEQUENCE,
    SKIP,
    SPACE,
    SYMBOL,
    Codes,
    Pages,
    code_of,
    decode,
    reorder,
)
from tokdfa.kernels.packed import BYTES, WORDS, Bytes, Words, hash_packed, kernel, load
from tokdfa.kernels.types import INTS, LONGS, Ints, Longs
from tokdfa.kernels.wordpiece import match_word

__all__ = ["EDGE", "LEAD", "LONGEST_INDEXED", "Machine", "encode", "index_words"]

EDGE = 1
"""Flag of an ASCII byte: a word ends before it, whatever follows."""
LEAD = 2
"""Flag of a byte: an added token begins with it."""

LONGEST_INDEXED = 16

# A slot of `words`: two halves of a word, and its id.
_SLOT = 3


class Machine(NamedTuple):
    """The tables of an end-to-end tokenizer.

    Attributes
    ----------
    flags : uint8 array of 256
        `EDGE` and `LEAD` for each byte.
    words : uint64 array, three entries a slot, a power of two slots
        Words of 1 to 16 ASCII letters and digits: their bytes in two little-endian numbers, and the id.
    pages : uint16 array, blocks, pool : uint32 arrays
        The codes of all code points; see :class:`tokdfa.wordpiece.codes.CodeTable`.
    marks, mark_pointer, mark_parts : int32 arrays
        The decompositions of combining marks; see there.
    cells, pops : int32 arrays
        The trie; see :func:`tokdfa.kernels.wordpiece.match_word`.
    added : uint8 array, added_rows : int32 array, three entries an added token
        Where its bytes begin in `added`, how many they are, its id; the longest first.
    """

    flags: Bytes
    words: Words
    pages: Pages
    blocks: Codes
    pool: Codes
    marks: Ints
    mark_pointer: Ints
    mark_parts: Ints
    cells: Ints
    pops: Ints
    added: Bytes
    added_rows: Ints


# A plain tuple, which takes half the time to hand over.
_MACHINE = types.Tuple(  # type: ignore[no-untyped-call]
    (BYTES, WORDS, PAGES, CODES, CODES, INTS, INTS, INTS, INTS, INTS, BYTES, INTS)
)
_intrinsic: Any = intrinsic


@_intrinsic
def _trailing_zeros(typing_context: Any, number: Any) -> Any:
    """Count the zeros below the lowest one of a number that is not 0."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate


_ONES = np.uint64(0x0101010101010101)
_HIGH = np.uint64(0x8080808080808080)
_CASE = np.uint64(0x2020202020202020)


@nb.njit(inline="always")
def _gaps(eight):  # type: ignore[no-untyped-def]
    """Return, for eight bytes, the high bit of each that is no ASCII letter or digit."""
    low = eight & ~_HIGH
    lower = low | _CASE
    # Adding 128 - x to a number below 128 sets its high bit if and only if it is x or more.
    letter = (lower + _ONES * np.uint64(128 - 97)) & ~(lower + _ONES * np.uint64(128 - 123))
    digit = (low + _ONES * np.uint64(128 - 48)) & ~(low + _ONES * np.uint64(128 - 58))
    return ~((letter | digit) & ~eight) & _HIGH


@nb.njit(inline="always")
def _width(gaps):  # type: ignore[no-untyped-def]
    """Return how many bytes are before the first of `gaps`, of which there is one."""
    return np.int64(_trailing_zeros(gaps) >> np.uint64(3))


@nb.njit(inline="always")
def _lower(eight):  # type: ignore[no-untyped-def]
    """Return eight ASCII letters, digits and zeros in lower case."""
    return eight | ((eight >> np.uint64(1)) & _CASE)


@nb.njit(inline="always")
def _below(n):  # type: ignore[no-untyped-def]
    """Return a mask of the lowest n < 8 bytes."""
    return (np.uint64(1) << np.uint64(8 * n)) - np.uint64(1)


@nb.njit(inline="always")
def _slot(words, low, high):  # type: ignore[no-untyped-def]
    """Return where a word stands in `words`, or the empty slot where it belongs."""
    mask = len(words) // _SLOT - 1
    slot = np.int64(hash_packed(low, high) >> np.uint64(20)) & mask
    while words[_SLOT * slot] != 0 and (words[_SLOT * slot] != low or words[_SLOT * slot + 1] != high):
        slot = (slot + 1) & mask
    return _SLOT * slot


@kernel(types.void(WORDS, WORDS, INTS, types.uint64[::1]))
def index_words(low: Words, high: Words, ids: Ints, words: Words) -> None:
    """Fill `words` of a :class:`Machine`, all zeros before; its slots are a power of two above the number of words."""
    for i in range(len(ids)):
        slot = _slot(words, low[i], high[i])
        words[slot] = low[i]
        words[slot + 1] = high[i]
        words[slot + 2] = np.uint64(ids[i])


@kernel(types.int64(BYTES, INTS, BYTES, types.int64, types.int64))
def _find_added(added: Bytes, rows: Ints, text: Bytes, at: int, end: int) -> int:
    """Return the row of the longest added token that stands at `at`, or -1."""
    for row in range(0, len(rows), 3):
        start, length = rows[row], rows[row + 1]
        if at + length <= end:
            k = 0
            while k < length and added[start + k] == text[at + k]:
                k += 1
            if k == length:
                return row
    return -1


@kernel(
    types.int64(
        *(BYTES, LONGS, _MACHINE, types.int64, types.int64, types.boolean, types.boolean, types.boolean),
        *(types.int32[::1], types.int64[::1], types.int64[::1], types.int64[::1]),
        *(types.int32[::1], types.int64[::1], types.int32[::1]),
    )
)
def encode(
    text: Bytes,
    stops: Longs,
    machine: tuple[Any, ...],
    unknown: int,
    longest_word: int,
    fast: bool,
    folds: bool,
    wide: bool,
    ids: Ints,
    rows: Longs,
    begins: Longs,
    ends: Longs,
    symbols: Ints,
    sources: Longs,
    lengths: Ints,
) -> int:
    """Tokenize texts that stand one behind the other, each followed by one byte that belongs to none.

    Parameters
    ----------
    text : uint8 array
        Valid UTF-8. A byte between two texts is no letter or digit.
    stops : int64 array
        Where each text ends; the next one begins a byte later.
    machine : tuple
        The tables: a :class:`Machine` as a plain tuple.
    unknown : int
        The id of words without a tokenization.
    longest_word : int
        Longer words are unknown; -1 for no limit.
    fast : bool
        Whether ASCII letters and digits may be read eight at a time: no added token begins with one.
    folds : bool
        Whether they are taken in lower case.
    wide : bool
        Whether offsets count bytes, not code points.
    ids : int32 array
        Written: the tokens. There must be room for one a byte.
    rows : int64 array, one entry a text and one more
        Written: text t has the tokens ``rows[t]`` to ``rows[t + 1]``.
    begins, ends : int64 arrays
        Written, unless empty: where in its text each token begins and ends. As much room as `ids` has.
    symbols, sources, lengths : int32, int64 and int32 arrays
        Room for the symbols of one word, where they come from, and the lengths of its tokens: more than 16 entries
        and more than `longest_word`, twice as many in `sources`, which is empty if `begins` is.

    Returns
    -------
    int
        How many tokens there are.
    """
    flags, words, pages, blocks, pool, marks, mark_pointer, mark_parts, cells, pops, added, added_rows = machine
    spans = len(begins) > 0
    room = len(symbols)
    k = 0
    i = 0
    rows[0] = 0
    for row in range(len(stops)):
        # Combining sequences do not reach back beyond `start`; the offset of byte i is i - shift.
        start = i
        shift = i
        end = stops[row]
        item = item_stop = np.int64(0)
        while i < end or item < item_stop:
            size = 0
            last = 0
            begun = i - shift
            ender = np.uint32(SPACE)
            if fast and item == item_stop:
                low = load(text, i)
                gaps = _gaps(low)
                if not gaps & np.uint64(0x80):
                    high = np.uint64(0)
                    if gaps:
                        width = _width(gaps)
                        low &= _below(width)
                    else:
                        high = load(text, i + 8)
                        gaps = _gaps(high)
                        width = 16
                        if gaps:
                            width = _width(gaps)
                            high &= _below(width)
                            width += 8
                    stop = i + width
                    if stop >= end or flags[text[stop]] & EDGE:
                        if folds:
                            low = _lower(low)
                            high = _lower(high)
                        slot = _slot(words, low, high)
                        if words[slot] != 0:
                            ids[k] = words[slot + 2]
                            if spans:
                                begins[k] = begun
                                ends[k] = begun + width
                            k += 1
                            # Most often one space follows.
                            i = stop + (stop < end and text[stop] == 32)
                            continue
                        for at in range(width):
                            symbols[at] = blocks[text[i + at]] >> KIND_BITS
                            if spans:
                                sources[2 * at] = begun + at
                                sources[2 * at + 1] = begun + at + 1
                        size = width
                        last = begun + width
                        i = stop
                elif flags[text[i]] == EDGE:
                    code = blocks[text[i]]
                    if code != SPACE:
                        ids[k] = np.int64(code >> KIND_BITS) - 1
                        if spans:
                            begins[k] = begun
                            ends[k] = begun + 1
                        k += 1
                    i += 1
                    continue
            gather = size == 0
            while gather:
                if item < item_stop:
                    code = pool[item]
                    item += 1
                elif i >= end:
                    break
                else:
                    begun = i - shift
                    if flags[text[i]] & LEAD:
                        found = _find_added(added, added_rows, text, i, end)
                        if found >= 0:
                            stop = i + added_rows[found + 1]
                            if not wide:
                                for at in range(i, stop):
                                    shift += text[at] & 0xC0 == 0x80
                            start = stop
                            i = stop
                            ender = np.uint32((added_rows[found + 2] + 1) << KIND_BITS | ALONE)
                            break
                    point, width = decode(text, i)
                    code = code_of(pages, blocks, point)
                    if code & KIND == REORDER:
                        size, i, offset, end_of_last = reorder(
                            *(pages, blocks, marks, mark_pointer, mark_parts),
                            *(text, i, start, end, begun, wide, symbols, sources, size),
                        )
                        shift = i - offset
                        if end_of_last >= 0:
                            last = end_of_last
                        continue
                    i += width
                    if not wide:
                        shift += width - 1
                kind = code & KIND
                if kind == SYMBOL:
                    last = i - shift
                    if size < room:
                        symbols[size] = code >> KIND_BITS
                        if spans:
                            sources[2 * size] = begun
                            sources[2 * size + 1] = last
                        size += 1
                elif kind == SEQUENCE:
                    item = np.int64(code >> KIND_BITS) + 1
                    item_stop = item + pool[item - 1]
                elif kind != SKIP:
                    ender = code
                    break
            if size:
                after = -1
                if longest_word < 0 or size <= longest_word:
                    after = match_word(symbols, size, cells, pops, ids, lengths, k)
                if after < 0:
                    ids[k] = unknown
                    if spans:
                        begins[k] = sources[0]
                        ends[k] = last
                    k += 1
                else:
                    at = 0
                    for token in range(k, after if spans else k):
                        begins[token] = sources[2 * at]
                        at += lengths[token - k]
                        ends[token] = sources[2 * at - 1]
                    k = after
            if ender & KIND == ALONE:
                ids[k] = np.int64(ender >> KIND_BITS) - 1
                if spans:
                    begins[k] = begun
                    ends[k] = i - shift
                k += 1
        rows[row + 1] = k
        i = end + 1
    return k

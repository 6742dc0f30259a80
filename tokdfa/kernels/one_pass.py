"""Tokenizing a word from left to right, without merging.

Every word over the alphabet has one correct tokenization, and so has every prefix of it: each place in the word is
reached by one last token or by none. Whether a token may follow another is decided by the pair alone. So the tokens
are found by walking from place to place, the longest token first and shorter ones when the pair is not allowed, and
stepping back when nothing fits; a place that was left in vain is never entered again. The time is linear.

What is read for a token or a pair stands side by side in memory, and a bit for each word and each pair that exists
tells most others without touching the tables: the time goes into waiting for memory.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np

from tokdfa.kernels.packed import (
    BYTES,
    CUT,
    LONGEST,
    WORDS,
    Words,
    add_bit,
    hash_packed,
    hash_pair,
    kernel,
    load,
    may_have,
    pack,
    power_of_two,
    prefetch,
)
from tokdfa.kernels.rules import NOTHING, merged
from tokdfa.kernels.types import INTS, LONGS, Ints, Longs

__all__ = [
    "RECORD",
    "TABLES",
    "Tables",
    "allows",
    "find_word",
    "find_words",
    "longest_token",
    "prefetch_word",
    "tokenize",
]

FLAGS = nb.types.Array(nb.boolean, 1, "C", readonly=True)

SLOT = 4
RECORD = 8
LENGTH, SHORTER, STATE, READ, BIRTH, HEAD, TAIL, NUMBER = range(RECORD)
# Bits for each entry of a table, of which one is set.
_BITS = 16


class Tables(NamedTuple):
    """What the walk reads.

    Attributes
    ----------
    slots : uint64 array, four entries a slot
        The short tokens in an open-addressing hash table: the packing (two words), one more than the token (0 where
        the slot is free), and nothing. The first 15 bytes of longer tokens are there too, cut, with one more than a
        node of the trie.
    filter : uint64 array
        A bit for each hash in `slots`.
    edges : int64 array, two entries a slot
        The trie of the longer tokens as a hash table: ``node << 8 | byte``, -1 where free, and the node it leads to.
    ending : int32 array, one entry a node
        The token that ends at the node, or -1.
    records : int32 array, eight entries a token
        Its number of bytes; the longest live token that is a proper prefix, or -1; the number of what the rule that
        made the state reached on it makes, and the last token read in that state, or -1 for the initial state; its
        birth as a number; head and tail (see :class:`~tokdfa.dictionary.Folding`), -1 for symbols; its number. Numbers
        are those of symbols, and then of tokens in the order of their births; the birth of symbols is the last symbol.
    rules, of_symbols : int64 and int32 arrays
        The live rules; see :mod:`~tokdfa.kernels.rules`.
    symbol : int32 array
        For words over bytes the token of each byte, -1 for foreign ones; empty for other words.
    ids : int32 array, one entry a token
        What the tokens are called outside.
    ids_of_numbers : int32 array
        The same by number.
    """

    slots: Words
    filter: Words
    edges: Longs
    ending: Ints
    records: Ints
    rules: Longs
    of_symbols: Ints
    symbol: Ints
    ids: Ints
    ids_of_numbers: Ints


TABLES = nb.types.NamedTuple((WORDS, WORDS, LONGS, INTS, INTS, LONGS, INTS, INTS, INTS, INTS), Tables)  # type: ignore[no-untyped-call]
FOUND = nb.types.Tuple((nb.uint64[::1], nb.uint64[::1], nb.int64[::1], nb.int32[::1], nb.int32[::1]))  # type: ignore[no-untyped-call]


@nb.njit(inline="always")
def _slot(slots, low, high, hashed):  # type: ignore[no-untyped-def]
    """Return where the slot of a packing is, or the free one where it belongs."""
    mask = len(slots) // SLOT - 1
    slot = np.int64(hashed >> np.uint64(20)) & mask
    while slots[SLOT * slot + 2] != 0 and (slots[SLOT * slot] != low or slots[SLOT * slot + 1] != high):
        slot = (slot + 1) & mask
    return SLOT * slot


@nb.njit(inline="always")
def _edge_slot(edges, edge, hashed):  # type: ignore[no-untyped-def]
    """Return where the slot of an edge of the trie is, or the free one where it belongs."""
    mask = len(edges) // 2 - 1
    slot = np.int64(hashed >> np.uint64(20)) & mask
    while edges[2 * slot] >= 0 and edges[2 * slot] != edge:
        slot = (slot + 1) & mask
    return 2 * slot


@kernel(nb.int64(WORDS, WORDS, LONGS, INTS, BYTES, nb.int64, nb.int64))
def _longest(slots, bits, edges, ending, text, begin, end):  # type: ignore[no-untyped-def]
    """Return the longest word of the tables at the beginning of ``text[begin:end]``, or -1."""
    first, second = load(text, begin), load(text, begin + 8)
    size = end - begin
    if size > LONGEST:
        low, high = pack(first, second, LONGEST)
        high += CUT
        hashed = hash_packed(low, high)
        if may_have(bits, hashed):
            node = np.int64(slots[_slot(slots, low, high, hashed) + 2]) - 1
            found = np.int64(-1)
            at = begin + LONGEST
            while node >= 0:
                if ending[node] >= 0:
                    found = np.int64(ending[node])
                if at >= end:
                    break
                edge = (node << 8) | np.int64(text[at])
                node = edges[_edge_slot(edges, edge, hash_pair(edge)) + 1]
                at += 1
            if found >= 0:
                return found
        size = LONGEST
    for length in range(size, 0, -1):
        low, high = pack(first, second, length)
        hashed = hash_packed(low, high)
        if may_have(bits, hashed):
            number = np.int64(slots[_slot(slots, low, high, hashed) + 2])
            if number:
                return number - 1
    return -1


@nb.njit(FOUND(BYTES, LONGS, FLAGS), cache=True, nogil=True)
def find_words(text, offsets, live):  # type: ignore[no-untyped-def]
    """Build the tables in which words are found by their text.

    Parameters
    ----------
    text, offsets : uint8 and int64 arrays
        Word i is ``text[offsets[i]:offsets[i + 1]]``; the words are distinct and not empty.
    live : bool array
        The words marked are found, the others left out.

    Returns
    -------
    slots, filter, edges, ending
        See :class:`Tables`.
    shorter : int32 array, one entry a word
        The longest word marked that is a proper prefix, or -1.
    """
    n_words = len(live)
    n_short = n_long = n_edges = 0
    for word in range(n_words):
        size = offsets[word + 1] - offsets[word]
        if live[word]:
            n_short += 1
            if size > LONGEST:
                n_long += 1
                n_edges += size - LONGEST
    capacity = power_of_two(2 * n_short)
    slots = np.zeros(SLOT * capacity, np.uint64)
    bits = np.zeros(power_of_two(_BITS * n_short // 64), np.uint64)
    edges = np.full(2 * power_of_two(2 * n_edges), -1, np.int64)
    ending = np.full(n_edges + n_long + 1, -1, np.int32)
    n_nodes = 0
    for word in range(n_words):
        if not live[word]:
            continue
        size = offsets[word + 1] - offsets[word]
        low, high = pack(load(text, offsets[word]), load(text, offsets[word] + 8), min(size, LONGEST))
        if size > LONGEST:
            high += CUT
        hashed = hash_packed(low, high)
        slot = _slot(slots, low, high, hashed)
        if slots[slot + 2] == 0:
            slots[slot], slots[slot + 1] = low, high
            add_bit(bits, hashed)
            if size > LONGEST:
                slots[slot + 2] = n_nodes + 1
                n_nodes += 1
            else:
                slots[slot + 2] = word + 1
        if size > LONGEST:
            node = np.int64(slots[slot + 2]) - 1
            for i in range(offsets[word] + LONGEST, offsets[word + 1]):
                edge = (node << 8) | np.int64(text[i])
                place = _edge_slot(edges, edge, hash_pair(edge))
                if edges[place] < 0:
                    edges[place] = edge
                    edges[place + 1] = n_nodes
                    n_nodes += 1
                node = edges[place + 1]
            ending[node] = word
    shorter = np.full(n_words, -1, np.int32)
    for word in range(n_words):
        if live[word]:
            shorter[word] = _longest(slots, bits, edges, ending, text, offsets[word], offsets[word + 1] - 1)
    return slots, bits, edges, ending, shorter


@kernel(nb.int64(TABLES, BYTES, nb.int64, nb.int64))
def longest_token(tables, text, begin, end):  # type: ignore[no-untyped-def]
    """Return the longest token at the beginning of ``text[begin:end]``, or -1."""
    return _longest(tables.slots, tables.filter, tables.edges, tables.ending, text, begin, end)


@kernel(nb.int64(TABLES, BYTES, nb.int64, nb.int64))
def _find_long_word(tables, text, begin, end):  # type: ignore[no-untyped-def]
    token = longest_token(tables, text, begin, end)
    return token if token >= 0 and tables.records[RECORD * token + LENGTH] == end - begin else np.int64(-1)


@nb.njit(inline="always")
def find_word(tables, text, begin, end, low, high):  # type: ignore[no-untyped-def]
    """Return the token that is ``text[begin:end]``, or -1; `low` and `high` are its packing when it is short."""
    token = np.int64(-1)
    if end - begin > LONGEST:
        token = _find_long_word(tables, text, begin, end)
    else:
        hashed = hash_packed(low, high)
        if may_have(tables.filter, hashed):
            token = np.int64(tables.slots[_slot(tables.slots, low, high, hashed) + 2]) - 1
    return token


@nb.njit(inline="always")
def prefetch_word(tables, low, high):  # type: ignore[no-untyped-def]
    """Ask for what :func:`find_word` will read of a short word."""
    hashed = hash_packed(low, high)
    if may_have(tables.filter, hashed):
        prefetch(tables.slots, SLOT * (np.int64(hashed >> np.uint64(20)) & (len(tables.slots) // SLOT - 1)))


@kernel(nb.boolean(TABLES, nb.int64, nb.int64))
def allows(tables, u, v):  # type: ignore[no-untyped-def]
    """Tell whether the live token `v` may follow the live token `u`.

    It does what :func:`~tokdfa.kernels.fold.forbidding_state` does: going back in time, the pair at the border must
    never be a rule's own.
    """
    records = tables.records
    u *= RECORD
    if records[u + READ] < 0:
        return True
    time = records[u + STATE]
    u = RECORD * np.int64(records[u + READ])
    v *= RECORD
    while records[v + BIRTH] > time:
        v = RECORD * np.int64(records[v + HEAD])
    while True:
        made = merged(tables.rules, np.int64(records[u + NUMBER]), np.int64(records[v + NUMBER]))
        if made != NOTHING and made <= time:
            return False
        if records[u + BIRTH] > records[v + BIRTH]:
            time = records[u + BIRTH] - 1
            u = RECORD * np.int64(records[u + TAIL])
        elif records[v + HEAD] >= 0:
            time = records[v + BIRTH]
            v = RECORD * np.int64(records[v + HEAD])
        else:
            return True


@kernel(nb.int64(TABLES, BYTES, nb.int64, nb.int64, nb.int32[::1], nb.int64, nb.uint64[::1]))
def tokenize(tables, text, begin, end, out, at, left):  # type: ignore[no-untyped-def]
    """Tokenize ``text[begin:end]``.

    Parameters
    ----------
    tables : Tables
    text : uint8 array
    begin, end : int
        The word, not empty.
    out : int32 array
        Gets the tokens, from `at` on; it has room for one a byte.
    at : int
    left : uint64 array
        Scratch, a bit a place and one more; all zeros, and so again afterwards.

    Returns
    -------
    int
        The number of tokens; -1 if the word has no tokenization, for it has a symbol that is not in the alphabet.
    """
    records = tables.records
    n = np.int64(0)
    place = begin
    token = longest_token(tables, text, place, end)
    furthest = begin
    returned = False
    while True:
        while token >= 0:
            stop = place + records[RECORD * token + LENGTH]
            seen = returned and (left[(stop - begin) >> 6] >> np.uint64((stop - begin) & 63)) & np.uint64(1) != 0
            if not seen and (n == 0 or allows(tables, out[at + n - 1], token)):
                break
            token = np.int64(records[RECORD * token + SHORTER])
        if token >= 0:
            out[at + n] = token
            n += 1
            place += records[RECORD * token + LENGTH]
            if place == end:
                break
            token = longest_token(tables, text, place, end)
        else:
            left[(place - begin) >> 6] |= np.uint64(1) << np.uint64((place - begin) & 63)
            returned = True
            furthest = max(furthest, place)
            if n == 0:
                n = np.int64(-1)
                break
            n -= 1
            token = np.int64(out[at + n])
            place -= records[RECORD * token + LENGTH]
            token = np.int64(records[RECORD * token + SHORTER])
    if returned:
        for i in range(((furthest - begin) >> 6) + 1):
            left[i] = 0
    return n

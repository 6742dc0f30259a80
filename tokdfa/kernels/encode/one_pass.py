"""The tables for finding words by their text and for testing pairs; tokenizing from left to right."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tokdfa.arrays import BoolArray, Int32Array, Int64Array, Uint8Array, Uint32Array, Uint64Array
from tokdfa.errors import LimitExceededError
from tokdfa.kernels.encode.rules import NO_NUMBER
from tokdfa.kernels.library import Struct, lib, readable, writable
from tokdfa.kernels.pages import zeros_together

__all__ = [
    "BIRTH",
    "HEAD",
    "LENGTH",
    "LONGEST_PACKED",
    "NUMBER",
    "READ",
    "RECORD",
    "SHORTER",
    "STATE",
    "TAIL",
    "Words",
    "allows",
    "index_words",
    "longest_token",
    "tables_of",
    "tokenize",
]

LONGEST_PACKED = 15
"""The length in bytes of the longest word that has a slot of its own; longer ones are in the trie."""

RECORD = 8
LENGTH, SHORTER, STATE, READ, BIRTH, HEAD, TAIL, NUMBER = range(RECORD)
"""The columns of the records of tokens: the number of bytes; the longest live token that is a proper prefix, or -1; for
the state reached on the token, the number of the product of the rule that made the state, and the last token read in
that state, or -1 for the initial state; the birth as a number; head and tail (see
:class:`~tokdfa.dictionary.Folding`), -1 for symbols; the number. Symbols are numbered first, then tokens in the order
of their births; the birth of symbols is the last symbol."""


class Words(NamedTuple):
    """The tables for finding words by their text.

    Attributes
    ----------
    slots : uint32 array
        The short words in an open-addressing hash table.
    keys : uint64 array, two entries a word
        The packings of the words.
    filter : uint64 array
        A bit for each hash in `slots`.
    edges : int64 array, two entries a slot
        The trie of the long words as a hash table.
    ending : int32 array, one entry a node
        The word that ends at the node, or -1.
    records : int32 array of shape (words, RECORD)
        The column LENGTH is filled, and SHORTER where the words are to be tokenized from left to right.
    """

    slots: Uint32Array
    keys: Uint64Array
    filter: Uint64Array
    edges: Int64Array
    ending: Int32Array
    records: Int32Array


def index_words(text: Uint8Array, offsets: Int64Array, live: BoolArray, *, shorter: bool = True) -> Words:
    """Build the tables for finding words by their text.

    Parameters
    ----------
    text, offsets : uint8 and int64 arrays
        Word i is ``text[offsets[i]:offsets[i + 1]]``; the words are distinct and not empty.
    live : bool array
        The words that are marked can be found, the others are left out.
    shorter : bool
        Whether there are records, with the columns LENGTH and SHORTER filled, which takes longer than all else.

    Raises
    ------
    LimitExceededError
        If there are 2^21 - 1 words or more.
    """
    if len(live) >= NO_NUMBER:
        raise LimitExceededError(f"more than {NO_NUMBER - 1} tokens", value=len(live))
    sizes = np.empty(4, dtype=np.int64)
    given = (readable(offsets, np.int64), readable(live, np.bool_), len(live))
    lib.tokdfa_size_words(*given, writable(sizes, np.int64))
    n_slots, n_filter, n_edges, n_ending = sizes.tolist()
    n_records = len(live) * RECORD if shorter else 0
    slots, keys, bits, edges, ending, records = zeros_together(
        (n_slots, np.uint32), (2 * len(live), np.uint64), (n_filter, np.uint64),
        (n_edges, np.int64), (n_ending, np.int32), (n_records, np.int32),
    )  # fmt: skip
    edges.fill(-1)
    ending.fill(-1)
    words = Words(slots, keys, bits, edges, ending, records.reshape(-1, RECORD))
    tables = (
        readable(text, np.uint8),
        *given,
        *(writable(words.slots, np.uint32), n_slots),
        writable(words.keys, np.uint64),
        *(writable(words.filter, np.uint64), n_filter),
        *(writable(words.edges, np.int64), n_edges),
        writable(words.ending, np.int32),
    )
    lib.tokdfa_index_words(*tables)
    if shorter:
        lib.tokdfa_find_shorter(*tables, writable(words.records, np.int32))
    return words


def tables_of(
    words: Words,
    rules: Uint64Array,
    of_symbols: Int32Array,
    symbol: Int32Array,
    ids: Int32Array,
    ids_of_numbers: Int32Array,
) -> Struct:
    """Return tables as C reads them, and make their arrays read-only.

    Parameters
    ----------
    words : Words
        All columns of their records filled, if the pair test is wanted.
    rules, of_symbols : uint64 and int32 arrays
        The live rules; see :func:`~tokdfa.kernels.encode.rules.index_rules`.
    symbol : int32 array
        For words over bytes the token of each byte, -1 for foreign ones; empty for other words.
    ids : int32 array, one entry a token
        The id of each token.
    ids_of_numbers : int32 array
        The same by number; empty where words are not merged.
    """
    fields: dict[str, npt.NDArray[Any]] = words._asdict() | {
        "rules": rules,
        "of_symbols": of_symbols,
        "symbol": symbol,
        "ids": ids,
        "ids_of_numbers": ids_of_numbers,
    }
    for array in fields.values():
        array.setflags(write=False)
    return Struct("tokdfa_token_tables", **fields)


def longest_token(tables: Struct, text: bytes, begin: int, end: int) -> int:
    """Return the longest token at the beginning of ``text[begin:end]``, or -1."""
    assert 0 <= begin < end <= len(text)
    return int(lib.tokdfa_longest_token(tables.pointer, text, len(text), begin, end))


def allows(tables: Struct, u: int, v: int) -> bool:
    """Return whether the live token `v` may follow the live token `u`."""
    return bool(lib.tokdfa_allows(tables.pointer, u, v))


def tokenize(tables: Struct, text: bytes) -> Int32Array | None:
    """Return the tokens of a word; None if it has a symbol that is not in the alphabet. The time is linear."""
    out: Int32Array = np.empty(len(text), dtype=np.int32)
    if not len(text):
        return out
    left = np.zeros((len(text) >> 6) + 1, dtype=np.uint64)
    n = lib.tokdfa_tokenize(tables.pointer, text, len(text), writable(out, np.int32), writable(left, np.uint64))
    # Cut off in place: a copy of a long one takes as long as a part of the work.
    out.resize(max(n, 0), refcheck=False)
    return None if n < 0 else out

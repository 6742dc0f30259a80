"""WordPiece from UTF-8 to ids in one pass, and the codes in its tables, which ``api.h`` explains."""

from __future__ import annotations

from collections.abc import Callable
from threading import local
from typing import Any, Final

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array
from tokdfa.kernels.library import Struct, call, lib, readable, writable

SYMBOL: Final[int] = lib.TOKDFA_CODE_SYMBOL
SKIP: Final[int] = lib.TOKDFA_CODE_SKIP
SPACE: Final[int] = lib.TOKDFA_CODE_SPACE
ALONE: Final[int] = lib.TOKDFA_CODE_ALONE
SEQUENCE: Final[int] = lib.TOKDFA_CODE_SEQUENCE
REORDER: Final[int] = lib.TOKDFA_CODE_REORDER
KIND: Final[int] = lib.TOKDFA_CODE_KIND
CONTINUES: Final[int] = lib.TOKDFA_CODE_CONTINUES
KIND_BITS: Final[int] = lib.TOKDFA_CODE_KIND_BITS
BLOCK_BITS: Final[int] = lib.TOKDFA_CODE_BLOCK_BITS
EDGE: Final[int] = lib.TOKDFA_BYTE_EDGE
LEAD: Final[int] = lib.TOKDFA_BYTE_LEAD
LONGEST_INDEXED: Final[int] = lib.TOKDFA_LONGEST_INDEXED


_NOTHING = np.empty(0, np.int64)
_LAST_ASCII = 0x7F

AT_A_TIME = 1 << 18
"""Bytes after which a call comes back, so that signals are heeded: a few milliseconds."""


LONGEST_SHORT = 4096
"""The number of bytes of the longest text that :func:`encode_short` takes."""

N_SHARED = 2 * LONGEST_SHORT
"""The number of ids that the results of a thread share; a result that is kept keeps as many."""

SHARED_BITS: int = lib.TOKDFA_SHARED_BITS
"""The number of bits of an index of them."""


def index_words(codes: Int32Array, offsets: Int64Array, ids: Int32Array) -> Any:
    """Return the lookup table of whole words: a uint64 array, three entries per slot.

    Word i is ``codes[offsets[i] : offsets[i + 1]]``, ASCII letters and digits: one code point or more, up to
    `LONGEST_INDEXED`. Its id is not negative. Other words are a ValueError.
    """
    lengths = np.diff(offsets)
    if len(lengths) != len(ids) or offsets[0] != 0 or offsets[-1] != len(codes):
        raise ValueError(f"{len(ids)} ids of {len(lengths)} words")
    if lengths.min(initial=1) < 1 or lengths.max(initial=1) > LONGEST_INDEXED:
        raise ValueError("an empty word, or one that is too long")
    if codes.min(initial=1) < 1 or codes.max(initial=1) > _LAST_ASCII:
        raise ValueError("a word that is not ASCII")
    # A power of two, greater than the number of words.
    words = np.zeros(3 << (2 * len(ids)).bit_length(), np.uint64)
    call(lib.tokdfa_index_wordpieces, codes, offsets, ids, len(ids), out=(words, len(words)))
    return words


class Buffers:
    """The output arrays of C, for `n_bytes` of text, and buffers for one word. One thread uses it at a time.

    `longest_word` is the greatest of the tables, -1 for no limit. With `offsets`, `begins` and `ends` have the
    beginning and end in the text of each token of `ids`.
    """

    __slots__ = ("begins", "ends", "ids", "pointer", "struct")

    def __init__(self, n_bytes: int, longest_word: int, *, offsets: bool = False) -> None:
        # One symbol more than the limit shows that a word exceeds it.
        symbols = max(LONGEST_INDEXED, n_bytes if longest_word < 0 else min(longest_word, n_bytes)) + 1
        self.ids = np.empty(n_bytes + 1, np.int32)
        self.begins = self.ends = sources = _NOTHING
        if offsets:
            self.begins, self.ends = np.empty(n_bytes + 1, np.int64), np.empty(n_bytes + 1, np.int64)
            sources = np.empty(2 * symbols, np.int64)
        self.struct = Struct(
            "tokdfa_wordpiece_buffers", ids=self.ids, begins=self.begins, ends=self.ends,
            symbols=np.empty(symbols, np.int32), sources=sources, lengths=np.empty(symbols, np.int32),
            at_a_time=AT_A_TIME, is_paused=0, row=0, start=0, at=0, shift=0, n=0,
        )  # fmt: skip
        self.pointer = self.struct.pointer


def encode(tables: Struct, data: bytes, stops: Int64Array, wide: bool, buffers: Buffers) -> Int64Array:
    """Tokenize consecutive texts: O(bytes).

    `tables` is a ``tokdfa_wordpiece``; `data` is valid UTF-8: the texts, each except the last followed by one byte that
    is not a letter or digit; `stops` has the end of each. If `wide`, offsets count bytes, not code points. The buffers
    are for at least that many bytes. Text t has the tokens ``rows[t]`` to ``rows[t + 1]`` of them.
    """
    rows = np.empty(len(stops) + 1, np.int64)
    pointers = readable(stops, np.int64), len(stops), wide, buffers.pointer, writable(rows, np.int64)
    # Between the calls signals are heeded, such as Ctrl-C.
    while lib.tokdfa_encode_wordpiece(tables.pointer, data, len(data), *pointers) < 0:
        pass
    return rows


def encode_text(tables: Any, data: bytes, buffers: Buffers) -> Int32Array:
    """Tokenize one text, valid UTF-8, without offsets, and return the tokens, a view of the buffers: O(bytes).

    `tables` is a pointer to a ``tokdfa_wordpiece``, and the buffers are for at least that many bytes.
    """
    while (n := lib.tokdfa_encode_wordpiece_text(tables, data, len(data), buffers.pointer)) < 0:
        pass
    return buffers.ids[:n]


class SharedBuffers:
    """The buffers for one short text after another of one thread; their tokens are parts of one array, `ids`.

    The tokens of earlier texts are never written to. :func:`encode_short` takes the pointer.
    """

    __slots__ = ("_struct", "ids", "pointer")

    def __init__(self, tables: Struct, longest_word: int) -> None:
        buffers = Buffers(N_SHARED - 1, min(longest_word, LONGEST_SHORT) if longest_word >= 0 else LONGEST_SHORT)
        buffers.pointer.at_a_time = 0
        self.ids = buffers.ids
        sizes = {"longest": LONGEST_SHORT, "n_ids": N_SHARED, "n_used": 0}
        self._struct = Struct("tokdfa_wordpiece_shared", tables=tables, buffers=buffers.struct, **sizes)
        self.pointer = self._struct.pointer


class ThreadBuffers(local):
    """The buffers for short texts of each thread, which gets its own for `tables`, a ``tokdfa_wordpiece``."""

    def __init__(self, tables: Struct, longest_word: int) -> None:
        self._made_of = tables, longest_word
        self.buffers = SharedBuffers(tables, longest_word)

    def renewed(self) -> SharedBuffers:
        """Return empty buffers, and keep them for the next texts."""
        buffers = self.buffers = SharedBuffers(*self._made_of)
        return buffers


encode_short: Callable[[Any, bytes, int], int] = lib.tokdfa_encode_wordpiece_short
"""Tokenize one short text, without offsets, where a call and an allocation take longer than the text.

It takes the pointer of a :class:`SharedBuffers`, valid UTF-8, and its number of bytes. It returns where its tokens
begin and end in the array, as ``begin << SHARED_BITS | end``; or -1 if the text is longer than `LONGEST_SHORT`, or the
buffers are full. In one number, because code between two calls, such as a signal handler, may tokenize as well.
"""

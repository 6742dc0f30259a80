"""Spelling numbered words one after the other, and reading words that are spelled in the byte alphabet."""

from __future__ import annotations

import io

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, Uint8Array
from tokdfa.kernels import pages
from tokdfa.kernels.library import Struct, call, lib, readable, writable
from tokdfa.kernels.spelling.lookup import check_words

_BLOCK = 1 << 15
"""Number of words to measure at once, so that their lengths stay in the cache."""


def spell(
    text: Uint8Array, offsets: Int64Array, numbers: Int32Array, before: bytes = b""
) -> tuple[Uint8Array, Int64Array]:
    """Return the words of some numbers, one after the other and after some bytes, and the length of each.

    Word i is ``text[offsets[i]:offsets[i + 1]]``. Negative numbers stand for the empty word; the others, checked, are
    smaller than there are words.
    """
    lengths: Int64Array = np.empty(len(numbers), dtype=np.int64)
    pointers = readable(offsets, np.int64), readable(numbers, np.int32)
    size = lib.tokdfa_spelled_lengths(*pointers, len(numbers), writable(lengths, np.int64))
    spelled = rest = np.empty(len(before) + size, dtype=np.uint8)
    if before:
        rest = spelled[len(before) :]
        spelled[: len(before)] = np.frombuffer(before, dtype=np.uint8)
    spelling = readable(text, np.uint8), len(text), *pointers, len(numbers)
    lib.tokdfa_spell(*spelling, writable(rest, np.uint8), size)
    return spelled, lengths


def spell_bytes(text: Uint8Array, offsets: Int64Array, numbers: Int32Array, leave_out: int = 0) -> bytes:
    """Return the words that :func:`spell` does as one object, written once, without the last `leave_out` bytes."""
    lengths: Int64Array = np.empty(min(len(numbers), _BLOCK), dtype=np.int64)
    ends, buffer = readable(offsets, np.int64), writable(lengths, np.int64)
    size = 0
    for begin in range(0, len(numbers), _BLOCK):
        block = numbers[begin : begin + _BLOCK]
        size += lib.tokdfa_spelled_lengths(ends, readable(block, np.int32), len(block), buffer)
    # A stream that is the only owner of its bytes lets them be written, and then hands them over without a copy. Where
    # an interpreter does copy them, only time is lost: nothing here changes an object that is immutable to others.
    stream = io.BytesIO(bytes(size))
    spelled: Uint8Array = np.frombuffer(stream.getbuffer(), dtype=np.uint8)
    pages.bring_in_large_pages(spelled)
    spelling = readable(text, np.uint8), len(text), ends, readable(numbers, np.int32), len(numbers)
    lib.tokdfa_spell(*spelling, writable(spelled, np.uint8), size)
    # The stream cannot be cut while others look at its bytes.
    del spelled
    stream.truncate(size - leave_out)
    return stream.getvalue()


def read_letters(
    text: Uint8Array, offsets: Int64Array, gap: int, byte_of: Int32Array
) -> tuple[Uint8Array, Int64Array, BoolArray]:
    """Read the words ``text[offsets[i] : offsets[i + 1] - gap]``, UTF-8 with a code point for each byte.

    `byte_of` has the byte that each code point below U+0800 represents, -1 for none. Returns the bytes of the words,
    their offsets, and which words have a code point that represents no byte; these have no bytes.
    """
    check_words(text, offsets, gap)
    if len(byte_of) > 0x800:
        raise ValueError(f"a table of {len(byte_of)} code points")
    words = Struct(
        "tokdfa_word_table", text=text, offsets=offsets, gap=gap, slots=np.zeros(1, dtype=np.uint64), key_0=0, key_1=0
    )
    spelled = np.empty(int(offsets[-1] - offsets[0]) + 1, dtype=np.uint8)
    ends: Int64Array = np.empty(len(offsets), dtype=np.int64)
    foreign: BoolArray = np.empty(len(offsets) - 1, dtype=np.bool_)
    n = call(lib.tokdfa_read_letters, words.pointer, byte_of, len(byte_of), out=(spelled, ends, foreign))
    return spelled[:n], ends, foreign

"""Whether texts are in a normalization form, and bringing them into it where they are not.

A text has a boundary before every character that never changes, regardless of the text before it. Only segments with
other characters are examined, of up to `MOST_CHARACTERS` each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tokdfa.base.arrays import BoolArray, Int64Array, Uint8Array, Uint64Array
from tokdfa.kernels.byte_filter import byte_filter
from tokdfa.kernels.library import Struct, call, ffi, lib
from tokdfa.kernels.pages import empty

MOST_CHARACTERS = 64

_IN_FORM, _TOO_LONG, _FULL = 0, 1, 2
_LEAST_SIZE = 1 << 12

# The numbers of 64 characters each from which on UTF-8 has so many bytes.
_FIRST_OF_TWO, _FIRST_OF_THREE, _FIRST_OF_FOUR = 0x80 >> 6, 0x800 >> 6, 0x10000 >> 6

_TEXT = ffi.typeof("uint8_t[]")


def form_struct(boundary: Uint64Array, tables: dict[str, Any], *, composes: bool) -> Struct:
    """Return a normalization form, which composes after it has decomposed if `composes`; see ``tokdfa_form``.

    `tables` are the other arrays by the names of their fields.
    """
    found = byte_filter(_joining(boundary))
    return Struct("tokdfa_form", boundary=boundary, composes=int(composes), filter=found, **tables)


def _joining(boundary: Uint64Array) -> Iterator[tuple[int, int, int]]:
    """Yield the first two bytes of characters without a boundary before them, and a group by the first one."""
    for word in np.flatnonzero(~boundary).tolist():
        # A word has 64 characters, which agree in all bytes but the last one.
        if word < _FIRST_OF_TWO:
            continue
        if word < _FIRST_OF_THREE:
            bits = ~int(boundary[word])
            yield from (((6 if word < 0x10 else 7), 0xC0 | word, 0x80 | bit) for bit in range(64) if bits >> bit & 1)
        elif word < _FIRST_OF_FOUR:
            yield min(word >> 6, 4), 0xE0 | word >> 6, 0x80 | word & 0x3F
        else:
            yield 5, 0xF0 | word >> 12, 0x80 | word >> 6 & 0x3F


def no_form() -> Struct:
    """Return the form of texts that nothing changes."""
    none: dict[str, Any] = dict.fromkeys(("mark", "whole", "bounds", "parts", "composed"), np.zeros(0, dtype=np.int32))
    none |= {"order": np.zeros(0, dtype=np.uint8), "pair": np.zeros(0, dtype=np.int64)}
    return form_struct(np.zeros(0, dtype=np.uint64), none, composes=False)


def first_change(form: Struct, text: bytes | memoryview) -> int:
    """Return the byte of a text, contiguous UTF-8, at which the first segment begins that changes or is too long.

    The form has boundaries. The length of the text if nothing changes.
    """
    offset: int = lib.tokdfa_first_change(form.pointer, ffi.from_buffer(_TEXT, text), len(text))
    return offset


def find_changed(form: Struct, addresses: Uint64Array, offsets: Int64Array) -> Int64Array:
    """Return the texts, ascending, for which `first_change` is not their length; they are at addresses.

    Text i has ``offsets[i + 1] - offsets[i]`` bytes; see :class:`~tokdfa.kernels.encode.utf8.FoundTexts`.
    """
    assert len(addresses) == len(offsets) - 1
    changes: BoolArray = np.zeros(len(addresses), dtype=np.bool_)
    call(lib.tokdfa_find_changed, form.pointer, addresses, offsets, len(addresses), out=(changes,))
    return np.flatnonzero(changes).astype(np.int64)


def normalized(
    form: Struct, text: bytes | memoryview, spans: Int64Array, longer: Callable[[int, int], tuple[bytes, int]]
) -> Uint8Array:
    """Return a text, contiguous UTF-8, in a form that has boundaries.

    The text between `spans`, of shape (spans, 3), is normalized by itself: start, stop and anything else, ascending;
    they get their offsets in the result. `longer` normalizes a segment that is too long, from its beginning and an
    offset that it does not exceed, and returns the result and its end.
    """
    assert spans.flags.c_contiguous
    assert (np.diff(spans[:, :2].ravel(), prepend=0, append=len(text)) >= 0).all()
    ends = [*spans[:, 0].tolist(), len(text)]
    out = empty(len(text) + len(text) // 8 + _LEAST_SIZE, np.uint8)
    job = Struct("tokdfa_normalizing", spans=spans.reshape(-1), next=0, read=0, written=0, out=out)
    here, data = job.pointer, ffi.from_buffer(_TEXT, text)
    while (status := lib.tokdfa_normalize(form.pointer, here, data, len(text))) != _IN_FORM:
        more, stop = b"", here.read
        if status == _TOO_LONG:
            more, stop = longer(here.read, ends[here.next // 3])
        if status == _FULL or here.written + len(more) > len(out):
            larger = empty(2 * len(out) + len(more), np.uint8)
            larger[: here.written] = out[: here.written]
            job.set("out", out := larger)
        out[here.written : here.written + len(more)] = np.frombuffer(more, dtype=np.uint8)
        here.read, here.written = stop, here.written + len(more)
    return out[: here.written]


def find_joining(form: Struct, text: Uint8Array, offsets: Int64Array) -> BoolArray:
    """Return, for each word, whether it begins within a symbol, or has a whole one without a boundary before it.

    The form has boundaries; word i, ``text[offsets[i]:offsets[i + 1]]``, need not be UTF-8.
    """
    joins: BoolArray = np.zeros(len(offsets) - 1, dtype=np.bool_)
    call(lib.tokdfa_find_joining, form.pointer, text, offsets, len(joins), out=(joins,))
    return joins

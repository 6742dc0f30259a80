"""Whether texts are in a normalization form, and bringing them into it where they are not.

A text has a boundary before every character that never changes and never changes with what precedes it. Only stretches
with other characters are looked at, those of up to `MOST_CHARACTERS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, Uint8Array, Uint64Array
from tokdfa.kernels.byte_filter import byte_filter
from tokdfa.kernels.library import Struct, call, ffi, lib
from tokdfa.kernels.pages import empty

__all__ = ["MOST_CHARACTERS", "find_changed", "find_joining", "first_change", "form_struct", "no_form", "normalized"]


MOST_CHARACTERS = 64

_IN_FORM, _TOO_LONG, _NO_ROOM = 0, 1, 2
_ROOM = 1 << 12

# The numbers of 64 characters each from which on UTF-8 has so many bytes.
_FIRST_OF_TWO, _FIRST_OF_THREE, _FIRST_OF_FOUR = 0x80 >> 6, 0x800 >> 6, 0x10000 >> 6

_TEXT = ffi.typeof("uint8_t[]")


def form_struct(
    boundary: Uint64Array,
    mark: Int32Array,
    order: Uint8Array,
    whole: Int32Array,
    bounds: Int32Array,
    parts: Int32Array,
    pair: Int64Array,
    composed: Int32Array,
    *,
    composes: bool,
) -> Struct:
    """Return a normalization form, which composes what it has decomposed if `composes`.

    Bit c of `boundary`, 17,408 words, is set if there is a boundary before code point c. `mark` has the code points
    with a combining class other than 0, ascending, `order` these classes. `whole` has those that decompose, ascending,
    number i to ``parts[bounds[i]:bounds[i + 1]]``; `pair` the pairs that compose, ``left << 32 | right``, ascending,
    and `composed` the results; both without the Hangul syllables.
    """
    return Struct(
        "tokdfa_form", boundary=boundary, mark=mark, order=order, whole=whole, bounds=bounds, parts=parts, pair=pair,
        composed=composed, composes=int(composes), filter=byte_filter(_joining(boundary)),
    )  # fmt: skip


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
    none, orders = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.uint8)
    pairs, boundaries = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.uint64)
    return form_struct(boundaries, none, orders, none, none, none, pairs, none, composes=False)


def first_change(form: Struct, text: bytes | memoryview) -> int:
    """Return the byte at which the first stretch of a text begins that changes, or is too long to be looked at.

    The form has boundaries; the text is contiguous UTF-8. Its length if nothing changes.
    """
    place: int = lib.tokdfa_first_change(form.pointer, ffi.from_buffer(_TEXT, text), len(text))
    return place


def find_changed(form: Struct, places: Uint64Array, offsets: Int64Array) -> Int64Array:
    """Return the texts, ascending, for which `first_change` is not their length.

    Text i is at the address ``places[i]``, and has ``offsets[i + 1] - offsets[i]`` bytes; see
    :class:`~tokdfa.kernels.encode.utf8.FoundTexts`.
    """
    assert len(places) == len(offsets) - 1
    changes: BoolArray = np.zeros(len(places), dtype=np.bool_)
    call(lib.tokdfa_find_changed, form.pointer, places, offsets, len(places), out=(changes,))
    return np.flatnonzero(changes).astype(np.int64)


def normalized(
    form: Struct, text: bytes | memoryview, spans: Int64Array, longer: Callable[[int, int], tuple[bytes, int]]
) -> Uint8Array:
    """Return a text, contiguous UTF-8, in a form that has boundaries.

    Parameters
    ----------
    form : Struct
    text : bytes or memoryview
    spans : int64 array of shape (spans, 3)
        What is not to be normalized: start, stop and anything else, ascending. The text between them is normalized
        by itself. They get where they are in the result.
    longer : callable
        Gives what becomes of a stretch that is too long to be looked at, and where it ends, from its beginning and a
        place that it does not exceed.
    """
    assert spans.flags.c_contiguous
    assert (np.diff(spans[:, :2].ravel(), prepend=0, append=len(text)) >= 0).all()
    ends = [*spans[:, 0].tolist(), len(text)]
    out = empty(len(text) + len(text) // 8 + _ROOM, np.uint8)
    job = Struct("tokdfa_normalizing", spans=spans.reshape(-1), next=0, read=0, written=0, out=out)
    here, data = job.pointer, ffi.from_buffer(_TEXT, text)
    while (status := lib.tokdfa_normalize(form.pointer, here, data, len(text))) != _IN_FORM:
        more, stop = b"", here.read
        if status == _TOO_LONG:
            more, stop = longer(here.read, ends[here.next // 3])
        if status == _NO_ROOM or here.written + len(more) > len(out):
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

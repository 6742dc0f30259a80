"""Whether texts are in a normalization form, without normalizing them.

A text has a border before every character that never changes and never changes with what precedes it. Only stretches
with other characters are looked at, those of up to `MOST_CHARACTERS`.
"""

from __future__ import annotations

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array, Int64Array, Uint8Array, Uint64Array
from tokdfa.kernels.library import Struct, call, ffi, lib

__all__ = ["MOST_CHARACTERS", "find_joining", "first_change", "form_struct", "no_form"]


MOST_CHARACTERS = 64

_TEXT = ffi.typeof("uint8_t[]")


def form_struct(
    border: Uint64Array,
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

    Bit c of `border`, 17,408 words, is set if there is a border before code point c. `mark` has the code points with a
    combining class other than 0, ascending, `order` these classes. `whole` has those that decompose, ascending, number
    i to ``parts[bounds[i]:bounds[i + 1]]``; `pair` the pairs that compose, ``left << 32 | right``, ascending, and
    `composed` the results; both without the Hangul syllables.
    """
    return Struct(
        "tokdfa_form", border=border, mark=mark, order=order, whole=whole, bounds=bounds, parts=parts, pair=pair,
        composed=composed, composes=int(composes),
    )  # fmt: skip


def no_form() -> Struct:
    """Return the form of texts that nothing changes."""
    none, orders = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.uint8)
    pairs, borders = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.uint64)
    return form_struct(borders, none, orders, none, none, none, pairs, none, composes=False)


def first_change(form: Struct, text: bytes | memoryview) -> int:
    """Return the byte at which the first stretch of a text begins that changes, or is too long to be looked at.

    The form has borders; the text is contiguous UTF-8. Its length if nothing changes.
    """
    place: int = lib.tokdfa_first_change(form.pointer, ffi.from_buffer(_TEXT, text), len(text))
    return place


def find_joining(form: Struct, text: Uint8Array, offsets: Int64Array) -> BoolArray:
    """Return, for each word, whether it begins within a symbol, or has a whole one without a border before it.

    The form has borders; word i, ``text[offsets[i]:offsets[i + 1]]``, need not be UTF-8.
    """
    joins: BoolArray = np.zeros(len(offsets) - 1, dtype=np.bool_)
    call(lib.tokdfa_find_joining, form.pointer, text, offsets, len(joins), out=(joins,))
    return joins

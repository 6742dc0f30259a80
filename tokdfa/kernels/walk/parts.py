"""Taking the words of all ids apart: the bytes that end a symbol, the effect of whole symbols, a symbol cut short.

`Completions` says which symbols that are cut short can be completed alike.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, Uint8Array, Uint16Array, Uint64Array
from tokdfa.kernels.library import Struct, call, lib, slots_for

# The flags of a word: no text has it; it spells part of a special token at its beginning, or a whole one.
BAD = 1
SPELLS = 2

MOST_EFFECTS = (1 << 16) - 2


def take_apart(
    text: Uint8Array,
    offsets: Int64Array,
    skipped: BoolArray,
    class_of: Uint16Array,
    n_classes: int,
    children: Int32Array,
    effect_after: Callable[[int | None, int], int],
) -> tuple[Uint64Array, Uint8Array]:
    """Take the words ``text[offsets[i]:offsets[i + 1]]`` apart.

    Only `BAD` is recorded for `skipped` words. `class_of` has the class of each code point, less than
    `n_classes`; `children` is the tree of special tokens, see :class:`tokdfa.jobs.validation.table.Backwards`.
    `effect_after` takes the number of an effect, or None for the effect of no symbols, and a class of symbols, and
    returns the number of the effect of both, at most `MOST_EFFECTS`. It is called once for each pair that occurs.

    Returns the key of each word, which :func:`parts_of_key` reads, 0 for bad ones; and 0, `BAD` or `SPELLS`.
    """
    n_words = len(offsets) - 1
    keys: Uint64Array = np.empty(n_words, dtype=np.uint64)
    told: Uint8Array = np.empty(n_words, dtype=np.uint8)
    following: Int32Array = np.full((64, n_classes), -1, dtype=np.int32)
    word = 0
    while True:
        job = Struct(
            "tokdfa_part_job", text=text, offsets=offsets, n_words=n_words, skipped=skipped, class_of=class_of,
            n_classes=n_classes, children=children, following=following, key=keys, told=told, word=word, before=0,
            symbol=0,
        )  # fmt: skip
        here = job.pointer
        effect = 0
        while effect + 1 < len(following):
            if lib.tokdfa_take_apart(here):
                return keys, told
            effect = effect_after(here.before if here.before >= 0 else None, here.symbol)
            following[here.before + 1, here.symbol] = effect
        word = here.word
        larger = np.full((2 * max(len(following), effect), n_classes), -1, dtype=np.int32)
        larger[: len(following)] = following
        following = larger


def parts_of_key(key: int) -> tuple[bytes, int | None, bytes]:
    """Return the parts of a key of :func:`take_apart`: head, number of the effect or None, and tail."""
    head, tail = ((key >> shift & 0xFFFFFF).to_bytes(3, "big").lstrip(b"\0") for shift in (40, 16))
    effect = key & 0xFFFF
    return head, effect - 1 if effect else None, tail


def number_keys(keys: Uint64Array, most: int) -> tuple[Uint64Array, Int32Array] | None:
    """Return the distinct keys in the order in which they occur, and the number of each; None for more than `most`."""
    known = np.full(slots_for(most, 16), -1, dtype=np.int32)
    distinct: Uint64Array = np.empty(most, dtype=np.uint64)
    number: Int32Array = np.empty(len(keys), dtype=np.int32)
    n = call(lib.tokdfa_number_keys, keys, len(keys), out=(known, len(known), distinct, most, number))
    return None if n < 0 else (distinct[:n].copy(), number)


def outer_symbols(text: Uint8Array, offsets: Int64Array) -> tuple[Int32Array, Int32Array]:
    """Return the code points of the first and of the last symbol of each word; -1 if it is cut, or there is none."""
    first, last = np.empty((2, len(offsets) - 1), dtype=np.int32)
    call(lib.tokdfa_outer_symbols, text, offsets, len(first), out=(first, last))
    return first, last


class Completions:
    """The completions of incomplete symbols, as classes of symbols, given each code point's class; for many threads."""

    def __init__(self, class_of_code_point: Uint16Array) -> None:
        if len(class_of_code_point) != 0x110000:
            raise ValueError("every code point has a class")
        self._class_of_code_point = class_of_code_point
        self._known: dict[bytes, bytes] = {}
        self._cut_of: dict[bytes, bytes] = {}

    def standing_for(self, cut: bytes) -> bytes:
        """Return the first incomplete symbol seen that has completions of the same classes in the same order.

        `cut` has the first bytes of a symbol, but not all, as :func:`tokdfa.regex.unicode.utf8.cut_apart` gives them.
        """
        known = self._known.get(cut)
        if known is None:
            known = self._known[cut] = self._cut_of.setdefault(self.runs(cut), cut)
        return known

    def runs(self, cut: bytes) -> bytes:
        """Return the classes of all completions in order, as runs; -1 stands for bytes that are not a symbol.

        A run is a class and a number of symbols, two integers of four bytes.
        """
        length = 0 if not cut or not 0xC2 <= cut[0] <= 0xF4 else 2 if cut[0] < 0xE0 else 3 if cut[0] < 0xF0 else 4
        if len(cut) >= length or any(byte & 0xC0 != 0x80 for byte in cut[1:]):
            raise ValueError(f"not the beginning of a symbol: {cut!r}")
        runs = np.empty((64 ** (length - len(cut)) + 2, 2), dtype=np.int32)
        n = call(lib.tokdfa_completions, self._class_of_code_point, int.from_bytes(cut), len(cut), out=(runs,))
        return runs[:n].tobytes()

"""Where two streams of ids of the same text both have a boundary."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, Uint8Array
from tokdfa.kernels import pages
from tokdfa.kernels.library import Struct, call, lib

_PADDING = np.zeros(8, dtype=np.uint8)


class Units(NamedTuple):
    """The units of two streams, and how far these agree.

    Unit k has the ids from ``a_bounds[k]`` to ``a_bounds[k + 1]`` of one side, those from ``b_bounds[k]`` to
    ``b_bounds[k + 1]`` of the other, and the bytes from ``offsets[k]`` to ``offsets[k + 1]``. Text j has the units from
    ``texts[j]`` to ``texts[j + 1]``. `n_texts` is the number of texts that both sides spell alike. If there are more,
    the last unit is none: it ends with the ids that were read on both sides, and at the first byte that differs.
    """

    a_bounds: Int64Array
    b_bounds: Int64Array
    offsets: Int64Array
    texts: Int64Array
    n_texts: int


class SpelledWords:
    """The spelling of words: word i is ``text[offsets[i]:offsets[i + 1]]``."""

    def __init__(self, text: Uint8Array, offsets: Int64Array) -> None:
        lengths = np.diff(offsets)
        if int(offsets[0]) < 0 or int(offsets[-1]) > len(text) or (lengths < 0).any():
            raise ValueError("the words must lie in the text, one after the other")
        self.text, self.offsets = np.concatenate((text, _PADDING)), offsets
        self.is_silent: BoolArray = lengths == 0


class SpelledIds:
    """Ids of texts, one after the other: text k has the ids from ``bounds[k]`` to ``bounds[k + 1]``."""

    def __init__(self, words: SpelledWords, ids: Int32Array, bounds: Int64Array) -> None:
        if len(ids) and not 0 <= int(ids.min()) <= int(ids.max()) < len(words.is_silent):
            raise ValueError("the ids must have words")
        if int(bounds[0]) != 0 or int(bounds[-1]) != len(ids) or (np.diff(bounds) < 0).any():
            raise ValueError("the texts must have all ids, one after the other")
        self.n_texts = len(bounds) - 1
        # PERF: the ids are checked, and numpy looks up twice as fast if it need not check them.
        self.n_silent = int(np.count_nonzero(words.is_silent.take(ids, mode="clip")))
        self.n_spelled = len(ids) - self.n_silent
        self.struct = Struct("tokdfa_spelled_ids", text=words.text, offsets=words.offsets, ids=ids, bounds=bounds)


def align(a: SpelledIds, b: SpelledIds) -> Units:
    """Return the units of two streams: the shortest parts, one after the other, that spell the same bytes on each side.

    Ids without bytes at a boundary of both sides are a unit of their own. O(ids + bytes).
    """
    if a.n_texts != b.n_texts:
        raise ValueError("both sides must have the same texts")
    # A unit has an id with bytes on both sides, or only ids without bytes.
    most = min(a.n_spelled, b.n_spelled) + a.n_silent + b.n_silent + 1
    arrays = [_from_zero(most) for _ in range(3)]
    texts = _from_zero(a.n_texts)
    names = ("a_ends", "b_ends", "offsets", "texts")
    units = Struct("tokdfa_units", **{name: array[1:] for name, array in zip(names, (*arrays, texts), strict=True)})
    n_texts = call(lib.tokdfa_align, a.struct.pointer, b.struct.pointer, a.n_texts, units.pointer)
    n = int(texts[min(n_texts + 1, a.n_texts)])
    a_bounds, b_bounds, offsets = (array[: n + 1] for array in arrays)
    return Units(a_bounds, b_bounds, offsets, texts, n_texts)


def _from_zero(n: int) -> Int64Array:
    """Return an array of 0 and `n` numbers that are not set."""
    array: Int64Array = np.empty(n + 1, dtype=np.int64)
    pages.bring_in_large_pages(array)
    array[0] = 0
    return array

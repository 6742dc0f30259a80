"""Safe cuts of ids: places between two of them at which a stream may be cut, and its parts encoded separately."""

from __future__ import annotations

from codecs import utf_8_decode
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.tokenizers.safe_cuts import SafeCuts
from tokdfa.unicode.utf8 import begins_symbol

if TYPE_CHECKING:
    from tokdfa.tokenizers.tokenizer import Tokenizer

__all__ = ["last_safe_place", "safe_places", "safe_places_of_text"]

_BLOCK = 1 << 16
_NEAR = 64


class _Block(NamedTuple):
    """The safe places between ids, those after which nothing depends on what precedes, and the first undecided one."""

    places: Int64Array
    free: Int64Array
    undecided: int


def safe_places(tokenizer: Tokenizer, ids: Int32Array, *, begins: bool = True, ends: bool = False) -> Int64Array:
    """Return the indices of the ids, from 1 on, before which a stream may be cut, ascending.

    Parameters
    ----------
    tokenizer : Tokenizer
    ids : int32 array
        Ids of the tokenizer.
    begins, ends : bool
        Whether a text begins, and ends, with them.
    """
    if not _is_read(tokenizer):
        return np.flatnonzero(_cut_between(tokenizer, ids, begins, ends)) + 1
    found: list[Int64Array] = [np.empty(0, dtype=np.int64)]
    at, size = 0, _BLOCK
    while at < len(ids):
        stop = min(at + size, len(ids))
        is_last = stop == len(ids)
        block = _of_block(tokenizer, ids[at:stop], begins or at > 0, ends and is_last)
        if is_last:
            found.append(at + block.places)
            break
        last = int(block.free[block.free < block.undecided].max(initial=0))
        if not last:
            size *= 2
            continue
        found.append(at + block.places[block.places <= last])
        at, size = at + last, _BLOCK
    return np.concatenate(found)


def last_safe_place(
    tokenizer: Tokenizer, ids: Int32Array, stop: int, *, begins: bool = True, ends: bool = False
) -> int:
    """Return the last place up to `stop` before which a stream may be cut; 0 if there is none.

    It reads only ids near the place, unless it must go further to be exact. The parameters are those of
    :func:`safe_places`.
    """
    if not _is_read(tokenizer):
        places = safe_places(tokenizer, ids, begins=begins, ends=ends)
        return int(places[: np.searchsorted(places, stop, side="right")].max(initial=0))
    before = after = _NEAR
    while True:
        low, high = max(stop - before, 0), min(stop + after, len(ids))
        at_end = ends and high == len(ids)
        block = _of_block(tokenizer, ids[low:high], begins and not low, at_end)
        first = low + int(block.free[0]) if len(block.free) and block.free[0] <= stop - low else 0
        if low and not first:
            before *= 4
            continue
        # From there on, everything is decided.
        block = _of_block(tokenizer, ids[first:high], begins or first > 0, at_end)
        if high < len(ids) and block.undecided <= stop - first:
            after *= 4
            continue
        return first + int(block.places[block.places <= stop - first].max(initial=0))


def safe_places_of_text(tokenizer: Tokenizer, text: str, *, begins: bool = True, ends: bool = False) -> Int64Array:
    """Return the places in a text, in characters from 1 on, at which it may be cut, ascending."""
    if _is_read(tokenizer):
        places = tokenizer.derived(SafeCuts).of_text(text, begins=begins, ends=ends).places[1:-1]
        return np.flatnonzero(places) + 1
    cuts = tokenizer.character_cuts
    if cuts is None:
        return np.empty(0, dtype=np.int64)
    # Nothing may be left of spaces at the beginning of a text.
    first = len(text) - len(text.lstrip()) + 1 if begins else 1
    found = [place for place in range(first, len(text)) if cuts.is_cut(text[place - 1], text[place])]
    return np.array(found, dtype=np.int64)


def _is_read(tokenizer: Tokenizer) -> bool:
    """Return whether places are found in the text of ids."""
    return tokenizer.read_in_form is not None and tokenizer.suffix is None


def _cut_between(tokenizer: Tokenizer, ids: Int32Array, begins: bool, ends: bool) -> BoolArray:
    return tokenizer.cut_between(ids, begins=begins, ends=ends) if len(ids) > 1 else np.zeros(0, dtype=np.bool_)


def _of_block(tokenizer: Tokenizer, ids: Int32Array, begins: bool, ends: bool) -> _Block:
    data = tokenizer.decode_bytes(ids)
    of_byte: BoolArray = np.zeros((2, len(data) + 1), dtype=np.bool_)
    view, at, undecided = memoryview(data), 0, len(data) + 1
    while at <= len(data):
        is_whole = False
        try:
            text, size = utf_8_decode(view[at:], "strict", False)
            bad = at + size
            is_whole = bad == len(data)
        except UnicodeDecodeError as error:
            bad = at + error.start
            text, _ = utf_8_decode(view[at:bad], "strict")
        # What is beside bytes that are not UTF-8 is unknown.
        safe = tokenizer.derived(SafeCuts).of_text(text, begins=begins and not at, ends=ends and is_whole)
        offsets = np.append(np.flatnonzero(begins_symbol(data[at:bad])), bad - at)
        of_byte[:, at + offsets] = safe.places, safe.free
        if bad >= len(data) or is_whole:
            undecided = at + int(offsets[min(safe.undecided, len(offsets) - 1)])
            break
        at = bad + 1
    edges = np.cumsum(np.diff(tokenizer.id_spellings.offsets)[ids])
    places, free = (np.flatnonzero(found[edges[:-1]]) + 1 for found in of_byte)
    return _Block(places, free, int(np.searchsorted(edges, undecided)) + 1)

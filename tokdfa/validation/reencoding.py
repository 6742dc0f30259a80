"""Many texts of ids decoded, encoded again and compared at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.kernels.walk.differences import Tokenizations, find_differences
from tokdfa.tokenizers.decoder import SpelledTexts
from tokdfa.tokenizers.round_trip import RoundTrip

__all__ = ["ComparedTexts", "compare_texts"]


class ComparedTexts(NamedTuple):
    """Where the ids of texts differ from the canonical ids.

    Attributes
    ----------
    rows : int64 array of shape (parts, 6)
        The parts that differ, with the text that each is in; see :func:`find_differences`. Ends are those of bytes,
        also within symbols.
    canonical : int32 array
        The canonical ids of all texts.
    is_odd : bool array, one entry a text
        Whether it is not compared like this: its bytes are not UTF-8, its canonical ids have another text, or its
        beginning or the tokenizer needs more care.
    sizes : int64 array, one entry a text
        The number of bytes of each text that is not odd.
    """

    rows: Int64Array
    canonical: Int32Array
    is_odd: BoolArray
    sizes: Int64Array


def compare_texts(trip: RoundTrip, ids: Int32Array, bounds: Int64Array, *, begins: bool = True) -> ComparedTexts:
    """Compare the ids of texts, one or more each, with what the texts are encoded as.

    Text k has the ids from ``bounds[k]`` to ``bounds[k + 1]``, from 0 up to all, and `begins` is whether a text begins
    with them, rather than goes on after a boundary.
    """
    n_texts = len(bounds) - 1
    rows, sizes = np.zeros((0, 6), dtype=np.int64), np.zeros(n_texts, dtype=np.int64)
    nothing = ComparedTexts(rows, np.zeros(0, dtype=np.int32), np.ones(n_texts, dtype=np.bool_), sizes)
    spelled = trip.spell_texts(ids, bounds, begins=begins) if n_texts and not trip.takes_longest else None
    if spelled is None:
        return nothing
    parts = _parts(spelled, bounds)
    sizes = np.array([*map(len, parts)], dtype=np.int64)
    is_odd = spelled.removed < 0
    texts = [""] * n_texts
    for number in np.flatnonzero(~is_odd).tolist():
        try:
            texts[number] = parts[number].decode("utf-8")
        except UnicodeDecodeError:
            is_odd[number] = True
    encoded = trip.encode_texts(texts, begins=begins)
    if encoded is None:
        return nothing
    canonical, canonical_bounds = encoded
    if not is_odd.any() and np.array_equal(bounds, canonical_bounds) and np.array_equal(ids, canonical):
        return ComparedTexts(rows, canonical, is_odd, sizes)
    again = trip.spell_texts(canonical, canonical_bounds, begins=begins)
    if again is None:
        return nothing
    is_odd |= again.removed < 0
    other_parts = _parts(again, canonical_bounds)
    for number in np.flatnonzero(~is_odd).tolist():
        is_odd[number] = parts[number] != other_parts[number]
    rows = find_differences(
        Tokenizations(ids, spelled.ends, bounds, _starts(spelled, bounds)),
        Tokenizations(canonical, again.ends, canonical_bounds, _starts(again, canonical_bounds)),
    )
    return ComparedTexts(rows[~is_odd[rows[:, 0]]] if is_odd.any() else rows, canonical, is_odd, sizes)


def _starts(spelled: SpelledTexts, bounds: Int64Array) -> Int64Array:
    """Return where each text begins in the bytes."""
    starts: Int64Array = np.append(0, spelled.ends)[bounds[:-1]] + np.maximum(spelled.removed, 0)
    return starts


def _parts(spelled: SpelledTexts, bounds: Int64Array) -> list[bytes]:
    """Return the bytes of each text."""
    data, stops = spelled.data.tobytes(), np.append(0, spelled.ends)[bounds[1:]]
    starts = _starts(spelled, bounds)
    return [data[start:stop] for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)]

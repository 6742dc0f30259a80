"""Pieces with their ids, and ids with their text."""

from __future__ import annotations

from typing import NamedTuple

from tokdfa.base.arrays import Int32Array, Int64Array


class Encoded(NamedTuple):
    """The ids of several pieces; piece i has ``ids[offsets[i]:offsets[i + 1]]``.

    `ids` is an int32 array, `offsets` an int64 array with one entry more than there are pieces.
    """

    ids: Int32Array
    offsets: Int64Array


class Decoded(NamedTuple):
    """A text, and the end of each id in it, in bytes of UTF-8."""

    text: str
    ends: Int64Array

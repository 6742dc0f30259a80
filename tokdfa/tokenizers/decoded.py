"""The text of ids, and where in it each id ends."""

from __future__ import annotations

from typing import NamedTuple

from tokdfa.arrays import Int64Array

__all__ = ["Decoded"]


class Decoded(NamedTuple):
    """A text, and for each id the end of what it adds, in bytes of UTF-8."""

    text: str
    ends: Int64Array

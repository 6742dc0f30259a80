"""What ids add to the text of a stream, if that depends on their position in it."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from tokdfa.arrays import BoolArray
from tokdfa.tokenizers.decoder import Spellings

__all__ = ["Spelled", "spelled_with_suffix"]


class Spelled(NamedTuple):
    """What ids spell in a stream whose first or last id may be spelled differently.

    Attributes
    ----------
    usual : Spellings
        The bytes of each id in any other position.
    varies : {"", "first", "last"}
        Which id of a stream is spelled differently.
    other : Spellings or None
        The bytes of each id in that position; None if there is no such position.
    silent : bool array, one entry an id, or None
        Whether the id after it still counts as the first one; None if there are no such ids.
    """

    usual: Spellings
    varies: Literal["", "first", "last"] = ""
    other: Spellings | None = None
    silent: BoolArray | None = None


def spelled_with_suffix(usual: Spellings, ends_word: BoolArray) -> Spelled:
    """Return the spelling of ids of which some end with the space after a word: after the last word there is none."""
    text, offsets = usual
    lengths = np.diff(offsets) - ends_word
    kept = np.ones(len(text), dtype=np.bool_)
    kept[offsets[1:][ends_word] - 1] = False
    return Spelled(usual, "last", Spellings(text[kept], np.concatenate(([0], np.cumsum(lengths)))))

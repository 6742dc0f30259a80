"""What ids add to the text of a stream, if that depends on their position in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from tokdfa.arrays import BoolArray
from tokdfa.errors import UnsupportedFeatureError
from tokdfa.tokenizers.decoder import Spellings, spellings
from tokdfa.tokenizers.decoding import (
    ByteFallback,
    DecodeMetaspace,
    DecodeReplace,
    DecodeSentencePiece,
    DecodeStep,
    DecodeStrip,
    DecodeSuffix,
    StripWhole,
    byte_of,
    decode_tokens,
)

__all__ = ["Spelled", "spelled_by_steps", "spelled_with_suffix"]


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


# A token before others, or after them, from which no step removes anything.
_OTHER = "x"


def spelled_by_steps(tokens: Sequence[str], steps: Sequence[DecodeStep], file_format: str) -> Spelled:
    """Return the spelling of tokens that are decoded by steps.

    Raises
    ------
    UnsupportedFeatureError
        If what a token adds to the text depends on more than whether it is the first or the last one.
    """
    at_end = all(isinstance(step, DecodeSuffix) for step in steps)
    at_start = all(
        isinstance(step, DecodeReplace | ByteFallback | DecodeStrip | DecodeMetaspace | DecodeSentencePiece)
        or (isinstance(step, StripWhole) and step.count <= 1)
        for step in steps
    )
    if not (at_start or at_end):
        what = "ids can be searched only if what each adds to the text does not depend on its neighbours"
        raise UnsupportedFeatureError(what, value=file_format, hint="decode them and search the text")
    # A byte token is searched as its byte, whatever is beside it.
    reads_bytes = any(isinstance(step, ByteFallback | DecodeSentencePiece) for step in steps)
    byte = [byte_of(token) if reads_bytes else None for token in tokens]
    others = [_OTHER if value is not None else token for token, value in zip(tokens, byte, strict=True)]
    decoded = decode_tokens([_OTHER, *others, _OTHER], steps)
    text, ends = decoded.text.encode("utf-8"), decoded.ends.tolist()
    usual = [
        bytes([value]) if value is not None else text[ends[number] : ends[number + 1]]
        for number, value in enumerate(byte)
    ]
    alone = []
    for number, token in enumerate(tokens):
        found = usual[number]
        if token and (at_end or not found or b" " in found):
            single = decode_tokens([token], steps).text.encode("utf-8")
            found = single if byte[number] is None or not single else found
        alone.append(found)
    silent = [not word for word in usual]
    if any(isinstance(step, DecodeSentencePiece) and step.drops_all for step in steps):
        silent = [not word for word in alone]
    varies: Literal["first", "last"] = "last" if at_end else "first"
    return Spelled(spellings(usual), varies, spellings(alone), np.array(silent, dtype=np.bool_))

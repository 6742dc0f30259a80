"""Where a stream is not canonical, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tokdfa.arrays import Int32Array
from tokdfa.display import Displayed
from tokdfa.errors import AlphabetError

if TYPE_CHECKING:
    from tokdfa.tokenizers.tokenizer import Tokenizer

__all__ = ["Violation", "common_prefix", "encode_again"]


@dataclass(frozen=True, slots=True)
class Violation(Displayed):
    """A place where a stream is not canonical.

    Attributes
    ----------
    index : int
        The first token that the tokenizer would not have given: the length of the longest common prefix of the ids and
        ``encode(decode(ids))``; for a later violation, of the stream in which those before it are repaired, counted in
        the tokens of the stream as it is. For bytes that are not UTF-8 the token of the first bad byte.
    detected_at : int
        The token with which this became certain, or as good as: `index` or a later one.
    byte_offset : int
        Where token `index` begins in the bytes of the stream; for bytes that are not UTF-8 the first bad byte.
    start : int
        The first token of `ids`.
    ids : tuple of int
        The piece or pieces concerned, as they are in the stream.
    canonical_ids : tuple of int or None
        What should stand in their place; None where no text has these bytes.
    reason : str
        One sentence for a reader.

    Examples
    --------
    >>> violation = tokdfa.validate(tokdfa.default_tokenizer(), [64, 261, 1193]).witness
    >>> violation.index, violation.ids, violation.canonical_ids
    (1, (261, 1193), (2513,))
    """

    index: int
    detected_at: int
    byte_offset: int
    start: int
    ids: tuple[int, ...]
    canonical_ids: tuple[int, ...] | None
    reason: str


def common_prefix(left: Sequence[int] | Int32Array, right: Sequence[int] | Int32Array) -> int:
    """Return the length of the longest common prefix."""
    length = min(len(left), len(right))
    differ = np.flatnonzero(np.asarray(left[:length]) != np.asarray(right[:length]))
    return int(differ[0]) if len(differ) else length


def encode_again(tokenizer: Tokenizer, text: str) -> Int32Array:
    """Return the ids of a text that ids are decoded to, symbols without a token left out where the library does so.

    Raises
    ------
    AlphabetError
        If the text has such a symbol, and the library does not leave it out or is not known.
    """
    try:
        return tokenizer.encode(text)
    except AlphabetError:
        if tokenizer.leaving_out is None:
            raise
        return tokenizer.leaving_out.encode(text)

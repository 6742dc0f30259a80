"""The likely mistakes with which ids were written or read, as data."""

from __future__ import annotations

from typing import NamedTuple

from tokdfa.meanings import Meaning

__all__ = ["Mistake", "MistakeKind"]


class MistakeKind(Meaning):
    """What is likely wrong with ids that almost fit a tokenizer. The values are stable: ``--json`` prints them.

    Attributes
    ----------
    meaning : str
        One sentence that describes the mistake.
    """

    SHIFTED_IDS = "shifted-ids", "A constant was added to all ids."
    DTYPE = "dtype", "The ids are integers of another type."
    BYTE_ORDER = "byte-order", "The ids are integers in the other byte order."
    CUT_TO_16_BITS = "cut-to-16-bits", "Ids from 65,536 on were written as uint16, so only the lower 16 bits are left."
    SPECIAL_IDS = "special-ids", "Ids are used as special tokens, and the tokenizer does not have such special tokens."
    SPECIALS_AS_TEXT = "specials-as-text", "Special tokens were encoded as the text of their names."
    ANOTHER_VERSION = "another-version", "Another version of the tokenizer made the ids, or one that splits otherwise."


class Mistake(NamedTuple):
    """A likely mistake, and what is left once it is corrected.

    Attributes
    ----------
    kind : MistakeKind
    per_million : float
        The number of violations per million ids that are left.
    dtype : str or None
        The type of the integers, as numpy names it; for ``dtype`` and ``byte-order``.
    offset : int or None
        What was added to the ids; for ``shifted-ids``.
    ids : tuple of int
        The ids that are used as special tokens; for ``special-ids``, at most 16 of them.
    """

    kind: MistakeKind
    per_million: float
    dtype: str | None = None
    offset: int | None = None
    ids: tuple[int, ...] = ()

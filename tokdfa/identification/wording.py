"""Sentences about likely mistakes."""

from __future__ import annotations

import numpy as np

from tokdfa.identification.mistake import Mistake, MistakeKind

__all__ = ["sentence"]

_SHOWN = 8


def sentence(mistake: Mistake) -> str:
    """Return a mistake in one sentence without a full stop, and what is left when it is corrected."""
    return f"{_WORDS[mistake.kind](mistake)}; then {mistake.per_million:,.0f} per million are left"


def _shifted(mistake: Mistake) -> str:
    offset = mistake.offset or 0
    return f"the ids are shifted: {abs(offset):,} was {'added to' if offset > 0 else 'subtracted from'} each"


def _dtype(mistake: Mistake) -> str:
    return f"the ids are of another integer type: read them as {mistake.dtype}"


def _byte_order(mistake: Mistake) -> str:
    order = "big" if np.dtype(mistake.dtype).str.startswith(">") else "little"
    return f"the ids are in the other byte order: read them as {mistake.dtype}, {order}-endian"


def _cut(mistake: Mistake) -> str:
    return "ids from 65,536 on were cut to 16 bits when they were written, and are lost"


def _specials(mistake: Mistake) -> str:
    ids = " ".join(map(str, mistake.ids[:_SHOWN])) + " …" * (len(mistake.ids) > _SHOWN)
    which = f"the id {ids} is" if len(mistake.ids) == 1 else f"the ids {ids} are"
    return f"{which} used as special tokens, and this tokenizer has no such special tokens"


def _specials_as_text(mistake: Mistake) -> str:
    return "special tokens were encoded as the text of their names"


def _version(mistake: Mistake) -> str:
    return "another version of this tokenizer made the ids, or one that splits text otherwise"


_WORDS = {
    MistakeKind.SHIFTED_IDS: _shifted,
    MistakeKind.DTYPE: _dtype,
    MistakeKind.BYTE_ORDER: _byte_order,
    MistakeKind.CUT_TO_16_BITS: _cut,
    MistakeKind.SPECIAL_IDS: _specials,
    MistakeKind.SPECIALS_AS_TEXT: _specials_as_text,
    MistakeKind.ANOTHER_VERSION: _version,
}

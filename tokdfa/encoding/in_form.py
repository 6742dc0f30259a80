"""Texts that are brought into a normalization form before they are encoded: what changes, between added tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tokdfa.arrays import Int64Array, Uint8Array
from tokdfa.encoding.added_tokens import AddedTokens
from tokdfa.kernels.encode.added import find_added
from tokdfa.kernels.encode.utf8 import FoundTexts
from tokdfa.kernels.normalization.quick_check import first_change, next_changed
from tokdfa.unicode.quick_check import form_tables, in_form

if TYPE_CHECKING:
    from tokdfa.unicode.normalization import Form

__all__ = ["InForm"]


class InForm:
    """What becomes of texts that are brought into a form, between the added tokens that are found before that.

    Parameters
    ----------
    form : {"NFC", "NFD", "NFKC", "NFKD"}
    added_tokens : AddedTokens
        None of those of level 0 strips white space.
    """

    def __init__(self, form: Form, added_tokens: AddedTokens) -> None:
        self._form = form
        self._tables = form_tables(form)
        self._outer = added_tokens.outer_tables if added_tokens.has_outer else None

    def __call__(self, data: bytes | memoryview) -> tuple[Uint8Array, Int64Array] | None:
        """Return what becomes of UTF-8, and the added tokens of level 0 in it; None if it is in the form.

        The tokens are rows of start, stop and number.
        """
        if first_change(self._tables, data) == len(data):
            return None
        spans = np.zeros((0, 3), dtype=np.int64) if self._outer is None else find_added(self._outer, data)
        return in_form(data, self._form, spans), spans

    def of_all(self, texts: list[str]) -> FoundTexts | None:
        """Return what becomes of several texts; None if that has other added tokens of level 0.

        Raises
        ------
        TypeError
            If one is no string.
        UnicodeEncodeError
            If one has half of a surrogate pair.
        """
        found = FoundTexts(texts)
        at = next_changed(self._tables, found.places, found.offsets, 0)
        if at == len(texts):
            return found
        changed = [*texts]
        while at < len(texts):
            made = self(texts[at].encode())
            if made is not None:
                data, spans = made
                if self._outer is not None and not np.array_equal(find_added(self._outer, data.data), spans):
                    return None
                changed[at] = data.tobytes().decode()
            at = next_changed(self._tables, found.places, found.offsets, at + 1)
        return FoundTexts(changed)

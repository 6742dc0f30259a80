"""Brings texts into a normalization form before they are encoded: the text between added tokens changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tokdfa.base.arrays import Int64Array, Uint8Array, offsets_of
from tokdfa.kernels.encode.utf8 import FoundTexts
from tokdfa.kernels.normalization.quick_check import find_changed, first_change
from tokdfa.regex.unicode.quick_check import form_tables, in_form
from tokdfa.tokenizers.encoding.added_tokens import AddedTokens

if TYPE_CHECKING:
    from tokdfa.regex.unicode.normalization import Form

# A byte that no text has.
_BETWEEN = b"\xff"


class OverlapError(ValueError):
    """White space belongs to two added tokens, so that the text between them is not a part of the text."""


class InForm:
    """Brings texts into a form, except for the added tokens that are found before that.

    Its methods raise OverlapError if white space belongs to two of these.
    """

    def __init__(self, form: Form, added_tokens: AddedTokens) -> None:
        self._form = form
        self._tables = form_tables(form)
        self._outer = added_tokens.outer_finder

    def __call__(self, data: bytes | memoryview) -> tuple[Uint8Array, Int64Array] | None:
        """Return the form of UTF-8, and the added tokens of level 0 in it; None if it is in the form.

        The tokens are rows of start, stop and number.
        """
        if first_change(self._tables, data) == len(data):
            return None
        spans = self._spans(data)
        return in_form(data, self._form, spans), spans

    def of_all(self, texts: list[str]) -> FoundTexts | None:
        """Return the forms of texts; None if they have other added tokens of level 0. It raises as FoundTexts does."""
        found = FoundTexts(texts)
        changed = find_changed(self._tables, found.addresses, found.offsets)
        if len(changed) == 0:
            return found
        # All at once. The byte between two texts is not UTF-8: no token reaches across it, and it is left as it is.
        parts = [texts[at].encode() for at in changed.tolist()]
        ends = offsets_of(parts)[1:] + np.arange(1, len(parts) + 1)
        data = _BETWEEN.join((*parts, b""))
        tokens = self._spans(data)
        spans = np.concatenate((np.column_stack((ends - 1, ends, np.full(len(ends), -1))), tokens))
        spans = np.ascontiguousarray(spans[np.argsort(spans[:, 0])])
        made = in_form(data, self._form, spans)
        is_between = spans[:, 2] < 0
        if not np.array_equal(self._spans(made.data), spans[~is_between]):
            return None
        stops = spans[is_between, 0]
        return found.replaced(changed, made, np.append(0, stops[:-1] + 1), stops)

    def _spans(self, data: bytes | memoryview) -> Int64Array:
        if self._outer is None:
            return np.zeros((0, 3), dtype=np.int64)
        spans = self._outer.find(data)
        if (spans[1:, 0] < spans[:-1, 1]).any():
            raise OverlapError
        return spans

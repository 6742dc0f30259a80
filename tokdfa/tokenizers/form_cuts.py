"""Where texts that are normalized and then split into pieces are certainly cut."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array
from tokdfa.kernels.walk.parts import outer_symbols
from tokdfa.tokenizers.safe_cuts import safe_borders_of
from tokdfa.unicode.normalization import Form
from tokdfa.unicode.quick_check import borders

if TYPE_CHECKING:
    from tokdfa.tokenizers.tokenizer import Tokenizer

__all__ = ["FormCuts"]


class FormCuts:
    """The places between ids where what precedes and what follows is encoded separately, whatever it is.

    Parameters
    ----------
    tokenizer : Tokenizer
        One over bytes with a pre-tokenizer, without the normalizer.
    form : {"NFC", "NFD", "NFKC", "NFKD"}
        What texts are brought into.

    Notes
    -----
    Three things could join the two sides. Normalization does not if there is a border before both symbols at the place:
    then neither of them changes. The pre-tokenizer does not if it cuts every text between two such symbols and no
    look-ahead sees across. Special tokens do not if none of them has these symbols side by side.
    """

    def __init__(self, tokenizer: Tokenizer, form: Form) -> None:
        assert tokenizer.pretokenizer is not None
        self._borders = safe = safe_borders_of(tokenizer.pretokenizer)
        always = np.zeros((1, 1), dtype=np.bool_) if safe is None else safe.between[0]
        n = len(always)
        # One more class for what is cut short, empty, or changes.
        self._separate: BoolArray = np.zeros((n + 1, n + 1), dtype=np.bool_)
        self._separate[:n, :n] = always
        self._steady = steady = borders(form)
        self._first_symbol, self._last_symbol = outer_symbols(*tokenizer.id_spellings)
        self._first, self._last = (
            np.where((symbol >= 0) & steady[np.maximum(symbol, 0)], self._classes_of(symbol), n)
            for symbol in (self._first_symbol, self._last_symbol)
        )
        specials = tokenizer.specials if tokenizer.finds_specials else ()
        pairs = {(ord(a) << 32) | ord(b) for special in specials for a, b in pairwise(special.text)}
        self._inside = np.array(sorted(pairs), dtype=np.int64)

    def between(self, ids: Int32Array, *, begins: bool = True, ends: bool = False) -> BoolArray:
        """Return, for each id but the first, whether it is such a place, be it near the beginning of a text or not."""
        left, right = ids[:-1], ids[1:]
        found: BoolArray = self._separate[self._last[left], self._first[right]]
        if len(self._inside) and found.any():
            symbols = self._last_symbol[left].astype(np.int64) << 32 | self._first_symbol[right]
            found &= ~np.isin(symbols, self._inside)
        return found

    def is_cut(self, left: str, right: str) -> bool:
        """Return whether a text is certainly cut between two characters."""
        codes = np.array([ord(left), ord(right)], dtype=np.int32)
        if not self._steady[codes].all() or (int(codes[0]) << 32 | int(codes[1])) in self._inside:
            return False
        before, after = self._classes_of(codes).tolist()
        return bool(self._separate[before, after])

    def _classes_of(self, code_points: Int32Array) -> Int32Array:
        if self._borders is None:
            return np.zeros(len(code_points), dtype=np.int32)
        return self._borders.classes_of(np.maximum(code_points, 0)).astype(np.int32)

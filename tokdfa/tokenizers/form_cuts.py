"""Where texts that are normalized and then split into pieces are certainly cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array, Int64Array, IntegerArray, Uint8Array
from tokdfa.kernels.walk.parts import outer_symbols
from tokdfa.tokenizers.added_borders import AddedBorders
from tokdfa.tokenizers.normalizers import UnicodeForm
from tokdfa.tokenizers.pair_memory import PairMemory
from tokdfa.tokenizers.safe_cuts import safe_borders_of
from tokdfa.unicode.normalization import Form

if TYPE_CHECKING:
    from tokdfa.tokenizers.tokenizer import Tokenizer

__all__ = ["FormCuts"]

_MOST_ASKED = 1 << 14


class FormCuts:
    """The places between characters, and between ids, where both sides are encoded separately, whatever they are.

    Parameters
    ----------
    tokenizer : Tokenizer
        One over bytes with a pre-tokenizer, without the normalizer.
    form : {"NFC", "NFD", "NFKC", "NFKD"}
        What texts are brought into.

    Notes
    -----
    Four things could join the two sides. Normalization does not if there is a border before both symbols at the place:
    then nothing of one side changes the other. The right symbol may still become another one because of what follows
    it, so the rest must hold for all that it may become. The pre-tokenizer does not join them if it cuts every text
    between two such symbols and no look-ahead sees across. Special tokens do not if none of them has these symbols side
    by side, or depends on them. A space that is put before texts is not put before the right side if that begins with
    one.
    """

    def __init__(self, tokenizer: Tokenizer, form: Form) -> None:
        assert tokenizer.pretokenizer is not None
        self._borders = safe_borders_of(tokenizer.pretokenizer)
        self._puts_space = tokenizer.pretokenizer.splitting.prefix_space is not None
        self._normalizer = UnicodeForm(form)
        self._first, self._last = outer_symbols(*tokenizer.id_spellings)
        specials = tokenizer.specials if tokenizer.finds_specials else ()
        self._added = [
            AddedBorders([special for special in specials if special.level == level], touches=False) for level in (0, 1)
        ]
        self._known = PairMemory(16)
        self._asked: dict[str, bool] = {}

    def between(self, ids: Int32Array, *, begins: bool = True, ends: bool = False) -> BoolArray:
        """Return, for each id but the first, whether it is such a place, be it near the beginning of a text or not."""
        return self.between_symbols(self._last[ids[:-1]], self._first[ids[1:]])

    def between_symbols(self, left: IntegerArray, right: IntegerArray) -> BoolArray:
        """Return whether a text is cut between two symbols; both are arrays of code points, -1 for what is none."""
        found: BoolArray = self._known.states(left, right, self._judge) > 0
        return found

    def _judge(self, left: Int64Array, right: Int64Array) -> Uint8Array:
        pairs = zip(left.tolist(), right.tolist(), strict=True)
        cut = [before >= 0 and after >= 0 and self.is_cut(chr(before), chr(after)) for before, after in pairs]
        return np.array(cut, dtype=np.uint8)

    def is_cut(self, left: str, right: str) -> bool:
        """Return whether a text is certainly cut between two characters."""
        found = self._asked.get(left + right)
        if found is None:
            if len(self._asked) >= _MOST_ASKED:
                self._asked.clear()
            found = self._asked[left + right] = self._decide(left, right)
        return found

    def _decide(self, left: str, right: str) -> bool:
        if self._borders is None or (self._puts_space and right != " "):
            return False
        found = self._normalizer.sides(left, right)
        if found is None or found.left is None or self._added[0].joins(left, right):
            return False
        rights = (found.right, *found.others)
        if any(self._added[1].joins(found.left, character) for character in rights):
            return False
        before, *after = self._borders.classes_of(np.array([*map(ord, (found.left, *rights))], dtype=np.int32)).tolist()
        return bool(self._borders.between[0][before, after].all())

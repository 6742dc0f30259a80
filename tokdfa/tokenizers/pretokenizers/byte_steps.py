"""Steps after ByteLevel: they split pieces that are spelled in GPT-2's byte alphabet, and may cut a character apart."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tokdfa.base.arrays import Int64Array, running_sum
from tokdfa.base.errors import LimitExceededError, PatternError
from tokdfa.regex.unicode.byte_alphabet import CHARACTER_OF, spell
from tokdfa.tokenizers.pretokenizers.matches import split_piece
from tokdfa.tokenizers.pretokenizers.steps import Split, Splitting

if TYPE_CHECKING:
    from tokdfa.tokenizers.pretokenizers.splitter import Splitter

__all__ = ["ByteSteps"]

# A symbol that is no letter of the alphabet; it separates pieces, and no step can tell it from the ends of a text.
_SEPARATOR = "\n"
_SPELLED = [*(CHARACTER_OF[byte].encode() for byte in range(256)), _SEPARATOR.encode()]
_WIDTH = np.array([*map(len, _SPELLED)], dtype=np.int64)
_FIRST = np.array([letter[0] for letter in _SPELLED], dtype=np.uint8)
_LAST = np.array([letter[-1] for letter in _SPELLED], dtype=np.uint8)


class ByteSteps:
    """The splitting of pieces of UTF-8 by steps that see a letter for each byte.

    Digits after ByteLevel, as in Falcon, cuts at every byte that is written ², ³, ¹, ¼, ½ or ¾: these letters are
    numeric. All pieces of a text are split in one pass of one machine, whose first step removes what separates them.
    """

    def __init__(self, steps: tuple[Split, ...], unicode: str | None = None) -> None:
        split = Split(_SEPARATOR, "removed", literal=True)
        self._splitting = Splitting("tokenizers", (split, *steps), unicode=unicode)

    @cached_property
    def splitter(self) -> Splitter | None:
        """The machine of the steps, on pieces with separators between them; None if there is none."""
        from tokdfa.tokenizers.pretokenizers.splitter import Splitter

        try:
            return Splitter(self._splitting)
        except (PatternError, LimitExceededError):
            return None

    @cached_property
    def _programs(self) -> list[tuple[Split, Any]]:
        from tokdfa.regex.backtracking import compile_backtracking
        from tokdfa.tokenizers.pretokenizers.step_trees import step_tree

        steps = self._splitting.steps[1:]
        return [(step, compile_backtracking(step_tree(step, self._splitting))) for step in steps]

    def spans(self, data: bytes, spans: Int64Array) -> Int64Array:
        """Return the pieces into which the pieces ``data[start:end]`` are split, as an array of the same kind."""
        if self.splitter is None or not len(spans):
            return self.spans_backtracking(data, spans)
        lengths = spans[:, 1] - spans[:, 0]
        # The bytes of all pieces, each piece followed by a separator; and where in the data each comes from.
        begins = running_sum(lengths + 1)[:-1]
        place = np.arange(int(lengths.sum()) + len(spans)) + np.repeat(spans[:, 0] - begins, lengths + 1)
        codes = np.append(np.frombuffer(data, dtype=np.uint8), np.uint8(0))[place].astype(np.int64)
        codes[begins + lengths] = len(_SPELLED) - 1
        ends = np.cumsum(_WIDTH[codes])
        letters = np.empty(int(ends[-1]), dtype=np.uint8)
        letters[ends - 1] = _LAST[codes]
        letters[ends - _WIDTH[codes]] = _FIRST[codes]
        found = self.splitter.spans(letters.tobytes())
        first = np.searchsorted(ends, found[:, 0], side="right")
        last = np.searchsorted(ends, found[:, 1])
        return np.stack((place[first], place[last] + 1), axis=1)

    def spans_backtracking(self, data: bytes, spans: Int64Array) -> Int64Array:
        """Return the same as :meth:`spans`, by the backtracking engine."""
        found = [
            (start + first, start + last)
            for start, end in spans.tolist()
            for first, last in self._split(spell(data[start:end]))
        ]
        return np.array(found, dtype=np.int64).reshape(-1, 2)

    def _split(self, letters: str) -> list[tuple[int, int]]:
        pieces = [(0, len(letters))]
        for step, program in self._programs:
            pieces = [
                (start + first, start + last)
                for start, end in pieces
                for first, last in split_piece(letters[start:end], step, program)
            ]
        return pieces

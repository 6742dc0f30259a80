"""The normalizer Precompiled of the library tokenizers: SentencePiece's table of characters, applied to graphemes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from tokdfa.unicode.graphemes import is_alone, is_border, map_graphemes
from tokdfa.unicode.normalizer import Normalizer, Sides
from tokdfa.unigram.character_rules import CharacterRules

__all__ = ["Precompiled"]

# Only graphemes of fewer bytes are looked up as a whole.
_LONG = 6


class Precompiled(Normalizer):
    """A table that replaces characters, and graphemes that begin with one of its words.

    Parameters
    ----------
    rules : mapping of str to str
        The replacement of each word.
    digest : str
        A name of the rules; tables with equal digests have the same rules.

    Notes
    -----
    SentencePiece replaces the longest word at each place. The library takes a grapheme of fewer than six bytes as a
    whole: the *shortest* word that it begins with replaces all of it, marks included. Longer graphemes, and those that
    begin with no word, are replaced character by character. Read in tokenizers 0.23 (`normalizers/precompiled.rs`).
    """

    is_local = True

    def __init__(self, rules: Mapping[str, str], digest: str) -> None:
        self._rules = CharacterRules.of(rules)
        self._digest = digest

    def __reduce__(self) -> tuple[type[Precompiled], tuple[Mapping[str, str], str]]:
        return Precompiled, (self._rules, self._digest)

    def __call__(self, text: str) -> str:
        """Return `text` with everything replaced."""
        return map_graphemes(text, self._of_grapheme, self._of_characters)

    def _of_grapheme(self, grapheme: str) -> str:
        if len(grapheme.encode("utf-8", "surrogatepass")) < _LONG:
            rules = self._rules.quickest
            for end in range(1, len(grapheme) + 1):
                replacement = rules.get(grapheme[:end])
                if replacement is not None:
                    return replacement
        return self._of_characters(grapheme)

    def _of_characters(self, text: str) -> str:
        return text.translate(self._singles)

    def touched(self, characters: frozenset[str]) -> frozenset[str]:
        """See :meth:`Normalizer.touched`."""
        known = self._rules.characters
        return characters & frozenset(map(chr, np.flatnonzero(known.alone | known.inside).tolist()))

    def sides(self, left: str, right: str) -> Sides | None:
        """See :meth:`Normalizer.sides`; the left one is not known where a rule may replace a grapheme that ends so."""
        after = self._rules.get(right, "" if self._rules.characters.first[ord(right)] else right)
        if not after or not is_border(left, right):
            return None
        if not is_alone(left) or self._has_prepended:
            return Sides(None, after[0])
        before = self._rules.get(left, left)
        return Sides(before[-1], after[0]) if before else None

    @cached_property
    def _has_prepended(self) -> bool:
        """Whether a word begins with a character that is in one grapheme with the one after it."""
        begins = self._rules.characters.alone | self._rules.characters.first
        return any(not is_border(chr(code), "a") for code in np.flatnonzero(begins).tolist())

    @cached_property
    def _singles(self) -> dict[int, str]:
        return {ord(word): replacement for word, replacement in self._rules.singles.items()}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Precompiled) and self._digest == other._digest

    def __hash__(self) -> int:
        return hash(self._digest)

    def __repr__(self) -> str:
        return f"Precompiled({self._digest})"

"""SentencePiece's rewriting of a text before it is encoded: its character table, and white space.

The library tokenizers applies the same table to graphemes, by its normalizer Precompiled.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from tokdfa.arrays import BoolArray
from tokdfa.unicode.graphemes import is_alone, is_border, map_graphemes
from tokdfa.unicode.normalizer import Normalizer, Sides
from tokdfa.unigram.character_rules import CharacterRules

__all__ = ["SPACE", "CharacterTable", "Precompiled", "SentencePieceNormalizer", "SpaceAfter"]

SPACE = "\u2581"
# With so many characters to be replaced, one pass for each is faster than one pass over all.
_FEW = 8
# The characters of a text of so many are looked up in a table of all code points.
_LONG = 1 << 10
# Only graphemes of fewer bytes are looked up as a whole.
_LONG_GRAPHEME = 6


class CharacterTable:
    """A table that replaces words of one or more characters, the longest at each place.

    Parameters
    ----------
    rules : mapping of str to str
        The replacement of each word.
    kept : tuple of str
        Pieces that no rule touches; they are found before the rules apply, the longest at each place.
    digest : str
        A name of the rules; tables with equal digests have the same rules.
    """

    def __init__(self, rules: Mapping[str, str], kept: tuple[str, ...], digest: str) -> None:
        self._rules = CharacterRules.of(rules)
        self._kept = kept
        self._digest = digest

    def __reduce__(self) -> tuple[type[CharacterTable], tuple[Mapping[str, str], tuple[str, ...], str]]:
        return CharacterTable, (self._rules, self._kept, self._digest)

    def __call__(self, text: str) -> str:
        """Return `text` with everything replaced."""
        rules = self._rules.quickest
        present = self._touched(text)
        if not present:
            return text
        if len(present) <= _FEW and self._are_apart(present, text):
            for character in present:
                text = text.replace(character, rules[character])
            return text
        find = self._candidate.search
        parts: list[str] = []
        done = 0
        match = find(text)
        while match is not None:
            start, stop = match.span()
            if match.lastindex is None:
                for stop in range(min(start + self._longest, len(text)), start, -1):
                    if text[start:stop] in rules:
                        parts += (text[done:start], rules[text[start:stop]])
                        done = stop
                        break
            match = find(text, stop)
        return "".join(parts) + text[done:] if parts else text

    def is_blank(self, text: str) -> bool:
        """Return whether a text is made of words and characters that each become a space, so that none is dropped."""
        return not self(text).strip(" ") and not self._showing_drops(text).strip(" ")

    @cached_property
    def _showing_drops(self) -> CharacterTable:
        """The same table, but for a mark where something is dropped."""
        return CharacterTable({word: new or "\0" for word, new in self._rules.items()}, self._kept, self._digest)

    @property
    def rules(self) -> CharacterRules:
        """The replacement of each word."""
        return self._rules

    @property
    def kept(self) -> tuple[str, ...]:
        """The pieces that no rule touches."""
        return self._kept

    @cached_property
    def touched(self) -> frozenset[str]:
        """The characters without any of which no rule applies to a text."""
        return frozenset(map(chr, np.flatnonzero(self._is_touched).tolist()))

    def _touched(self, text: str) -> Set[str]:
        """Return the characters of a text that a rule replaces, or that may go on in a word of several."""
        if text.isascii():
            return set(text.encode("ascii").translate(None, self._untouched_ascii).decode("ascii"))
        if len(text) < _LONG:
            return self.touched.intersection(text)
        try:
            codes = np.frombuffer(text.encode("utf-32-le"), dtype="<u4")
        except UnicodeEncodeError:
            return self.touched.intersection(text)
        return {chr(code) for code in np.unique(codes[self._is_touched[codes]]).tolist()}

    @cached_property
    def _is_touched(self) -> BoolArray:
        """For each code point, whether a rule replaces it, or it may go on in a word of several."""
        characters = self._rules.characters
        return characters.alone | characters.inside

    @cached_property
    def _untouched_ascii(self) -> bytes:
        return bytes(np.flatnonzero(~self._is_touched[:0x80]).tolist())

    def _are_apart(self, present: Set[str], text: str) -> bool:
        """Return whether each of these characters is replaced wherever it is, and by none of the others."""
        rules = self._rules.quickest
        if not all(character in rules for character in present) or any(map(self._is_inside, present)):
            return False
        if not all(present.isdisjoint(rules[character]) for character in present):
            return False
        return not any(word in text for word in self._kept if not present.isdisjoint(word))

    def _is_inside(self, character: str) -> bool:
        """Whether a character is in a word of several characters, but not the first one."""
        return bool(self._rules.characters.inside[ord(character)])

    def sides(self, left: str, right: str) -> tuple[str, str] | None:
        """Return what becomes of two neighbouring characters; None if that depends on their neighbours.

        Nothing is replaced across such a boundary, and no longer word that ends or begins there is either.
        """
        pairs, first, last = self._inner
        if left + right in pairs or left in last or right in first:
            return None
        before, after = self._rules.get(left, left), self._rules.get(right, right)
        return (before[-1], after[0]) if before and after else None

    @cached_property
    def _inner(self) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
        """The pairs of characters within words and kept pieces, and the first and last ones of those that are longer.

        A kept piece of one character is never replaced, so a rule for it says nothing.
        """
        words = [*self._rules, *self._kept]
        longer = [word for word in words if len(word) > 1]
        alone = [word for word in self._kept if word in self._rules]
        pairs = frozenset(word[at : at + 2] for word in longer for at in range(len(word) - 1))
        return pairs, frozenset(word[0] for word in longer + alone), frozenset(word[-1] for word in longer + alone)

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self._rules), default=0)

    @cached_property
    def _candidate(self) -> re.Pattern[str]:
        """A pattern that finds kept pieces (the only group), or where a rule may begin, by its first two characters."""
        kept = "|".join(map(re.escape, sorted(self._kept, key=len, reverse=True)))
        single = {word for word in self._rules if len(word) == 1}
        longer = [word for word in self._rules if len(word) > 1]
        options = [f"({kept})"] if kept else []
        if single:
            options.append(_class(single))
        if longer:
            options.append(f"{_class(word[0] for word in longer)}(?={_class(word[1] for word in longer)})")
        return re.compile("|".join(options) or "(?!)")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CharacterTable) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash((self._digest, self._kept))

    def __repr__(self) -> str:
        return f"CharacterTable({self._digest}, {self._kept!r})"


@dataclass(frozen=True)
class SentencePieceNormalizer(Normalizer):
    """The normalizer of a SentencePiece model.

    Parameters
    ----------
    table : CharacterTable, optional
        The replacements of characters.
    puts_space, trims_spaces, shows_spaces : bool
        Whether a space is put before the text; whether spaces at the ends are dropped and runs of them become one;
        whether they are written as U+2581.
    continues : bool
        Whether the text goes on from another one that does not end with a space, so that nothing is dropped at its
        beginning.
    """

    table: CharacterTable | None
    puts_space: bool
    trims_spaces: bool
    shows_spaces: bool
    # Not part of what tells two normalizers of files apart.
    continues: bool = field(default=False, repr=False)
    is_local = touches_ends = True

    def __call__(self, text: str) -> str:
        """Return `text` normalized."""
        if not text:
            return text
        if self.table is not None:
            text = self.table(text)
        space = SPACE if self.shows_spaces else " "
        front = " " if self.puts_space else ""
        if not self.trims_spaces:
            return (front + text).replace(" ", space)
        while "  " in text:
            text = text.replace("  ", " ")
        text = text if self.continues else text.lstrip(" ")
        # White space that was already visible is dropped at the end as well, and so is the space put before the text.
        return (front + text).replace(" ", space).rstrip(space)

    def sides(self, left: str, right: str) -> Sides | None:
        """See :meth:`Normalizer.sides`."""
        if self.table is not None:
            changed = self.table.sides(left, right)
            if changed is None:
                return None
            left, right = changed
        if self.trims_spaces and left in (" ", SPACE):
            return None
        space = SPACE if self.shows_spaces else " "
        return Sides(left.replace(" ", space), right.replace(" ", space))

    @property
    def later(self) -> Normalizer:
        """The normalizer of the text after a boundary, before which no space is put."""
        return replace(self, puts_space=False, continues=True)

    def touched(self, characters: frozenset[str]) -> frozenset[str] | None:
        """See :meth:`Normalizer.touched`."""
        if not self.shows_spaces:
            return None
        return characters & (frozenset() if self.table is None else self.table.touched)


@dataclass(frozen=True)
class SpaceAfter(Normalizer):
    """The normalizer of a SentencePiece model that puts the space after texts: `treat_whitespace_as_suffix`.

    Parameters
    ----------
    normalizer : SentencePieceNormalizer
        What is done otherwise; it puts no space.
    """

    normalizer: SentencePieceNormalizer

    def __call__(self, text: str) -> str:
        """Return `text` normalized."""
        first = self.normalizer
        normalized = first(text)
        if not normalized and self._is_blank(text):
            return ""
        return normalized + (SPACE if first.shows_spaces else " ")

    def _is_blank(self, text: str) -> bool:
        """Return whether the library sees nothing but spaces, which it drops; it puts no space after them."""
        first = self.normalizer
        if not first.trims_spaces:
            return not text
        return not text.strip(" ") if first.table is None else first.table.is_blank(text)


def _class(characters: Iterable[str]) -> str:
    return f"[{''.join(re.escape(character) for character in sorted(set(characters)))}]"


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
        if len(grapheme.encode("utf-8", "surrogatepass")) < _LONG_GRAPHEME:
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

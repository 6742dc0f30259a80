"""SentencePiece's rewriting of a text before it is encoded: its character table, and white space.

The library tokenizers applies the same table to graphemes, by its normalizer Precompiled.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from hashlib import sha256

import numpy as np

from tokdfa.regex.unicode.normalization import Normalizer, Sides, Substitution
from tokdfa.regex.unicode.ranges import decode, pattern_class
from tokdfa.regex.unicode.versions import read_data
from tokdfa.tokenizers.models.unigram.character_rules import CharacterRules, CharacterTable
from tokdfa.tokenizers.normalizers.steps import Prepend, Replace

_SPECIAL = ("lead", "vowel", "tail", "syllable", "flag", "picture", "consonant", "control")
_JOINER = "\u200d"
_SYLLABLES = (0xAC00, 0xD7A3)
_WITHOUT_TAIL = tuple((code, code) for code in range(_SYLLABLES[0], _SYLLABLES[1] + 1, 28))


def map_graphemes(text: str, each: Callable[[str], str], plain: Callable[[str], str]) -> str:
    """Return a text with its graphemes replaced: `plain` replaces texts of graphemes that are single characters.

    Notes
    -----
    Unicode Standard Annex 29, section 3, as the regular expression of its table 1c. The classes were extracted from the
    library by ``python -m tests.campaigns.tables.graphemes``, which tries all code points.
    """
    if not _joining().search(text):
        return plain(text)

    def replaced(match: re.Match[str]) -> str:
        found = match.group()
        return plain(found) if match.lastindex or len(found) == 1 else each(found)

    return _graphemes().sub(replaced, text)


def is_boundary(left: str, right: str) -> bool:
    """Return whether two characters side by side are always in two graphemes.

    Examples
    --------
    >>> from tokdfa.tokenizers.normalizers.sentencepiece import is_boundary
    >>> is_boundary("a", " "), is_boundary("a", "\u0301"), is_boundary("\u0301", "a")
    (True, False, True)
    """
    ordinary, attached, prepended = _kinds()
    if attached.match(right) or prepended.match(left):
        return False
    return bool(ordinary.match(left) or ordinary.match(right))


def is_alone(character: str) -> bool:
    """Return whether a grapheme that ends with a character begins with it too, unless one before it is prepended."""
    return bool(_kinds()[0].match(character))


@cache
def _kinds() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of ordinary characters, of those that end a grapheme, and of those that begin one."""
    of = _classes()
    attached = of["extending"] + of["spacing"]
    special = "".join(of[name] for name in _SPECIAL) + attached + of["prepended"]
    return re.compile(f"[^{special}]"), re.compile(f"[{attached}]"), re.compile(f"[{of['prepended']}]")


@cache
def _classes() -> dict[str, str]:
    """Return the classes as they are written between brackets in a pattern."""
    sets = {name: decode(deltas) for name, deltas in read_data("graphemes").items() if isinstance(deltas, list)}
    sets |= {"syllable": (_SYLLABLES,), "without_tail": _WITHOUT_TAIL}
    return {name: pattern_class(ranges) for name, ranges in sets.items()}


@cache
def _joining() -> re.Pattern[str]:
    """Return a pattern with a match in every grapheme of several characters."""
    of = _classes()
    some = "".join(of[name] for name in ("extending", "spacing", "prepended", "vowel", "tail", "lead", "flag"))
    return re.compile(f"[{some}]|\r\n")


@cache
def _graphemes() -> re.Pattern[str]:
    """Return the pattern of a grapheme, or, as its only group, of several that are single characters."""
    of = _classes()
    after = f"[{of['extending']}{of['spacing']}]"
    links = f"[{of['linker']}{of['conjunct_extending']}]*"
    special = "".join(of[name] for name in (*_SPECIAL, "prepended", "extending", "spacing"))
    syllable = f"(?:[{of['vowel']}]+|[{of['without_tail']}][{of['vowel']}]*|[{of['syllable']}])"
    cores = (
        f"[{of['lead']}]*{syllable}[{of['tail']}]*",
        f"[{of['lead']}]+",
        f"[{of['tail']}]+",
        f"[{of['flag']}]{{2}}",
        f"[{of['picture']}](?:[{of['extending']}]*{_JOINER}[{of['picture']}])*",
        f"[{of['consonant']}](?:{links}[{of['linker']}]{links}[{of['consonant']}])*",
        f"[^{of['control']}]",
    )
    # Ordinary characters are taken many at a time; the last one may have marks after it.
    return re.compile(f"([^{special}]+(?!{after}))|\r\n|[{of['prepended']}]*(?:{'|'.join(cores)}){after}*|.", re.DOTALL)


SPACE = "\u2581"
# One space for several, and none at the beginning.
_FEWER_SPACES = (Replace(" {2,}", " ", literal=False), Replace(r"\A ", "", literal=False))
# Only graphemes of fewer bytes are looked up as a whole.
_LONG_GRAPHEME = 6


@dataclass(frozen=True)
class SentencePieceNormalizer(Normalizer):
    """The normalizer of a SentencePiece model.

    `table` replaces characters. If it `puts_space`, one comes before the text; if it `trims_spaces`, spaces at the ends
    are dropped and runs of them become one; if it `shows_spaces`, they are written as U+2581. If it `continues`, the
    text continues another one that does not end with a space, so that nothing is dropped at its beginning.
    """

    table: CharacterTable | None
    puts_space: bool
    trims_spaces: bool
    shows_spaces: bool
    # Does not tell two normalizers of files apart.
    continues: bool = field(default=False, repr=False)
    is_local = touches_ends = True

    def __call__(self, text: str) -> str:
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

    @property
    def substitution(self) -> Substitution | None:
        if self.table is not None or self.trims_spaces:
            return None
        space = SPACE if self.shows_spaces else " "
        return Substitution(space if self.puts_space else "", {" ": SPACE} if self.shows_spaces else {})

    @property
    def steps(self) -> tuple[Normalizer, ...]:
        """All that is done after the table, as steps of tokenizers."""
        space = SPACE if self.shows_spaces else " "
        return (
            *(_FEWER_SPACES if self.trims_spaces else ()),
            *((Prepend(space),) if self.puts_space else ()),
            *((Replace(" ", SPACE, literal=True),) if self.shows_spaces else ()),
            *((Replace(rf"{space}+\z", "", literal=False),) if self.trims_spaces else ()),
        )

    def sides(self, left: str, right: str) -> Sides | None:
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
        return replace(self, puts_space=False, continues=True)

    def touched(self, characters: frozenset[str]) -> frozenset[str] | None:
        if not self.shows_spaces:
            return None
        return characters & (frozenset() if self.table is None else self.table.touched)


@dataclass(frozen=True)
class SpaceAfter(Normalizer):
    """The normalizer of a SentencePiece model that puts the space after texts: `treat_whitespace_as_suffix`.

    `normalizer` does everything else; it puts no space.
    """

    normalizer: SentencePieceNormalizer

    def __call__(self, text: str) -> str:
        first = self.normalizer
        normalized = first(text)
        is_blank = not text
        if not normalized and first.trims_spaces:
            # The library sees nothing but spaces, which it drops; it puts no space after them.
            is_blank = not text.strip(" ") if first.table is None else first.table.is_blank(text)
        return "" if not normalized and is_blank else normalized + (SPACE if first.shows_spaces else " ")


@dataclass(frozen=True)
class LlamaCppUnigramNormalizer(Normalizer):
    """The normalizer of llama.cpp for Unigram models: `table` replaces characters, and spaces become U+2581.

    If it `trims_spaces`, each word gets one space before it, and there are no others. If not, and it `puts_space`, one
    comes before a text with anything but spaces.
    """

    table: CharacterTable | None
    puts_space: bool
    trims_spaces: bool

    def __call__(self, text: str) -> str:
        if self.table is not None:
            text = self.table(text)
        if self.trims_spaces:
            return "".join(SPACE + word for word in text.split(" ") if word)
        front = SPACE if self.puts_space and text.strip(" ") else ""
        return front + text.replace(" ", SPACE)

    @property
    def steps(self) -> tuple[Normalizer, ...]:
        """All that is done after the table, as steps of tokenizers; for a text of spaces alone only nearly so."""
        return (
            *((*_FEWER_SPACES, Replace(r" \z", "", literal=False)) if self.trims_spaces else ()),
            *((Prepend(SPACE),) if self.puts_space or self.trims_spaces else ()),
            Replace(" ", SPACE, literal=True),
        )

    @property
    def has_exact_steps(self) -> bool:
        """Whether the steps do the same to every text."""
        return self.trims_spaces or not self.puts_space


class Precompiled(Normalizer):
    """A table that replaces characters, and graphemes that begin with one of its words.

    `blob` is the table as files have it; equal ones have the same rules.

    Notes
    -----
    SentencePiece replaces the longest word at each offset. The library takes a grapheme of fewer than six bytes as a
    whole: the *shortest* word that it begins with replaces all of it, marks included. Longer graphemes, and those that
    begin with no word, are replaced character by character. Read in tokenizers 0.23 (`normalizers/precompiled.rs`).
    It does not count the characters that it removes before the first that stays, so that this one begins the text.
    """

    keeps_beginning = is_local = True

    def __init__(self, rules: Mapping[str, str], blob: bytes) -> None:
        self._rules = CharacterRules.of(rules)
        self.blob = blob

    def __reduce__(self) -> tuple[type[Precompiled], tuple[Mapping[str, str], bytes]]:
        return Precompiled, (self._rules, self.blob)

    def __call__(self, text: str) -> str:
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
        known = self._rules.characters
        return characters & frozenset(map(chr, np.flatnonzero(known.alone | known.inside).tolist()))

    def sides(self, left: str, right: str) -> Sides | None:
        """See :meth:`Normalizer.sides`; the left one is not known where a rule may replace a grapheme that ends so."""
        after = self._rules.get(right, "" if self._rules.characters.first[ord(right)] else right)
        if not after or not is_boundary(left, right):
            return None
        if not is_alone(left) or self._has_prepended:
            return Sides(None, after[0])
        before = self._rules.get(left, left)
        return Sides(before[-1], after[0]) if before else None

    @cached_property
    def _has_prepended(self) -> bool:
        """Whether a word begins with a character that is in one grapheme with the one after it."""
        begins = self._rules.characters.alone | self._rules.characters.first
        return any(not is_boundary(chr(code), "a") for code in np.flatnonzero(begins).tolist())

    @cached_property
    def _singles(self) -> dict[int, str]:
        return {ord(word): replacement for word, replacement in self._rules.singles.items()}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Precompiled) and self.blob == other.blob

    def __hash__(self) -> int:
        return hash(self.blob)

    def __repr__(self) -> str:
        return f"Precompiled({sha256(self.blob).hexdigest()})"

"""Normalization of a text before it is split: cleaning, spaces around Chinese characters, accents, case."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, NamedTuple

import numpy as np

from tokdfa.regex.unicode import Ranges, characters_of, contains, ranges
from tokdfa.regex.unicode.normalization import Normalizer, lowercase, normalize, spaces, tables
from tokdfa.regex.unicode.ranges import LAST


class WordCharacters(NamedTuple):
    """The code points that cleaning removes, the words of one character, and the characters that end words."""

    removed: Ranges
    # Words of their own, unless the effect of the normalizer on them says otherwise.
    ideographs: Ranges
    # In a normalized text.
    spaces: frozenset[str]
    punctuation: frozenset[str]


class WordNormalizer(ABC):
    """A normalizer cleans a text, and says where its words end, for a tokenizer that reads it in one pass.

    The result for a character does not depend on its neighbours, except for the order of combining marks if `reorders`.
    """

    # Whether control characters are removed, and white space becomes spaces.
    clean_text: bool
    # Whether spaces are put around CJK ideographs.
    chinese: bool
    strip_accents: bool
    lowercase: bool
    # The library that it has the Unicode tables of.
    library: ClassVar[str]

    @abstractmethod
    def __call__(self, text: str) -> str:
        """Return `text` normalized."""

    @abstractmethod
    def effect(self, character: str) -> str:
        """Return the normal form of `character` alone, which may be empty or have spaces around it."""

    @property
    @abstractmethod
    def effects(self) -> Mapping[str, str]:
        """The normal forms of characters outside `removed` and `ideographs`, except for unchanged ones and Hangul."""

    @property
    @abstractmethod
    def characters(self) -> WordCharacters:
        """The characters that it removes, and those that words consist of or end with."""

    @property
    def removed(self) -> Ranges:
        """The code points that cleaning removes."""
        return self.characters.removed

    @property
    def ideographs(self) -> Ranges:
        """The code points that are words of their own, unless `effects` says otherwise."""
        return self.characters.ideographs

    @property
    def spaces(self) -> frozenset[str]:
        """The characters that end words in a normalized text."""
        return self.characters.spaces

    @property
    def punctuation(self) -> frozenset[str]:
        """The characters that are words of their own in a normalized text."""
        return self.characters.punctuation

    @property
    @abstractmethod
    def reorders(self) -> bool:
        """Whether characters are decomposed in full, and combining marks that stay are put in canonical order."""


@dataclass(frozen=True)
class BertNormalizer(WordNormalizer, Normalizer):
    """The settings of BERT's normalization, and its effect on one character.

    The steps are applied in the order of the fields. Cleaning removes control, format, private and unassigned
    characters and U+FFFD, and turns all white space into spaces. Accents are stripped by decomposing (NFD) and removing
    nonspacing marks; only the order of marks that survive this depends on their neighbours.

    Notes
    -----
    This is BertNormalizer of the tokenizers library. Its character classes follow an older version of Unicode than its
    case mapping, so hundreds of newer marks are not removed.
    """

    clean_text: bool = True
    chinese: bool = True
    strip_accents: bool = True
    lowercase: bool = True
    library: ClassVar[str] = "tokenizers"

    def __call__(self, text: str) -> str:
        """Return `text` normalized."""
        data = tables()
        if self.clean_text or self.chinese:
            text = text.translate(_cleaning(self.clean_text, self.chinese))
        if self.strip_accents:
            text = "".join(part for part in normalize(text, "NFD") if part not in data.mark)
        return lowercase(text) if self.lowercase else text

    def effect(self, character: str) -> str:
        """Return the normal form of `character` alone, which may be empty or have spaces around it."""
        data, code = tables(), ord(character)
        if self.clean_text and contains(data.control, code):
            return ""
        text = " " if self.clean_text and character in data.space else character
        if self.chinese and contains(data.chinese, code):
            text = f" {text} "
        if self.strip_accents:
            text = "".join(part for part in map(data.decompose, text) for part in part if part not in data.mark)
        if self.lowercase:
            text = "".join(data.lowercase.get(part, part) for part in text)
        return text

    @property
    def effects(self) -> Mapping[str, str]:
        """The normal forms of characters outside `removed` and `ideographs`, except for unchanged ones and Hangul."""
        return _effects(self)

    @property
    def characters(self) -> WordCharacters:
        """The characters that it removes, and those that words consist of or end with."""
        return _characters(self.clean_text, self.chinese)

    @property
    def reorders(self) -> bool:
        """Whether characters are decomposed in full, and combining marks that stay are put in canonical order."""
        return self.strip_accents


@cache
def _cleaning(clean_text: bool, chinese: bool) -> Mapping[int, str]:
    """Return the characters that cleaning, or spaces around ideographs, change, with their replacements."""
    only = BertNormalizer(clean_text, chinese, strip_accents=False, lowercase=False)
    data = tables()
    changed = {*data.space, *characters_of(data.control)} if clean_text else set()
    changed.update(characters_of(data.chinese) if chinese else ())
    return {ord(character): only.effect(character) for character in changed}


@cache
def _effects(normalizer: BertNormalizer) -> Mapping[str, str]:
    data = tables()
    decompositions = data.decompositions if normalizer.strip_accents else {}
    accents = data.mark if normalizer.strip_accents else frozenset()
    lower = data.lowercase if normalizer.lowercase else {}
    touched: set[str] = set()
    if normalizer.clean_text:
        touched.update(data.space)
    if normalizer.strip_accents:
        touched.update(decompositions, data.combining, accents)
    touched.update(lower)
    # Cleaning changes few of them. Of the others, most become one character.
    marks = np.zeros(LAST + 1, dtype=np.bool_)
    for first, last in (*normalizer.removed, *normalizer.ideographs):
        marks[first : last + 1] = True
    cleaned = marks.tobytes()
    odd = {character for character in touched if cleaned[ord(character)]}.union(data.space)
    found = {}
    for character in sorted(touched):
        if character in odd:
            found[character] = normalizer.effect(character)
            continue
        text = decompositions.get(character, character)
        if len(text) == 1:
            found[character] = "" if text in accents else lower.get(text, text)
        else:
            found[character] = "".join([lower.get(part, part) for part in text if part not in accents])
    return found


@cache
def _characters(clean_text: bool, chinese: bool) -> WordCharacters:
    control, ideographs = tables().control if clean_text else (), tables().chinese if chinese else ()
    punctuation = frozenset(characters_of(ranges("is_bert_punctuation", "tokenizers")))
    return WordCharacters(control, ideographs, spaces(), punctuation)

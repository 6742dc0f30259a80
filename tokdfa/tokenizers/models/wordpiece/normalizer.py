"""Normalization of a text before it is split, by BERT and by llama.cpp: cleaning, ideographs, accents, case."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tokdfa.regex.unicode import Ranges, characters_of, contains, difference, intersection, ranges, union
from tokdfa.regex.unicode.normalization import Normalizer, lowercase, normalize, spaces, tables
from tokdfa.regex.unicode.ranges import LAST
from tokdfa.regex.unicode.tables import content


class WordCharacters(NamedTuple):
    """The code points that cleaning removes, the words of one character, and the characters that end words."""

    removed: Ranges
    # Words of their own, unless the effect of the normalizer on them says otherwise.
    ideographs: Ranges
    # In a normalized text.
    spaces: frozenset[str]
    punctuation: frozenset[str]


def _of_characters(name: str) -> Any:
    return property(attrgetter(f"characters.{name}"))


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

    # As `characters` has them.
    removed: Ranges = _of_characters("removed")
    ideographs: Ranges = _of_characters("ideographs")
    spaces: frozenset[str] = _of_characters("spaces")
    punctuation: frozenset[str] = _of_characters("punctuation")

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
        data = tables()
        if self.clean_text or self.chinese:
            text = text.translate(_cleaning(self.clean_text, self.chinese))
        if self.strip_accents:
            text = "".join(part for part in normalize(text, "NFD") if part not in data.mark)
        return lowercase(text) if self.lowercase else text

    def effect(self, character: str) -> str:
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
        return _effects(self)

    @property
    def characters(self) -> WordCharacters:
        return _characters(self.clean_text, self.chinese)

    @property
    def reorders(self) -> bool:
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


# As llama.cpp lists them; one range begins 256 code points after the Unicode Standard's.
_IDEOGRAPHS: Ranges = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)
_LAST_ASCII_SYMBOL = 0x7E


@dataclass(frozen=True)
class LlamaCppNormalizer(WordNormalizer):
    """The settings of llama.cpp's normalization for WordPiece, and its effect on one character.

    White space ends a word. Control, format and private characters, U+0000 and U+FFFD are removed. Unassigned ones
    stay. Punctuation, the symbols of ASCII and CJK ideographs are words of their own. Accents are stripped by replacing
    each character with the first one of its canonical decomposition, and removing marks of all kinds.

    Notes
    -----
    This is ``llm_tokenizer_wpm_session`` of the llama.cpp in llama-cpp-python 0.3.36, with its Unicode tables. It is
    not BERT's: of a Hangul syllable only the first letter is left, and enclosing and spacing marks are removed, too.
    """

    strip_accents: bool = True
    lowercase: bool = True
    clean_text = True
    chinese = True
    library: ClassVar[str] = "llama.cpp"

    def __call__(self, text: str) -> str:
        return "".join(map(self.effect, text))

    def effect(self, character: str) -> str:
        """Return the normal form of `character` alone: nothing, a character, or one with spaces around it."""
        decompositions, lower = _maps()
        code = ord(character)
        if self.strip_accents:
            code = decompositions.get(code, code)
        if chr(code) in self.spaces:
            return " "
        if contains(self.removed, code) or (self.strip_accents and contains(ranges("M", "llama.cpp"), code)):
            return ""
        text = chr(lower.get(code, code)) if self.lowercase else chr(code)
        return f" {text} " if chr(code) in self.punctuation or contains(_IDEOGRAPHS, code) else text

    @property
    def effects(self) -> Mapping[str, str]:
        return _effects_of_llama_cpp(self)

    @property
    def characters(self) -> WordCharacters:
        return _characters_of_llama_cpp()

    @property
    def reorders(self) -> bool:
        """False: no character becomes several, and the order of marks is kept."""
        return False


@cache
def _maps() -> tuple[dict[int, int], dict[int, int]]:
    """Return the first code points of decompositions, and those in lower case, where they differ from the argument."""
    data = content("llama.cpp")
    decompositions = {code: new for first, last, new in data["decompositions"] for code in range(first, last + 1)}
    lower = {code: new + code - first for first, last, new in data["lowercase"] for code in range(first, last + 1)}
    return decompositions, lower


@cache
def _characters_of_llama_cpp() -> WordCharacters:
    spaces = ranges(r"\s", "llama.cpp")
    removed = difference(union(ranges("C", "llama.cpp"), ((0, 0), (0xFFFD, 0xFFFD))), spaces)
    symbols = intersection(ranges("S", "llama.cpp"), ((0, _LAST_ASCII_SYMBOL),))
    punctuation = union(ranges("P", "llama.cpp"), symbols)
    return WordCharacters(removed, _IDEOGRAPHS, *(frozenset(characters_of(some)) for some in (spaces, punctuation)))


@cache
def _effects_of_llama_cpp(normalizer: LlamaCppNormalizer) -> Mapping[str, str]:
    touched = set(normalizer.spaces | normalizer.punctuation)
    decompositions, lower = _maps()
    if normalizer.strip_accents:
        touched.update(map(chr, decompositions), characters_of(ranges("M", "llama.cpp")))
    if normalizer.lowercase:
        touched.update(map(chr, lower))
    return {character: normalizer.effect(character) for character in sorted(touched)}

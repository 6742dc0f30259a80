"""llama.cpp's normalization of a text for WordPiece: one character for each, in decomposed form and lower case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from tokdfa.regex.unicode import Ranges, characters_of, contains, difference, intersection, ranges, union
from tokdfa.regex.unicode.tables import content
from tokdfa.tokenizers.models.wordpiece.normalizer import WordCharacters, WordNormalizer

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
        """Return `text` normalized."""
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
        """The normal forms of characters outside `removed` and `ideographs`, except for unchanged ones."""
        return _effects(self)

    @property
    def characters(self) -> WordCharacters:
        """The characters that it removes, and those that words consist of or end with."""
        return _characters()

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
def _characters() -> WordCharacters:
    spaces = ranges(r"\s", "llama.cpp")
    removed = difference(union(ranges("C", "llama.cpp"), ((0, 0), (0xFFFD, 0xFFFD))), spaces)
    symbols = intersection(ranges("S", "llama.cpp"), ((0, _LAST_ASCII_SYMBOL),))
    punctuation = union(ranges("P", "llama.cpp"), symbols)
    return WordCharacters(removed, _IDEOGRAPHS, *(frozenset(characters_of(some)) for some in (spaces, punctuation)))


@cache
def _effects(normalizer: LlamaCppNormalizer) -> Mapping[str, str]:
    touched = set(normalizer.spaces | normalizer.punctuation)
    decompositions, lower = _maps()
    if normalizer.strip_accents:
        touched.update(map(chr, decompositions), characters_of(ranges("M", "llama.cpp")))
    if normalizer.lowercase:
        touched.update(map(chr, lower))
    return {character: normalizer.effect(character) for character in sorted(touched)}

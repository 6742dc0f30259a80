"""The normalizers of tokenizers written in Python, which use the Unicode tables of the Python that runs them.

Those tables are in the module `unicodedata` and in the methods of strings. Each normalizer names their version, and is
refused by a Python with others.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.regex.unicode.normalization import Form, Normalizer

# As BERT lists them; the planes of ideographs have others.
_IDEOGRAPHS = (
    *((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2A6DF)),
    *((0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF), (0x2F800, 0x2FA1F)),
)
_CACHED = 1 << 14


def own_tables() -> str:
    """Return the name of the Unicode tables of this Python."""
    return f"unicodedata=={unicodedata.unidata_version}"


@dataclass(frozen=True, kw_only=True)
class _OfPython(Normalizer):
    """A normalizer by the tables `unicode`, which must be this Python's: a pickle of another one is refused."""

    unicode: str = field(default_factory=own_tables)

    def __post_init__(self) -> None:
        if self.unicode != own_tables():
            what = "this tokenizer follows the Unicode tables of another Python"
            hint = f"load it with a Python that has them; this one has {own_tables()}"
            raise UnsupportedFeatureError(what, value=self.unicode, hint=hint)

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.__post_init__()


@dataclass(frozen=True)
class PythonForm(_OfPython):
    """NFC, NFD, NFKC or NFKD."""

    form: Form

    def __call__(self, text: str) -> str:
        return unicodedata.normalize(self.form, text)


@dataclass(frozen=True)
class BasicText(_OfPython):
    """The words of a text as BasicTokenizer of transformers makes them, joined by single spaces.

    Control characters are removed, spaces put around ideographs, and the text is put into NFC. Then each word that is
    not `kept` is lowered, stripped of nonspacing marks, and split around punctuation. With `lowers_first`, every
    character is lowered at the beginning already, independently of its neighbours: "Σ" never becomes "ς".
    """

    lowers_first: bool
    lowers: bool
    strips_accents: bool
    spaces_ideographs: bool
    splits_punctuation: bool
    kept: tuple[str, ...] = ()

    def __call__(self, text: str) -> str:
        if self.lowers_first:
            text = "".join(map(str.lower, text))
        text = "".join([_cleaned(character, self.spaces_ideographs) for character in text])
        words = map(self._word, unicodedata.normalize("NFC", text).split())
        return " ".join(" ".join(words).split())

    def _word(self, word: str) -> str:
        """Return a word with spaces around its punctuation."""
        if word in self.kept:
            return word
        if self.lowers:
            word = word.lower()
        if self.strips_accents:
            parts = unicodedata.normalize("NFD", word)
            word = "".join([part for part in parts if unicodedata.category(part) != "Mn"])
        if not self.splits_punctuation or word in self.kept:
            return word
        return "".join([f" {character} " if _is_punctuation(character) else character for character in word])


@lru_cache(maxsize=_CACHED)
def _cleaned(character: str, spaces_ideographs: bool) -> str:
    """Return a character as cleaning leaves it: nothing, a space, itself, or with spaces around it."""
    category, code = unicodedata.category(character), ord(character)
    if character in "\t\n\r" or category == "Zs":
        return " "
    if category.startswith("C") or character == "\ufffd":
        return ""
    is_ideograph = spaces_ideographs and any(first <= code <= last for first, last in _IDEOGRAPHS)
    return f" {character} " if is_ideograph else character


@lru_cache(maxsize=_CACHED)
def _is_punctuation(character: str) -> bool:
    return (character.isascii() and 33 <= ord(character) < 127 and not character.isalnum()) or unicodedata.category(
        character
    ).startswith("P")


@dataclass(frozen=True)
class SplitText(_OfPython):
    """The words of a text between white space, joined by single spaces."""

    def __call__(self, text: str) -> str:
        return " ".join(text.split())

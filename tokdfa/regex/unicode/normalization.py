"""Unicode normalization as the library tokenizers performs it, with tables of several versions of Unicode."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from tokdfa.base.arrays import Int32Array
from tokdfa.regex.unicode.ranges import Ranges, characters_of, decode, encode, pattern_class
from tokdfa.regex.unicode.tables import ranges
from tokdfa.regex.unicode.versions import read_data

Form: TypeAlias = Literal["NFC", "NFD", "NFKC", "NFKD"]

HANGUL_FIRST, HANGUL_LAST = 0xAC00, 0xD7A3
_LEADS, _VOWELS, _TAILS = 19, 21, 28
_LEAD, _VOWEL, _TAIL = 0x1100, 0x1161, 0x11A7
_REMEMBERED = 1 << 14


@dataclass(frozen=True)
class NormalizationTables:
    """The library's own tables, extracted from it by ``python -m tests.campaigns.tables.normalization``."""

    # The version of the tokenizers library.
    version: str
    # BERT's cleaning removes the first, puts spaces around the second, turns the third into spaces, and removes the
    # fourth as accents; the normalizer StripAccents removes the last.
    control: Ranges
    chinese: Ranges
    space: frozenset[str]
    mark: frozenset[str]
    accent: frozenset[str]
    # The canonical combining classes other than 0.
    combining: Mapping[str, int]
    # Full canonical decompositions, full compatibility decompositions where they differ, and pairs of characters that
    # compose with the result; all without the Hangul syllables.
    decompositions: Mapping[str, str]
    compatibility: Mapping[str, str]
    compositions: Mapping[str, str]
    lowercase: Mapping[str, str]

    def decompose(self, character: str, *, compatibility: bool = False) -> str:
        """Return the decomposition of `character`, without reordering its parts."""
        code = ord(character)
        if not HANGUL_FIRST <= code <= HANGUL_LAST:
            if compatibility and character in self.compatibility:
                return self.compatibility[character]
            return self.decompositions.get(character, character)
        # The Unicode Standard, section 3.12.
        lead, rest = divmod(code - HANGUL_FIRST, _VOWELS * _TAILS)
        vowel, tail = divmod(rest, _TAILS)
        return chr(_LEAD + lead) + chr(_VOWEL + vowel) + (chr(_TAIL + tail) if tail else "")

    def compose(self, left: str, right: str) -> str | None:
        """Return the character that two compose to, None if they do not."""
        lead, vowel = ord(left) - _LEAD, ord(right) - _VOWEL
        if 0 <= lead < _LEADS and 0 <= vowel < _VOWELS:
            return chr(HANGUL_FIRST + (lead * _VOWELS + vowel) * _TAILS)
        syllable, tail = ord(left) - HANGUL_FIRST, ord(right) - _TAIL
        if 0 <= syllable <= HANGUL_LAST - HANGUL_FIRST and syllable % _TAILS == 0 and 0 < tail < _TAILS:
            return chr(ord(left) + tail)
        return self.compositions.get(left + right)


def syllables() -> Int32Array:
    """Return the decompositions of the Hangul syllables: three code points for each, the third 0 if there is none.

    The Unicode Standard, section 3.12.
    """
    codes = np.arange(_LEADS * _VOWELS * _TAILS, dtype=np.int32)
    tails = codes % _TAILS
    vowels = codes // _TAILS % _VOWELS
    leads = codes // (_TAILS * _VOWELS)
    return np.stack((_LEAD + leads, _VOWEL + vowels, np.where(tails > 0, _TAIL + tails, 0)), axis=1).astype(np.int32)


@cache
def tables() -> NormalizationTables:
    """Return the tables of the tokenizers library."""
    data = read_data("normalization")
    return NormalizationTables(
        version=data["version"],
        control=decode(data["control"]),
        chinese=decode(data["chinese"]),
        space=frozenset(characters_of(decode(data["space"]))),
        mark=frozenset(characters_of(decode(data["mark"]))),
        accent=frozenset(characters_of(decode(data["accent"]))),
        combining={
            character: int(order)
            for order, deltas in data["combining"].items()
            for character in characters_of(decode(deltas))
        },
        decompositions=data["decompositions"],
        compatibility=data["compatibility"],
        compositions=data["compositions"],
        lowercase=data["lowercase"],
    )


def normalize(text: str, form: Form) -> str:
    """Return `text` in a normalization form; only segments that the form can change are processed.

    The Unicode Standard, sections 3.11 and 3.12.
    """
    if text.isascii():
        return text
    return _changed(form).sub(lambda match: _normalized(match.group(), form), text)


def changing(text: str, form: Form) -> Iterator[tuple[int, int]]:
    """Yield where the segments of a text that a form can change begin and end; both sides are normalized separately."""
    if not text.isascii():
        yield from (match.span() for match in _changed(form).finditer(text))


@cache
def joining() -> frozenset[str]:
    """Return the characters that compose with some character before them."""
    jamo = characters_of(((_VOWEL, _VOWEL + _VOWELS - 1), (_TAIL + 1, _TAIL + _TAILS - 1)))
    return frozenset({pair[1] for pair in tables().compositions} | set(jamo))


@cache
def _changed(form: Form) -> re.Pattern[str]:
    """Return the pattern of the segments that a form can change, with any character before them that they can join."""
    data = tables()
    changed = set(data.combining) | set(data.decompositions) | set(characters_of(((HANGUL_FIRST, HANGUL_LAST),)))
    if form in ("NFKC", "NFKD"):
        changed |= data.compatibility.keys()
    if form in ("NFD", "NFKD"):
        return re.compile(f"[{_spelled(changed)}]+")
    # Composed characters stay, unless the next character combines with them.
    kept = {character for character in changed if _composed(_ordered(data.decompose(character))) == character}
    if form == "NFKC":
        kept -= data.compatibility.keys()
    changed = (changed - kept) | data.combining.keys() | joining()
    some = _spelled(changed)
    return re.compile(f"[^{some}]?[{some}]+")


def _spelled(characters: Iterable[str]) -> str:
    return pattern_class(decode(encode(map(ord, characters))))


@lru_cache(maxsize=_REMEMBERED)
def _normalized(text: str, form: Form) -> str:
    data = tables()
    compatibility = form in ("NFKC", "NFKD")
    parts = _ordered("".join(data.decompose(character, compatibility=compatibility) for character in text))
    return _composed(parts) if form in ("NFC", "NFKC") else parts


def _ordered(text: str) -> str:
    """Return a text with each run of combining characters in the order of their classes."""
    combining = tables().combining
    if combining.keys().isdisjoint(text):
        return text
    ordered: list[str] = []
    run: list[str] = []
    for character in text:
        if character in combining:
            run.append(character)
        else:
            ordered += sorted(run, key=combining.__getitem__)
            run = []
            ordered.append(character)
    return "".join([*ordered, *sorted(run, key=combining.__getitem__)])


def _composed(text: str) -> str:
    """Return an ordered text composed."""
    data = tables()
    composed: list[str] = []
    starter = None  # the offset of the last one
    highest = -1  # class of the characters between it and here, -1 if there are none
    for character in text:
        order = data.combining.get(character, 0)
        if starter is not None and highest < order:
            whole = data.compose(composed[starter], character)
            if whole is not None:
                composed[starter] = whole
                continue
        if order == 0:
            starter, highest = len(composed), -1
        else:
            highest = order
        composed.append(character)
    return "".join(composed)


# The other normalizers of the library


def lowercase(text: str) -> str:
    """Return `text` with each character in lower case, independently of its neighbours."""
    return text.translate(_lower())


@cache
def _lower() -> dict[int, str]:
    return {ord(character): lower for character, lower in tables().lowercase.items()}


def strip_accents(text: str) -> str:
    """Return `text` without combining marks; letters that are one character with their accent keep it."""
    return text if text.isascii() else _accents().sub("", text)


@cache
def _accents() -> re.Pattern[str]:
    return re.compile(f"[{_spelled(tables().accent)}]+")


@cache
def spaces() -> frozenset[str]:
    """Return the characters that the library treats as white space."""
    return frozenset(characters_of(ranges("is_whitespace", "tokenizers")))


class Substitution(NamedTuple):
    """A prefix for texts that are not empty, and replacements of some characters; nothing else changes."""

    prefix: str
    becomes: dict[str, str]

    @property
    def gone(self) -> set[str]:
        """The characters that no text has afterwards."""
        return self.becomes.keys() - {*self.prefix, *"".join(self.becomes.values())}

    def then(self, other: Substitution) -> Substitution:
        """Return the substitution that does this one and then another one."""
        after = other.becomes
        becomes = after | {old: after.get(new, new) for old, new in self.becomes.items()}
        return Substitution(other.prefix + "".join(after.get(each, each) for each in self.prefix), becomes)


class Sides(NamedTuple):
    """The characters on both sides of a boundary after normalization; None for a left one that is not known.

    The right one may become any of `others` instead, because of later text: NFC turns "=" before U+0338 into "≠".
    """

    left: str | None
    right: str
    others: frozenset[str] = frozenset()


class Normalizer(ABC):
    """A function from text to text. Equal normalizers do the same.

    One that overrides nothing but the call treats no two sides of a text separately.
    """

    @abstractmethod
    def __call__(self, text: str) -> str:
        """Return `text` normalized."""

    @property
    def only_form(self) -> Form | None:
        """The normalization form that texts are brought into, if nothing else is done to them."""
        return None

    @property
    def substitution(self) -> Substitution | None:
        """All that it does, if characters become others one by one and something is put before the text."""
        return None

    @property
    def keeps_beginning(self) -> bool:
        """Whether the beginning of the normalized text always comes from the beginning of the text."""
        return False

    @property
    def is_local(self) -> bool:
        """Whether it may treat the two sides of a text separately somewhere; see `sides`."""
        return False

    @property
    def touches_ends(self) -> bool:
        """Whether it does something to a text because it begins or ends there."""
        return False

    def sides(self, left: str, right: str) -> Sides | None:
        """Return two neighbouring characters after normalization, in any context.

        None if the two sides may influence each other, or it is not known. Otherwise the text before the boundary is
        normalized by itself, and `later` normalizes the rest.
        """
        return None

    @property
    def later(self) -> Normalizer | None:
        """The normalizer of the text after such a boundary: one that does nothing to the beginning of a text."""
        return self

    def touched(self, characters: frozenset[str]) -> frozenset[str] | None:
        """Return the characters of a set because of which it may change a text.

        None if that is not known, or it changes words between single spaces in another way.
        """
        return None

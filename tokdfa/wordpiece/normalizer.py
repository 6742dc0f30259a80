"""What BERT does to a text before it is split: cleaning, spacing of Chinese, accents, case."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import accumulate
from typing import Any

from tokdfa.unicode import Ranges, contains, ranges

__all__ = ["HANGUL_FIRST", "HANGUL_LAST", "BertNormalizer", "Tables", "effects", "punctuation", "spaces", "tables"]

HANGUL_FIRST, HANGUL_LAST = 0xAC00, 0xD7A3


@dataclass(frozen=True)
class Tables:
    """What the library's own Unicode tables say, read off it by ``python -m tokdfa.wordpiece.probe``.

    Attributes
    ----------
    version : str
        The version of the tokenizers library.
    control, chinese : ranges of code points
        Removed by cleaning; put between spaces.
    space, mark : set of characters
        Turned into a space by cleaning; removed as accents.
    combining : mapping of str to int
        The canonical combining class of each character that has one other than 0.
    decompositions : mapping of str to str
        Full canonical decompositions, without those of the Hangul syllables.
    lowercase : mapping of str to str
        Characters that have a lower case, with it.
    """

    version: str
    control: Ranges
    chinese: Ranges
    space: frozenset[str]
    mark: frozenset[str]
    combining: Mapping[str, int]
    decompositions: Mapping[str, str]
    lowercase: Mapping[str, str]

    def decompose(self, character: str) -> str:
        """Return the canonical decomposition of `character`."""
        code = ord(character)
        if not HANGUL_FIRST <= code <= HANGUL_LAST:
            return self.decompositions.get(character, character)
        # The Unicode Standard, section 3.12.
        lead, rest = divmod(code - HANGUL_FIRST, 21 * 28)
        vowel, tail = divmod(rest, 28)
        return chr(0x1100 + lead) + chr(0x1161 + vowel) + (chr(0x11A7 + tail) if tail else "")


@cache
def tables() -> Tables:
    """Return the tables of the tokenizers library."""
    text = resources.files("tokdfa.wordpiece").joinpath("data", "tokenizers.json").read_text("utf-8")
    data: dict[str, Any] = json.loads(text)
    return Tables(
        version=data["version"],
        control=_ranges(data["control"]),
        chinese=_ranges(data["chinese"]),
        space=frozenset(_characters(_ranges(data["space"]))),
        mark=frozenset(_characters(_ranges(data["mark"]))),
        combining={
            character: int(order)
            for order, deltas in data["combining"].items()
            for character in _characters(_ranges(deltas))
        },
        decompositions=data["decompositions"],
        lowercase=data["lowercase"],
    )


def _ranges(deltas: list[int]) -> Ranges:
    """Undo the coding of the file: the distance from range to range and the length of each, by turns."""
    edges = list(accumulate(deltas))
    return tuple((first, end - 1) for first, end in zip(edges[::2], edges[1::2], strict=True))


@dataclass(frozen=True)
class BertNormalizer:
    """The settings of BERT's normalization, and what it makes of one character.

    The steps are taken in the order of the parameters; what one character becomes does not depend on its neighbours,
    but for the order of combining marks that survive `strip_accents`.

    Parameters
    ----------
    clean_text : bool
        Remove control, format, private and unassigned characters and U+FFFD, and make every white space a space.
    chinese : bool
        Put spaces around CJK ideographs.
    strip_accents : bool
        Decompose (NFD) and remove nonspacing marks.
    lowercase : bool
        Take the lower case of each character.

    Notes
    -----
    BertNormalizer of the tokenizers library, whose classes follow an older version of Unicode than its letters' case:
    hundreds of newer marks are not removed.
    """

    clean_text: bool = True
    chinese: bool = True
    strip_accents: bool = True
    lowercase: bool = True

    def effect(self, character: str) -> str:
        """Return what `character` becomes, standing alone; possibly nothing, or with spaces around it."""
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


@cache
def effects(normalizer: BertNormalizer) -> Mapping[str, str]:
    """Return what characters become, but for the bulk: control characters, ideographs, Hangul and what is kept."""
    data = tables()
    touched: set[str] = set()
    if normalizer.clean_text:
        touched.update(data.space)
    if normalizer.strip_accents:
        touched.update(data.decompositions, data.combining, data.mark)
    if normalizer.lowercase:
        touched.update(data.lowercase)
    return {character: normalizer.effect(character) for character in sorted(touched)}


@cache
def spaces() -> frozenset[str]:
    """Return the characters at which words are split and which are dropped."""
    return frozenset(_characters(ranges("is_whitespace", "tokenizers")))


@cache
def punctuation() -> frozenset[str]:
    """Return the characters that are words of their own."""
    return frozenset(_characters(ranges("is_bert_punctuation", "tokenizers")))


def _characters(ranges: Iterable[tuple[int, int]]) -> Iterable[str]:
    return (chr(code) for first, last in ranges for code in range(first, last + 1))

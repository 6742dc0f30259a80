"""Seams of tokenizers that bring texts into a normalization form."""

from __future__ import annotations

from functools import lru_cache
from unicodedata import normalize

import numpy as np

from tokdfa.base.arrays import BoolArray
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.jobs.splices.languages import ANYTHING, Language, language_of, literal
from tokdfa.regex.syntax import Symbols
from tokdfa.regex.unicode.normalization import Form
from tokdfa.regex.unicode.quick_check import boundaries


def is_ascii(language: Language) -> bool:
    """Return whether all texts of a language are ASCII, so that nothing is normalized."""
    return not _used(language)[0x80:].any()


def is_steady_before(form: Form, language: Language) -> bool:
    """Return whether texts of a language stay as they are, and separate from any text before them."""
    return not (_used(language) & ~boundaries(form)).any()


def is_steady_after(form: Form, language: Language) -> bool:
    """Return whether they do, and no text after them changes them either."""
    return not (_used(language) & ~(boundaries(form) & _closed_ones(form))).any()


def _used(language: Language) -> BoolArray:
    classes = {c for row in language.rows for c, target in enumerate(row) if target >= 0}
    used: BoolArray = np.isin(language.class_of_code_point, [*classes])
    used[0xD800:0xE000] = False
    return used


def normalized_before(form: Form, text: str) -> Language:
    """Return a language with the normalized texts of all that end with `text`."""
    first = next((place for place, symbol in enumerate(text) if _is_steady(form, symbol)), len(text))
    kept = text[first:]
    if normalize(form, kept) != kept:
        raise UnsupportedFeatureError("the text before the seam is not normalized", value=text)
    return language_of("before", ANYTHING, literal(kept, "before"))


def normalized_after(form: Form, text: str) -> Language:
    """Return a language with the normalized texts of all that begin with `text`, if it never joins the text before."""
    if not text or not _is_steady(form, text[0]):
        raise UnsupportedFeatureError("a normalization may cross the seam", value=text)
    # The text that follows may change this text from the last boundary on.
    last = max(place for place, symbol in enumerate(text) if _is_steady(form, symbol))
    opening = _openings(form).get(_decomposed(form, text[last])[0], ())
    ranges = tuple((ord(symbol), ord(symbol)) for symbol in sorted({*opening, text[last]}))
    kept = literal(normalize(form, text[:last]), "after")
    return language_of("after", kept, Symbols(ranges), ANYTHING)


def _is_steady(form: Form, symbol: str) -> bool:
    return bool(boundaries(form)[ord(symbol)])


def _decomposed(form: Form, symbol: str) -> str:
    return normalize("NFKD" if "K" in form else "NFD", symbol)


@lru_cache(maxsize=4)
def _closed_ones(form: Form) -> BoolArray:
    """Return the code points that nothing that follows them changes."""
    openings = _openings(form)
    found: BoolArray = np.ones(0x110000, dtype=np.bool_)
    points = np.flatnonzero(boundaries(form)).tolist()
    found[[point for point in points if _decomposed(form, chr(point))[0] in openings]] = False
    return found


@lru_cache(maxsize=4)
def _openings(form: Form) -> dict[str, tuple[str, ...]]:
    """Return the characters that a text in the form may begin with, by the first of their decomposition."""
    found: dict[str, list[str]] = {}
    for point in (*range(0xD800), *range(0xE000, 0x110000)):
        symbol = chr(point)
        parts = _decomposed(form, symbol)
        if parts != symbol and normalize(form, symbol) == symbol:
            found.setdefault(parts[0], []).append(symbol)
    return {first: tuple(symbols) for first, symbols in found.items()}

"""Whether a text is in a normalization form, and which segments of it are not, found without normalizing the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Int64Array, Uint8Array
from tokdfa.kernels.library import Struct
from tokdfa.kernels.normalization.quick_check import first_change, form_struct, normalized
from tokdfa.regex.unicode.normalization import HANGUL_FIRST, HANGUL_LAST, Form, joining, normalize, tables
from tokdfa.regex.unicode.ranges import LAST
from tokdfa.regex.unicode.utf8 import code_points

_SEGMENT = 64


def is_normal(data: bytes, form: Form) -> bool:
    """Return whether a text, as UTF-8, is in a normalization form.

    Normalizing it then gives it back. All texts in a form are closed under taking parts.
    """
    offset = first_change(form_tables(form), data)
    # A long run of marks is not looked at there.
    return offset == len(data) or next(changes(data, form), None) is None


def changes(data: bytes, form: Form, spans: Int64Array | None = None) -> Iterator[Change]:
    """Yield the segments of a text, as UTF-8, that a normalization form changes, in order.

    The optional `spans` are not to be normalized; see :func:`in_form`.
    """
    kept = [] if spans is None else spans[:, :2].tolist()
    at = 0
    for start, stop in (*kept, (len(data), len(data))):
        yield from _changes_within(data, at, start, form)
        at = stop


def _changes_within(data: bytes, at: int, stop: int, form: Form) -> Iterator[Change]:
    """Yield the segments that change in the text from byte `at` to byte `stop`."""
    known, view = form_tables(form), memoryview(data)[:stop]
    while (begin := at + first_change(known, view[at:])) < stop:
        segment = _segment_at(view, begin, stop, form)
        at = begin + len(segment.encode("utf-8"))
        changed = normalize(segment, form)
        # The segment may only have been too long for the kernel.
        if changed != segment:
            yield Change(begin, at, changed)


def _segment_at(data: bytes | memoryview, begin: int, limit: int, form: Form) -> str:
    """Return the text from an offset up to the next boundary, or to `limit`."""
    steady = boundaries(form)
    size = _SEGMENT
    while True:
        segment = str(data[begin : min(begin + size, limit)], "utf-8", "ignore")
        end = next((n for n, symbol in enumerate(segment) if n and steady[ord(symbol)]), None)
        if end is not None or begin + size >= limit:
            return segment[:end]
        size *= 4


def in_form(data: bytes | memoryview, form: Form, spans: Int64Array | None = None) -> Uint8Array:
    """Return the UTF-8 of a text in a normalization form.

    The optional `spans`, of shape (spans, 3), are not to be normalized: start, stop and anything else, ascending. The
    text between them is normalized by itself. They are updated to their offsets in the result.
    """

    def longer(begin: int, limit: int) -> tuple[bytes, int]:
        segment = _segment_at(data, begin, limit, form)
        return normalize(segment, form).encode("utf-8"), begin + len(segment.encode("utf-8"))

    none = np.zeros((0, 3), dtype=np.int64)
    return normalized(form_tables(form), data, none if spans is None else spans, longer)


class Change(NamedTuple):
    """A segment of a text, from byte `begin` to byte `end`, and its normalized text."""

    begin: int
    end: int
    normalized: str


@cache
def boundaries(form: Form) -> BoolArray:
    """Return, for each code point, whether every text has a boundary before it.

    Normalization never changes such a character, nor anything across the offset before it: it is unchanged alone, and
    `begins_segment`. See Unicode Standard Annex 15, section 9.
    """
    found = begins_segment(form).copy()
    for character in _decomposed(form):
        found[ord(character)] &= normalize(character, form) == character
    if form in ("NFD", "NFKD"):
        found[HANGUL_FIRST : HANGUL_LAST + 1] = False
    found.setflags(write=False)
    return found


@cache
def begins_segment(form: Form) -> BoolArray:
    """Return, for each code point, whether the texts before it and from it on are always normalized by themselves.

    The first part of its decomposition has no combining class, and composes with nothing that precedes it.
    """
    data = tables()
    found: BoolArray = np.ones(LAST + 1, dtype=np.bool_)
    seconds = joining() if form in ("NFC", "NFKC") else frozenset[str]()
    for character in {*data.combining, *seconds, *_decomposed(form)}:
        first = data.decompose(character, compatibility=form in ("NFKC", "NFKD"))[0]
        found[ord(character)] = first not in data.combining and first not in seconds
    found.setflags(write=False)
    return found


def _decomposed(form: Form) -> set[str]:
    """Return the characters that a form decomposes, without the Hangul syllables."""
    return {*tables().decompositions, *(tables().compatibility if form in ("NFKC", "NFKD") else ())}


def stands_apart(text: str, form: Form) -> bool:
    """Return whether a form treats the texts before and after some text alike, with it between them and without it."""
    steady = boundaries(form)
    return bool(steady[ord(text[0])] and steady[ord(text[-1])]) and not composites(text[-1], form)


@lru_cache(maxsize=1 << 12)
def composites(character: str, form: Form) -> frozenset[str]:
    """Return the other characters than alone that a starter may become, because of the characters after it.

    Marks are read by their classes: of "é", U+0323 makes "ẹ" with U+0301 after it, because its class is lower.
    """
    if form in ("NFD", "NFKD"):
        return frozenset()
    data = tables()
    parts = data.decompose(character, compatibility=form == "NFKC")
    last = max((n for n, part in enumerate(parts) if part not in data.combining), default=0)
    head = normalize(parts[: last + 1], form)
    if len(head) > 1:
        # The first of several starters has other starters after it.
        return frozenset()
    found: dict[str, None] = {}
    queue = [(head, parts[last + 1 :])]
    for first, own in queue:  # It grows during the loop.
        for whole, is_bare in _with_marks(first, own):
            found[whole] = None
            queue += [(each, "") for each in _begun_by(whole, 0) if is_bare and each not in found]
    return frozenset(found.keys() - {normalize(character, form)[0]})


def _with_marks(first: str, own: str) -> Iterator[tuple[str, bool]]:
    """Yield the characters that a starter with its own marks becomes by more marks, with whether no mark is left."""
    data = tables()
    # With the class of the last mark that is not composed.
    states: dict[tuple[str, int], None] = {(first, -1): None}
    for order in sorted(_orders().union(map(data.combining.__getitem__, own))):
        queue = [*states]
        for mark in own:
            if data.combining[mark] == order:
                wholes = [(data.compose(state, mark) if highest < order else None) for state, highest in queue]
                queue = [
                    (queue[n][0], order) if whole is None else (whole, queue[n][1]) for n, whole in enumerate(wholes)
                ]
        for state, highest in queue:  # It grows during the loop.
            if highest < order:
                queue += [(whole, highest) for whole in _begun_by(state, order) if (whole, highest) not in queue]
        states = dict.fromkeys(queue)
    yield from {(whole, highest < 0) for whole, highest in states}


def _begun_by(first: str, order: int) -> Iterable[str]:
    """Return the characters that a character composes to, with one of a combining class that follows it."""
    if not order and "\u1100" <= first <= "\u1112":
        return (str(tables().compose(first, chr(vowel))) for vowel in range(0x1161, 0x1176))
    syllable = ord(first) - HANGUL_FIRST
    if not order and 0 <= syllable <= HANGUL_LAST - HANGUL_FIRST:
        return map(chr, range(ord(first) + 1, ord(first) + 28)) if syllable % 28 == 0 else ()
    return _compositions().get((first, order), ())


@cache
def _orders() -> frozenset[int]:
    """Return the combining classes of the marks that compose with starters."""
    return frozenset(order for _, order in _compositions() if order)


@cache
def _compositions() -> dict[tuple[str, int], list[str]]:
    """Return the characters that two compose to, by the first and the combining class of the second."""
    found: dict[tuple[str, int], list[str]] = {}
    for pair, whole in tables().compositions.items():
        found.setdefault((pair[0], tables().combining.get(pair[1], 0)), []).append(whole)
    return found


@cache
def form_tables(form: Form) -> Struct:
    """Return the tables of a form for the kernels."""
    data = tables()
    marks = sorted(data.combining)
    decompositions = dict(data.decompositions)
    if form in ("NFKC", "NFKD"):
        decompositions |= data.compatibility
    wholes = sorted(decompositions)
    pairs = sorted((ord(pair[0]) << 32 | ord(pair[1]), ord(whole)) for pair, whole in data.compositions.items())
    named = {
        "mark": code_points("".join(marks)),
        "order": np.array([data.combining[mark] for mark in marks], dtype=np.uint8),
        "whole": code_points("".join(wholes)),
        "bounds": np.cumsum([0, *(len(decompositions[whole]) for whole in wholes)]).astype(np.int32),
        "parts": code_points("".join(decompositions[whole] for whole in wholes)),
        "pair": np.array([pair for pair, _ in pairs], dtype=np.int64),
        "composed": np.array([whole for _, whole in pairs], dtype=np.int32),
    }
    boundary = np.packbits(boundaries(form), bitorder="little").view("<u8").astype(np.uint64)
    return form_struct(boundary, named, composes=form in ("NFC", "NFKC"))

"""Texts that a normalization form joins across a seam.

NFC joins "a" and U+0301 across a seam, so that the text is another one than both texts, normalized, side by side. Marks
are joined in two ways: one goes before a mark of a higher class ("a\u0301" and U+0323), or it composes with the last
starter, the last character without a class. :func:`joined` yields such texts, and :func:`may_join` is whether there may
be any.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from heapq import heappop, heappush
from itertools import chain, islice, takewhile
from typing import NamedTuple

import numpy as np

from tokdfa.automata.protocol import closure
from tokdfa.automata.texts import Language, intersection, least_of_classes
from tokdfa.base.arrays import BoolArray, Uint8Array
from tokdfa.jobs.splices.normal_texts import characters, of_classes
from tokdfa.regex.unicode.normalization import Form, joining, normalize, tables


class _Marks(NamedTuple):
    """The marks, which have a combining class, in the decompositions of all characters; by code point."""

    opens: Uint8Array  # The lowest class among the marks that it begins with, 0 without any
    closes: Uint8Array  # The highest class among the marks that it ends with
    only: BoolArray  # Whether it has nothing else


@cache
def _marks(form: Form) -> _Marks:
    data = tables()
    opens, closes = np.zeros((2, 0x110000), dtype=np.uint8)
    only: BoolArray = np.zeros(0x110000, dtype=np.bool_)
    for symbol in {*data.combining, *data.decompositions, *(data.compatibility if "K" in form else ())}:
        parts = data.decompose(symbol, compatibility="K" in form)
        orders = [data.combining.get(part, 0) for part in parts]
        opens[ord(symbol)] = min(takewhile(bool, orders), default=0)
        closes[ord(symbol)] = max(takewhile(bool, reversed(orders)), default=0)
        only[ord(symbol)] = all(orders)
    return _Marks(opens, closes, only)


def _beginnings(marks: _Marks, language: Language) -> BoolArray:
    """Return the characters that texts of a language may begin with, or have after nothing but marks."""
    of_marks = {*language.class_of_code_point[marks.only].tolist()}
    rows = language.rows
    states = closure([0], lambda state: (rows[state][c] for c in of_marks if rows[state][c] >= 0))
    return of_classes(language, {c for state in states for c, target in enumerate(rows[state]) if target >= 0})


def _endings(marks: _Marks, language: Language) -> BoolArray:
    """Return the characters that texts of a language may end with, or have before nothing but marks."""
    of_marks = {*language.class_of_code_point[marks.only].tolist()}
    sources: dict[int, set[int]] = {}
    for state, row in enumerate(language.rows):
        for target in {row[c] for c in of_marks} - {-1}:
            sources.setdefault(target, set()).add(state)
    states = closure([state for state, final in enumerate(language.finals) if final], lambda at: sources.get(at, ()))
    return of_classes(language, {c for row in language.rows for c, target in enumerate(row) if target in states})


def _reordered(marks: _Marks, before: Language, after: Language) -> tuple[int, int] | None:
    """Return the classes of two marks that change places across the seam, the farthest apart; None if none do."""
    opens = marks.opens[_beginnings(marks, after)]
    highest, lowest = int(marks.closes[_endings(marks, before)].max(initial=0)), opens[opens > 0].min(initial=255)
    return (highest, int(lowest)) if lowest < highest else None


def _reordered_texts(marks: _Marks, before: Language, after: Language) -> Iterator[tuple[str | None, str | None]]:
    """Yield the least texts with marks that change places across the seam, if some do."""
    orders = _reordered(marks, before, after)
    if orders is not None:
        ends = np.where(marks.closes == orders[0], 2, marks.only.astype(np.int64))
        begins = np.where(marks.opens == orders[1], 2, marks.only.astype(np.int64))
        ending = Language(ends, ((0, 0, 1), (0, 1, 1)), (False, True))
        beginning = Language(begins, ((-1, 0, 1), (1, 1, 1)), (False, True))
        u, v = intersection(before, ending, "texts"), intersection(after, beginning, "texts")
        yield _least_text(u), _least_text(v)


def joined(form: Form, before: Language, after: Language, most: int = 64) -> Iterator[tuple[str, str]]:
    """Yield texts of two languages, at most so many, that a form joins across the seam, some least ones first."""
    marks = _marks(form)
    # A mark that composes with the character before it may stay where it is.
    alone = marks._replace(closes=np.where(marks.only, marks.closes, 0))
    reordered = chain(_reordered_texts(alone, before, after), _reordered_texts(marks, before, after))
    firsts = list(map(chr, np.flatnonzero(_first(after) & characters(form).joins).tolist()))
    pairs = sorted(_joining_pairs(form, _last(before), firsts), key=lambda pair: (len("".join(pair).encode()), pair))
    composed = ((_least_text(before, ending=last), _least_text(after, beginning=first)) for last, first in pairs)
    some = ((u, v) for u, v in chain(reordered, composed) if u is not None and v is not None)
    yield from islice(
        ((u, v) for u, v in some if normalize(u + v, form) != normalize(u, form) + normalize(v, form)), most
    )


def _joining_pairs(form: Form, ends: BoolArray, firsts: list[str]) -> Iterator[tuple[str, str]]:
    """Yield characters, and texts of one or two joining ones, that a form joins."""
    of, data = characters(form), tables()
    marks = [symbol for symbol in firsts if symbol in data.combining]
    seconds = sorted(joining() if form in ("NFC", "NFKC") else ())
    wanted = {*firsts}
    for symbol, (image, others) in of.changing.items():
        if not ends[ord(symbol)] or not others:
            continue
        # The characters that change it by themselves; they may also do so after another one that does not.
        active = [each for each in seconds if normalize(image + each, form) != image + normalize(each, form)]
        yield from ((symbol, each) for each in active if each in wanted)
        for first in marks if active else ():
            order = data.combining[first]
            for each in active:
                if first not in active and data.combining.get(each, order) != order:
                    yield symbol, first + each


def may_join(form: Form, before: Language, after: Language) -> bool:
    """Return whether a form may join texts of two languages across the seam."""
    if _reordered(_marks(form), before, after) is not None:
        return True
    if form in ("NFD", "NFKD"):
        return False
    of, data, marks = characters(form), tables(), _marks(form)
    # Characters that may compose with a starter before the seam: marks at the beginning, or a first starter.
    opening = _decomposed(form, _beginnings(marks, after) & (marks.opens > 0))
    late = joining() & data.combining.keys() & {part for parts in opening for part in parts}
    starters = {parts[0] for parts in _decomposed(form, _first(after) & of.joins)} - data.combining.keys()
    if not (late or starters):
        return False
    ends = _last(before)
    for point in np.flatnonzero(ends & of.joins).tolist():
        parts = data.decompose(chr(point), compatibility="K" in form)
        if len(parts) > 1 or (late and parts in data.combining):
            # The starter may be any.
            return True
        if any(_composes(whole, -1, late, starters) for whole in (parts, *_made_with().get(parts, ()))):
            return True
    for symbol, (image, _) in of.changing.items():
        if ends[ord(symbol)] and not of.joins[ord(symbol)]:
            at = max(n for n, part in enumerate(image) if part not in data.combining)
            highest = data.combining.get(image[-1], -1)
            if _composes(image[at], highest, late, starters):
                return True
    return False


def _composes(starter: str, highest: int, marks: Iterable[str], starters: Iterable[str]) -> bool:
    """Return whether a starter composes with a mark or another starter; `highest` is the class of marks in between."""
    data = tables()
    some = [mark for mark in marks if data.combining[mark] > highest]
    return any(data.compose(starter, other) for other in (*some, *(starters if highest < 0 else ())))


@cache
def _made_with() -> dict[str, set[str]]:
    """Return the characters that others compose to with each second one, of Hangul one for all that behave alike."""
    found: dict[str, set[str]] = {}
    for pair, whole in tables().compositions.items():
        found.setdefault(pair[1], set()).add(whole)
    for second in joining() - found.keys():
        wholes = {tables().compose(first, second) for first in ("\u1100", "\uac00")}
        found[second] = {whole for whole in wholes if whole is not None}
    return found


def _decomposed(form: Form, some: BoolArray) -> list[str]:
    """Return the decompositions of some characters."""
    points = np.flatnonzero(some).tolist()
    return [tables().decompose(chr(point), compatibility="K" in form) for point in points]


def _first(language: Language) -> BoolArray:
    return of_classes(language, [c for c, target in enumerate(language.rows[0]) if target >= 0])


def _last(language: Language) -> BoolArray:
    ending = {c for row in language.rows for c, target in enumerate(row) if target >= 0 and language.finals[target]}
    return of_classes(language, ending)


def _least_text(language: Language, *, beginning: str = "", ending: str = "") -> str | None:
    """Return a short text of a language that begins, or ends, so; None if there is none."""
    least = least_of_classes(language.class_of_code_point)
    start = language.after(0, beginning)
    heap = [(0, b"", start)]
    done: set[int] = set()
    while heap:
        size, text, state = heappop(heap)
        if state in done or state < 0:
            continue
        done.add(state)
        target = language.after(state, ending)
        if target >= 0 and language.finals[target]:
            return beginning + text.decode() + ending
        for c, symbol in least:
            data = symbol.encode()
            heappush(heap, (size + len(data), text + data, language.rows[state][c]))
    return None

"""Texts of a language in a normalization form, and texts that the form joins across a seam.

Of all texts that begin with "e", NFC makes texts that begin with "e", "è", "é" and so on, because a mark may follow.
:func:`normalized` returns a language with them, and perhaps with more: marks are in any order there, and next to
characters that they would compose with.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

import numpy as np

from tokdfa.automata.protocol import closure
from tokdfa.automata.texts import Language, classes_together, intersection, language_from
from tokdfa.base.arrays import BoolArray
from tokdfa.base.budget import Budget
from tokdfa.base.errors import PatternError
from tokdfa.regex.unicode.normalization import HANGUL_FIRST, HANGUL_LAST, Form, joining, normalize, tables
from tokdfa.regex.unicode.quick_check import composites


class _Characters(NamedTuple):
    """The characters of Unicode as a form treats them; the arrays have an element for each code point."""

    normal: BoolArray  # Whether the form keeps the character if it is alone
    joins: BoolArray  # Whether it may be reordered or composed with the text before it
    # The normalized text of each character that may change, and the first characters that it gets by marks after it.
    changing: dict[str, tuple[str, frozenset[str]]]


@cache
def characters(form: Form) -> _Characters:
    """Return the characters of Unicode as a form treats them."""
    data, composes = tables(), form in ("NFC", "NFKC")
    seconds = joining() if composes else frozenset[str]()
    every = {*data.decompositions, *map(chr, range(HANGUL_FIRST, HANGUL_LAST + 1)), *seconds, *data.combining}
    every |= {pair[0] for pair in data.compositions} | set(map(chr, range(0x1100, 0x1113)))
    every |= {*data.compatibility} if "K" in form else set()
    normal = np.ones(0x110000, dtype=np.bool_)
    joins = np.zeros(0x110000, dtype=np.bool_)
    changing: dict[str, tuple[str, frozenset[str]]] = {}
    for symbol in every:
        first = data.decompose(symbol, compatibility="K" in form)[0]
        image = normalize(symbol, form)
        others = composites(symbol, form) if first not in data.combining else frozenset[str]()
        normal[ord(symbol)] = image == symbol
        joins[ord(symbol)] = first in data.combining or first in seconds
        if image != symbol or others:
            changing[symbol] = image, others
    return _Characters(normal, joins, changing)


def used(language: Language) -> BoolArray:
    """Return, for each code point, whether a text of a language has it."""
    return of_classes(language, {c for row in language.rows for c, target in enumerate(row) if target >= 0})


def is_ascii(language: Language) -> bool:
    """Return whether all texts of a language are ASCII, so that nothing is normalized."""
    return not used(language)[0x80:].any()


def steady_texts(form: Form, language: Language) -> Language | None:
    """Return the texts of a language with characters alone that a form keeps next to any others; None without one."""
    of = characters(form)
    try:
        return intersection(language, Language((~of.normal | of.joins).astype(np.int64), ((0, -1),), (True,)), "texts")
    except PatternError:
        return None


def of_classes(language: Language, classes: Iterable[int]) -> BoolArray:
    """Return, for each code point, whether it is in one of some classes of a language."""
    is_in: BoolArray = np.zeros(int(language.class_of_code_point.max()) + 1, dtype=np.bool_)
    is_in[[*classes]] = True
    found: BoolArray = is_in[language.class_of_code_point]
    found[0xD800:0xE000] = False
    return found


class _Outputs(NamedTuple):
    """How a character may get into a normalized text, by the classes of the characters that it is made of."""

    alone: frozenset[int]  # Of one character
    joined: frozenset[int]  # Of one with joining characters after it
    is_later: bool  # Whether it may follow within what a character becomes


def normalized(form: Form, language: Language, specials: Iterable[str], *, part: str = "") -> Language:
    """Return a language with the normalized texts of one, and with all that special tokens keep as it is.

    With a `part`, it is about the endings of all texts ("end"), or their beginnings ("beginning").
    """
    of = characters(form)
    has = used(language)
    is_closed = bool(not (has & (of.joins | ~of.normal)).any())
    if is_closed and not part:
        return language
    kept = of.normal.copy()
    kept[[ord(symbol) for text in specials for symbol in text]] = True
    joins = {*language.class_of_code_point[has & of.joins].tolist()}
    outputs = _outputs(of, language, has, joins)
    numbers = {outputs_of: n for n, outputs_of in enumerate(dict.fromkeys(outputs.values()), 1)}
    number = np.zeros(0x110000, dtype=np.int64)
    for symbol, found in outputs.items():
        number[ord(symbol)] = numbers[found]
    classes, symbols = classes_together([language.class_of_code_point, number * 4 + 2 * of.joins + kept])
    by_number = [_Outputs(frozenset(), frozenset(), False), *numbers]
    moves = _Moves(language, joins)
    first = frozenset((state, False) for state in (range(len(language.rows)) if part == "end" else [0]))
    states = {first: 0}
    rows: list[list[int]] = []
    budget = Budget(what="the automaton of the normalized texts")
    for state in (queue := [first]):
        budget.check_states(len(queue))
        row: list[int] = []
        for c, code in symbols:
            target = moves.after(state, c, by_number[code >> 2], joins=bool(code & 2), kept=bool(code & 1))
            if target and target not in states:
                states[target] = len(queue)
                queue.append(target)
            row.append(states[target] if target else -1)
        rows.append(row)
    finals = [part == "beginning" or any(language.finals[at] for at, _ in state) for state in queue]
    return language_from(classes, rows, finals, 0, "normalized texts")


def _outputs(of: _Characters, language: Language, has: BoolArray, joins: set[int]) -> dict[str, _Outputs]:
    """Return how characters get into normalized texts of a language, other than by being there."""
    alone: dict[str, int] = {}  # Sets of classes as bits
    after: dict[str, int] = {}
    later: set[str] = set()
    joining_bits = sum(1 << c for c in joins)
    for symbol, (image, others) in of.changing.items():
        if not has[ord(symbol)]:
            continue
        bit = 1 << int(language.class_of_code_point[ord(symbol)])
        for other in others:
            after[other] = after.get(other, 0) | bit
        if others:
            # Its own marks are there again if another mark takes their place.
            later.update(tables().decompose(symbol)[1:])
        if image != symbol:
            # Where it is among the joining characters does not matter.
            alone[image[0]] = alone.get(image[0], 0) | (joining_bits if of.joins[ord(symbol)] else bit)
            later.update(image[1:], *(of.changing[each][1] for each in image[1:] if each in of.changing))
    made = {
        symbol: (alone.get(symbol, 0), after.get(symbol, 0), symbol in later)
        for symbol in alone.keys() | after.keys() | later
    }
    outputs = {found: _Outputs(_bits(found[0]), _bits(found[1]), found[2]) for found in {*made.values()}}
    return {symbol: outputs[found] for symbol, found in made.items()}


def _bits(number: int) -> frozenset[int]:
    return frozenset(n for n in range(number.bit_length()) if number >> n & 1)


class _Moves:
    """The moves of sets of states; each with whether a segment that changes has begun."""

    def __init__(self, language: Language, joins: set[int]) -> None:
        self._rows, self._joins = language.rows, joins
        self._beyond: list[set[int]] = []  # The states after one or more joining characters
        for row in language.rows:
            found = {row[c] for c in joins if row[c] >= 0}
            self._beyond.append(
                set(closure(found, lambda state: (t for c in joins if (t := language.rows[state][c]) >= 0)))
            )

    def after(
        self, states: frozenset[tuple[int, bool]], c: int, outputs: _Outputs, *, joins: bool, kept: bool
    ) -> frozenset[tuple[int, bool]]:
        """Return the states after a character of a normalized text, of class `c` where it is in the language."""
        found: set[tuple[int, bool]] = set()
        for state, changed in states:
            row = self._rows[state]
            if kept and row[c] >= 0:
                found.add((row[c], False))
            found |= {(row[a], True) for a in outputs.alone if row[a] >= 0}
            for target in {row[a] for a in outputs.joined} - {-1}:
                found |= {(each, True) for each in self._beyond[target]}
            if joins and kept:
                # It may have been anywhere among the joining characters there.
                found |= {(row[a], changed) for a in self._joins if row[a] >= 0}
            if outputs.is_later and changed:
                found |= {(each, True) for each in self._beyond[state] | {state}}
        # A segment that has changed may go on in all ways in which another one may.
        return frozenset(each for each in found if each[1] or (each[0], True) not in found)


# Special tokens


def spelled_otherwise(form: Form, languages: Iterable[Language], specials: Iterable[str]) -> set[str]:
    """Return the special tokens that a form may make of other texts than themselves.

    NFC makes "K" of the sign for kelvin: after normalization, a text has "<KEY>" that had no special token before.
    """
    of = characters(form)
    has = np.logical_or.reduce([used(language) for language in languages])
    made = {chr(point) for point in np.flatnonzero(has & of.joins).tolist()}
    is_joined = bool(made)
    for symbol, (image, others) in of.changing.items():
        if has[ord(symbol)]:
            made |= {*image} if image != symbol else set()
            made |= others if is_joined else set()
    made |= {other for symbol in [*made] if symbol in of.changing for other in of.changing[symbol][1]}
    return {text for text in specials if not made.isdisjoint(text)}


@cache
def other_spellings(form: Form) -> dict[int, str]:
    """Return the least other character that a form turns into each character, by its code point."""
    found: dict[int, str] = {}
    for symbol in sorted(characters(form).changing):
        image, _ = characters(form).changing[symbol]
        if image != symbol and len(image) == 1:
            found.setdefault(ord(image), symbol)
    return found

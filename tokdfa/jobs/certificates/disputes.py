"""Boundaries that only one of two runs has, and whether any rule merges across them.

A certificate allows such a boundary if no pair of tokens that merges can meet there: then merging gives the same
whether the piece is cut or not.
"""

from __future__ import annotations

from bisect import bisect_right
from codecs import getincrementaldecoder
from collections.abc import Iterable
from functools import cached_property, reduce

from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.jobs.certificates.runs import Classes, Joint, States
from tokdfa.jobs.certificates.sides import Derived
from tokdfa.jobs.comparison.joint import remembered
from tokdfa.regex.unicode import LAST


def check_boundaries(states: States, classes: Classes, derived: list[Derived], dead: Iterable[bytes]) -> None:
    """Refuse a certificate if a rule of a tokenizer merges across a boundary that only the other run has.

    It is also refused if there are both such boundaries and `dead` tokens: pieces that are given for whole pieces only.
    The checker, too, does not ask whether they meet.
    """
    if not states.has_disputes:
        return
    for token in dead:
        what = "there is no certificate where pieces differ and a token is given for whole pieces only"
        raise UnsupportedFeatureError(what, value=token)
    for side, rules in enumerate(derived):
        boundaries = _Boundaries(states, classes, side)
        for token, size in rules:
            # Few classes of symbols begin at a boundary, so most rules are decided by their second part.
            if boundaries.may_join(token[:size], token[size:]):
                what = "there is no certificate where pieces differ beside tokens that merge across their boundaries"
                raise UnsupportedFeatureError(what, value=token)


class _Boundaries:
    """The boundaries that only the other run has."""

    def __init__(self, states: States, classes: Classes, side: int) -> None:
        self._starts = [start for start, _ in classes.runs]
        self._classes = [class_ for _, class_ in classes.runs]
        self._every = list(states.moves)
        # By state and class: the states after a symbol, always, if this run does not cut before it, and at a boundary.
        self._after: dict[tuple[Joint, int], list[Joint]] = {}
        self._within: dict[tuple[Joint, int], list[Joint]] = {}
        self._beyond: dict[tuple[Joint, int], list[Joint]] = {}
        for joint, row in states.moves.items():
            for class_, moves in enumerate(row):
                self._after[joint, class_] = [move.target for move in moves]
                self._within[joint, class_] = [move.target for move in moves if not move.cuts[side]]
                boundary = [move.target for move in moves if not move.cuts[side] and move.cuts[1 - side]]
                if boundary:
                    self._beyond[joint, class_] = boundary
        self._boundary_classes = {class_ for _, class_ in self._beyond}

    @cached_property
    def _runs(self) -> list[tuple[int, int, int]]:
        """The first and the last symbol, and the class, of every range."""
        ends = [start - 1 for start in self._starts[1:]]
        return [*zip(self._starts, [*ends, LAST], self._classes, strict=True)]

    def _classes_ending(self, tail: bytes) -> set[int]:
        """Return the classes with a symbol that has these bytes after its first one, and last."""
        least, modulus = (0x80, 0x800, 0x10000, LAST + 1)[min(len(tail), 4) - 1], 1 << 6 * len(tail)
        value = _value(tail)
        found = set()
        for first, last, class_ in self._runs:
            first = max(first, least)
            if first + (value - first) % modulus <= last:
                found.add(class_)
        return found

    def _classes_beginning(self, head: bytes) -> set[int]:
        """Return the classes with a symbol that has more bytes than these, and these first."""
        size = 2 if head[0] < 0xE0 else 3 if head[0] < 0xF0 else 4
        rest = 6 * (size - len(head))
        value = (head[0] & 0x7F >> size) << 6 * (len(head) - 1) | _value(head[1:])
        low, high = value << rest, ((value + 1) << rest) - 1
        return {class_ for first, last, class_ in self._runs if first <= high and last >= low}

    @remembered(500_000)
    def _read(self, word: bytes) -> tuple[bool, tuple[set[int], ...], bool] | None:
        """Return the classes of each symbol of a token, and whether its ends are cut apart; None if no text has it."""
        head = len(word) - len(word.lstrip(_CONTINUATIONS))
        decoder = getincrementaldecoder("utf-8")()
        try:
            text, (tail, _) = decoder.decode(word[head:]), decoder.getstate()
        except UnicodeDecodeError:
            return None
        classes = [{self._classes[bisect_right(self._starts, ord(symbol)) - 1]} for symbol in text]
        before = [self._classes_ending(word[:head])] if head else []
        after = [self._classes_beginning(tail)] if tail else []
        return bool(head), (*before, *classes, *after), bool(tail)

    def _through(self, sources: Iterable[Joint], symbols: Iterable[set[int]]) -> set[Joint]:
        """Return the states after symbols with no boundary of this run before any of them."""
        found = set(sources)
        for classes in symbols:
            found = {target for joint in found for class_ in classes for target in self._within[joint, class_]}
        return found

    @remembered(500_000)
    def _ends_of(self, word: bytes) -> frozenset[Joint]:
        """Return the states in which a token of this run may end."""
        read = self._read(word)
        if read is None or read[2]:
            return frozenset()
        first, *others = read[1]
        begun = (to for joint in self._every for class_ in first for to in self._after[joint, class_])
        return frozenset(self._through(begun, others))

    def may_join(self, left: bytes, right: bytes) -> bool:
        """Return whether two tokens may meet at a boundary, within a piece of this run."""
        read = self._read(right)
        if read is None or read[0]:
            return False
        first, *others = read[1]
        return any(
            self._through(self._beyond.get((joint, class_), ()), others)
            for class_ in first & self._boundary_classes
            for joint in self._ends_of(left)
        )


_CONTINUATIONS = bytes(range(0x80, 0xC0))


def _value(continuations: bytes) -> int:
    """Return the bits of bytes that continue a symbol."""
    return reduce(lambda value, byte: value << 6 | byte & 0x3F, continuations, 0)

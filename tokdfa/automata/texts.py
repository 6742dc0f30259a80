"""Automata that read texts: languages over classes of code points, and their least texts; special tokens, guessed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from tokdfa.automata.protocol import Numbering, closure
from tokdfa.base.arrays import Int64Array
from tokdfa.base.budget import Budget
from tokdfa.base.errors import PatternError
from tokdfa.regex.program import compile_program
from tokdfa.regex.subset import determinize
from tokdfa.regex.syntax import Concat, Node, Repeat, Symbols, parse


@dataclass(frozen=True)
class Language:
    """A language of texts; state 0 is the initial one, and every state can be left for a final one.

    Attributes
    ----------
    class_of_code_point : int64 array of shape (0x110000,)
    rows : tuple
        ``rows[state][c]`` is the state after a symbol of class c, -1 if no text of the language continues with it.
    finals : tuple of bool
    """

    class_of_code_point: Int64Array
    rows: tuple[tuple[int, ...], ...]
    finals: tuple[bool, ...]

    def step(self, state: int, symbol: str) -> int:
        """Return the state after a symbol; -1 if no text of the language continues with it."""
        return self.rows[state][int(self.class_of_code_point[ord(symbol)])]

    def after(self, state: int, text: str) -> int:
        """Return the state after a text; -1 if no text of the language continues with it."""
        for symbol in text:
            if state < 0:
                return -1
            state = self.step(state, symbol)
        return state

    def __contains__(self, text: str) -> bool:
        state = self.after(0, text)
        return state >= 0 and self.finals[state]


_MOST_WAITING = 100_000
_PER_CLASS = 30

# The first one, and the one past the last.
_SURROGATES = (0xD800, 0xE000)

ANYTHING: Node = Repeat(Symbols(((0, 0x10FFFF),)), 0, None)
"""Any text."""


def literal(text: str, what: str) -> Node:
    """Return a text as a pattern."""
    for index, symbol in enumerate(text):
        if 0xD800 <= ord(symbol) <= 0xDFFF:
            where = f"character {index} of {what}"
            raise PatternError("half of a surrogate pair, which no text has", value=symbol, where=where)
    return Concat(tuple(Symbols(((ord(symbol), ord(symbol)),)) for symbol in text))


def regular(pattern: str, table: str, what: str) -> Node:
    """Return a regular expression as a pattern; raises the errors of :func:`tokdfa.regex.syntax.parse`."""
    try:
        return parse(pattern, table, Budget(what=f"the automaton of {what}"))
    except PatternError as error:
        where = (error.where or what).replace("pattern", what, 1)
        raise PatternError(error.what, value=error.value, where=where, hint=error.hint) from None


def language_of(what: str, *parts: Node) -> Language:
    """Return the language of the texts that patterns match, one after the other."""
    budget = Budget(what=f"the automaton of {what}")
    dfa = determinize(compile_program(Concat(parts), budget=budget), budget=budget)
    finals = (dfa.accepts & ~dfa.late)[dfa.table[:, dfa.edge]] if dfa.delayed else dfa.accepts
    table = dfa.table[:, : dfa.no_symbol].tolist()
    classes = dfa.partition.dense.astype(np.int64)
    used = {number for number, _ in least_of_classes(classes)}
    rows = [[target if target and c in used else -1 for c, target in enumerate(row)] for row in table]
    rows[0] = [-1] * len(rows[0])
    return language_from(classes, rows, finals.tolist(), int(dfa.initial[-1]), what)


def intersection(first: Language, second: Language, what: str) -> Language:
    """Return the texts of both languages."""
    classes, symbols = classes_together([first.class_of_code_point, second.class_of_code_point])
    numbers = Numbering((0, 0))
    rows: list[list[int]] = []
    for one, other in numbers.states:  # It grows during the loop.
        targets = [(first.rows[one][class_a], second.rows[other][class_b]) for class_a, class_b in symbols]
        rows.append([numbers[target] if min(target) >= 0 else -1 for target in targets])
    finals = [first.finals[one] and second.finals[other] for one, other in numbers.states]
    return language_from(classes, rows, finals, 0, what)


def classes_together(partitions: list[Int64Array]) -> tuple[Int64Array, list[tuple[int, ...]]]:
    """Return the coarsest classes that refine all partitions of code points, and the classes that each is made of."""
    # Classes are unions of few intervals of code points, so that one of each interval is enough.
    changes = np.zeros(0x110000, dtype=np.bool_)
    changes[[0, *_SURROGATES]] = True
    for partition in partitions:
        changes[1:] |= partition[1:] != partition[:-1]
    starts = np.flatnonzero(changes)
    is_valid = (starts < _SURROGATES[0]) | (starts >= _SURROGATES[1])
    key = partitions[0][starts]
    symbols: list[tuple[int, ...]] = [(number,) for number in range(int(key.max()) + 1)]
    for partition in partitions[1:]:
        other = partition[starts]
        width = int(other.max()) + 1
        together = key * width + other
        found = np.unique(together[is_valid])
        number = np.zeros(int(together.max()) + 1, dtype=np.int64)
        number[found] = np.arange(len(found))
        key = number[together]
        symbols = [(*symbols[code // width], code % width) for code in found.tolist()]
    return np.repeat(key, np.diff(starts, append=0x110000)), symbols


def least_of_classes(classes: Int64Array) -> list[tuple[int, str]]:
    """Return the classes that symbols have, ascending, each with its least symbol."""
    changes = np.append(True, classes[1:] != classes[:-1])
    changes[[*_SURROGATES]] = True
    starts = np.flatnonzero(changes)
    starts = starts[(starts < _SURROGATES[0]) | (starts >= _SURROGATES[1])]
    found, first = np.unique(classes[starts], return_index=True)
    return [
        (number, chr(code_point)) for number, code_point in zip(found.tolist(), starts[first].tolist(), strict=True)
    ]


def language_from(classes: Int64Array, rows: list[list[int]], finals: list[bool], initial: int, what: str) -> Language:
    """Return the language of an automaton, with equal states merged."""
    reached = closure([initial], lambda state: (target for target in rows[state] if target >= 0))
    sources: dict[int, list[int]] = {}
    for state in reached:
        for target in {*rows[state]}:
            sources.setdefault(target, []).append(state)
    alive = closure(filter(finals.__getitem__, reached), lambda state: sources.get(state, ()))
    if initial not in alive:
        raise PatternError("no text is in this language", where=what)
    kept = [state for state in reached if state in alive]
    block = {state: int(finals[state]) for state in kept} | {-1: -1}
    while True:
        numbers: dict[object, int] = {}
        finer = {-1: -1}
        for state in kept:
            row = tuple(block.get(target, -1) for target in rows[state])
            finer[state] = numbers.setdefault((block[state], row), len(numbers))
        if len(numbers) == len({*block.values()} - {-1}):
            break
        block = finer
    first: dict[int, int] = {}
    for state in kept:
        first.setdefault(finer[state], state)
    order = list(first)
    merged = tuple(tuple(finer.get(target, -1) for target in rows[first[number]]) for number in order)
    return Language(classes, merged, tuple(finals[first[number]] for number in order))


def iter_least(language: Language, most: int) -> Iterator[str]:
    """Yield up to `most` texts of a language by their bytes, then in order; they have a few symbols of each class."""
    of = language.class_of_code_point.copy()
    of[0xD800:0xE000] = -1
    symbols: list[list[str]] = []
    for number in range(len(language.rows[0])):
        code_points = np.flatnonzero(of == number)
        symbols.append([chr(code_point) for code_point in code_points[:_PER_CLASS].tolist()])
    heap: list[tuple[int, bytes, int]] = [(0, b"", 0)]
    found = 0
    while heap and found < most and len(heap) < _MOST_WAITING:
        size, text, state = heappop(heap)
        if language.finals[state]:
            yield text.decode()
            found += 1
        for number, target in enumerate(language.rows[state]):
            if target >= 0:
                for symbol in symbols[number]:
                    data = symbol.encode()
                    heappush(heap, (size + len(data), text + data, target))


PLAIN: Final = -1
"""The effect of a symbol outside of special tokens; WITHIN continues one, and a number begins that one."""
WITHIN: Final = -2


class Scan(NamedTuple):
    """A guess: the special token that is being read, if any, and the texts that must not turn out to be one."""

    special: int = -1  # Its number; -1 outside
    n_read: int = 0  # The number of its symbols read so far
    # The texts read since offsets where no special token, or a shorter one, was supposed to begin.
    pending: frozenset[str] = frozenset()


# The effect of a symbol: PLAIN, WITHIN or the number of a special token.
Effect: TypeAlias = int


class Found:
    """The guesses about special tokens that are found wherever they occur: the leftmost first, of these the longest."""

    def __init__(self, contents: Sequence[str]) -> None:
        self.contents = tuple(contents)
        self._whole = {*contents}
        self._beginnings = {content[:n] for content in contents for n in range(1, len(content))}

    @property
    def symbols(self) -> list[str]:
        """The symbols that special tokens have, ascending."""
        return sorted({symbol for content in self.contents for symbol in content})

    def may_end(self, scan: Scan) -> bool:
        """Return whether a text can end after a guess."""
        return scan.special < 0

    def moves(self, scan: Scan, symbol: str | None) -> Iterator[tuple[Scan, Effect]]:
        """Yield the guesses after a symbol, with its effects; None is a symbol that no special token has."""
        longer = set() if symbol is None else {begun + symbol for begun in scan.pending}
        if longer & self._whole:
            return
        pending = frozenset(longer & self._beginnings)
        if scan.special >= 0:
            if self.contents[scan.special][scan.n_read] == symbol:
                yield self._within(scan.special, scan.n_read + 1, pending), WITHIN
            return
        for number, content in enumerate(self.contents):
            if content[0] == symbol:
                yield self._within(number, 1, pending), number
        if symbol is None or symbol not in self._whole:
            begun = {symbol} & self._beginnings if symbol is not None else set()
            yield Scan(pending=pending | begun), PLAIN

    def _within(self, special: int, n_read: int, pending: frozenset[str]) -> Scan:
        content = self.contents[special]
        if n_read < len(content):
            return Scan(special, n_read, pending)
        # A longer one at the same offset would be found instead.
        return Scan(pending=pending | ({content} & self._beginnings))


def apart(contents: Iterable[str]) -> frozenset[str]:
    """Return the texts that share nothing with another one of them, or with themselves, in any text that has both."""
    every = {*contents}
    return frozenset(every.difference(*({content} | others for content, others in _meetings(every))))


def overlapping(contents: Iterable[str]) -> bool:
    """Return whether two different texts of some overlap, as :func:`overlap` says."""
    return any(others - {content} for content, others in _meetings({*contents}))


def _meetings(every: set[str]) -> Iterator[tuple[str, set[str]]]:
    """Yield texts with those that share something with them, perhaps themselves, in a text that has both."""
    begun: dict[str, set[str]] = {}
    for content in every:
        for n in range(1, len(content) + 1):
            begun.setdefault(content[:n], set()).add(content)
    for content in every:
        for at in range(len(content)):
            # Contents that begin within this one and continue beyond it, or end with it.
            others = begun.get(content[at:], set()) - ({content} if at == 0 else set())
            # Contents within this one.
            others |= {content[at:end] for end in range(at + 1, len(content) + 1)} & every - {content}
            if others:
                yield content, others


def overlap(one: str, other: str) -> bool:
    """Return whether a text can have both so that they overlap, other than as the same symbols at the same offset."""
    if one in other or other in one:
        return one != other
    return _meets(one, other) or _meets(other, one)


def _meets(left: str, right: str) -> bool:
    return any(left.endswith(right[:n]) for n in range(1, min(len(left), len(right))))

"""The tokens that lead from a state of a seam to others."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple, TypeAlias

import numpy as np

from tokdfa.arrays import Int32Array
from tokdfa.splices.seam import Seam
from tokdfa.splices.tokens import Tokens, walk
from tokdfa.splitting.symbol_bytes import DONE, NOWHERE, SymbolBytes

__all__ = ["EVERY", "EdgeFinder", "Edges", "Location", "Use"]

# A state between symbols; or one within a symbol: the state after it, and what may follow in it.
Location: TypeAlias = int | tuple[int, int]


class Use(IntEnum):
    """What edges are wanted for.

    Attributes
    ----------
    BEGIN
        Tokens with which a piece of the texts apart begins.
    GO_ON
        Tokens that go on with such a piece, as long as it matters.
    PART
        Tokens with which a piece of the texts apart begins where one of the whole text goes on.
    END
        Tokens that go on with such a piece, whatever else is there.
    """

    BEGIN = 0
    GO_ON = 1
    PART = 2
    END = 3


class Edges(NamedTuple):
    """Tokens that lead from a location to one target, the shortest first, equally long ones in order.

    Parameters
    ----------
    target : Location
    state : int
        The state of the target; within a symbol, that after it.
    cuts : bool
        Whether a piece of the whole text begins within the tokens.
    tokens, lengths, kinds : int32 arrays
        The lengths are those of what is read of the tokens.
    n_put : int
        The number of bytes with which the tokens begin and which are put before the text, so that they are not read.
    """

    target: Location
    state: int
    cuts: bool
    tokens: Int32Array
    lengths: Int32Array
    kinds: Int32Array
    n_put: int


EVERY = 1 << 40
"""A length that no token has."""

# The locations reached, each with whether the whole is cut.
_Places: TypeAlias = tuple[tuple[Location, bool], ...]


class EdgeFinder:
    """A finder of the tokens that lead from states of a seam to others, remembered for a bound on their lengths.

    Parameters
    ----------
    seam : Seam
    tokens : Tokens

    Attributes
    ----------
    left_out : bool
        Whether longer tokens were left out.
    """

    def __init__(self, seam: Seam, tokens: Tokens) -> None:
        self._seam = seam
        self._tokens = tokens
        self._bytes = SymbolBytes(seam.class_of_code_point, len(seam.least))
        self._leading: list[list[tuple[int, int]]] = [[] for _ in range(256)]
        for number, leads in enumerate(self._bytes.leads):
            for byte, following in enumerate(leads):
                if following != NOWHERE:
                    self._leading[byte].append((number, following))
        # With the length up to which they are known.
        self._known: dict[tuple[object, Use], tuple[list[Edges], int]] = {}
        self._walked: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
        self._steps: dict[tuple[_Places, int, Use], _Places] = {}
        self._kinds = np.array(tokens.kinds, dtype=np.int32)
        self._lengths = np.fromiter(map(len, tokens.words), dtype=np.int32, count=len(tokens.words))
        self._begun: set[tuple[int, int]] = set()
        self.left_out = False

    def start(self) -> None:
        """Start a search: no piece has begun in any state, and no token was left out."""
        self._begun.clear()
        self.left_out = False

    def edges(self, location: Location, use: Use, longest: int) -> list[Edges]:
        """Return the tokens of up to `longest` bytes, or more, that lead on from a location."""
        return self._remembered((location, use), use, longest, lambda byte: self._first(location, byte, use))

    def beginning(self, state: int, longest: int) -> list[Edges]:
        """Return the tokens with which a piece of the texts apart begins in a state, but began in none before."""
        begins = {
            (number, move.target)
            for number, cell in enumerate(self._seam.moves[state])
            for move in cell
            if move.begins_apart and not move.parts and self._seam.matters[move.target]
        }
        begins -= self._begun
        self._begun |= begins
        found: list[Edges] = []
        for is_put in (False, True):
            ordered = tuple(sorted((number, to) for number, to in begins if (number == self._seam.put) is is_put))
            if ordered:
                key = ordered, Use.BEGIN
                found += self._remembered(key, Use.BEGIN, longest + is_put, self._firsts(ordered), n_put=int(is_put))
        return found

    def _firsts(self, begins: tuple[tuple[int, int], ...]) -> Callable[[int], _Places]:
        firsts: dict[int, list[tuple[Location, bool]]] = {}
        for number, target in begins:
            if number == self._seam.put:
                firsts.setdefault(ord(" "), []).append((target, False))
                continue
            for byte, following in enumerate(self._bytes.leads[number]):
                if following != NOWHERE:
                    firsts.setdefault(byte, []).append((target if following == DONE else (target, following), False))
        return lambda byte: tuple(firsts.get(byte, ()))

    def _remembered(
        self,
        key: tuple[object, Use],
        use: Use,
        longest: int,
        first_step: Callable[[int], _Places],
        *,
        n_put: int = 0,
    ) -> list[Edges]:
        known = self._known.get(key)
        if known is None or known[1] < longest:
            known = self._known[key] = self._find(use, longest, first_step, n_put)
        self.left_out |= known[1] < EVERY
        return known[0]

    def _find(
        self, use: Use, longest: int, first_step: Callable[[int], _Places], n_put: int
    ) -> tuple[list[Edges], int]:
        words = self._tokens.words
        found: dict[tuple[Location, bool], list[int]] = {}
        is_all = True
        # Words, how much of them was read, and where.
        stack: list[tuple[int, int, int, _Places]] = []
        for byte, first, last in self._children(0, len(words), 0):
            if places := first_step(byte):
                stack.append((first, last, 1, places))
        while stack:
            low, high, depth, places = stack.pop()
            if len(words[low]) == depth:
                for place in places:
                    found.setdefault(place, []).append(low)
                low += 1
            if low == high:
                continue
            if depth >= longest:
                is_all = False
                continue
            for byte, first, last in self._children(low, high, depth):
                if after := self._step(places, byte, use):
                    stack.append((first, last, depth + 1, after))
        edges = [self._edges(place, cut, tokens, n_put) for (place, cut), tokens in found.items()]
        return edges, EVERY if is_all else longest

    def _children(self, low: int, high: int, depth: int) -> list[tuple[int, int, int]]:
        key = low, depth
        if key not in self._walked:
            self._walked[key] = [*walk(self._tokens.words, low, high, depth)]
        return self._walked[key]

    def _first(self, location: Location, byte: int, use: Use) -> _Places:
        return self._after(((location, False),), byte, use, True)

    def _edges(self, place: Location, cut: bool, found: list[int], n_put: int) -> Edges:
        tokens = np.array(found, dtype=np.int32)
        # The words ascend with their numbers.
        tokens = tokens[np.lexsort((tokens, self._lengths[tokens]))]
        state = place if isinstance(place, int) else place[0]
        return Edges(place, state, cut, tokens, self._lengths[tokens] - n_put, self._kinds[tokens], n_put)

    def _step(self, places: _Places, byte: int, use: Use) -> _Places:
        key = places, byte, use
        if key not in self._steps:
            self._steps[key] = self._after(places, byte, use, False)
        return self._steps[key]

    def _after(self, places: _Places, byte: int, use: Use, is_first: bool) -> _Places:
        seam = self._seam
        found: dict[tuple[Location, bool], None] = {}
        for place, cut in places:
            if not isinstance(place, int):
                if byte & 0xC0 != 0x80 or (is_first and use == Use.PART):
                    continue
                following = self._bytes.follow(place[1], bytes([byte]))
                if following != NOWHERE:
                    found[place[0] if following == DONE else (place[0], following), cut] = None
                continue
            for number, following in self._leading[byte]:
                for move in seam.moves[place][number]:
                    if move.parts or move.is_special or move.begins_apart != (is_first and use == Use.PART):
                        continue
                    if is_first and use == Use.PART and move.begins_whole:
                        continue
                    is_cut = cut or (not is_first and move.begins_whole)
                    if use in (Use.BEGIN, Use.GO_ON) and not is_cut and not seam.matters[move.target]:
                        continue
                    found[move.target if following == DONE else (move.target, following), is_cut] = None
        return tuple(found)

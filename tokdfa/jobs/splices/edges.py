"""The tokens that lead from a state of a seam to others, and where tokens can differ from the tokens of the whole text.

For the latter, `partings` goes through the pieces of the texts apart by their tokens, as the search for the least texts
does, but only with the kinds of tokens that may precede each location. So it comes to each location a few times, and
not once for each kind. If it finds none, this is a proof that such texts do not exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from tokdfa.automata.protocol import Numbering
from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.jobs.splices.seam import Seam
from tokdfa.jobs.splices.tokens import Tokens
from tokdfa.tokenizers.pretokenizers.token_lift import DONE, NOWHERE, SymbolBytes

# A state between symbols; or one within a symbol: the state after it, and its possible next bytes.
Location: TypeAlias = int | tuple[int, int]


class Use(IntEnum):
    """The purpose of edges."""

    # Tokens with which a piece of the texts apart begins.
    BEGIN = 0
    # Tokens that continue such a piece, as long as it matters.
    GO_ON = 1
    # Tokens with which a piece of the texts apart begins where one of the whole text continues.
    PART = 2
    # Tokens that continue such a piece, next to anything else.
    END = 3


class Edges(NamedTuple):
    """Tokens that lead from a location to others: in parallel arrays, a row for each token and target."""

    # The lengths count only the bytes read of the tokens.
    tokens: Int32Array
    lengths: Int32Array
    kinds: Int32Array
    # The targets, as numbers in `EdgeFinder.locations`, and their states; within a symbol, the state after it.
    targets: Int32Array
    states: Int32Array
    cuts: BoolArray  # Whether a piece of the whole text begins within the tokens
    # The number of bytes with which the tokens begin and which are put before the text, so that they are not read.
    n_put: int


EVERY = 1 << 40
"""A length that no token has."""

# The locations reached, each with whether the whole is cut.
_Locations: TypeAlias = tuple[tuple[Location, bool], ...]
_UNKNOWN, _NONE = -2, -1


class EdgeFinder:
    """A finder of the tokens that lead from states of a seam to others, remembered for a bound on their lengths."""

    def __init__(self, seam: Seam, tokens: Tokens) -> None:
        self._seam = seam
        self._bytes = SymbolBytes(seam.class_of_code_point, len(seam.least))
        self._leading: list[list[tuple[int, int]]] = [[] for _ in range(256)]
        for number, leads in enumerate(self._bytes.leads):
            for byte, following in enumerate(leads):
                if following != NOWHERE:
                    self._leading[byte].append((number, following))
        # With the length up to which they are known.
        self._known: dict[tuple[object, Use], tuple[Edges, int]] = {}
        self._levels = tokens.levels
        self._walks = {only: _Walk() for only in (False, True)}
        self._kinds = np.array(tokens.kinds, dtype=np.int32)
        self._lengths = tokens.lengths
        self._begun: set[tuple[int, int]] = set()
        # The locations that tokens led to so far.
        self.locations: list[Location] = []
        self._numbers: dict[Location, int] = {}
        # Whether longer tokens were left out.
        self.left_out = False

    def start(self) -> None:
        """Start a search: no piece has begun in any state, and no token was left out."""
        self._begun.clear()
        self.left_out = False

    def edges(self, location: Location, use: Use, longest: int) -> Edges:
        """Return the tokens of up to `longest` bytes, or more, that lead on from a location."""
        key = location, use
        known = self._known.get(key)
        if known is None or known[1] < longest:
            if isinstance(location, int):
                firsts = [self._after(((location, False),), byte, use, True) for byte in range(256)]
            elif use == Use.PART:
                # Pieces begin with symbols.
                firsts = [()] * 256
            else:
                firsts = self._firsts_within(*location)
            known = self._known[key] = self._find(use, longest, firsts, 0)
        self.left_out |= known[1] < EVERY
        return known[0]

    def n_left(self, location: Location) -> int:
        """Return the number of bytes up to the end of the symbol in which a location is."""
        return 0 if isinstance(location, int) else self._bytes.n_left(location[1])

    @cached_property
    def within(self) -> list[dict[int, int]]:
        """The possible next bytes within symbols of each class, with the least number of bytes before them."""
        return [*map(self._bytes.n_read, range(len(self._bytes.leads)))]

    def beginning(self, state: int, longest: int) -> list[Edges]:
        """Return the tokens with which a piece of the texts apart begins in a state, but began in none before."""
        begins = self._pairs(state) - self._begun
        self._begun |= begins
        return self._beginning(begins, longest)

    def every_beginning(self) -> list[tuple[list[int], Edges]]:
        """Return states together with the tokens with which a piece of the texts apart begins in each of them."""
        states: dict[tuple[int, int], list[int]] = {}
        for state in range(len(self._seam.moves)):
            for pair in self._pairs(state):
                states.setdefault(pair, []).append(state)
        alike: dict[tuple[int, ...], list[tuple[int, int]]] = {}
        for pair, where in states.items():
            alike.setdefault(tuple(where), []).append(pair)
        return [([*where], edges) for where, begins in alike.items() for edges in self._beginning(begins, EVERY)]

    def _pairs(self, state: int) -> set[tuple[int, int]]:
        """Return the classes, with the states after them, with which a piece of the texts apart begins in a state."""
        return {
            (number, move.target)
            for number, cell in enumerate(self._seam.moves[state])
            for move in cell
            if move.begins_apart and not move.parts and self._seam.matters[move.target]
        }

    def _beginning(self, begins: Iterable[tuple[int, int]], longest: int) -> list[Edges]:
        found: list[Edges] = []
        for is_put in (False, True):
            ordered = tuple(sorted((number, to) for number, to in begins if (number == self._seam.put) is is_put))
            if ordered:
                key = ordered, Use.BEGIN
                known = self._known.get(key)
                if known is None or known[1] < longest + is_put:
                    firsts = self._firsts(ordered)
                    known = self._known[key] = self._find(Use.BEGIN, longest + is_put, firsts, int(is_put))
                self.left_out |= known[1] < EVERY
                found.append(known[0])
        return found

    def _firsts(self, begins: Iterable[tuple[int, int]]) -> list[_Locations]:
        firsts: list[list[tuple[Location, bool]]] = [[] for _ in range(256)]
        for number, target in begins:
            if number == self._seam.put:
                firsts[ord(" ")].append((target, False))
                continue
            for byte, following in enumerate(self._bytes.leads[number]):
                if following != NOWHERE:
                    firsts[byte].append((target if following == DONE else (target, following), False))
        return [*map(tuple, firsts)]

    def _firsts_within(self, state: int, following: int) -> list[_Locations]:
        """Return the locations after each byte within a symbol; only bytes that continue one lead on."""
        after = self._bytes.followers(following)
        locations: dict[int, _Locations] = {NOWHERE: (), DONE: ((state, False),)}
        for number in {*after} - {NOWHERE, DONE}:
            locations[number] = (((state, number), False),)
        none: list[_Locations] = [()]
        return none * 0x80 + [locations[number] for number in after] + none * 0x40

    def _find(self, use: Use, longest: int, firsts: list[_Locations], n_put: int) -> tuple[Edges, int]:
        walk = self._walks[use in (Use.BEGIN, Use.GO_ON)]
        first = np.full(256, _NONE, dtype=np.int32)
        numbers = {locations: walk.number(locations) for locations in {*firsts}}
        first[:] = [numbers[locations] for locations in firsts]
        tokens: list[Int32Array] = []
        reached: list[Int32Array] = []
        nodes = np.arange(len(self._levels[0].byte) if self._levels else 0)
        after = first[self._levels[0].byte] if self._levels else first[:0]
        is_all = True
        for depth, level in enumerate(self._levels, 1):
            alive = after >= 0
            nodes, after = nodes[alive], after[alive]
            ends = level.word[nodes] >= 0
            tokens.append(level.word[nodes[ends]])
            reached.append(after[ends])
            begins = level.below[nodes]
            counts = level.below[nodes + 1] - begins
            if depth >= longest:
                is_all = not counts.any()
                break
            # The children of all these nodes, one after the other.
            ends_at = np.cumsum(counts)
            nodes = np.arange(int(ends_at[-1]) if len(ends_at) else 0)
            if not len(nodes):
                break
            nodes += np.repeat(begins - (ends_at - counts), counts)
            after = self._steps(walk, np.repeat(after, counts), self._levels[depth].byte[nodes], use)
        none = first[:0]
        edges = self._edges(walk, np.concatenate([none, *tokens]), np.concatenate([none, *reached]), n_put)
        return edges, EVERY if is_all else longest

    def _steps(self, walk: _Walk, locations: Int32Array, byte: Int32Array, use: Use) -> Int32Array:
        after = walk.table[locations, byte]
        unknown = after == _UNKNOWN
        if unknown.any():
            for key in np.unique(locations[unknown].astype(np.int64) * 256 + byte[unknown]).tolist():
                row, symbol = divmod(key, 256)
                found = walk.number(self._after(walk.locations(row), symbol, use, False))
                walk.table[row, symbol] = found
            after = walk.table[locations, byte]
        return after

    def _edges(self, walk: _Walk, tokens: Int32Array, reached: Int32Array, n_put: int) -> Edges:
        """Return the edges of tokens; each token leads to some locations."""
        kinds, inverse = np.unique(reached, return_inverse=True)
        targets: list[int] = []
        cuts: list[bool] = []
        counts = np.zeros(len(kinds), dtype=np.int64)
        for row, number in enumerate(kinds.tolist()):
            for location, is_cut in walk.locations(number):
                targets.append(self._number(location))
                cuts.append(is_cut)
            counts[row] = len(walk.locations(number))
        begins = np.cumsum(counts) - counts
        repeats = counts[inverse]
        every = np.repeat(tokens, repeats)
        within = np.arange(len(every)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
        rows = np.repeat(begins[inverse], repeats) + within
        target = np.array(targets, dtype=np.int32)[rows] if targets else np.zeros(0, dtype=np.int32)
        cut = np.array(cuts, dtype=np.bool_)[rows] if targets else np.zeros(0, dtype=np.bool_)
        locations = [self.locations[number] for number in targets]
        states = np.array([p if isinstance(p, int) else p[0] for p in locations], dtype=np.int32)
        state = states[rows] if targets else np.zeros(0, dtype=np.int32)
        return Edges(every, self._lengths[every] - n_put, self._kinds[every], target, state, cut, n_put)

    def _number(self, location: Location) -> int:
        number = self._numbers.get(location)
        if number is None:
            number = self._numbers[location] = len(self.locations)
            self.locations.append(location)
        return number

    def _after(self, locations: _Locations, byte: int, use: Use, is_first: bool) -> _Locations:
        seam = self._seam
        found: dict[tuple[Location, bool], None] = {}
        for location, cut in locations:
            if not isinstance(location, int):
                if byte & 0xC0 != 0x80 or (is_first and use == Use.PART):
                    continue
                following = self._bytes.follow(location[1], bytes([byte]))
                if following != NOWHERE:
                    found[location[0] if following == DONE else (location[0], following), cut] = None
                continue
            for number, following in self._leading[byte]:
                for move in seam.moves[location][number]:
                    if move.parts or move.is_special or move.begins_apart != (is_first and use == Use.PART):
                        continue
                    if is_first and use == Use.PART and move.begins_whole:
                        continue
                    is_cut = cut or (not is_first and move.begins_whole)
                    if use in (Use.BEGIN, Use.GO_ON) and not is_cut and not seam.matters[move.target]:
                        continue
                    found[move.target if following == DONE else (move.target, following), is_cut] = None
        return tuple(found)


class _Walk:
    """Sets of locations, numbered, and the numbers of the sets that bytes lead from them to; -1 for the empty set."""

    def __init__(self) -> None:
        self.sets: Numbering[_Locations] = Numbering(())
        self.table: Int32Array = np.full((64, 256), _UNKNOWN, dtype=np.int32)

    def number(self, locations: _Locations) -> int:
        """Return the number of a set."""
        number = self.sets[locations] - 1
        if number >= len(self.table):
            self.table = np.concatenate((self.table, np.full_like(self.table, _UNKNOWN)))
        return number

    def locations(self, number: int) -> _Locations:
        """Return the set of a number."""
        return self.sets.states[number + 1]


class Parting(NamedTuple):
    """A token that the whole text does not have, or that begins where none of the whole does."""

    source: Location
    target: int  # The state of the seam after it; within a symbol, the state after the symbol
    length: int  # The number of its bytes, at least


def partings(seam: Seam, tokens: Tokens, finder: EdgeFinder) -> list[Parting]:
    """Return where tokens may differ first, special ones and whole pieces left out: no text has others."""
    found: dict[tuple[Location, int], int] = {}
    # For each location the kinds of tokens before it, the new ones among them, and the edges that none could take.
    known: dict[Location, Int32Array] = {}
    new: dict[Location, list[Int32Array]] = {}
    waiting: dict[Location, Int32Array] = {}

    def part(sources: Sequence[Location], edges: Edges, rows: Int32Array | Int64Array) -> None:
        states, lengths = edges.states[rows], edges.lengths[rows]
        for target in np.unique(states).tolist():
            length = int(lengths[states == target].min())
            for source in sources:
                found[source, target] = min(found.get((source, target), length), length)

    def arrive(edges: Edges, rows: Int32Array | Int64Array) -> None:
        order = rows[np.argsort(edges.targets[rows], kind="stable")]
        numbers, first = np.unique(edges.targets[order], return_index=True)
        ends = [*first.tolist()[1:], len(order)]
        for number, begin, end in zip(numbers.tolist(), first.tolist(), ends, strict=False):
            new.setdefault(finder.locations[number], []).append(edges.kinds[order[begin:end]])

    for states, edges in finder.every_beginning():
        part(states, edges, np.flatnonzero(edges.cuts))
        arrive(edges, np.flatnonzero(~edges.cuts))
    while new:
        location = next(iter(new))
        kinds = np.unique(np.concatenate(new.pop(location)))
        if location in known:
            kinds = np.setdiff1d(kinds, known[location], assume_unique=True)
            known[location] = np.union1d(known[location], kinds)
        else:
            known[location] = kinds
        edges = finder.edges(location, Use.GO_ON, EVERY)
        rows = waiting.get(location)
        if rows is None:
            rows = np.arange(len(edges.tokens), dtype=np.int32)
        if not len(kinds) or not len(rows):
            continue
        follow, _ = tokens.followed(kinds, edges.tokens[rows])
        waiting[location] = rows[~follow]
        rows = rows[follow]
        part([location], edges, rows[edges.cuts[rows]])
        arrive(edges, rows[~edges.cuts[rows]])
    for location, kinds in known.items():
        if not isinstance(location, int):
            continue
        edges = finder.edges(location, Use.PART, EVERY)
        _, joined = tokens.followed(kinds, edges.tokens)
        part([location], edges, np.flatnonzero(joined))
    return [Parting(source, target, length) for (source, target), length in found.items()]

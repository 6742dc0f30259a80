"""Jumps: the ids of forced text, compared with the canonical ids of all texts of a language."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import accumulate, count
from typing import NamedTuple, TypeAlias

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.base.errors import LimitExceededError
from tokdfa.jobs.guiding.prefixes import BaseKey, Moves, MoveTables, Place, PrefixAutomaton, base_of

LONGEST_FORCED = 1 << 12

_Layer: TypeAlias = dict[BaseKey, dict[int, int]]


@dataclass(frozen=True, slots=True)
class ForcedText:
    """A text of the language in which forced text, encoded separately, has other ids.

    Attributes
    ----------
    text : str
        A shortest such text, by bytes of UTF-8.
    forced : str
        The text forced after its first `start_byte` bytes.
    start_byte : int
    forced_ids : tuple of int
        ``encode(forced)``.
    canonical_ids : tuple of int
        ``encode(text)``.
    start_token : int
        The number of canonical ids before the forced text.
    """

    text: str
    forced: str
    start_byte: int
    forced_ids: tuple[int, ...]
    canonical_ids: tuple[int, ...]
    start_token: int


class Jump(NamedTuple):
    """Forced text, its ids if it is encoded separately, and its number of bytes."""

    text: str
    ids: tuple[int, ...]
    size: int


class Jumps:
    """The texts that a language forces, by its states."""

    def __init__(self, prefixes: PrefixAutomaton) -> None:
        self.prefixes = prefixes
        self.tables = MoveTables(prefixes)
        self._known: dict[int, Jump | None] = {}

    def of(self, state: int) -> Jump | None:
        """Return the text that is forced in a state of the language; None if there is none."""
        if state not in self._known:
            text = self.prefixes.texts.forced(state, LONGEST_FORCED)
            ids = tuple(self.prefixes.tokens.tokenizer.encode(text).tolist()) if text else ()
            self._known[state] = Jump(text, ids, len(text.encode())) if text else None
        return self._known[state]

    def end(self, place: Place, ids: Iterable[int]) -> Place | None:
        """Return the state after ids of a jump; None if no canonical stream has them next."""
        for id in ids:
            target = self.prefixes.target(place, id)
            if target is None:
                return None
            place = target
        return place if self.prefixes.goes_on(place) else None


# Whether all jumps are canonical


def is_same_everywhere(jumps: Jumps, max_moves: int) -> bool:
    """Return whether no jump differs from the canonical ids at any boundary where an engine arrives."""
    tables, start = jumps.tables, jumps.prefixes.initial
    seen = {base_of(start): {start.row}}
    queue = deque([(base_of(start), np.array([start.row], dtype=np.int64))])
    left = max_moves
    while queue:
        key, rows = queue.popleft()
        moves = tables.of(key)
        left -= len(moves.ids) + len(rows)
        if left < 0:
            what = f"canonical ids lead through more than {max_moves} moves"
            raise LimitExceededError(what, hint="use a narrower language")
        jump = jumps.of(key[2])
        if jump is None:
            targets = _reached(tables, moves, rows)
        else:
            ends = _ends_of_jump(tables, moves, rows, jump.ids)
            if ends is None:
                return False
            targets = ((base_of(place), np.array([place.row], dtype=np.int64)) for place in ends)
        for target, found in targets:
            known = seen.setdefault(target, set())
            new = set(found.tolist()) - known
            if new:
                known |= new
                queue.append((target, np.array(sorted(new), dtype=np.int64)))
    return True


def _reached(tables: MoveTables, moves: Moves, rows: Int64Array) -> Iterator[tuple[BaseKey, Int64Array]]:
    """Yield the bases to which all ids lead from some rows of a base, with the rows there."""
    n_forbidding = tables.count_forbidding(moves, rows)
    for split, is_way in ((moves.free, n_forbidding < len(rows)), (moves.cut, n_forbidding > 0)):
        taken = np.flatnonzero(is_way & (split > 0))
        if not len(taken):
            continue
        order = taken[np.lexsort((moves.text[taken], moves.spelled[taken], split[taken]))]
        keys = np.stack((split[order], moves.spelled[order], moves.text[order]))
        begins = np.flatnonzero(np.append(True, (keys[:, 1:] != keys[:, :-1]).any(axis=0)))
        for begin, end in zip(begins.tolist(), [*begins[1:].tolist(), len(order)], strict=True):
            key = int(keys[0, begin]), int(keys[1, begin]), int(keys[2, begin])
            yield key, np.unique(moves.row[order[begin:end]]).astype(np.int64)


def _ends_of_jump(tables: MoveTables, moves: Moves, rows: Int64Array, ids: tuple[int, ...]) -> list[Place] | None:
    """Return the states after a jump from some rows of a base; None if other canonical ids may come next."""
    n_forbidding = tables.count_forbidding(moves, rows)
    is_taken = (n_forbidding < len(rows)) | (moves.cut > 0)
    if moves.ids[is_taken].tolist() != [ids[0]]:
        return None
    number = int(np.flatnonzero(is_taken)[0])
    places = [moves.place(number, is_forbidden=False)] if n_forbidding[number] < len(rows) else []
    places += [moves.place(number, is_forbidden=True)] if n_forbidding[number] and moves.cut[number] else []
    ends = []
    for place in places:
        for id in ids[1:]:
            moves_here, forbidden, taken = tables.ways(place)
            if moves_here.ids[taken].tolist() != [id]:
                return None
            place = moves_here.place(int(taken[0]), is_forbidden=bool(forbidden[taken[0]]))
        ends.append(place)
    return ends


# How many texts there are


def count_texts(jumps: Jumps, longest: int, max_counted: int) -> tuple[dict[int, int], dict[int, int]]:
    """Return the numbers of texts, and of those in which all jumps are canonical, by their numbers of bytes.

    Up to `longest` bytes, or fewer if more than `max_counted` moves lead there.
    """
    every = list(_counts(jumps, longest, max_counted, only_same=False))
    same = list(_counts(jumps, len(every) - 1, max_counted, only_same=True))
    return dict(enumerate(every[: len(same)])), dict(enumerate(same))


def _counts(jumps: Jumps, longest: int, max_counted: int, *, only_same: bool) -> Iterator[int]:
    """Yield the numbers of the texts of 0, 1, 2, ... bytes; of all, or of those in which all jumps are canonical."""
    prefixes, tables, start = jumps.prefixes, jumps.tables, jumps.prefixes.initial
    # By the number of bytes, and by bases: the number of ways to each row.
    layers: list[_Layer] = [{} for _ in range(longest + 1)]
    layers[0][base_of(start)] = {start.row: 1}
    left = max_counted
    for n, layer in enumerate(layers):
        finals = (ways for key, ways in layer.items() if prefixes.is_final(Place(key[0], 0, *key[1:])))
        yield sum(sum(ways.values()) for ways in finals)
        for key, ways in layer.items():
            jump = jumps.of(key[2]) if only_same else None
            if jump is None:
                left -= _count_moves(tables, tables.of(key), ways, layers[n:])
            elif n + jump.size <= longest:
                left -= len(ways)
                for row, number in ways.items():
                    end = jumps.end(Place(key[0], row, *key[1:]), jump.ids)
                    if end is not None:
                        _add(layers[n + jump.size], end, number)
            if left < 0:
                return
        layer.clear()


def _count_moves(tables: MoveTables, moves: Moves, ways: dict[int, int], layers: list[_Layer]) -> int:
    """Add the ways that lead from a base, in the first layer, to the layers after it; return the amount of work."""
    rows, numbers = np.fromiter(ways, dtype=np.int64), list(ways.values())
    total = sum(numbers)
    order, which, low, high = tables.spans(moves, rows)
    steps = [0] * (len(order) + 1)
    for row, begin, end in zip(which.tolist(), low.tolist(), high.tolist(), strict=True):
        steps[begin] += numbers[row]
        steps[end] -= numbers[row]
    n_forbidden = dict(zip(order.tolist(), accumulate(steps), strict=False))
    short = np.flatnonzero(moves.size < len(layers)).tolist()
    for number in short:
        layer, n_cut = layers[int(moves.size[number])], n_forbidden.get(number, 0)
        if total > n_cut:
            _add(layer, moves.place(number, is_forbidden=False), total - n_cut)
        if n_cut and moves.cut[number]:
            _add(layer, moves.place(number, is_forbidden=True), n_cut)
    return len(which) + 4 * len(short)


def _add(layer: _Layer, place: Place, number: int) -> None:
    ways = layer.setdefault(base_of(place), {})
    ways[place.row] = ways.get(place.row, 0) + number


# A text with a difference


class _Way(NamedTuple):
    """Canonical ids from the beginning of a text."""

    before: _Way | None
    id: int  # The last of them
    place: Place
    # The numbers of their bytes, and of themselves.
    size: int
    n_ids: int
    rest: tuple[int, ...]  # The ids of a jump that are still to come, if all have been canonical
    jump: Jump | None  # The jump that is being made, or that differs
    start: _Way | None  # The way up to the jump
    differs: bool


def find_difference(jumps: Jumps, max_searched: int) -> ForcedText | None:
    """Return a shortest text in which some jump differs from the canonical ids.

    None if more than `max_searched` ways were extended.
    """
    prefixes = jumps.prefixes
    distance = prefixes.texts.distance
    serial = count()
    first = _Way(None, -1, prefixes.initial, 0, 0, (), None, None, False)
    # The bytes so far plus the least number left; among equals, the longest way comes first.
    heap = [(int(distance[first.place.text]), 0, next(serial), first, 0)]
    tried: dict[int, tuple[Moves, Int64Array, Int64Array, BoolArray]] = {}
    seen = set()
    while heap and len(tried) <= max_searched:
        _, _, number, way, at = heappop(heap)
        if number not in tried:
            key = way.place, way.rest, way.differs
            if key in seen:
                continue
            seen.add(key)
            if way.differs and prefixes.is_final(way.place):
                return _as_text(prefixes, way)
            tried[number] = _sorted_moves(jumps.tables, distance, way.place)
        moves, order, costs, forbidden = tried[number]
        if at == len(order):
            continue
        chosen = int(order[at])
        rank = way.size + int(distance[way.place.text])
        if at + 1 < len(order):
            heappush(heap, (rank + int(costs[at + 1]), -way.size, number, way, at + 1))
        target = moves.place(chosen, is_forbidden=bool(forbidden[chosen]))
        following = _followed(jumps, way, int(moves.ids[chosen]), int(moves.size[chosen]), target)
        heappush(heap, (rank + int(costs[at]), -following.size, next(serial), following, 0))
    return None


def _sorted_moves(
    tables: MoveTables, distance: Int32Array, place: Place
) -> tuple[Moves, Int64Array, Int64Array, BoolArray]:
    """Return the moves of a state, sorted by extra bytes over the cheapest, those costs, and a forbidden mask."""
    moves, forbidden, taken = tables.ways(place)
    costs = moves.size[taken] + distance[moves.text[taken]] - int(distance[place.text])
    order = np.argsort(costs, kind="stable")
    return moves, taken[order], costs[order], forbidden


def _followed(jumps: Jumps, way: _Way, id: int, size: int, place: Place) -> _Way:
    """Return a way with one id more."""
    rest, jump, start, differs = way.rest, way.jump, way.start, way.differs
    if not differs and not rest:
        jump = jumps.of(way.place.text)
        rest, start = ((), None) if jump is None else (jump.ids, way)
    if not differs and rest:
        differs, rest = id != rest[0], rest[1:]
    return _Way(way, id, place, way.size + size, way.n_ids + 1, () if differs else rest, jump, start, differs)


def _as_text(prefixes: PrefixAutomaton, way: _Way) -> ForcedText:
    assert way.jump is not None
    assert way.start is not None
    ids: list[int] = []
    here: _Way | None = way
    while here is not None and here.before is not None:
        ids.append(here.id)
        here = here.before
    text = prefixes.tokens.tokenizer.decode(np.array(ids[::-1], dtype=np.int64))
    return ForcedText(text, way.jump.text, way.start.size, way.jump.ids, tuple(ids[::-1]), way.start.n_ids)

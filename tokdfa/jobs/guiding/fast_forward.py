"""Whether the text that a grammar forces can be encoded separately: whether its ids are part of the whole text's ids.

Where a language leaves no choice, engines append ``encode(forced text)`` without asking the model: they jump forward.
In "a (single|married) man", the text "a " is forced, but no text of the language has the ids of "a ".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import accumulate, count
from typing import NamedTuple, TypeAlias

import numpy as np

from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.base.arrays import BoolArray, Int64Array
from tokdfa.base.errors import LimitExceededError, UnsupportedFeatureError, WrongTypeError
from tokdfa.base.suggestions import SuggestsNames, expect
from tokdfa.jobs.guiding.jumps import Jump, Jumps
from tokdfa.jobs.guiding.prefixes import BaseKey, Moves, MoveTables, PrefixAutomaton, State, base_of
from tokdfa.jobs.guiding.prompts import Wanted, start_of
from tokdfa.jobs.guiding.tokens import tokens_of
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["ForcedText", "Forcing", "Limits", "forced"]

_Layer: TypeAlias = dict[BaseKey, dict[int, int]]


@dataclass(frozen=True, slots=True)
class ForcedText:
    """A text of the language in which forced text, encoded separately, has other ids."""

    text: str  # A shortest such text, by bytes of UTF-8
    forced: str  # The text forced after its first `start_byte` bytes
    start_byte: int
    forced_ids: tuple[int, ...]  # ``encode(forced)``
    canonical_ids: tuple[int, ...]  # ``encode(text)``
    start_token: int  # The number of canonical ids before the forced text


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of :func:`tokdfa.forced`. A limit can leave a question undecided, but not change an answer."""

    max_moves: int = 1 << 28  # between states, after which the question is refused
    max_counted: int = 1 << 22  # moves, after which texts of more bytes are not counted
    max_searched: int = 1 << 14  # ways that are extended before the search for a shortest text is given up


_DEFAULT = Limits()


@dataclass(frozen=True)
class Forcing(SuggestsNames):
    """Whether forced text can be encoded separately, with the ids of the whole text; truthy if so after every prefix.

    Attributes
    ----------
    holds : bool
    n_forced : int
        The number of states of the language, between symbols, in which text is forced.
    witness : ForcedText or None
        A shortest text in which forced text has other ids; None if there is none, or if the search was given up.
    texts, differing : dict of int to int
        For each number of bytes up to `longest`: the number of texts of the language, and how many of them have forced
        text with other ids if it is encoded separately.
    longest : int
        The most bytes of the counted texts: the number asked for, or less if longer texts have too many paths.

    Examples
    --------
    >>> found = tokdfa.forced(tokdfa.default_tokenizer(), "a( single)* man", longest=12)
    >>> bool(found), found.witness.text, found.witness.forced, found.differing[5], found.differing[12]
    (False, 'a man', 'a ', 1, 1)
    """

    holds: bool
    n_forced: int
    witness: ForcedText | None
    texts: dict[int, int]
    differing: dict[int, int]
    longest: int

    def __bool__(self) -> bool:
        return self.holds


def forced(
    tokenizer: AnyTokenizer, language: str | TokenDFA, *, longest: int = 24, limits: Limits = _DEFAULT
) -> Forcing:
    """Decide whether the text that a language forces may be encoded separately and appended.

    Text is forced in a state of the language in which no text ends and exactly one symbol can follow, and for as long
    as this holds. The question is asked along the canonical ids of every text, at each boundary of tokens where text is
    forced: are the next ids equal to ``encode(forced text)``? If they are, the next boundary asked about is the one
    after them, since engines append all of them at once.

    Parameters
    ----------
    tokenizer : AnyTokenizer
        As for :func:`tokdfa.guide`. Texts of the language that it would change have no canonical ids, and are left out.
        Llama-2 puts a space before each text that is encoded, so only text that is forced from the beginning on can
        have the ids of the whole text.
    language : str or TokenDFA
        See :func:`tokdfa.guide`.
    longest : int
        The number of bytes up to which texts are counted, as far as that can be done in some seconds.
    limits : Limits, optional
        When the question, the counting and the search are given up.

    Returns
    -------
    Forcing
        Truthy if they are, for all texts of any length.

    Raises
    ------
    UnsupportedFeatureError, PatternError, WrongTypeError
        As in :func:`tokdfa.guide`.
    LimitExceededError
        If canonical ids lead to too many states.

    Notes
    -----
    The states at which the prefix automaton arrives along canonical ids are explored, which decides; those that differ
    only in the last id are one, with a set of rows. Then the texts are counted by their number of bytes: all of them,
    and those with every jump canonical. A shortest text with a difference is searched for by its length so far and the
    least length of the rest (P. E. Hart, N. J. Nilsson, B. Raphael, *A formal basis for the heuristic determination of
    minimum cost paths*, 1968).

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> bool(tokdfa.forced(tokenizer, "a single man"))
    True
    >>> tokdfa.forced(tokenizer, "a (single|married) man").witness.forced
    'a '
    """
    expect(tokenizer, AnyTokenizer, "a tokenizer", "tokdfa.forced(tokenizer, language)")
    if isinstance(longest, bool) or not isinstance(longest, (int, np.integer)) or longest < 0:
        raise WrongTypeError("a number of bytes is an integer that is not negative", value=longest, where="longest")
    if language is None:
        raise WrongTypeError("a language is a regular expression or an automaton over bytes", value=language)
    tokens = tokens_of(tokenizer)
    jumps = Jumps(start_of(tokens, Wanted(language), None).prefixes)
    holds = is_same_everywhere(jumps, limits.max_moves)
    # Up to `longest` bytes, or fewer if too many moves lead there.
    every = [*_counts(jumps, int(longest), limits.max_counted, only_same=False)]
    same = [*_counts(jumps, len(every) - 1, limits.max_counted, only_same=True)]
    totals = dict(enumerate(every[: len(same)]))
    differing = {n: totals[n] - same[n] for n in totals}
    witness = None if holds else find_difference(jumps, limits.max_searched)
    if witness is not None:
        _check_by_encoding(tokenizer, witness)
    texts = jumps.prefixes.texts
    states = {texts.wanted_state(state) for state in range(1, texts.n_states + 1) if jumps.of(state) is not None}
    return Forcing(holds, len(states), witness, texts=totals, differing=differing, longest=len(totals) - 1)


def _check_by_encoding(tokenizer: AnyTokenizer, found: ForcedText) -> None:
    """Refuse a text that encoding does not confirm as a difference."""
    ids, forced_ids = (tuple(tokenizer.encode(text).tolist()) for text in (found.text, found.forced))
    is_there = found.text.encode().startswith(found.forced.encode(), found.start_byte)
    differs = ids[found.start_token : found.start_token + len(forced_ids)] != forced_ids
    if not (differs and is_there and (ids, forced_ids) == (found.canonical_ids, found.forced_ids)):
        raise UnsupportedFeatureError("encoding does not confirm the text that a search found", value=found)


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
            targets = ((base_of(state), np.array([state.row], dtype=np.int64)) for state in ends)
        for target, found in targets:
            known = seen.setdefault(target, set())
            new = set(found.tolist()) - known
            if new:
                known |= new
                queue.append((target, np.array(sorted(new), dtype=np.int64)))
    return True


def _reached(tables: MoveTables, moves: Moves, rows: Int64Array) -> Iterator[tuple[BaseKey, Int64Array]]:
    """Yield the bases to which all ids lead from some rows of a base, with the rows there."""
    n_forbidding = tables.follow_sets.count_forbidding(moves.position, rows)
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


def _ends_of_jump(tables: MoveTables, moves: Moves, rows: Int64Array, ids: tuple[int, ...]) -> list[State] | None:
    """Return the states after a jump from some rows of a base; None if other canonical ids may come next."""
    n_forbidding = tables.follow_sets.count_forbidding(moves.position, rows)
    is_taken = (n_forbidding < len(rows)) | (moves.cut > 0)
    if moves.ids[is_taken].tolist() != [ids[0]]:
        return None
    number = int(np.flatnonzero(is_taken)[0])
    states = [moves.state(number, is_forbidden=False)] if n_forbidding[number] < len(rows) else []
    states += [moves.state(number, is_forbidden=True)] if n_forbidding[number] and moves.cut[number] else []
    ends = []
    for state in states:
        for id in ids[1:]:
            moves_here, forbidden, taken = tables.ways(state)
            if moves_here.ids[taken].tolist() != [id]:
                return None
            state = moves_here.state(int(taken[0]), is_forbidden=bool(forbidden[taken[0]]))
        ends.append(state)
    return ends


# How many texts there are


def _counts(jumps: Jumps, longest: int, max_counted: int, *, only_same: bool) -> Iterator[int]:
    """Yield the numbers of the texts of 0, 1, 2, ... bytes; of all, or of those in which all jumps are canonical."""
    prefixes, tables, start = jumps.prefixes, jumps.tables, jumps.prefixes.initial
    # By the number of bytes, and by bases: the number of ways to each row.
    layers: list[_Layer] = [{} for _ in range(longest + 1)]
    layers[0][base_of(start)] = {start.row: 1}
    left = max_counted
    for n, layer in enumerate(layers):
        finals = (ways for key, ways in layer.items() if prefixes.is_final(State(key[0], 0, *key[1:])))
        yield sum(sum(ways.values()) for ways in finals)
        while layer:
            # An id that spells no more than the space put before texts leads from the first base of this layer.
            key = next(iter(layer))
            ways = layer.pop(key)
            jump = jumps.of(key[2]) if only_same else None
            if jump is None:
                left -= _count_moves(tables, tables.of(key), ways, layers[n:])
            elif n + jump.size <= longest:
                left -= len(ways)
                for row, number in ways.items():
                    end = jumps.end(State(key[0], row, *key[1:]), jump.ids)
                    if end is not None:
                        _add(layers[n + jump.size], end, number)
            if left < 0:
                return


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
            _add(layer, moves.state(number, is_forbidden=False), total - n_cut)
        if n_cut and moves.cut[number]:
            _add(layer, moves.state(number, is_forbidden=True), n_cut)
    return len(which) + 4 * len(short)


def _add(layer: _Layer, state: State, number: int) -> None:
    ways = layer.setdefault(base_of(state), {})
    ways[state.row] = ways.get(state.row, 0) + number


# A text with a difference


class _Way(NamedTuple):
    """Canonical ids from the beginning of a text."""

    before: _Way | None
    id: int  # The last of them
    state: State
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
    heap = [(int(distance[first.state.text]), 0, next(serial), first, 0)]
    tried: dict[int, tuple[Moves, Int64Array, Int64Array, BoolArray]] = {}
    seen = set()
    while heap and len(tried) <= max_searched:
        _, _, number, way, at = heappop(heap)
        if number not in tried:
            key = way.state, way.rest, way.differs
            if key in seen:
                continue
            seen.add(key)
            if way.differs and prefixes.is_final(way.state):
                return _as_text(prefixes, way)
            # The moves, sorted by extra bytes over the cheapest, those costs, and a forbidden mask.
            moves, forbidden, taken = jumps.tables.ways(way.state)
            costs = moves.size[taken] + distance[moves.text[taken]] - int(distance[way.state.text])
            order = np.argsort(costs, kind="stable")
            tried[number] = moves, taken[order], costs[order], forbidden
        moves, order, costs, forbidden = tried[number]
        if at == len(order):
            continue
        chosen = int(order[at])
        rank = way.size + int(distance[way.state.text])
        if at + 1 < len(order):
            heappush(heap, (rank + int(costs[at + 1]), -way.size, number, way, at + 1))
        target = moves.state(chosen, is_forbidden=bool(forbidden[chosen]))
        following = _followed(jumps, way, int(moves.ids[chosen]), int(moves.size[chosen]), target)
        heappush(heap, (rank + int(costs[at]), -following.size, next(serial), following, 0))
    return None


def _followed(jumps: Jumps, way: _Way, id: int, size: int, state: State) -> _Way:
    """Return a way with one id more."""
    rest, jump, start, differs = way.rest, way.jump, way.start, way.differs
    if not differs and not rest:
        jump = jumps.of(way.state.text)
        rest, start = ((), None) if jump is None else (jump.ids, way)
    if not differs and rest:
        differs, rest = id != rest[0], rest[1:]
    return _Way(way, id, state, way.size + size, way.n_ids + 1, () if differs else rest, jump, start, differs)


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

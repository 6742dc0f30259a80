"""The shortest text that separates two tokenizers, by a search through the product of their automata.

What the first gives for a text is a path: tokens that it allows side by side where it supposes no piece to begin. It is
what the second gives as well unless, somewhere on the path, the second has no such token, supposes a piece to begin
within a token, or goes on with a piece where it does not allow the pair of tokens. So a path is searched for to the
first such place, and from there to where the text can end. A state is one of :class:`Joint` with the last token; of the
tokens only the rows matter that they lead to, and of many tokens that lead to one state only what all of them forbid.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Final, NamedTuple

import numpy as np

from tokdfa.arrays import Int32Array, Int64Array
from tokdfa.comparison.joint import DONE, NOWHERE, Joint, Target
from tokdfa.comparison.vocabularies import Vocabularies

__all__ = ["Place", "Separation"]


_FAR: Final = np.int32(1 << 30)
_MOST_BEGINNINGS: Final = 1_000


class Place(NamedTuple):
    """Where a path comes to be none of the second tokenizer.

    Parameters
    ----------
    length : int
        The least number of bytes of a text with such a path: before the token, of the token, and to the end.
    state : int
        The state before the token.
    before : int
        The bytes before it.
    kinds : tuple of int, or None
        The kinds that the token before must have; None if that is all the same.
    token : int
    target : Target
        One of the states behind the token.
    """

    length: int
    state: int
    before: int
    kinds: tuple[int, ...] | None
    token: int
    target: Target


class Separation:
    """Searches for the shortest texts to which two tokenizers give different ids.

    Parameters
    ----------
    joint : Joint
        Their splittings, that of the first tokenizer being the first.
    vocabularies : Vocabularies
        Their tokens.
    first_byte : int, optional
        What every text begins with.
    progress : callable, optional
        Called with what is done, when the search comes to longer texts.
    """

    def __init__(
        self,
        joint: Joint,
        vocabularies: Vocabularies,
        first_byte: int | None = None,
        progress: Callable[[str], object] | None = None,
    ) -> None:
        self._progress = progress
        self._joint = joint
        self._tokens = vocabularies
        self._first_byte = first_byte
        self._find_effects()
        self._reach: _Reach | None = None

    def _find_effects(self) -> None:
        joint, words = self._joint, self._tokens.words
        effects = np.full(len(words), -1, dtype=np.int64)
        self._heads: dict[int, bytes] = {}
        for token, word in enumerate(words):
            head = next((at for at, byte in enumerate(word) if byte & 0xC0 != 0x80), len(word))
            if head > 3:
                continue
            if head:
                self._heads[token] = word[:head]
            effect = joint.effect_of(word[head:], inside=head > 0)
            effects[token] = -1 if effect is None else effect
        self._effects = effects
        is_head = np.zeros(len(words), dtype=np.bool_)
        is_head[list(self._heads)] = True
        # Those that go on with a symbol, and those that begin with one.
        self._going_on: Int64Array = np.flatnonzero(is_head & (effects >= 0))
        self._beginning: Int64Array = np.flatnonzero(~is_head & (effects >= 0))
        self._tokens_of = dict(self.by_effect(self._beginning))

    def by_effect(self, tokens: Int64Array) -> Iterator[tuple[int, Int64Array]]:
        """Yield the effects of some tokens, and those of each."""
        if len(tokens):
            effects = self._effects[tokens]
            order = np.argsort(effects, kind="stable")
            found, begin = np.unique(effects[order], return_index=True)
            yield from zip(found.tolist(), np.split(tokens[order], begin[1:]), strict=True)

    # One token

    def targets(self, state: int, token: int) -> tuple[Target, ...]:
        """Return the states behind a token, whatever the pair test says."""
        joint = self._joint
        if token not in self._heads:
            return joint.effect(int(self._effects[token]))[state] if state < joint.n_states else ()
        if state < joint.n_states:
            return ()
        behind, following = joint.within[state - joint.n_states]
        following = joint.follow(following, self._heads[token])
        if following == NOWHERE:
            return ()
        is_all = len(self._heads[token]) == len(self._tokens.words[token])
        if following != DONE:
            return (Target(joint.state_within(behind, following), False, False, False),) if is_all else ()
        return joint.effect(int(self._effects[token]))[behind]

    def may_end(self, state: int) -> bool:
        """Tell whether a text can end in a state."""
        return state < self._joint.n_states and self._joint.ends[state]

    # All tokens

    def shortest(self) -> list[Place]:
        """Return all places at which paths of the shortest texts that separate cease; none if no text does."""
        self._reach = reach = _Reach(self)
        places: list[Place] = []
        best = int(_FAR)
        for place in reach.places():
            # As yet the length is a lower bound: ends within reach are not looked for.
            if place.length > best:
                if place.before + 1 > best:
                    break
                continue
            kind = int(self._tokens.kind[place.token])
            exact = place.before + int(self._tokens.length[place.token]) + self._way_out(place.target.state, kind)
            if exact < best:
                best, places = exact, []
            if exact == best < _FAR:
                places.append(place._replace(length=exact))
            reach.limit = best
        return places

    @cache  # noqa: B019  as long as the search
    def _way_out(self, state: int, kind: int) -> int:
        """Return how many bytes it takes at least to where a text can end."""
        if self.may_end(state):
            return 0
        return _Reach(self, (state, kind)).nearest_end()

    # Texts

    def texts(self, places: list[Place], *, most: int, seconds: float) -> list[bytes]:
        """Return texts of these places: at least one, and beyond that no more than `most`, nor than time allows."""
        found: dict[bytes, None] = {}
        deadline = time.monotonic() + seconds
        for place in places:
            for text in self._texts(place):
                found[text] = None
                if len(found) >= most or time.monotonic() > deadline:
                    return list(found)
        return list(found)

    def _texts(self, place: Place) -> Iterator[bytes]:
        words = self._tokens.words
        rest = place.length - place.before - len(words[place.token])
        ends = self._endings(place.target.state, int(self._tokens.kind[place.token]), rest)
        if place.before == 0:
            for end in ends:
                yield words[place.token] + end
            return
        for token in self._candidates(place.state, place.before):
            kind = int(self._tokens.kind[token])
            if place.kinds is not None and kind not in place.kinds:
                continue
            if place.kinds is None and not place.target.begins_a and self._forbids(kind, place.token):
                continue
            for before in self._beginnings(place.state, token, place.before):
                for end in ends:
                    yield before + words[place.token] + end

    @lru_cache(maxsize=100_000)  # noqa: B019  as long as the search
    def _forbids(self, kind: int, token: int) -> bool:
        return bool(self._tokens.a.forbids(int(self._tokens.row_a[kind]), np.array([token]))[0])

    @lru_cache(maxsize=10_000)  # noqa: B019  as long as the search
    def _candidates(self, state: int, length: int) -> list[int]:
        """Return tokens with which texts of this length may have come to a state."""
        assert self._reach is not None
        leading = [
            number
            for number, effect in enumerate(self._joint.effects)
            if any(target.state == state for targets in effect for target in targets)
        ]
        fitting = np.isin(self._tokens.kind, self._reach.kinds_at(state, length)) & (self._tokens.length <= length)
        if state < self._joint.n_states:
            # Those that end the symbol that they begin within have an effect of their own.
            fitting &= np.isin(self._effects, leading) | np.isin(np.arange(len(fitting)), self._going_on)
        tokens: list[int] = np.flatnonzero(fitting & (self._effects >= 0)).tolist()
        return tokens

    @lru_cache(maxsize=1_000_000)  # noqa: B019  as long as the search
    def _beginnings(self, state: int, token: int, length: int) -> tuple[bytes, ...]:
        """Return texts of this length that come to a state with a token."""
        word = self._tokens.words[token]
        before = length - len(word)
        assert self._reach is not None
        if before == 0:
            starts = self._first_byte is None or word[0] == self._first_byte
            leads = starts and any(t.state == state and t.begins_a for t in self.targets(0, token))
            return (word,) if leads else ()
        found: list[bytes] = []
        for source in self._reach.states_at(before):
            events = {target.begins_a for target in self.targets(source, token) if target.state == state}
            for previous in self._candidates(source, before) if events else ():
                if True in events or not self._forbids(int(self._tokens.kind[previous]), token):
                    found += [text + word for text in self._beginnings(source, previous, before)]
                    if len(found) > _MOST_BEGINNINGS:
                        return tuple(found)
        return tuple(found)

    @lru_cache(maxsize=10_000)  # noqa: B019  as long as the search
    def _endings(self, state: int, kind: int, length: int) -> tuple[bytes, ...]:
        """Return texts of this length with which a text can end behind a state."""
        if length == 0:
            return (b"",) if self.may_end(state) else ()
        found: list[bytes] = []
        fitting = self._going_on if state >= self._joint.n_states else self._beginning
        for token in fitting[self._tokens.length[fitting] <= length].tolist():
            for target in self.targets(state, token):
                if target.begins_a or not self._forbids(kind, token):
                    rest = length - len(self._tokens.words[token])
                    ends = self._endings(target.state, int(self._tokens.kind[token]), rest)
                    found += [self._tokens.words[token] + end for end in ends]
            if len(found) > _MOST_BEGINNINGS:
                break
        return tuple(found)


class _Reach:
    """Which states can be reached by texts of which length, and with which kinds of tokens.

    Parameters
    ----------
    separation : Separation
    start : (int, int), optional
        The state and the kind to begin with; the beginning of a text by default.
    """

    def __init__(self, separation: Separation, start: tuple[int, int] | None = None) -> None:
        self._of = separation
        self._joint = separation._joint
        self._tokens = separation._tokens
        self._start = start
        self.limit = int(_FAR)
        n_kinds = self._tokens.n_kinds
        self._distance: dict[int, Int32Array] = defaultdict(lambda: np.full(n_kinds, _FAR, dtype=np.int32))
        self._pending: dict[int, set[int]] = defaultdict(set)
        # The tokens that nothing has allowed so far, of those that may follow at all.
        self._waiting: dict[int, Int64Array] = {}
        self._codes: dict[int, Int64Array] = {}

    def kinds_at(self, state: int, length: int) -> list[int]:
        """Return the kinds of tokens with which a state is reached by texts of this length, and by no shorter ones."""
        kinds: list[int] = np.flatnonzero(self._distance[state] == length).tolist()
        return kinds

    @lru_cache(maxsize=1_000)  # noqa: B019  as long as the search
    def states_at(self, length: int) -> list[int]:
        """Return the states that are reached by texts of this length, with some kind of token for the first time."""
        return [state for state, distance in list(self._distance.items()) if (distance == length).any()]

    def nearest_end(self) -> int:
        """Return the least number of bytes to where a text can end."""
        for level, state, _ in self._levels():
            if self._of.may_end(state):
                return level
            self._expand(state, level)
        return int(_FAR)

    def places(self) -> Iterator[Place]:
        """Yield the places at which paths cease, the lengths being lower bounds, those before the token ascending."""
        for level, state, kinds in self._levels():
            yield from self._expand(state, level)
            yield from self._forbidden(state, level, kinds)

    def _levels(self) -> Iterator[tuple[int, int, Int64Array]]:
        """Yield (bytes, state, the kinds of tokens that are new there), the bytes ascending."""
        if self._start is None:
            yield 0, 0, np.zeros(0, dtype=np.int64)
        else:
            state, kind = self._start
            self._distance[state][kind] = 0
            self._pending[0].add(state)
        level = 0
        while self._pending and level < self.limit:
            level = min(self._pending)
            if self._start is None and self._of._progress is not None:
                self._of._progress(f"searching texts of {level} byte{'s' * (level != 1)} and more")
            for state in sorted(self._pending.pop(level)):
                kinds = np.flatnonzero(self._distance[state] == level)
                if len(kinds):
                    self._new = kinds
                    yield level, state, kinds

    def _push(self, state: int, tokens: Int64Array, level: int) -> None:
        levels = (self._tokens.length[tokens] + level).astype(np.int32)
        distance = self._distance[state]
        kinds = self._tokens.kind[tokens]
        nearer = levels < distance[kinds]
        if nearer.any():
            np.minimum.at(distance, kinds[nearer], levels[nearer])
            for new in np.unique(levels[nearer]).tolist():
                self._pending[new].add(state)

    def _expand(self, state: int, level: int) -> list[Place]:
        """Go on from a state with every token that is allowed now and was not before."""
        if state >= self._joint.n_states:
            return self._expand_within(state, level)
        found: list[Place] = []
        waiting = self._waiting.get(state)
        is_start = level == 0 and self._start is None
        if waiting is None:
            waiting = self._of._beginning
            for effect, tokens in self._of._tokens_of.items():
                if is_start and self._of._first_byte is not None:
                    starts = [self._tokens.words[token][0] == self._of._first_byte for token in tokens.tolist()]
                    tokens = tokens[np.array(starts, dtype=np.bool_)]
                self._go(state, level, effect, tokens, True, found)
        if is_start:
            self._waiting[state] = waiting[:0]
            return found
        rows = np.unique(self._tokens.row_a[self._new])
        forbidding = self._tokens.a.forbidding(rows)[self._tokens.a.position[waiting]]
        allowed = waiting[forbidding < len(rows)]
        self._waiting[state] = waiting[forbidding == len(rows)]
        for effect, tokens in self._of.by_effect(allowed):
            self._go(state, level, effect, tokens, False, found)
        return found

    def _go(self, state: int, level: int, effect: int, tokens: Int64Array, begins: bool, found: list[Place]) -> None:
        """Go on with tokens of one effect where pieces of the first splitting begin with them, or do not."""
        for target in self._joint.effect(effect)[state]:
            if target.begins_a == begins:
                self._arrive(state, level, tokens, target, found)

    def _arrive(self, state: int, level: int, tokens: Int64Array, target: Target, found: list[Place]) -> None:
        if not target.cut_b:
            missing = self._tokens.is_missing[tokens]
            self._push(target.state, tokens[~missing], level)
            tokens = tokens[missing]
        if self._start is not None:
            # What separates is behind.
            self._push(target.state, tokens, level)
        else:
            self._note(state, level, None, tokens, target, found)

    def _note(
        self,
        state: int,
        level: int,
        kinds: tuple[int, ...] | None,
        tokens: Int64Array,
        target: Target,
        found: list[Place],
    ) -> None:
        least = level + int(not self._of.may_end(target.state))
        bounds = self._tokens.length[tokens] + least
        near = bounds <= self.limit
        for token, bound in zip(tokens[near].tolist(), bounds[near].tolist(), strict=True):
            found.append(Place(bound, state, level, kinds, token, target))

    def _expand_within(self, state: int, level: int) -> list[Place]:
        found: list[Place] = []
        tokens = self._of._going_on
        waiting = self._waiting.get(state)
        if waiting is None:
            waiting = np.array([t for t in tokens.tolist() if self._of.targets(state, t)], dtype=np.int64)
        allowed = np.zeros(len(waiting), dtype=np.bool_)
        for row in np.unique(self._tokens.row_a[self._new]).tolist():
            allowed |= ~self._tokens.a.forbids(row, waiting)
        self._waiting[state] = waiting[~allowed]
        for token in waiting[allowed].tolist():
            for target in self._of.targets(state, token):
                self._arrive(state, level, np.array([token]), target, found)
        return found

    def _forbidden(self, state: int, level: int, kinds: Int64Array) -> list[Place]:
        """Return the places where the second goes on with a piece and does not allow a pair that the first has."""
        found: list[Place] = []
        if not len(kinds):
            return found
        tokens = self._tokens
        kinds = kinds[tokens.row_b[kinds] >= 0]
        for kind in kinds[tokens.differs[kinds]].tolist():
            parting = tokens.forbidden_in_b_only(kind)
            # All others at once: what lies beyond the limit are most of them.
            near = (self._of._effects[parting] >= 0) & (tokens.length[parting] + level <= self.limit)
            for token in parting[near].tolist():
                for target in self._of.targets(state, token):
                    if not target.begins_a and not target.begins_b:
                        self._note(state, level, (kind,), np.array([token]), target, found)
        candidates = self._parting(state)
        if candidates and len(kinds):
            forbidding = tokens.b.forbidding(np.unique(tokens.row_b[kinds]))
            for target, those in candidates:
                known = those[tokens.b.position[those] >= 0]
                for token in known[forbidding[tokens.b.position[known]] > 0].tolist():
                    if level + tokens.length[token] > self.limit:
                        continue
                    one = np.array([token])
                    able = tuple(kind for kind in kinds.tolist() if tokens.b.forbids(int(tokens.row_b[kind]), one)[0])
                    self._note(state, level, able, one, target, found)
        return found

    def _parting(self, state: int) -> list[tuple[Target, Int64Array]]:
        """Return the tokens with which the first splitting begins a piece and the second goes on, by their targets."""
        if state >= self._joint.n_states:
            return []
        return [
            (target, tokens)
            for effect, tokens in self._of._tokens_of.items()
            for target in self._joint.effect(effect)[state]
            if target.begins_a and not target.begins_b
        ]

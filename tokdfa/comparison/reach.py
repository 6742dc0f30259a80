"""The states of a product that texts reach, by length, and the places where the paths of the two tokenizers diverge.

Only the rows to which the last token of a text leads matter, and for many tokens that lead to one state, only the
tokens that all of them forbid.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import numpy as np

from tokdfa.arrays import Int32Array, Int64Array
from tokdfa.comparison.findings import Stage, Step
from tokdfa.comparison.joint import Target
from tokdfa.comparison.product import Product
from tokdfa.comparison.remembered import remembered

__all__ = ["FAR", "Place", "Reach"]

FAR: Final = np.int32(1 << 30)
"""More bytes than any text that is searched for."""


class Place(NamedTuple):
    """The place where a path ceases to be one of the second tokenizer.

    Parameters
    ----------
    length : int
        The least number of bytes of a text with such a path: before the token, of the token, and to the end.
    state : int
        The state before the token.
    before : int
        The bytes before it.
    kinds : tuple of int, or None
        The kinds that the token before must have; None if any will do.
    token : int
    target : Target
        One of the states after the token.
    """

    length: int
    state: int
    before: int
    kinds: tuple[int, ...] | None
    token: int
    target: Target


class Reach:
    """The states that can be reached, with the lengths of texts and the kinds of tokens.

    Parameters
    ----------
    product : Product
    start : (int, int), optional
        The initial state and kind; the beginning of a text by default.
    progress : callable, optional
        Called when the search comes to longer texts.

    Attributes
    ----------
    limit : int
        Places of longer texts are not looked for; once a shorter text is known, this is lowered.
    """

    def __init__(
        self,
        product: Product,
        start: tuple[int, int] | None = None,
        progress: Callable[[Stage], object] | None = None,
    ) -> None:
        self._of = product
        self._joint = product.joint
        self._tokens = product.tokens
        self._start = start
        self._progress = progress
        self.limit = int(FAR)
        # There are thousands of states within symbols, each reached with a few kinds of tokens; others are reached with
        # most kinds.
        self._distance: dict[int, Int32Array | dict[int, int]] = {}
        self._pending: dict[int, set[int]] = defaultdict(set)
        # Of the tokens that may follow at all, those that nothing has allowed so far.
        self._waiting: dict[int, Int64Array] = {}
        self._codes: dict[int, Int64Array] = {}

    def kinds_at(self, state: int, length: int) -> list[int]:
        """Return the kinds of tokens with which a state is reached by texts of this length, and by no shorter ones."""
        kinds: list[int] = self._kinds(state, length).tolist()
        return kinds

    def _distances(self, state: int) -> Int32Array | dict[int, int]:
        """Return the least number of bytes with which a state is reached, by the kind of token."""
        if state not in self._distance:
            is_within = state >= self._joint.n_states
            self._distance[state] = {} if is_within else np.full(self._tokens.n_kinds, FAR, dtype=np.int32)
        return self._distance[state]

    def _kinds(self, state: int, length: int) -> Int64Array:
        """Return the kinds of :meth:`kinds_at`, ascending."""
        distance = self._distances(state)
        if isinstance(distance, dict):
            return np.array(sorted(kind for kind, least in distance.items() if least == length), dtype=np.int64)
        return np.flatnonzero(distance == length)

    @remembered(1_000)
    def states_at(self, length: int) -> list[int]:
        """Return the states that are reached by texts of this length, with some kind of token for the first time."""
        return [
            state
            for state, distance in list(self._distance.items())
            if (length in distance.values() if isinstance(distance, dict) else (distance == length).any())
        ]

    def nearest_end(self) -> int:
        """Return the least number of bytes after which a text can end."""
        for level, state, _ in self._levels():
            if self._of.may_end(state):
                return level
            self._expand(state, level)
        return int(FAR)

    def places(self) -> Iterator[Place]:
        """Yield the places at which paths cease, with lower bounds of lengths; lengths before the token ascend."""
        for level, state, kinds in self._levels():
            yield from self._expand(state, level)
            yield from self._forbidden(state, level, kinds)

    def _levels(self) -> Iterator[tuple[int, int, Int64Array]]:
        """Yield (bytes, state, the kinds of tokens that are new there), the bytes ascending."""
        if self._start is None:
            yield 0, 0, np.zeros(0, dtype=np.int64)
        else:
            state, kind = self._start
            self._distances(state)[kind] = 0
            self._pending[0].add(state)
        level = 0
        while self._pending and level < self.limit:
            level = min(self._pending)
            if self._progress is not None:
                self._progress(Stage(Step.SEARCH, level))
            for state in sorted(self._pending.pop(level)):
                kinds = self._kinds(state, level)
                if len(kinds):
                    self._new = kinds
                    yield level, state, kinds

    def _push(self, state: int, tokens: Int64Array, level: int) -> None:
        levels = (self._tokens.length[tokens] + level).astype(np.int32)
        distance = self._distances(state)
        kinds = self._tokens.kind[tokens]
        if isinstance(distance, dict):
            for kind, least in zip(kinds.tolist(), levels.tolist(), strict=True):
                if least < distance.get(kind, FAR):
                    distance[kind] = least
                    self._pending[least].add(state)
            return
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
            waiting = self._of.beginning
            for effect, tokens in self._of.tokens_of.items():
                if is_start and self._of.first_byte is not None:
                    starts = [self._tokens.words[token][0] == self._of.first_byte for token in tokens.tolist()]
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
            # The separating place is later.
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
        waiting = self._waiting.get(state)
        if waiting is None:
            waiting = np.fromiter(self._of.iter_going_on(state), np.int64)
        allowed = np.zeros(len(waiting), dtype=np.bool_)
        for row in np.unique(self._tokens.row_a[self._new]).tolist():
            allowed |= ~self._tokens.a.forbids(row, waiting)
        self._waiting[state] = waiting[~allowed]
        by_target: dict[Target, list[int]] = defaultdict(list)
        for token in waiting[allowed].tolist():
            for target in self._of.targets(state, token):
                by_target[target].append(token)
        for target, tokens in by_target.items():
            self._arrive(state, level, np.array(tokens), target, found)
        return found

    def _forbidden(self, state: int, level: int, kinds: Int64Array) -> list[Place]:
        """Return the places where the second continues a piece and does not allow a pair that the first has."""
        found: list[Place] = []
        if not len(kinds):
            return found
        tokens = self._tokens
        kinds = kinds[tokens.row_b[kinds] >= 0]
        for kind in kinds[tokens.differs[kinds]].tolist():
            parting = tokens.forbidden_in_b_only(kind)
            # All others at once: most of them lie beyond the limit.
            near = (self._of.effects[parting] >= 0) & (tokens.length[parting] + level <= self.limit)
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
        """Return the tokens with which the first splitting begins a piece and the second continues one, by target."""
        if state >= self._joint.n_states:
            return []
        return [
            (target, tokens)
            for effect, tokens in self._of.tokens_of.items()
            for target in self._joint.effect(effect)[state]
            if target.begins_a and not target.begins_b
        ]

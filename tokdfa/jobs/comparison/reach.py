"""The product of two tokenizers, the states of it that texts reach, and the divergences of the two paths.

Only the rows to which the last token of a text leads matter, and for many tokens that lead to one state, only the
tokens that all of them forbid.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import Final, NamedTuple

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array
from tokdfa.jobs.comparison.joint import Joint, Target, remembered
from tokdfa.jobs.comparison.result import Stage, Step
from tokdfa.jobs.comparison.vocabularies import Vocabularies
from tokdfa.tokenizers.pretokenizers.token_lift import DONE, NOWHERE

FAR: Final = np.int32(1 << 30)
"""More bytes than any text that is searched for."""


class Product:
    """The effects of the live tokens of the first of two tokenizers in the states of their product.

    A state is one of :class:`~tokdfa.jobs.comparison.joint.Joint`, between symbols or within one. Tokens that lead from
    every state to the same ones have one effect. A token that begins within a symbol has the effect of the rest after
    that symbol; its beginning is looked at separately.
    """

    def __init__(self, joint: Joint, tokens: Vocabularies, first_byte: int | None = None) -> None:
        self.joint = joint
        self.tokens = tokens
        self.first_byte = first_byte
        effects, self._heads = joint.effects_of(tokens.words)
        # The number in `joint` of each token's effect; -1 for tokens that no text has.
        self.effects: Int64Array = effects
        is_head = np.zeros(len(effects), dtype=np.bool_)
        is_head[list(self._heads)] = True
        # The tokens that continue a symbol, and those that begin with one, these also by their effects.
        self.going_on: Int64Array = np.flatnonzero(is_head & (effects >= 0))
        self.beginning: Int64Array = np.flatnonzero(~is_head & (effects >= 0))
        self.tokens_of = dict(self.by_effect(self.beginning))
        self._going_on_by: dict[bytes, list[int]] = {}
        for token in self.going_on.tolist():
            self._going_on_by.setdefault(self._heads[token], []).append(token)

    def by_effect(self, tokens: Int64Array) -> Iterator[tuple[int, Int64Array]]:
        """Yield the effects of some tokens, and the tokens of each effect."""
        if len(tokens):
            effects = self.effects[tokens]
            order = np.argsort(effects, kind="stable")
            found, begin = np.unique(effects[order], return_index=True)
            yield from zip(found.tolist(), np.split(tokens[order], begin[1:]), strict=True)

    def iter_going_on(self, state: int) -> Iterator[int]:
        """Yield the tokens that lead anywhere from a state within a symbol."""
        behind, following = self.joint.within[state - self.joint.n_states]
        yield from (
            token
            for token, effect in self._continuing(following)
            if effect is None or self.joint.effects[effect][behind]
        )

    @remembered(100_000)
    def _continuing(self, following: int) -> list[tuple[int, int | None]]:
        """Return the tokens that may follow within a symbol, with their effects after it, or None if they end in it."""
        found: list[tuple[int, int | None]] = []
        for head, tokens in self._going_on_by.items():
            then = self.joint.follow(following, head)
            if then == DONE:
                found += zip(tokens, self.effects[tokens].tolist(), strict=True)
            elif then != NOWHERE:
                found += [(token, None) for token in tokens if len(head) == len(self.tokens.words[token])]
        found.sort(key=itemgetter(0))
        return found

    def targets(self, state: int, token: int) -> tuple[Target, ...]:
        """Return the states after a token, without the pair test."""
        joint = self.joint
        if token not in self._heads:
            return joint.effects[int(self.effects[token])][state] if state < joint.n_states else ()
        if state < joint.n_states:
            return ()
        behind, following = joint.within[state - joint.n_states]
        following = joint.follow(following, self._heads[token])
        if following == NOWHERE:
            return ()
        is_all = len(self._heads[token]) == len(self.tokens.words[token])
        if following != DONE:
            return (Target(joint.state_within(behind, following), False, False, False),) if is_all else ()
        return joint.effects[int(self.effects[token])][behind]

    def may_end(self, state: int) -> bool:
        """Return whether a text can end in a state."""
        return state < self.joint.n_states and self.joint.ends[state]


class Divergence(NamedTuple):
    """The place where a path ceases to be one of the second tokenizer: a token, and a state after it.

    `length` is the least number of bytes of a text with such a path: `before` the token, of the token, and to the end.
    The token before must have one of the `kinds`; None if any will do.
    """

    length: int
    state: int
    before: int
    kinds: tuple[int, ...] | None
    token: int
    target: Target


class Reach:
    """The states that can be reached, with the lengths of texts and the kinds of tokens.

    `start` is the initial state and kind; by default the beginning of a text. `progress` is called when the search
    comes to longer texts.
    """

    def __init__(
        self, product: Product, start: tuple[int, int] | None = None, progress: Callable[[Stage], object] | None = None
    ) -> None:
        self._of = product
        self._joint = product.joint
        self._tokens = product.tokens
        self._start = start
        self._progress = progress
        # Places of longer texts are not looked for; once a shorter text is known, this is lowered.
        self.limit = int(FAR)
        # There are thousands of states within symbols, each reached with a few kinds of tokens; others are reached with
        # most kinds.
        self._distance: dict[int, Int32Array | dict[int, int]] = {}
        self._pending: dict[int, set[int]] = defaultdict(set)
        # The tokens that may follow but that nothing has allowed so far.
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

    def divergences(self) -> Iterator[Divergence]:
        """Yield the divergences, with lower bounds of lengths; lengths before the token ascend."""
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

    def _expand(self, state: int, level: int) -> list[Divergence]:
        """Go on from a state with every token that is allowed now and was not before."""
        if state >= self._joint.n_states:
            return self._expand_within(state, level)
        found: list[Divergence] = []
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

    def _go(
        self, state: int, level: int, effect: int, tokens: Int64Array, begins: bool, found: list[Divergence]
    ) -> None:
        """Go on with tokens of one effect where pieces of the first splitting begin with them, or do not."""
        for target in self._joint.effects[effect][state]:
            if target.begins_a == begins:
                self._arrive(state, level, tokens, target, found)

    def _arrive(self, state: int, level: int, tokens: Int64Array, target: Target, found: list[Divergence]) -> None:
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
        found: list[Divergence],
    ) -> None:
        least = level + int(not self._of.may_end(target.state))
        bounds = self._tokens.length[tokens] + least
        near = bounds <= self.limit
        for token, bound in zip(tokens[near].tolist(), bounds[near].tolist(), strict=True):
            found.append(Divergence(bound, state, level, kinds, token, target))

    def _expand_within(self, state: int, level: int) -> list[Divergence]:
        found: list[Divergence] = []
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

    def _forbidden(self, state: int, level: int, kinds: Int64Array) -> list[Divergence]:
        """Return the places where the second continues a piece and does not allow a pair that the first has."""
        found: list[Divergence] = []
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
            for target in self._joint.effects[effect][state]
            if target.begins_a and not target.begins_b
        ]

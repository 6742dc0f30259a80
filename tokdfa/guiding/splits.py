"""The pre-tokenizer read by ids: where pieces may begin, and which pieces are a single token."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array
from tokdfa.errors import LimitExceededError
from tokdfa.kernels.walk import parts as words
from tokdfa.splitting.lifted import LiftedSplitting, LiftedState, TokenParts

__all__ = ["DEAD", "Splits"]


DEAD = 0
"""The state from which nothing canonical goes on."""

MAX_STATES = 1 << 14
MAX_CLASSES = 1 << 15

# The hypotheses of equal progress, each with the progress: the node of the tree of forbidden pieces.
_State: TypeAlias = tuple[tuple[LiftedState, int], ...]

_NOWHERE, _ROOT = 0, 1


class _Class(NamedTuple):
    """What all ids of a class have in common.

    Parameters
    ----------
    parts : TokenParts, "special" or None
        None for ids that no canonical stream has.
    alone : bool
        Whether the ids are given only for whole pieces.
    label : int
        The id, if a forbidden piece has it; otherwise -1.
    """

    parts: TokenParts | Literal["special"] | None
    alone: bool = False
    label: int = -1


class Splits:
    """The automaton of a pre-tokenizer over classes of ids.

    A state is a set of guesses: where pieces begin, and what of a forbidden piece has been read. A piece is forbidden
    if it is itself a token, and merging gives several tokens for it: it is given as the one token.

    Parameters
    ----------
    lifted : LiftedSplitting
    text, offsets : uint8 and int64 arrays
        The spellings of all ids.
    usable, special, alone : bool arrays, one entry an id
        The ids of tokens that some canonical stream has, those of special tokens, and those given only for whole
        pieces.
    forbidden : sequence of tuple of int
        The forbidden pieces, as ids.

    Attributes
    ----------
    class_of : int32 array, one entry an id
        Class 0 is that of ids that no canonical stream has.
    initial : int
        The state at the beginning of a text.

    Raises
    ------
    LimitExceededError
        If the ids have too many classes.
    """

    def __init__(
        self,
        lifted: LiftedSplitting,
        text: np.ndarray,
        offsets: np.ndarray,
        *,
        usable: BoolArray,
        special: BoolArray,
        alone: BoolArray,
        forbidden: Sequence[tuple[int, ...]] = (),
    ) -> None:
        self._lifted = lifted
        self._tree: list[dict[int, int]] = [{}, {}]
        self._ends: set[int] = set()
        for piece in forbidden:
            node = _ROOT
            for id in piece:
                if id not in self._tree[node]:
                    self._tree[node][id] = len(self._tree)
                    self._tree.append({})
                node = self._tree[node][id]
            self._ends.add(node)
        self._classes = [_Class(None)]
        self.class_of: Int32Array = self._classify(text, offsets, usable, special, alone, forbidden)
        self._states: list[_State] = [()]
        self._number_of: dict[_State, int] = {(): DEAD}
        self._final: list[bool] = [False]
        self._final_array: BoolArray = np.zeros(1, dtype=np.bool_)
        self._targets: list[dict[int, int]] = [{}]
        self._rows: dict[int, tuple[Int32Array, Int32Array]] = {}
        self.initial = self._number(((lifted.initial, _ROOT),))

    @cached_property
    def anywhere(self) -> int:
        """The state between two symbols of any text."""
        return self._number(((LiftedState((1 << len(self._lifted.hypotheses.moves)) - 1), _NOWHERE),))

    @property
    def n_states(self) -> int:
        """The number of states found so far."""
        return len(self._states)

    @property
    def final(self) -> BoolArray:
        """For each state found so far, whether a text may end in it."""
        known = self._final_array
        if len(known) < len(self._final):
            known = self._final_array = np.array(self._final, dtype=np.bool_)
        return known

    def is_cut(self, state: int) -> bool:
        """Return whether a state is within a symbol."""
        return bool(self._states[state]) and bool(self._states[state][0][0].cut)

    def is_final(self, state: int) -> bool:
        """Return whether a text may end in a state."""
        return self._final[state]

    def step(self, state: int, number: int, may_continue: bool) -> int:
        """Return the state after an id of a class, given whether a piece may cross the border before it."""
        key = 2 * number + may_continue
        target = self._targets[state].get(key)
        if target is None:
            target = self._targets[state][key] = self._following(state, self._classes[number], may_continue)
        return target

    def rows(self, state: int) -> tuple[Int32Array, Int32Array]:
        """Return the states after ids of each class: if a piece may cross the border before them, and if not."""
        known = self._rows.get(state)
        if known is None:
            n = len(self._classes)
            both = [[self.step(state, number, may) for number in range(n)] for may in (True, False)]
            known = self._rows[state] = np.array(both[0], dtype=np.int32), np.array(both[1], dtype=np.int32)
        return known

    def _following(self, state: int, known: _Class, may_continue: bool) -> int:
        parts = known.parts
        if parts is None or state == DEAD:
            return DEAD
        if parts == "special":
            return self.initial if self._final[state] else DEAD
        assert isinstance(parts, TokenParts)
        may_continue &= not known.alone
        found: dict[tuple[bytes, bool, bool, int], int] = {}
        for before, node in self._states[state]:
            for after, reached in self._ways(before, node, parts, known.label, may_continue):
                key = after.cut, after.is_inside, after.must_begin, reached
                found[key] = found.get(key, 0) | after.hypotheses
        return self._number(
            tuple(
                (LiftedState(hypotheses, cut, is_inside, must_begin), node)
                for (cut, is_inside, must_begin, node), hypotheses in sorted(found.items())
            )
        )

    def _ways(
        self, before: LiftedState, node: int, parts: TokenParts, label: int, may_continue: bool
    ) -> list[tuple[LiftedState, int]]:
        """Return where a token leads to, apart for those pieces that it continues and those that it begins."""
        longer, first = self._tree[node].get(label, _NOWHERE), self._tree[_ROOT].get(label, _NOWHERE)
        step = self._lifted.step
        may_begin = node not in self._ends
        if before.cut:
            ways = [(step(before, parts, may_continue), longer)]
        elif longer == first:
            ways = [(step(before, parts, may_continue, may_begin), longer)]
        else:
            ways = [(step(before, parts, may_continue, False), longer)] if may_continue else []
            if may_begin:
                ways.append((step(before, parts, False), first))
        return [(after, reached) for after, reached in ways if after is not None]

    def _number(self, state: _State) -> int:
        number = self._number_of.setdefault(state, len(self._states))
        if number == len(self._states):
            if number == MAX_STATES:
                del self._number_of[state]
                raise LimitExceededError(f"the pre-tokenizer has more than {MAX_STATES} states over ids")
            self._final.append(any(self._lifted.is_final(lifted) and node not in self._ends for lifted, node in state))
            self._targets.append({})
            self._states.append(state)
        return number

    def _classify(
        self,
        text: np.ndarray,
        offsets: np.ndarray,
        usable: BoolArray,
        special: BoolArray,
        alone: BoolArray,
        forbidden: Sequence[tuple[int, ...]],
    ) -> Int32Array:
        hypotheses = self._lifted.hypotheses
        keys, told = words.take_apart(
            text,
            offsets,
            ~usable,
            hypotheses.class_of_code_point,
            hypotheses.n_classes,
            np.zeros(256, dtype=np.int32),
            self._effect_after,
        )
        numbered = words.number_keys(keys, MAX_CLASSES)
        if numbered is None:
            raise LimitExceededError("the ids have too many classes", value=f"more than {MAX_CLASSES}")
        distinct, key_of = numbered
        parts = [self._lifted.joined(*words.parts_of_key(key)) for key in distinct.tolist()]
        numbers: dict[_Class, int] = {self._classes[0]: 0}

        def number(known: _Class) -> int:
            if known not in numbers:
                numbers[known] = len(self._classes)
                self._classes.append(known)
            return numbers[known]

        class_of: Int32Array = np.array([number(_Class(part)) for part in parts], dtype=np.int32)[key_of]
        labels = {id for piece in forbidden for id in piece}
        for id in sorted({*np.flatnonzero(alone).tolist(), *labels}):
            class_of[id] = number(_Class(parts[key_of[id]], bool(alone[id]), id if id in labels else -1))
        class_of[(told == words.BAD) | ~usable] = 0
        class_of[special] = number(_Class("special"))
        return class_of

    def _effect_after(self, before: int | None, symbol: int) -> int:
        effect = self._lifted.effect_after(before, symbol)
        if effect > words.MOST_EFFECTS:
            raise LimitExceededError("the ids have too many effects", value=effect)
        return effect

"""Automata over ids with a mask for each state: the ids that can come next."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from tokdfa.base.arrays import Int32Array, checked_ids, id_array
from tokdfa.base.errors import TokenStreamError, UnsupportedFeatureError, WrongTypeError
from tokdfa.base.locks import SHARED
from tokdfa.base.suggestions import SuggestsNames

MAX_MASKS = 1 << 12

S = TypeVar("S")


class Masked(SuggestsNames, ABC, Generic[S]):
    """An automaton over ids, where some ids end a sequence; its states can be kept, compared and used again.

    `initial` is the state before the first id, and `ended` the state after an id of `end`. A mask has `vocab_size`
    bits, and the tokenizer has `n_ids` ids.
    """

    _refusal: str
    """The message about an id that is not allowed."""

    _hint: str | None = None

    def __init__(self, initial: S, ended: S, end: tuple[int, ...], vocab_size: int, n_ids: int) -> None:
        self.initial = initial
        self.ended = ended
        self.end = end
        self.vocab_size = vocab_size
        self._n_ids = n_ids
        self._n_words = -(-vocab_size // 32)
        self._ends = frozenset(end)
        self._masks: OrderedDict[S | tuple[S, int], Int32Array] = OrderedDict()
        self._nothing = np.zeros(self._n_words, dtype=np.int32)
        self._nothing.setflags(write=False)

    @abstractmethod
    def _step(self, state: S, id: int) -> S | None:
        """Return the state after an id of the tokenizer, none of `end`; None if it is not allowed."""

    @abstractmethod
    def _bits(self, state: S, remaining: int | None) -> np.ndarray:
        """Return the mask of the ids of the tokenizer as uint32; the bits of `end` do not matter.

        With a number of `remaining` ids, it has only those with which the stream can end within as many.
        """

    def _is_enough(self, state: S, remaining: int) -> bool:
        """Return whether the mask with a number of remaining ids is known to be the one without."""
        return False

    def ends_within(self, state: S, remaining: int) -> bool:
        """Return whether some text can be completed with at most `remaining` ids; an id of `end` does not count.

        Raises
        ------
        UnsupportedFeatureError
            If this is a ban.
        """
        raise self._refusal_of_budgets()

    def least(self, state: S) -> int:
        """Return the least number of ids after a state that complete a text; an id of `end` does not count.

        Raises
        ------
        UnsupportedFeatureError
            If this is a ban.
        """
        raise self._refusal_of_budgets()

    def _refusal_of_budgets(self) -> UnsupportedFeatureError:
        what, hint = "a ban does not know when a text ends", "give the ban to a guide: guide(..., ban=ban)"
        return UnsupportedFeatureError(what, where="remaining", hint=hint)

    @abstractmethod
    def is_final(self, state: S) -> bool:
        """Return whether a stream may end in a state."""

    def step(self, state: S, id: int) -> S | None:
        """Return the state after an id; None if the id is not allowed.

        Parameters
        ----------
        state : State
        id : int

        Raises
        ------
        TokenStreamError
            If the tokenizer has no such id, and it is not one of `end`.
        WrongTypeError
            If the id is not an integer, or `state` is not a state of this guide.
        """
        try:
            if id in self._ends:
                return self.ended if self.is_final(state) and state != self.ended else None
            if not 0 <= id < self._n_ids:
                if 0 <= id < self.vocab_size:
                    return None
                raise TokenStreamError("no token has this id", value=id)
            return None if state == self.ended else self._step(state, id)
        except TypeError:
            if isinstance(id, (int, np.integer)):
                raise
            raise WrongTypeError("an id is an integer", value=id, where="id") from None

    def read(self, ids: npt.ArrayLike, state: S | None = None) -> S:
        """Return the state after ids.

        Parameters
        ----------
        ids : array_like of int
        state : State, optional
            Where to begin; by default in the initial state.

        Raises
        ------
        TokenStreamError
            If an id is not allowed; the error has its index.

        Examples
        --------
        >>> guide = tokdfa.guide(tokdfa.default_tokenizer())
        >>> guide.read([64, 261, 1193])
        Traceback (most recent call last):
        tokdfa.base.errors.TokenStreamError: token 2: no canonical stream of the language continues with this id: 1193
        (...)
        """
        state = self.initial if state is None else state
        for index, id in enumerate(self._checked(ids)):
            target = self.step(state, id)
            if target is None:
                raise TokenStreamError(self._refusal, value=id, where=f"token {index}", hint=self._hint)
            state = target
        return state

    def allowed(self, state: S, *, remaining: int | None = None) -> Int32Array:
        """Return the ids that can come next, ascending; an id of `end` where the stream may end; see :meth:`mask`."""
        bits = np.unpackbits(self._known_mask(state, remaining).view(np.uint8), bitorder="little")
        return np.flatnonzero(bits).astype(np.int32)

    def is_exhausted(self, state: S) -> bool:
        """Return whether nothing but the end can follow."""
        if state == self.ended:
            return True
        mask = self._known_mask(state)
        n_ends = len(self._ends) if self.is_final(state) else 0
        return int.from_bytes(mask.tobytes(), "little").bit_count() == n_ends

    def forced(self, state: S, *, remaining: int | None = None) -> Int32Array:
        """Return the ids that must follow: those after which, step by step, only one id is allowed, without `end`.

        An engine may append them without asking the model. With `remaining`, only ids that can end in time are allowed.

        Examples
        --------
        >>> tokenizer = tokdfa.default_tokenizer()
        >>> guide = tokdfa.guide(tokenizer, "a single man, or two")
        >>> tokenizer.decode(guide.forced(guide.initial))
        'a single man, or two'
        """
        found: list[int] = []
        seen = {state}
        while state != self.ended and not self.is_final(state):
            allowed = self.allowed(state, remaining=None if remaining is None else remaining - len(found))
            if len(allowed) != 1:
                break
            target = self.step(state, int(allowed[0]))
            if target is None or target in seen:
                break
            seen.add(target)
            found.append(int(allowed[0]))
            state = target
        return np.array(found, dtype=np.int32)

    # Masks

    def mask(self, state: S, *, remaining: int | None = None) -> Int32Array:
        """Return the mask of a state: bit t % 32 of word t // 32 is set if id t can come next.

        Parameters
        ----------
        state : State
        remaining : int, optional
            The number of ids that are left; an id of `end` does not count. The mask then allows only ids after which a
            text can still be completed, so a sequence that follows the masks ends in time. It is empty if none can.

        Returns
        -------
        int32 array of ceil(vocab_size / 32) words
            Read-only.
        """
        return self._known_mask(state, remaining)

    def _known_mask(self, state: S, remaining: int | None = None) -> Int32Array:
        left = None if remaining is None else checked_remaining(remaining)
        try:
            left = None if left is not None and self._is_enough(state, left) else left
            key = state if left is None else (state, left)
            known = self._masks.get(key)
        except (TypeError, IndexError):
            raise WrongTypeError(f"the {type(self).__name__.lower()} has no such state", value=state) from None
        if known is None:
            known = self._nothing if state == self.ended else self._make_mask(state, left)
            with SHARED:
                self._masks[key] = known
                if len(self._masks) > MAX_MASKS:
                    self._masks.popitem(last=False)
        return known

    def _make_mask(self, state: S, remaining: int | None) -> Int32Array:
        bits = self._bits(state, remaining)
        mask = np.zeros(self._n_words, dtype=np.uint32)
        mask[: len(bits)] = bits[: self._n_words]
        for id in self._ends:
            bit = np.uint32(1 << (id & 31))
            mask[id >> 5] = mask[id >> 5] | bit if self.is_final(state) else mask[id >> 5] & ~bit
        mask.setflags(write=False)
        return mask.view(np.int32)

    def _checked(self, ids: npt.ArrayLike) -> list[int]:
        found: list[int] = checked_ids(id_array(ids), max(self.vocab_size, self._n_ids)).tolist()
        return found

    # Batches

    def steps(self, states: Sequence[S], ids: npt.ArrayLike) -> list[S | None]:
        """Return the states of several sequences after one more id each; see :meth:`step`."""
        found = self._checked(ids)
        if len(found) != len(states):
            raise TokenStreamError("there must be one id a state", value=(len(states), len(found)))
        return [self.step(state, id) for state, id in zip(states, found, strict=True)]

    def masks(self, states: Sequence[S], *, remaining: Sequence[int | None] | None = None) -> Int32Array:
        """Return the masks of several states, as an int32 array of shape (states, ceil(vocab_size / 32)).

        `remaining` has the number of ids left for each state, or None; see :meth:`mask`.
        """
        left = [None] * len(states) if remaining is None else remaining
        if len(left) != len(states):
            raise TokenStreamError("there must be one number of ids a state", value=(len(states), len(left)))
        found = [self.mask(state, remaining=number) for state, number in zip(states, left, strict=True)]
        return np.array(found, dtype=np.int32).reshape(-1, self._n_words)


def checked_end(end: int | Iterable[int] | None, vocab_size: int) -> tuple[int, ...]:
    """Return the ids that end a sequence."""
    every = () if end is None else tuple(end) if isinstance(end, Iterable) else (end,)
    for id in every:
        if not isinstance(id, (int, np.integer)) or isinstance(id, bool):
            raise WrongTypeError("an id that ends a sequence is an integer", value=id, where="end")
        if not 0 <= id < vocab_size:
            raise TokenStreamError("no such id", value=int(id), where="end", hint="or give vocab_size")
    return tuple(sorted({int(id) for id in every}))


def checked_size(vocab_size: int | None, n_ids: int) -> int:
    """Return the number of bits of a mask."""
    size = n_ids if vocab_size is None else vocab_size
    if not isinstance(size, (int, np.integer)) or isinstance(size, bool):
        raise WrongTypeError("a number of ids is an integer", value=size, where="vocab_size")
    if size < n_ids:
        raise WrongTypeError(f"the tokenizer has {n_ids} ids, more than this", value=size, where="vocab_size")
    return int(size)


def checked_remaining(remaining: object, where: str = "remaining") -> int:
    """Return a number of ids that are left."""
    if isinstance(remaining, bool) or not isinstance(remaining, (int, np.integer)) or remaining < 0:
        raise WrongTypeError("a number of ids is an integer that is not negative", value=remaining, where=where)
    return int(remaining)

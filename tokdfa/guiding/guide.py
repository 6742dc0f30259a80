"""A guide: states, and the ids that can come next in each of them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tokdfa.arrays import Int32Array, checked_ids, id_array
from tokdfa.errors import PatternError, TokenStreamError, WrongTypeError
from tokdfa.guesses import Guided
from tokdfa.guiding.prefixes import Place, PrefixAutomaton
from tokdfa.locks import SHARED

__all__ = ["Guide", "State"]


MAX_MASKS = 1 << 12

State: TypeAlias = Place
"""A state of a guide: a tuple of four integers."""

_ENDED = Place(-1, 0, 0, 0)


class Guide(Guided):
    """An automaton of the streams of a tokenizer that are canonical, and whose text is in a language; no dead ends.

    Made by :func:`tokdfa.guide`. Whatever state :meth:`step` returns, some stream goes on from it to its end. States
    are tuples of four integers, which can be kept, compared and gone back to; a guide has no state of its own. Threads
    may share it.

    Parameters
    ----------
    prefixes : PrefixAutomaton
    end : tuple of int
        The ids that end a sequence. They are allowed where the stream may end, and nothing follows them.
    vocab_size : int
        The number of bits of a mask.

    Attributes
    ----------
    initial : State
        The state of no ids.
    ended : State
        The state after an id of `end`.
    end : tuple of int
    vocab_size : int

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> guide = tokdfa.guide(tokenizer, "a (single|married) man")
    >>> [tokenizer.decode([id]) for id in guide.allowed(guide.initial)]
    ['a']
    >>> state = guide.step(guide.initial, 64)
    >>> [tokenizer.decode([id]) for id in guide.allowed(state)]
    [' single', ' married']
    >>> guide.step(state, 32) is None, guide.is_final(state)
    (True, False)
    """

    def __init__(self, prefixes: PrefixAutomaton, end: tuple[int, ...], vocab_size: int) -> None:
        self._prefixes = prefixes
        self._tokens = prefixes.tokens
        self.initial: State = prefixes.initial
        self.ended: State = _ENDED
        self.end = end
        self.vocab_size = vocab_size
        self._n_words = -(-vocab_size // 32)
        self._ends = frozenset(end)
        self._masks: OrderedDict[State, Int32Array] = OrderedDict()
        self._nothing = np.zeros(self._n_words, dtype=np.int32)
        self._nothing.setflags(write=False)

    def step(self, state: State, id: int) -> State | None:
        """Return the state after an id; None if the id is not allowed.

        Parameters
        ----------
        state : State
        id : int

        Raises
        ------
        TokenStreamError
            If the tokenizer has no such id, and it is not one of `end`.
        """
        if id in self._ends:
            return _ENDED if self.is_final(state) and state != _ENDED else None
        if not 0 <= id < self._tokens.n_ids:
            if 0 <= id < self.vocab_size:
                return None
            raise TokenStreamError("no token has this id", value=id)
        if state == _ENDED:
            return None
        return self._prefixes.step(state, id)

    def is_final(self, state: State) -> bool:
        """Return whether a stream may end in a state."""
        return state == _ENDED or self._prefixes.is_final(state)

    def allowed(self, state: State) -> Int32Array:
        """Return the ids that can come next, ascending; an id of `end` where the stream may end."""
        bits = np.unpackbits(self.mask(state).view(np.uint8), bitorder="little")
        return np.flatnonzero(bits).astype(np.int32)

    def is_exhausted(self, state: State) -> bool:
        """Return whether nothing but the end can follow."""
        if state == _ENDED:
            return True
        mask = self.mask(state)
        n_ends = len(self._ends) if self.is_final(state) else 0
        return int.from_bytes(mask.tobytes(), "little").bit_count() == n_ends

    def forced(self, state: State) -> Int32Array:
        """Return the ids that must follow, as long as there is only one choice; an id of `end` is not among them.

        They are what an engine may append without asking the model.

        Examples
        --------
        >>> tokenizer = tokdfa.default_tokenizer()
        >>> guide = tokdfa.guide(tokenizer, "a single man, or two")
        >>> tokenizer.decode(guide.forced(guide.initial))
        'a single man, or two'
        """
        found: list[int] = []
        seen = {state}
        while state != _ENDED and not self.is_final(state):
            allowed = self.allowed(state)
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

    def mask(self, state: State) -> Int32Array:
        """Return the mask of a state: bit t % 32 of word t // 32 is set if id t can come next.

        Returns
        -------
        int32 array of ceil(vocab_size / 32) words
            Read-only.
        """
        known = self._masks.get(state)
        if known is None:
            known = self._nothing if state == _ENDED else self._make_mask(state)
            with SHARED:
                self._masks[state] = known
                if len(self._masks) > MAX_MASKS:
                    self._masks.popitem(last=False)
        return known

    def _make_mask(self, state: State) -> Int32Array:
        bits = self._prefixes.mask(state)
        mask = np.zeros(self._n_words, dtype=np.uint32)
        mask[: len(bits)] = bits[: self._n_words]
        for id in self._ends:
            bit = np.uint32(1 << (id & 31))
            mask[id >> 5] = mask[id >> 5] | bit if self.is_final(state) else mask[id >> 5] & ~bit
        mask.setflags(write=False)
        return mask.view(np.int32)

    # Streams

    def read(self, ids: npt.ArrayLike, state: State | None = None) -> State:
        """Return the state after ids.

        Parameters
        ----------
        ids : array_like of int
        state : State, optional
            Where to begin; by default in the initial state.

        Raises
        ------
        TokenStreamError
            If an id is not allowed in its place; the error says which. See :meth:`read_any`.

        Examples
        --------
        >>> guide = tokdfa.guide(tokdfa.default_tokenizer())
        >>> guide.read([64, 261, 1193])
        Traceback (most recent call last):
        tokdfa.errors.TokenStreamError: token 2: no canonical stream of the language goes on with this id: 1193 (...)
        """
        state = self.initial if state is None else state
        for place, id in enumerate(self._checked(ids)):
            target = self.step(state, id)
            if target is None:
                what = "no canonical stream of the language goes on with this id"
                hint = "read_any accepts what follows it"
                raise TokenStreamError(what, value=id, where=f"token {place}", hint=hint)
            state = target
        return state

    def read_any(self, ids: npt.ArrayLike, state: State | None = None) -> tuple[State, tuple[int, ...]]:
        """Return the state after ids that need not be canonical, and the places where they are not.

        At an id that is not allowed, the guide begins anew, knowing nothing of what precedes the id: as if it were in
        the middle of some canonical stream. So what follows is canonical wherever no context could make it wrong. The
        text is still followed in the language.

        Parameters
        ----------
        ids : array_like of int
        state : State, optional
            Where to begin; by default in the initial state.

        Raises
        ------
        TokenStreamError
            If no text of the language begins with the text of the ids, or only texts that go on with no canonical ids.

        Examples
        --------
        >>> guide = tokdfa.guide(tokdfa.default_tokenizer())
        >>> state, places = guide.read_any([64, 261, 1193])
        >>> places, guide.is_final(state)
        ((2,), True)
        """
        state = self.initial if state is None else state
        places = []
        for place, id in enumerate(self._checked(ids)):
            target = self.step(state, id)
            if target is None:
                places.append(place)
                target = self._anew(state, id)
                if target is None:
                    what = "no canonical stream goes on after this id with a text of the language"
                    raise TokenStreamError(what, value=id, where=f"token {place}")
            state = target
        return state, tuple(places)

    def _anew(self, state: State, id: int) -> State | None:
        """Return the state after an id, whatever precedes it; only the language is kept."""
        if state == _ENDED or id in self._ends:
            return None
        splits, prefixes = self._tokens.splits, self._prefixes
        start = Place(splits.anywhere, 0, 0, state.text)
        target = prefixes.target(start, id)
        if target is not None and prefixes.goes_on(target):
            return target
        text = prefixes.texts.after_id(state.text, id) if id < self._tokens.n_ids else 0
        target = Place(splits.anywhere, 0, 0, text)
        return target if text and prefixes.goes_on(target) else None

    def _checked(self, ids: npt.ArrayLike) -> list[int]:
        found: list[int] = checked_ids(id_array(ids), max(self.vocab_size, self._tokens.n_ids)).tolist()
        return found

    # Batches

    def steps(self, states: Sequence[State], ids: npt.ArrayLike) -> list[State | None]:
        """Return the states of several sequences after one more id each; see :meth:`step`."""
        found = self._checked(ids)
        if len(found) != len(states):
            raise TokenStreamError("there must be one id a state", value=(len(states), len(found)))
        return [self.step(state, id) for state, id in zip(states, found, strict=True)]

    def masks(self, states: Sequence[State]) -> Int32Array:
        """Return the masks of several states, as an int32 array of shape (states, ceil(vocab_size / 32))."""
        masks = np.empty((len(states), self._n_words), dtype=np.int32)
        for place, state in enumerate(states):
            masks[place] = self.mask(state)
        return masks

    def __repr__(self) -> str:
        texts = self._prefixes.texts
        what = f"{texts.n_states} states over bytes" if texts.n_states > 1 else "all texts"
        return f"<Guide: {what}, {self.vocab_size} ids>"


def checked_end(end: int | Iterable[int] | None, vocab_size: int) -> tuple[int, ...]:
    """Return the ids that end a sequence."""
    every = () if end is None else (end,) if isinstance(end, (int, np.integer)) else tuple(end)
    for id in every:
        if not isinstance(id, (int, np.integer)) or isinstance(id, bool):
            raise WrongTypeError("an id that ends a sequence is an integer", value=id, where="end")
        if not 0 <= id < vocab_size:
            raise TokenStreamError("no such id", value=int(id), where="end", hint="or give vocab_size")
    return tuple(sorted({int(id) for id in every}))


def check_texts(prefixes: PrefixAutomaton, shown: object) -> None:
    """Refuse a language none of whose texts can be encoded."""
    if not prefixes.goes_on(prefixes.initial):
        what = "no text of the language can be encoded: all need symbols without a token, or are not UTF-8"
        raise PatternError(what, value=shown)

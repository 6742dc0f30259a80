"""Guides for engines that choose ids: transformers, and masks of another engine.

`GuidedLogits` is a logits processor of transformers, tried with 5.24, with beams as well. `guided_vllm`,
`guided_sglang` and `guided_outlines` are the same for vLLM, SGLang and outlines. Each of them can see the prompt and
keep a sequence within a number of ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array
from tokdfa.base.errors import TokdfaError, WrongTypeError
from tokdfa.jobs.guiding.api import Guide, State
from tokdfa.jobs.guiding.masked import Masked, checked_remaining
from tokdfa.jobs.guiding.matchers import checked_bitmask, checked_budget

MAX_KNOWN = 1 << 16

S = TypeVar("S")


def allowed_rows(guide: Masked[S], states: Sequence[S | None], width: int, remaining: int | None = None) -> BoolArray:
    """Return which ids can come next in each state, as a bool array of shape (states, width); all of them for None.

    With a number of `remaining` ids, they are those with which a sequence can end in time; see :meth:`Guide.mask`.
    """
    if width < guide.vocab_size:
        what = f"the guide is for {guide.vocab_size} ids, and there are fewer logits"
        raise WrongTypeError(what, value=width, hint="the model does not belong to the tokenizer")
    allowed = np.zeros((len(states), width), dtype=np.bool_)
    for row, state in enumerate(states):
        if state is None:
            allowed[row] = True
        else:
            bits = np.unpackbits(guide.mask(state, remaining=remaining).view(np.uint8), bitorder="little")
            allowed[row, : guide.vocab_size] = bits[: guide.vocab_size]
    return allowed


def only_allowed(scores: Any, allowed: BoolArray) -> Any:
    """Return scores, a tensor of torch or an array, with minus infinity for ids that are not allowed."""
    if isinstance(scores, np.ndarray):
        return np.where(allowed, scores, -np.inf).astype(scores.dtype)
    import torch

    return scores.masked_fill(~torch.from_numpy(allowed).to(scores.device), float("-inf"))


class SequenceStates:
    """The states after sequences of ids, found again from the ids alone: engines permute and drop sequences.

    Each may see its own prompt, and each may have a number of ids, without one of the guide's `end`.
    """

    def __init__(self, guide: Guide, *, prompt: bool = False, remaining: int | None = None) -> None:
        self.guide = guide
        self.n_prompt: int | None = None
        self._sees_prompt = prompt
        self._remaining = None if remaining is None else checked_remaining(remaining)
        self._starts: dict[tuple[int, ...], State] = {}
        self._known: dict[tuple[State, tuple[int, ...]], State | None] = {}

    def allowed(self, input_ids: Any, width: int) -> BoolArray:
        """Return which ids can come next after each sequence; the ids up to the first call are the prompt."""
        if self.n_prompt is None:
            self.n_prompt = int(input_ids.shape[1])
        n = self.n_prompt
        prompts = input_ids[:, :n].tolist() if self._sees_prompt else [()] * len(input_ids)
        states = []
        for index, (ids, prompt) in enumerate(zip(input_ids[:, n:].tolist(), prompts, strict=True)):
            try:
                states.append(self.after(tuple(ids), self._start(tuple(prompt))))
            except TokdfaError as error:
                error.add_note(f"sequence {index} of the batch")
                raise
        return allowed_rows(self.guide, states, width, self._left(int(input_ids.shape[1]) - n))

    def after(self, ids: tuple[int, ...], start: State | None = None) -> State | None:
        """Return the state after ids, from where the sequence starts, by default in the guide's initial state.

        It is None after an id that the guide does not allow in the number of ids left, and once the sequence has ended.
        """
        start = self.guide.initial if start is None else start
        if not ids:
            return start
        if (start, ids) not in self._known:
            if len(self._known) > MAX_KNOWN:
                self._known = {}
            # The longest prefix that is known; most often all but the last id.
            n = len(ids) - 1
            while n and (start, ids[:n]) not in self._known:
                n -= 1
            state = self._known[start, ids[:n]] if n else start
            for index, id in enumerate(ids[n:], n):
                state = None if state is None else self.guide.step(state, id)
                state = None if state == self.guide.ended else state
                left = self._left(index + 1)
                if state is not None and left is not None and not self.guide.ends_within(state, left):
                    state = None
            self._known[start, ids] = state
        return self._known[start, ids]

    def _left(self, n_ids: int) -> int | None:
        """Return how many ids are left after some."""
        return None if self._remaining is None else max(self._remaining - n_ids, 0)

    def _start(self, prompt: tuple[int, ...]) -> State:
        """Return the state after a prompt, from which some sequence ends in time."""
        if prompt not in self._starts:
            state = self.guide.after_prompt(prompt) if prompt else self.guide.initial
            if self._remaining is not None:
                checked_budget(self.guide, state, self._remaining)
            self._starts[prompt] = state
        return self._starts[prompt]


class GuidedLogits:
    """A logits processor for ``generate`` of transformers: only ids that the guide allows are left.

    It finds the state of each sequence again from its ids, because beams are permuted between calls. The ids up to the
    first call are the prompt. It is for one call of ``generate``.

    Parameters
    ----------
    guide : Guide
        With the id that ends a sequence as its `end`.
    prompt : bool
        Whether each sequence of a batch is canonical as one text with its own prompt; by default the guide does not see
        the prompts. Special tokens, such as those that pad on the left, cut the text.
    remaining : int, optional
        The number of ids that each sequence may have after its prompt, such as ``max_new_tokens``: it is then complete,
        whether or not an id of `end` follows.

    Raises
    ------
    TokenStreamError
        When it is called: if a prompt is not canonical, or no sequence ends within as few ids.
    PatternError
        When it is called: if no text of the language can follow a prompt.

    Notes
    -----
    A sequence that has ended, which transformers pads, is left as it is. So is a beam with an id that the guide does
    not allow: where fewer ids are allowed than there are beams, beam search fills up with some of probability zero. If
    it has to return such a beam, because the language has fewer texts than ``num_return_sequences``, its score is minus
    infinity.
    """

    def __init__(self, guide: Guide, *, prompt: bool = False, remaining: int | None = None) -> None:
        self.guide = guide
        self._states = SequenceStates(guide, prompt=prompt, remaining=remaining)

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Return the scores, of shape (sequences, ids), with minus infinity for ids that are not allowed."""
        return only_allowed(scores, self._states.allowed(input_ids, int(scores.shape[1])))


class Intersection:
    """The mask of another engine, narrowed to canonical ids; it never becomes empty.

    Where both have no id in common, the mask of the engine is kept, and the guide follows the chosen ids as far as it
    can. `fallbacks` counts these.

    Parameters
    ----------
    guide : Guide
        Usually one of all texts: the engine knows the grammar.

    Attributes
    ----------
    fallbacks : int
        The number of masks that were left as they were.
    state : State

    Examples
    --------
    >>> import tokdfa
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> both = Intersection(tokenizer.guide())
    >>> both.accept(64)
    >>> engine = np.zeros((1, -(-tokenizer.n_ids // 32)), dtype=np.int32)
    >>> for id in tokenizer.encode(" singles"): engine[0, id >> 5] |= np.int32(1 << (id & 31))
    >>> both.narrow(engine), both.fallbacks
    (True, 0)
    """

    def __init__(self, guide: Guide) -> None:
        self.guide = guide
        self.state: State = guide.initial
        self.fallbacks = 0

    def narrow(self, bitmask: Any, index: int = 0) -> bool:
        """Narrow a row of an int32 bitmask that the engine has filled; return whether any id was left, or none."""
        rows: Int32Array = checked_bitmask(bitmask, self.guide.vocab_size)
        both = rows[index] & self.guide.mask(self.state)
        if both.any() or not rows[index].any():
            rows[index] = both
            return True
        self.fallbacks += 1
        return False

    def accept(self, id: int) -> None:
        """Follow an id, canonical or not."""
        self.state = self.guide.read_any([id], self.state)[0]

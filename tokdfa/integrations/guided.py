"""Guides for engines that choose ids: transformers, vLLM, and masks of another engine.

`GuidedLogits` is a logits processor of transformers, tried with 5.23, with beams as well. `GuidedRequests` has the
interface of the logits processors of vLLM v1 (``vllm/v1/sample/logits_processor``). Neither is declared as an entry
point, so nothing is guided unless it is asked for. `guided_sglang` and `guided_outlines` are the same for SGLang and
outlines. Each of them can see the prompt and keep a sequence within a number of ids.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array
from tokdfa.base.errors import TokdfaError, WrongTypeError
from tokdfa.integrations.guide_requests import GuideRequest, GuideTexts, request_of
from tokdfa.integrations.metrics import as_tokenizer
from tokdfa.jobs.guiding.api import Guide, State
from tokdfa.jobs.guiding.masked import Masked, checked_remaining
from tokdfa.jobs.guiding.matchers import Matcher, checked_bitmask, checked_budget

MAX_KNOWN = 1 << 16

S = TypeVar("S")

_log = logging.getLogger(__name__)


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
        states = [
            self.after(tuple(ids), self._start(tuple(prompt)))
            for ids, prompt in zip(input_ids[:, n:].tolist(), prompts, strict=True)
        ]
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


class _Request:
    """A request of vLLM: its matcher, and the list of its ids, which grows."""

    def __init__(self, matcher: Matcher, output_ids: list[int]) -> None:
        self.matcher: Matcher | None = matcher
        self.has_ended = False
        self._output_ids = output_ids

    def follow(self) -> Matcher | None:
        """Read the ids that have been added, and return the matcher; None if nothing is to be guided any more."""
        while self.matcher is not None and (n_read := self.matcher.n_accepted) < len(self._output_ids):
            id = self._output_ids[n_read]
            if not self.matcher.accept_tokens([id]):
                _log.warning("token %d of a request, id %d, is not allowed; it is guided no more", n_read, id)
                self.matcher = None
            elif self.matcher.state == self.matcher.guide.ended:
                self.has_ended, self.matcher = True, None
        return self.matcher


try:
    from vllm.v1.sample.logits_processor import LogitsProcessor as _Base
except ImportError:
    _Base = object


class GuidedRequests(_Base):  # type: ignore[misc]
    """A logits processor of vLLM v1, for requests with ``tokdfa`` in their ``extra_args``.

    Its value is a regular expression that the whole text matches, True for all canonical texts, or a mapping with a
    ``pattern`` or a JSON ``schema``; ``ban``, a list of words; ``prompt``: True, for ids that are canonical as one text
    with the prompt's; ``remaining``: True, for texts that are complete within ``max_tokens``. Loaded by
    ``LLM(logits_processors=["tokdfa.integrations.guided:GuidedRequests"])``.

    A request for which there is no guide, because its prompt is not canonical or no text is as short, say, gets nothing
    but an id that ends it. If an id that is not allowed was chosen, by another processor, say, the rest of the request
    is not guided. Both are logged and counted.

    Parameters
    ----------
    vllm_config : VllmConfig
        ``model_config.tokenizer`` is the path of the tokenizer.
    device : torch.device
    is_pin_memory : bool

    Attributes
    ----------
    n_departed : int
        The number of requests that are guided no more because of an id that is not allowed.
    n_refused : int
        The number of requests for which there is no guide.
    """

    def __init__(self, vllm_config: Any, device: Any, is_pin_memory: bool) -> None:
        config = vllm_config.model_config
        self._tokenizer = as_tokenizer(config.tokenizer)
        self._width = int(config.get_vocab_size())
        end = getattr(config.hf_config, "eos_token_id", None)
        self._end = [end] if isinstance(end, int) else list(end or ())
        self._guides: dict[GuideTexts, Guide] = {}
        self._requests: dict[int, _Request | None] = {}  # By their index in the batch; None if it is refused
        self.n_departed = self.n_refused = 0

    @classmethod
    def validate_params(cls, sampling_params: Any) -> None:
        """Refuse a value that is not understood."""
        _asked(sampling_params)

    def is_argmax_invariant(self) -> bool:
        """Return False: the likeliest id may not be allowed."""
        return False

    def needs_output_token_ids(self) -> bool:
        """Return True: with asynchronous scheduling, vLLM gives the ids that were chosen only where they are needed."""
        return True

    def update_state(self, batch_update: Any) -> None:
        """Follow requests that were removed, added and moved."""
        if batch_update is None:
            return
        for index in batch_update.removed:
            self._requests.pop(index, None)
        for index, params, prompt_ids, output_ids in batch_update.added:
            self._requests.pop(index, None)
            asked = _asked(params)
            if asked is not None:
                self._requests[index] = self._request(asked, params, prompt_ids, output_ids)
        for first, second, direction in batch_update.moved:
            moved = {
                to: self._requests.pop(at) for at, to in ((first, second), (second, first)) if at in self._requests
            }
            if getattr(direction, "name", "") != "SWAP":
                moved.pop(first, None)
            self._requests.update(moved)

    def _request(
        self, asked: GuideRequest, params: Any, prompt_ids: list[int] | None, output_ids: list[int]
    ) -> _Request | None:
        """Return a request; None if there is no guide for it."""
        try:
            if asked.texts not in self._guides:
                self._guides[asked.texts] = asked.texts.guide(self._tokenizer, self._end, self._width)
            most_ids = getattr(params, "max_tokens", None)
            return _Request(asked.matcher(self._guides[asked.texts], prompt_ids, most_ids), output_ids)
        except TokdfaError as error:
            if not self._end:
                raise
            _log.error("a request ends at once, because there is no guide for it: %s", error)
            self.n_refused += 1
            return None

    def apply(self, logits: Any) -> Any:
        """Return the logits with minus infinity for ids that are not allowed."""
        width = int(logits.shape[1])
        for index, request in self._requests.items():
            if request is None:
                allowed = np.isin(np.arange(width), self._end)
            elif request.matcher is None:
                continue
            else:
                matcher = request.follow()
                if matcher is None:
                    self.n_departed += not request.has_ended
                    continue
                (allowed,) = allowed_rows(matcher.guide, [matcher.state], width, matcher.remaining)
            logits[index] = only_allowed(logits[index], allowed)
        return logits


def _asked(params: Any) -> GuideRequest | None:
    """Return the request in the parameters of vLLM; None if it is not guided."""
    value = (params.extra_args or {}).get("tokdfa")
    return None if value is None else request_of(value, "extra_args['tokdfa']")

"""Guides for engines that choose ids: transformers, vLLM, and masks of another engine.

`GuidedLogits` is a logits processor of transformers, tried with 5.23, with beams as well. `GuidedRequests` has the
interface of the logits processors of vLLM v1 (``vllm/v1/sample/logits_processor``). Neither is declared as an entry
point, so nothing is guided unless it is asked for. `guided_sglang` and `guided_outlines` are the same for SGLang and
outlines.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array
from tokdfa.base.errors import WrongTypeError
from tokdfa.integrations.metrics import as_tokenizer
from tokdfa.jobs.guiding.api import Guide, State, guide
from tokdfa.jobs.guiding.masked import checked_bitmask
from tokdfa.regex.syntax import parse

MAX_KNOWN = 1 << 16

_log = logging.getLogger(__name__)


def allowed_rows(guide: Guide, states: Sequence[State | None], width: int) -> BoolArray:
    """Return which ids can come next in each state, as a bool array of shape (states, width); all of them for None."""
    if width < guide.vocab_size:
        what = f"the guide is for {guide.vocab_size} ids, and there are fewer logits"
        raise WrongTypeError(what, value=width, hint="the model does not belong to the tokenizer")
    allowed = np.zeros((len(states), width), dtype=np.bool_)
    for row, state in enumerate(states):
        if state is None:
            allowed[row] = True
        else:
            bits = np.unpackbits(guide.mask(state).view(np.uint8), bitorder="little")
            allowed[row, : guide.vocab_size] = bits[: guide.vocab_size]
    return allowed


def only_allowed(scores: Any, allowed: BoolArray) -> Any:
    """Return scores, a tensor of torch, with minus infinity for ids that are not allowed."""
    import torch

    return scores.masked_fill(~torch.from_numpy(allowed).to(scores.device), float("-inf"))


class SequenceStates:
    """The states after sequences of ids, found again from the ids alone: engines permute and drop sequences."""

    def __init__(self, guide: Guide) -> None:
        self.guide = guide
        self.n_prompt: int | None = None
        self._known: dict[tuple[int, ...], State | None] = {(): guide.initial}

    def allowed(self, input_ids: Any, width: int) -> BoolArray:
        """Return which ids can come next after each sequence; the ids up to the first call are the prompt."""
        if self.n_prompt is None:
            self.n_prompt = int(input_ids.shape[1])
        states = [self.after(tuple(ids)) for ids in input_ids[:, self.n_prompt :].tolist()]
        return allowed_rows(self.guide, states, width)

    def after(self, ids: tuple[int, ...]) -> State | None:
        """Return the state after ids; None after one that the guide does not allow, and once the sequence has ended."""
        if ids not in self._known:
            if len(self._known) > MAX_KNOWN:
                self._known = {(): self.guide.initial}
            # The longest prefix that is known; most often all but the last id.
            n = len(ids) - 1
            while ids[:n] not in self._known:
                n -= 1
            state = self._known[ids[:n]]
            for id in ids[n:]:
                state = None if state is None else self.guide.step(state, id)
                state = None if state == self.guide.ended else state
            self._known[ids] = state
        return self._known[ids]


class GuidedLogits:
    """A logits processor for ``generate`` of transformers: only ids that the guide allows are left.

    It finds the state of each sequence again from its ids, because beams are permuted between calls. The ids up to the
    first call are the prompt, which the guide does not see. It is for one call of ``generate``.

    Parameters
    ----------
    guide : Guide
        With the id that ends a sequence as its `end`.

    Notes
    -----
    A sequence that has ended, which transformers pads, is left as it is. So is a beam with an id that the guide does
    not allow: where fewer ids are allowed than there are beams, beam search fills up with some of probability zero. If
    it has to return such a beam, because the language has fewer texts than ``num_return_sequences``, its score is minus
    infinity.
    """

    def __init__(self, guide: Guide) -> None:
        self.guide = guide
        self._states = SequenceStates(guide)

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
    """A request of vLLM: its guide, the list of its ids, which grows, and the state after the ones read so far."""

    def __init__(self, guide: Guide, output_ids: list[int]) -> None:
        self.guide = guide
        self.state: State | None = guide.initial
        self.has_ended = False
        self._output_ids = output_ids
        self._n_read = 0

    def follow(self) -> State | None:
        """Read the ids that have been added, and return the state; None if nothing is to be guided any more."""
        for id in self._output_ids[self._n_read :]:
            assert self.state is not None
            self.state = self.guide.step(self.state, id)
            if self.state is None:
                _log.warning("token %d of a request, id %d, is not allowed; it is guided no more", self._n_read, id)
            elif self.state == self.guide.ended:
                self.has_ended, self.state = True, None
            self._n_read += 1
            if self.state is None:
                break
        return self.state


try:
    from vllm.v1.sample.logits_processor import LogitsProcessor as _Base
except ImportError:
    _Base = object


class GuidedRequests(_Base):  # type: ignore[misc]
    """A logits processor of vLLM v1, for requests with ``tokdfa`` in their ``extra_args``.

    Its value is a regular expression that the whole text matches, or True for all canonical texts. Loaded by
    ``LLM(logits_processors=["tokdfa.integrations.guided:GuidedRequests"])``.

    If an id that is not allowed was chosen, by another processor, say, the rest of the request is not guided, which is
    logged and counted.

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
    """

    def __init__(self, vllm_config: Any, device: Any, is_pin_memory: bool) -> None:
        config = vllm_config.model_config
        self._tokenizer = as_tokenizer(config.tokenizer)
        self._width = int(config.get_vocab_size())
        end = getattr(config.hf_config, "eos_token_id", None)
        self._end = [end] if isinstance(end, int) else list(end or ())
        self._guides: dict[str | None, Guide] = {}
        self._requests: dict[int, _Request] = {}  # by their index in the batch
        self.n_departed = 0

    @classmethod
    def validate_params(cls, sampling_params: Any) -> None:
        """Refuse a value that is neither a regular expression nor True."""
        value = (sampling_params.extra_args or {}).get("tokdfa")
        if isinstance(value, str):
            parse(value)
        elif value is not None and value is not True:
            raise WrongTypeError("a regular expression or true is expected", value=value, where="extra_args['tokdfa']")

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
        for index, params, _, output_ids in batch_update.added:
            self._requests.pop(index, None)
            value = (params.extra_args or {}).get("tokdfa")
            if value is not None:
                self._requests[index] = _Request(self._guide(None if value is True else value), output_ids)
        for first, second, direction in batch_update.moved:
            one, other = self._requests.pop(first, None), self._requests.pop(second, None)
            if one is not None:
                self._requests[second] = one
            if other is not None and getattr(direction, "name", "") == "SWAP":
                self._requests[first] = other

    def apply(self, logits: Any) -> Any:
        """Return the logits with minus infinity for ids that are not allowed."""
        for index, request in self._requests.items():
            state = request.state
            if state is not None:
                state = request.follow()
                self.n_departed += state is None and not request.has_ended
            if state is not None:
                (allowed,) = allowed_rows(request.guide, [state], int(logits.shape[1]))
                logits[index] = only_allowed(logits[index], allowed)
        return logits

    def _guide(self, language: str | None) -> Guide:
        if language not in self._guides:
            self._guides[language] = guide(self._tokenizer, language, end=self._end, vocab_size=self._width)
        return self._guides[language]

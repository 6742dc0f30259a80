"""Guides for engines that choose ids: transformers, vLLM, and masks of another engine.

`GuidedLogits` is a logits processor of transformers, tried with 5.23; `GuidedRequests` has the interface of those of
vLLM v1 (``vllm/v1/sample/logits_processor``). Neither is declared as an entry point, so nothing is guided unless it is
asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array
from tokdfa.errors import WrongTypeError
from tokdfa.guiding.api import guide
from tokdfa.guiding.guide import Guide, State
from tokdfa.guiding.matcher import checked_bitmask
from tokdfa.integrations.metrics import as_tokenizer

__all__ = ["GuidedLogits", "GuidedRequests", "Intersection", "allowed_rows"]


MAX_KNOWN = 1 << 16


def allowed_rows(guide: Guide, states: Sequence[State | None], width: int) -> BoolArray:
    """Return which ids can come next in each state, as a bool array of shape (states, width); all of them for None.

    Raises
    ------
    WrongTypeError
        If there are fewer logits than the guide has ids.
    """
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
    A sequence that has ended, which transformers pads, is left as it is.
    """

    def __init__(self, guide: Guide) -> None:
        self.guide = guide
        self._prompt: int | None = None
        self._known: dict[tuple[int, ...], State] = {(): guide.initial}

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Return the scores with minus infinity for ids that are not allowed.

        Parameters
        ----------
        input_ids : tensor of int64, shape (sequences, length)
        scores : tensor of float, shape (sequences, ids)
        """
        import torch

        if self._prompt is None:
            self._prompt = int(input_ids.shape[1])
        states = [self._state_after(tuple(ids)) for ids in input_ids[:, self._prompt :].tolist()]
        ended = [None if state == self.guide.ended else state for state in states]
        allowed = torch.from_numpy(allowed_rows(self.guide, ended, int(scores.shape[1]))).to(scores.device)
        return scores.masked_fill(~allowed, float("-inf"))

    def _state_after(self, ids: tuple[int, ...]) -> State:
        known = self._known.get(ids)
        if known is None:
            before = self._state_after(ids[:-1]) if ids[:-1] in self._known else self._read(ids[:-1])
            known = before if before == self.guide.ended else self.guide.read(ids[-1:], before)
            if len(self._known) > MAX_KNOWN:
                self._known = {(): self.guide.initial}
            self._known[ids] = known
        return known

    def _read(self, ids: tuple[int, ...]) -> State:
        state = self.guide.initial
        for id in ids:
            state = state if state == self.guide.ended else self.guide.read([id], state)
        return state


class Intersection:
    """The mask of another engine, narrowed to canonical ids; it never becomes empty.

    Where both have no id in common, the mask of the engine is kept, and the guide follows what is chosen as far as it
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
        """Narrow row `index` of a bitmask that the engine has filled; return whether any id was left, or none at all.

        Raises
        ------
        WrongTypeError
            If it is not an int32 bitmask for as many ids as the guide has.
        """
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


try:
    from vllm.v1.sample.logits_processor import LogitsProcessor as _Base
except ImportError:
    _Base = object


class GuidedRequests(_Base):  # type: ignore[misc]
    """A logits processor of vLLM v1, for requests whose ``extra_args`` have ``tokdfa``.

    Its value is a regular expression that the whole text matches, or True for all canonical texts. Loaded by
    ``LLM(logits_processors=["tokdfa.integrations.guided:GuidedRequests"])``.

    Parameters
    ----------
    vllm_config : VllmConfig
        ``model_config.tokenizer`` is the path of the tokenizer.
    device : torch.device
    is_pin_memory : bool
    """

    def __init__(self, vllm_config: Any, device: Any, is_pin_memory: bool) -> None:
        config = vllm_config.model_config
        self._tokenizer = as_tokenizer(config.tokenizer)
        self._width = int(config.get_vocab_size())
        end = getattr(config.hf_config, "eos_token_id", None)
        self._end = [end] if isinstance(end, int) else list(end or ())
        self._guides: dict[str | None, Guide] = {}
        # By the place of a request in the batch: its guide, the list of its ids, how many were read, and the state.
        self._requests: dict[int, list[Any]] = {}

    @classmethod
    def validate_params(cls, sampling_params: Any) -> None:
        """Refuse what is neither a regular expression nor True.

        Raises
        ------
        WrongTypeError
        """
        value = (sampling_params.extra_args or {}).get("tokdfa")
        if value is not None and value is not True and not isinstance(value, str):
            raise WrongTypeError("a regular expression or true is expected", value=value, where="extra_args['tokdfa']")

    def is_argmax_invariant(self) -> bool:
        """Return False: the likeliest id may not be allowed."""
        return False

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
                guide = self._guide(None if value is True else value)
                self._requests[index] = [guide, output_ids, 0, guide.initial]
        for first, second, direction in batch_update.moved:
            one, other = self._requests.pop(first, None), self._requests.pop(second, None)
            if one is not None:
                self._requests[second] = one
            if other is not None and getattr(direction, "name", "") == "SWAP":
                self._requests[first] = other

    def apply(self, logits: Any) -> Any:
        """Return the logits with minus infinity for ids that are not allowed."""
        import torch

        for index, request in self._requests.items():
            guide, output_ids, n_read, state = request
            for id in output_ids[n_read:]:
                state = state if state == guide.ended else guide.read([id], state)
            request[2:] = len(output_ids), state
            if state != guide.ended:
                allowed = allowed_rows(guide, [state], int(logits.shape[1]))
                logits[index].masked_fill_(~torch.from_numpy(allowed[0]).to(logits.device), float("-inf"))
        return logits

    def _guide(self, language: str | None) -> Guide:
        if language not in self._guides:
            self._guides[language] = guide(self._tokenizer, language, end=self._end, vocab_size=self._width)
        return self._guides[language]

"""A logits processor of vLLM: guides for requests with ``tokdfa`` in their ``extra_args``.

vLLM has two interfaces of logits processors, and chooses one by itself. Its first model runner
(``vllm/v1/sample/logits_processor``) passes the ids of each request. With the second one
(``vllm/v1/worker/gpu/sample/logits_processor``) they are read from its tensors. `GuidedRequests` has both.
It is not declared as an entry point, so nothing is guided unless it is asked for. Tried with vLLM 0.33, on its classes.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import numpy as np

from tokdfa.base.arrays import BoolArray
from tokdfa.base.errors import TokdfaError, WrongTypeError
from tokdfa.integrations.guide_requests import GuideRequest, GuideTexts, request_of
from tokdfa.integrations.guided import allowed_rows, only_allowed
from tokdfa.integrations.metrics import as_tokenizer
from tokdfa.jobs.guiding.api import Guide
from tokdfa.jobs.guiding.matchers import Matcher
from tokdfa.tokenizers.protocol import AnyTokenizer

MAX_GUIDES = 64

_log = logging.getLogger(__name__)

# Each interface is optional: the first one is deprecated, and older versions have no second one.
_BASES: list[type] = []
try:
    from vllm.v1.sample.logits_processor import LogitsProcessor as _First

    _BASES.append(_First)
except ModuleNotFoundError:
    pass
try:
    from vllm.v1.worker.gpu.sample.logits_processor import LogitsProcessor as _Second

    _BASES.append(_Second)
except ModuleNotFoundError:
    pass


class _Request:
    """A request: its matcher has accepted its ids up to one that is not allowed; None if there is no guide for it."""

    def __init__(self, matcher: Matcher | None, end: Sequence[int], output_ids: Sequence[int] = ()) -> None:
        self.matcher = matcher
        self.has_departed = False
        self.output_ids = output_ids  # A list that grows, of the first interface
        self._end = end

    def follow(self, ids: Any) -> bool:
        """Read the new ids of all in a list or a tensor; return whether the first id that is not allowed is among them.

        There may be fewer than before: vLLM drops the last ids where their keys and values could not be loaded.
        """
        matcher = self.matcher
        if matcher is None or self.has_departed:
            return False
        matcher.rollback(max(matcher.n_accepted - len(ids), 0))
        # PERF: of a tensor on a device, only new ids are copied.
        new = ids[matcher.n_accepted :]
        for id in new if isinstance(new, list) else new.tolist():
            if matcher.state == matcher.guide.ended:
                break
            if not self._accepts([id]):
                at = matcher.n_accepted
                _log.warning("token %d of a request, id %d, is not allowed; it is guided no more", at, id)
                self.has_departed = True
                break
        return self.has_departed

    def allowed(self, width: int, drafts: Sequence[int] = ()) -> BoolArray | None:
        """Return which ids can come next, after ids that are proposed only; None if all can.

        All can after a draft that is not allowed: it is rejected, and so are the ids after it.
        """
        matcher = self.matcher
        if matcher is None:
            return np.isin(np.arange(width), self._end)
        if self.has_departed or not self._accepts(drafts):
            return None
        found = None
        if matcher.state != matcher.guide.ended:
            (found,) = allowed_rows(matcher.guide, [matcher.state], width, matcher.remaining)
        matcher.rollback(len(drafts))
        return found

    def _accepts(self, ids: Sequence[int]) -> bool:
        """Return whether the matcher has accepted ids; a draft may be the placeholder -1."""
        matcher = cast(Matcher, self.matcher)
        return all(0 <= id < matcher.guide.vocab_size for id in ids) and matcher.accept_tokens(ids)


class GuidedRequests(*(_BASES or [object])):  # type: ignore[misc]
    """A logits processor of vLLM, for requests with ``tokdfa`` in their ``extra_args``.

    Its value is a regular expression that the whole text matches, True for all canonical texts, or a mapping with a
    ``pattern`` or a JSON ``schema``; ``ban``, a list of words; ``prompt``: True, for ids that are canonical as one text
    with the prompt's; ``remaining``: True, for texts that are complete within ``max_tokens``. Loaded by
    ``LLM(logits_processors=["tokdfa.integrations.guided_vllm:GuidedRequests"])``, for either model runner. With
    speculative decoding, which only the second one allows, each draft is guided.

    A text ends with one of the request's stop ids, which are allowed only where it is complete.

    A request for which there is no guide, because its prompt is not canonical or no text is as short, say, gets nothing
    but an id that ends it. If an id that is not allowed was chosen, by another processor, say, the rest of the request
    is not guided. Both are logged and counted.

    Parameters
    ----------
    vllm_config : VllmConfig
        ``model_config.tokenizer`` is the path of the tokenizer, or its name, with which vLLM loads it.
    device : torch.device or LogitsProcRequestState
        The device, of the first interface; of the second one, the state of all requests.
    is_pin_memory : bool

    Attributes
    ----------
    n_departed : int
        The number of requests that are guided no more because of an id that is not allowed.
    n_refused : int
        The number of requests for which there is no guide.
    """

    def __init__(self, vllm_config: Any, device: Any, is_pin_memory: bool = False) -> None:
        config = vllm_config.model_config
        tokenizer = _tokenizer_of(config)
        width = int(config.get_vocab_size())
        end = getattr(config.hf_config, "eos_token_id", None)
        self._end = (end,) if isinstance(end, int) else tuple(end or ())
        self._states = device
        self._requests: dict[int, _Request] = {}  # By their index in the batch, or their slot
        self._waiting: dict[int, tuple[GuideRequest, Any]] = {}  # By their slot, until the prompt can be read
        self.n_departed = self.n_refused = 0

        def guide_of(texts: GuideTexts, end: tuple[int, ...]) -> Guide:
            return texts.guide(tokenizer, end, width)

        self._guide_of = lru_cache(MAX_GUIDES)(guide_of)

    @classmethod
    def validate_params(cls, sampling_params: Any) -> None:
        """Refuse a value that is not understood, and parameters that forbid ids by themselves."""
        _asked(sampling_params)

    def is_argmax_invariant(self) -> bool:
        """Return False: the likeliest id may not be allowed."""
        return False

    def needs_output_token_ids(self) -> bool:
        """Return True, for versions that ask: with asynchronous scheduling, they give chosen ids only where needed."""
        return True

    def update_state(self, batch_update: Any) -> None:
        """Follow requests that were removed, added and moved, of the first interface."""
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

    def add_request(self, req_idx: int, sampling_params: Any) -> bool:
        """Begin a request in a slot, of the second interface; return whether it is guided."""
        self._requests.pop(req_idx, None)
        self._waiting.pop(req_idx, None)
        asked = _asked(sampling_params)
        if asked is not None:
            self._waiting[req_idx] = asked, sampling_params
        return asked is not None

    def apply_staged_writes(self) -> None:
        """Make the guides of added requests: now their prompts can be read."""
        for slot, (asked, params) in self._waiting.items():
            n = int(self._states.prompt_len.np[slot])
            prompt = self._states.all_token_ids.gpu[slot, :n].tolist() if asked.prompt is True else None
            self._requests[slot] = self._request(asked, params, prompt)
        self._waiting = {}

    def _request(
        self, asked: GuideRequest, params: Any, prompt_ids: Sequence[int] | None, output_ids: Sequence[int] = ()
    ) -> _Request:
        """Return a request, without a matcher if there is no guide for it."""
        end = tuple(sorted(getattr(params, "all_stop_token_ids", ()))) or self._end
        try:
            if not end:
                raise WrongTypeError("no id ends a sequence", value=end, hint="give stop_token_ids to the request")
            guide = self._guide_of(asked.texts, end)
            return _Request(asked.matcher(guide, prompt_ids, getattr(params, "max_tokens", None)), end, output_ids)
        except TokdfaError as error:
            if not end:
                raise
            _log.error("a request ends at once, because there is no guide for it: %s", error)
            self.n_refused += 1
            return _Request(None, end)

    def apply(self, logits: Any, ctx: Any = None) -> Any:
        """Return the logits with minus infinity for ids that are not allowed; `ctx` is of the second interface."""
        width = int(logits.shape[1])
        for row, request, drafts in self._followed() if ctx is None else self._followed_slots(ctx):
            allowed = request.allowed(width, drafts)
            if allowed is not None:
                logits[row] = only_allowed(logits[row], allowed)
        return logits

    def _followed(self) -> Iterator[tuple[int, _Request, list[int]]]:
        """Yield the rows of guided requests, which have read their ids."""
        for row, request in self._requests.items():
            self.n_departed += request.follow(request.output_ids)
            yield row, request, []

    def _followed_slots(self, ctx: Any) -> Iterator[tuple[int, _Request, list[int]]]:
        """Yield the rows of guided slots, which have read their ids, with the drafts before each row."""
        guided = [slot for slot in ctx.idx_mapping_np.tolist() if slot in self._requests]
        if not guided:
            return
        totals = self._states.total_len.gpu.tolist()
        for slot in guided:
            request, start = self._requests[slot], int(self._states.prompt_len.np[slot])
            self.n_departed += request.follow(self._states.all_token_ids.gpu[slot, start : totals[slot]])
        slots, places, inputs = (
            each.tolist() for each in (ctx.expanded_idx_mapping, ctx.expanded_local_pos, ctx.input_ids)
        )
        for row, (slot, place) in enumerate(zip(slots, places, strict=True)):
            if slot in self._requests:
                # The input of a request's first row is an id already chosen; the other inputs are drafts.
                yield row, self._requests[slot], inputs[row - place + 1 : row + 1]


def _asked(params: Any) -> GuideRequest | None:
    """Return the request in the parameters of vLLM; None if it is not guided."""
    value = (params.extra_args or {}).get("tokdfa")
    if value is None:
        return None
    for name in ("min_tokens", "bad_words", "allowed_token_ids"):
        if getattr(params, name, None):
            what, hint = "it may forbid all ids that the guide allows", "write it into the pattern, or ban words"
            raise WrongTypeError(what, value=getattr(params, name), where=name, hint=hint)
    return request_of(value, "extra_args['tokdfa']")


def _tokenizer_of(config: Any) -> AnyTokenizer:
    """Return the tokenizer of a model, by its path, or as vLLM loads it by its name."""
    source = config.tokenizer
    if isinstance(source, str) and not Path(source).exists():
        from vllm.tokenizers import cached_tokenizer_from_config

        source = cached_tokenizer_from_config(config)
    return as_tokenizer(source)

"""vLLM: responses of its server with token ids."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tokdfa.integrations.metrics import checks_of
from tokdfa.jobs.rollouts.records import fields_of, rollouts_of
from tokdfa.jobs.rollouts.result import RolloutChecks
from tokdfa.jobs.rollouts.rollout import Rollout

__all__ = ["check_responses"]


def check_responses(tokenizer: Any, responses: Iterable[Any], *, threads: int | None = None) -> RolloutChecks:
    """Check responses of completions or chats that were asked for with ``return_token_ids``; each choice is a rollout.

    They are mappings, or objects with `model_dump`.

    See :func:`~tokdfa.integrations.metrics.checks_of` for `tokenizer` and `threads`.

    Notes
    -----
    `prompt_token_ids` is a field of the response of a chat and of each choice of a completion; `token_ids` is one of
    each choice. Responses of the client of OpenAI keep such fields, and ``model_dump()`` has them. Read in
    the source of vLLM 0.33.0: `ChatCompletionResponse` and `CompletionResponseChoice`, in ``protocol.py`` of
    ``vllm/entrypoints/openai/chat_completion`` and of ``completion`` beside it. Chunks of a stream are not taken.

    Examples
    --------
    >>> import tokdfa
    >>> response = {"prompt_token_ids": [64], "choices": [{"index": 0, "token_ids": [261, 1193]}]}
    >>> check_responses(tokdfa.default_tokenizer(), [response]).counts.drift
    1
    """
    rollouts = (rollout for response in responses for rollout in _rollouts(response))
    return checks_of(tokenizer, rollouts, threads=threads)


def _rollouts(response: Any) -> list[Rollout]:
    record = response.model_dump() if hasattr(response, "model_dump") else response
    return [rollout for _, rollout in rollouts_of(record, fields_of("vllm", other_masks=True))]

"""verl: outputs of agent loops, and batches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tokdfa.integrations.metrics import checks_of
from tokdfa.jobs.rollouts.records import from_parts
from tokdfa.jobs.rollouts.result import RolloutChecks
from tokdfa.jobs.rollouts.rollout import Rollout

__all__ = ["check_batch", "check_outputs"]


def check_outputs(tokenizer: Any, outputs: Iterable[Any], *, threads: int | None = None) -> RolloutChecks:
    """Check the outputs of agent loops: objects with `prompt_ids`, `response_ids` and `response_mask`.

    See :func:`~tokdfa.integrations.metrics.checks_of` for `tokenizer` and `threads`.

    Notes
    -----
    Read in verl 0.9.1, ``verl.experimental.agent_loop.AgentLoopOutput``; the mask is 1 for what the model generated.

    Examples
    --------
    >>> import tokdfa
    >>> from types import SimpleNamespace
    >>> output = SimpleNamespace(prompt_ids=[64], response_ids=[261, 1193], response_mask=[1, 1])
    >>> check_outputs(tokdfa.default_tokenizer(), [output]).counts.drift
    1
    """
    rollouts = (from_parts(output.prompt_ids, output.response_ids, output.response_mask) for output in outputs)
    return checks_of(tokenizer, rollouts, threads=threads)


def check_batch(tokenizer: Any, batch: Any, *, threads: int | None = None) -> RolloutChecks:
    """Check the rollouts of a batch, which are padded on both sides: a `DataProto`, or a mapping of tensors.

    See :func:`~tokdfa.integrations.metrics.checks_of` for `tokenizer` and `threads`.

    Notes
    -----
    Read in verl 0.9.1, ``AgentLoopWorker._postprocess``: `input_ids` and `attention_mask` have the prompts, padded on
    the left, and the responses, padded on the right; `response_mask` is as long as the responses.
    """
    fields = getattr(batch, "batch", batch)
    ids, attention, mask = (np.asarray(fields[name]) for name in ("input_ids", "attention_mask", "response_mask"))
    sampled = np.zeros(ids.shape, dtype=np.bool_)
    sampled[:, ids.shape[1] - mask.shape[1] :] = mask != 0
    rows = zip(ids, attention != 0, sampled, strict=True)
    rollouts = (Rollout(row[kept], flags[kept]) for row, kept, flags in rows)
    return checks_of(tokenizer, rollouts, threads=threads)

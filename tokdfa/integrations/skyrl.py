"""SkyRL: what its generators return."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tokdfa.integrations.metrics import checks_of
from tokdfa.jobs.rollouts.records import fields_of, rollouts_of
from tokdfa.jobs.rollouts.result import RolloutChecks

__all__ = ["check_output"]


def check_output(tokenizer: Any, output: Mapping[str, Any], *, threads: int | None = None) -> RolloutChecks:
    """Check the output of a generator: lists `prompt_token_ids`, `response_ids` and `loss_masks`.

    See :func:`~tokdfa.integrations.metrics.checks_of` for `tokenizer` and `threads`.

    Notes
    -----
    Read in SkyRL 0.3.0, ``skyrl.train.generators.base.GeneratorOutput``; the masks are as long as the responses.

    Examples
    --------
    >>> import tokdfa
    >>> output = {"prompt_token_ids": [[64]], "response_ids": [[261, 1193]], "loss_masks": [[1, 1]]}
    >>> check_output(tokdfa.default_tokenizer(), output).counts.drift
    1
    """
    rollouts = (rollout for _, rollout in rollouts_of(output, fields_of("skyrl", other_masks=True)))
    return checks_of(tokenizer, rollouts, threads=threads)

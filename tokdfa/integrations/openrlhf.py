"""OpenRLHF: what its agents return."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tokdfa.integrations.metrics import checks_of
from tokdfa.jobs.rollouts.records import fields_of, rollouts_of
from tokdfa.jobs.rollouts.result import RolloutChecks

__all__ = ["check_responses"]


def check_responses(
    tokenizer: Any, responses: Iterable[Mapping[str, Any]], *, threads: int | None = None
) -> RolloutChecks:
    """Check the responses of agents: mappings with `observation_tokens` and `action_ranges`.

    See :func:`~tokdfa.integrations.metrics.checks_of` for `tokenizer` and `threads`.

    Notes
    -----
    Read in OpenRLHF 0.11.2, ``openrlhf/utils/agent.py``: `action_ranges` are pairs of a first token and the one after
    the last, in `observation_tokens`.

    Examples
    --------
    >>> import tokdfa
    >>> response = {"observation_tokens": [64, 261, 1193], "action_ranges": [(1, 3)]}
    >>> check_responses(tokdfa.default_tokenizer(), [response]).counts.drift
    1
    """
    fields = fields_of("openrlhf", other_masks=True)
    rollouts = (rollout for response in responses for _, rollout in rollouts_of(response, fields))
    return checks_of(tokenizer, rollouts, threads=threads)

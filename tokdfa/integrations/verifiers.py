"""verifiers and prime-rl: branches of traces, and steps of trajectories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

from tokdfa.integrations.metrics import as_tokenizer, checks_of
from tokdfa.jobs.rollouts.prefix import PrefixCheck, check_prefix
from tokdfa.jobs.rollouts.records import from_parts
from tokdfa.jobs.rollouts.result import RolloutChecks
from tokdfa.jobs.rollouts.rollout import Rollout

__all__ = ["check_branches", "check_extensions", "check_steps"]


def check_branches(tokenizer: Any, branches: Iterable[Any], *, threads: int | None = None) -> RolloutChecks:
    """Check branches of traces: objects with `token_ids` and `sampled_mask`.

    See :func:`~tokdfa.integrations.metrics.checks_of` for `tokenizer` and `threads`.

    Notes
    -----
    Read in verifiers 0.4.0, ``verifiers.v1.trace.Branch``.

    Examples
    --------
    >>> import tokdfa
    >>> from types import SimpleNamespace
    >>> branch = SimpleNamespace(token_ids=[64, 261, 1193], sampled_mask=[False, True, True])
    >>> check_branches(tokdfa.default_tokenizer(), [branch]).counts.drift
    1
    """
    rollouts = (Rollout(branch.token_ids, branch.sampled_mask) for branch in branches)
    return checks_of(tokenizer, rollouts, threads=threads)


def check_steps(tokenizer: Any, steps: Iterable[Mapping[str, Any]], *, threads: int | None = None) -> RolloutChecks:
    """Check steps of trajectories by their `tokens`; steps without tokens are left out.

    See :func:`~tokdfa.integrations.metrics.checks_of` for `tokenizer` and `threads`.

    Notes
    -----
    Read in verifiers 0.1.14, ``verifiers.types.TrajectoryStepTokens``: `prompt_ids` and `completion_ids` with their
    masks.

    Examples
    --------
    >>> import tokdfa
    >>> tokens = {"prompt_ids": [64], "prompt_mask": [0], "completion_ids": [261, 1193], "completion_mask": [1, 1]}
    >>> check_steps(tokdfa.default_tokenizer(), [{"tokens": tokens}]).counts.drift
    1
    """
    tokens = (step["tokens"] for step in steps if step["tokens"] is not None)
    rollouts = (from_parts(each["prompt_ids"], each["completion_ids"], each["completion_mask"]) for each in tokens)
    return checks_of(tokenizer, rollouts, threads=threads)


def check_extensions(tokenizer: Any, steps: Iterable[Mapping[str, Any]]) -> list[PrefixCheck]:
    """Check, for each step but the first, that its prompt begins with the ids of the step before; see `check_prefix`.

    Examples
    --------
    >>> import tokdfa
    >>> turns = [([64], [261, 1193]), ([64, 2513, 462], [64])]
    >>> steps = [{"tokens": {"prompt_ids": prompt, "completion_ids": ids}} for prompt, ids in turns]
    >>> [check.canonical for check in check_extensions(tokdfa.default_tokenizer(), steps)]
    ['b']
    """
    own = as_tokenizer(tokenizer)
    tokens = [step["tokens"] for step in steps if step["tokens"] is not None]
    return [
        check_prefix(own, [*before["prompt_ids"], *before["completion_ids"]], after["prompt_ids"])
        for before, after in pairwise(tokens)
    ]

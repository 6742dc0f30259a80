"""TRL: a reward function that only measures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any

from tokdfa.integrations.metrics import as_tokenizer, metrics_of
from tokdfa.jobs.rollouts.api import iter_outcomes
from tokdfa.jobs.rollouts.result import RolloutCheck, RolloutChecks
from tokdfa.jobs.rollouts.rollout import Rollout

__all__ = ["drift_metric"]


def drift_metric(
    tokenizer: Any, *, prefix: str = "tokdfa/", on_bug: Callable[[Any], object] | None = None
) -> Callable[..., list[float | None]]:
    """Return a reward function for `GRPOTrainer` and `RLOOTrainer` that logs drift and gives no reward.

    Put it beside another reward function: ``reward_funcs=[reward, drift_metric(tokenizer)]``. It returns None for every
    completion, which TRL leaves out of the sum, and reports by ``log_metric``. It does not end a training: completions
    that cannot be judged, such as those with a mask of another length, are counted as ``unjudged``.

    Parameters
    ----------
    tokenizer : AnyTokenizer, path, or tokenizer of transformers
    prefix : str
        What the names of the metrics begin with.
    on_bug : callable, optional
        Called with the checks of a batch in which there is a bug. Tool results are told from samples only where the
        columns of the dataset or of a rollout function have `tool_mask` or `env_mask`.

    Notes
    -----
    Read in TRL 1.13.0, ``GRPOTrainer._calculate_rewards``: reward functions are called with `prompts`, `completions`,
    `completion_ids`, the columns of the dataset, `trainer_state`, `log_extra` and `log_metric`. `completion_ids` are
    those after the prompt, so the border to the prompt is not judged.

    Examples
    --------
    >>> import tokdfa
    >>> measure, logged = drift_metric(tokdfa.default_tokenizer()), {}
    >>> measure(completion_ids=[[64, 261, 1193], [64]], log_metric=logged.__setitem__)
    [None, None]
    >>> logged["tokdfa/drift"]
    0.5
    """
    own = as_tokenizer(tokenizer)

    def tokdfa_drift(
        *, completion_ids: Sequence[Any], log_metric: Callable[[str, float], object] | None = None, **columns: object
    ) -> list[float | None]:
        masks = columns.get("tool_mask", columns.get("env_mask"))
        each = repeat(None) if masks is None else iter(masks)  # type: ignore[call-overload]
        # A mask that is missing has no ids, so its rollout is not judged.
        items = ((number, Rollout(ids, next(each, ()))) for number, ids in enumerate(completion_ids))
        outcomes = [outcome for _, outcome in iter_outcomes(own, items, keep_going=True)]
        checks = RolloutChecks([outcome for outcome in outcomes if isinstance(outcome, RolloutCheck)])
        if log_metric is not None:
            for name, value in metrics_of(checks, prefix).items():
                log_metric(name, value)
            log_metric(f"{prefix}unjudged", float(len(outcomes) - len(checks)))
        if on_bug is not None and not checks:
            on_bug(checks)
        return [None] * len(completion_ids)

    return tokdfa_drift

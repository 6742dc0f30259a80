"""slime and miles: samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tokdfa.base.errors import TokenStreamError
from tokdfa.integrations.metrics import checks_of
from tokdfa.jobs.rollouts.result import RolloutChecks
from tokdfa.jobs.rollouts.rollout import Rollout

__all__ = ["check_samples"]


def check_samples(tokenizer: Any, samples: Iterable[Any], *, threads: int | None = None) -> RolloutChecks:
    """Check samples: objects with `tokens`, `response_length` and `loss_mask`; lists of samples are groups.

    Call it from a hook on the samples of a rollout, such as the function of ``--rollout-function-path`` or of
    ``--custom-reward-post-process-path``.

    See :func:`~tokdfa.integrations.metrics.checks_of` for `tokenizer` and `threads`.

    Notes
    -----
    Read in ``slime/utils/types.py`` at commit 0d234f3, and in ``miles/utils/types.py`` at commit 002ce70, whose
    `Sample.validate` asserts that the response is not longer than `tokens` and that `loss_mask` is as long as the
    response. The response ends the tokens; a mask of None means that all of it counts.

    Examples
    --------
    >>> import tokdfa
    >>> from types import SimpleNamespace
    >>> sample = SimpleNamespace(tokens=[64, 261, 1193], response_length=2, loss_mask=None)
    >>> check_samples(tokdfa.default_tokenizer(), [[sample]]).counts.drift
    1
    """
    rollouts = map(_rollout, _flat(samples))
    return checks_of(tokenizer, rollouts, threads=threads)


def _flat(samples: Iterable[Any]) -> Iterator[Any]:
    for sample in samples:
        if isinstance(sample, (list, tuple)):
            yield from _flat(sample)
        else:
            yield sample


def _rollout(sample: Any) -> Rollout:
    n, n_response, mask = len(sample.tokens), int(sample.response_length), sample.loss_mask
    if n_response > n:
        what = "the response of a sample is longer than its tokens"
        raise TokenStreamError(what, value=n_response, hint=f"there are {n}")
    if mask is not None and len(mask) != n_response:
        what = "the loss mask of a sample has another length than its response"
        raise TokenStreamError(what, value=len(mask), hint=f"expected {n_response}")
    return Rollout(sample.tokens, mask, n - n_response)

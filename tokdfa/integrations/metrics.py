"""What all hooks have in common: the tokenizer that they are given, and the numbers that they log."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from tokdfa.rollouts.result import RolloutChecks
from tokdfa.tokenizers.loading import load
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["as_tokenizer", "metrics_of"]


def as_tokenizer(tokenizer: Any) -> AnyTokenizer:
    """Return a tokenizer of tokdfa, loaded if it is a path or a live object of another library.

    Raises
    ------
    UnsupportedFeatureError, FileFormatError
        If it cannot be loaded exactly; see :func:`tokdfa.load`.
    """
    if isinstance(tokenizer, AnyTokenizer):
        return tokenizer
    try:
        return _loaded(tokenizer)
    except TypeError:  # It cannot be hashed.
        return load(tokenizer)


@lru_cache(maxsize=4)
def _loaded(tokenizer: Any) -> AnyTokenizer:
    return load(tokenizer)


def metrics_of(checks: RolloutChecks, prefix: str = "tokdfa/") -> dict[str, float]:
    """Return numbers for a trainer to log.

    Returns
    -------
    dict of str to float
        ``drift``, the share of sampled ids that encoding again would change; ``drift_rollouts``, the share of rollouts
        with some; ``bugs`` and ``junctions``, numbers of stretches.

    Examples
    --------
    >>> import tokdfa
    >>> metrics_of(tokdfa.check_rollouts(tokdfa.default_tokenizer(), [[64, 261, 1193], [64]], prompts=[1, 0]))
    {'tokdfa/drift': 0.6666666666666666, 'tokdfa/drift_rollouts': 0.5, 'tokdfa/bugs': 0.0, 'tokdfa/junctions': 0.0}
    """
    n_with = sum(check.counts.drift > 0 for check in checks)
    return {
        f"{prefix}drift": checks.shares.drift,
        f"{prefix}drift_rollouts": n_with / len(checks) if len(checks) else 0.0,
        f"{prefix}bugs": float(checks.counts.bugs),
        f"{prefix}junctions": float(checks.counts.junctions),
    }

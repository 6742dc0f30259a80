"""Common to all hooks: the tokenizer that they are given, and the numbers that they log."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from os import PathLike
from typing import Any
from weakref import WeakKeyDictionary

from tokdfa.jobs.rollouts.result import RolloutChecks
from tokdfa.tokenizers.loading import load
from tokdfa.tokenizers.protocol import AnyTokenizer


def as_tokenizer(tokenizer: Any) -> AnyTokenizer:
    """Return a tokenizer of tokdfa, loaded as :func:`tokdfa.load` does if it is a path or a live object."""
    if isinstance(tokenizer, AnyTokenizer):
        return tokenizer
    if isinstance(tokenizer, str | PathLike):
        return _loaded(str(tokenizer))
    try:
        own = _OF_LIVE.get(tokenizer)
        if own is None:
            own = _OF_LIVE[tokenizer] = load(tokenizer)
    except TypeError:  # It cannot be hashed, or referred to weakly.
        return load(tokenizer)
    return own


_OF_LIVE: WeakKeyDictionary[Any, AnyTokenizer] = WeakKeyDictionary()
"""Tokenizers loaded from live objects, for as long as these exist: hooks are called once a step."""


_loaded = lru_cache(maxsize=4)(load)


def metrics_of(checks: RolloutChecks, prefix: str = "tokdfa/") -> dict[str, float]:
    """Return numbers for a trainer to log.

    They are ``drift``, the share of sampled ids that encoding again would change; ``drift_rollouts``, the share of
    rollouts with some; ``bugs`` and ``junctions``, numbers of spans; ``out_of_range``, the number of ids that the
    tokenizer does not have.

    Examples
    --------
    >>> import tokdfa
    >>> checks = tokdfa.check_rollouts(tokdfa.default_tokenizer(), [[64, 261, 1193], [64]], prompts=[1, 0])
    >>> {name: round(value, 2) for name, value in metrics_of(checks, "").items()}
    {'drift': 0.67, 'drift_rollouts': 0.5, 'bugs': 0.0, 'junctions': 0.0, 'out_of_range': 0.0}
    """
    n_with = sum(check.counts.drift > 0 for check in checks)
    return {
        f"{prefix}drift": checks.shares.drift,
        f"{prefix}drift_rollouts": n_with / len(checks) if len(checks) else 0.0,
        f"{prefix}bugs": float(checks.counts.bugs),
        f"{prefix}junctions": float(checks.counts.junctions),
        f"{prefix}out_of_range": float(checks.out_of_range),
    }


_MOST = 4
_built: dict[str, AnyTokenizer] = {}


class PerProcess:
    """A tokenizer that each process has once, for all copies of its holders.

    Other processes are sent the content of its files.
    """

    def __init__(self, tokenizer: Any) -> None:
        own = as_tokenizer(tokenizer)
        self._fingerprint = own.fingerprint
        self.tokenizer = built_once(self._fingerprint, lambda: own)

    def __deepcopy__(self, memo: object) -> PerProcess:
        return self

    def __reduce__(self) -> tuple[Callable[[str, AnyTokenizer], PerProcess], tuple[str, AnyTokenizer]]:
        return _restored, (self._fingerprint, self.tokenizer)


def _restored(fingerprint: str, tokenizer: AnyTokenizer) -> PerProcess:
    return PerProcess(built_once(fingerprint, lambda: tokenizer))


def built_once(fingerprint: str, make: Callable[[], AnyTokenizer]) -> AnyTokenizer:
    """Return the tokenizer with a fingerprint that this process has, with the tables that it has built; or make it."""
    if fingerprint not in _built:
        if len(_built) >= _MOST:
            _built.pop(next(iter(_built)), None)
        _built[fingerprint] = make()
    return _built[fingerprint]


def why_not_canonical(tokenizer: AnyTokenizer, ids: Any) -> str | None:
    """Return the kind of the first violation in a document; None if it is canonical.

    Examples
    --------
    >>> import tokdfa
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> why_not_canonical(tokenizer, [64, 2513]), why_not_canonical(tokenizer, [261, 1193])
    (None, 'pair')
    """
    verdict = tokenizer.validate(ids)
    return None if verdict else str(verdict.violations[0].kind.value)

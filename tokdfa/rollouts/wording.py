"""The sentences about rollouts. No other module words them."""

from __future__ import annotations

from tokdfa.rollouts.stretch_class import Counts, Shares

__all__ = ["summary"]


def summary(tokens: int, sampled: int, counts: Counts, shares: Shares, *, rollouts: int | None = None) -> str:
    """Return the answer in one line, which a trainer can log.

    Examples
    --------
    >>> summary(2000, 1500, Counts(0, 12, 1), Shares(0.0, 0.016, 0.0015), rollouts=4)
    '4 rollouts, 2,000 ids, 1,500 sampled: 0 bugs, drift 1.6000 % (12 stretches), 1 junction'
    """
    head = "" if rollouts is None else f"{_number(rollouts, 'rollout')}, "
    return (
        f"{head}{_number(tokens, 'id')}, {sampled:,} sampled: {_number(counts.bugs, 'bug')}, "
        f"drift {100 * shares.drift:.4f} % ({_number(counts.drift, 'stretch', 'es')}), "
        f"{_number(counts.junctions, 'junction')}"
    )


def _number(count: int, noun: str, plural: str = "s") -> str:
    return f"{count:,} {noun}{plural * (count != 1)}"

"""Compression utility, which training maximises, and how far it is from submodular."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from tokdfa.base.errors import TrainingError
from tokdfa.training.theory.merges import Forest, Merge, apply_merge, apply_merges

__all__ = [
    "Curvature",
    "compression_gain",
    "compression_utility",
    "greedy_bound",
    "greedy_curvature",
    "iter_effective",
    "total_backward_curvature",
]


def compression_utility(text: Sequence[Merge], merges: Sequence[Merge]) -> int:
    """Return κ(merges) = |text| - |Apply(text)|, the replacements that a sequence of merges makes (FORMAL, Def 2.5)."""
    return len(text) - len(apply_merges(text, merges))


def compression_gain(text: Sequence[Merge], merges: Sequence[Merge], given: Sequence[Merge]) -> int:
    """Return κ(merges | given) = κ(given merges) - κ(given) (*A Formal Perspective on Byte-Pair Encoding*, Def 2.6)."""
    return len(apply_merges(text, given)) - len(apply_merges(text, [*given, *merges]))


@dataclass(frozen=True, slots=True)
class Curvature:
    """A curvature and a sequence that attains it; None if no sequence replaces anything."""

    value: Fraction
    merges: tuple[Merge, ...] | None


def iter_effective(text: Sequence[Merge], longest: int) -> Iterator[tuple[tuple[Merge, ...], Forest]]:
    """Yield the sequences of up to `longest` merges that each replace something, with the forests they make.

    A forest that several sequences make comes with the shortest, once for each length. Merges that replace nothing do
    not change the utility, and no later merge can depend on one.
    """
    level: dict[Forest, tuple[Merge, ...]] = {tuple(text): ()}
    for length in range(longest + 1):
        yield from ((merges, forest) for forest, merges in level.items())
        if length < longest:
            level = {
                apply_merge(forest, pair): (*merges, pair)
                for forest, merges in level.items()
                for pair in dict.fromkeys(pairwise(forest))
            }


def total_backward_curvature(text: str, optimal: Sequence[Merge], merges: int, *, exactly: bool = False) -> Curvature:
    """Return σ(optimal), the greatest 1 - (κ(μ optimal) - κ(optimal)) / κ(μ) over all μ with κ(μ) > 0.

    Parameters
    ----------
    text : str
    optimal : sequence of merges
        An optimal sequence.
    merges : int
        The maximum length M of μ.
    exactly : bool
        Whether μ must have M merges that all replace something, instead of up to M.

    Notes
    -----
    *A Formal Perspective on Byte-Pair Encoding*, Def 3.9, by enumeration: only for very short texts.
    """
    reached = len(text) - len(apply_merges(text, optimal))
    best = Curvature(Fraction(0), None)
    for sequence, forest in iter_effective(text, merges):
        if not sequence or (exactly and len(sequence) < merges):
            continue
        utility = len(text) - len(forest)
        together = len(text) - len(apply_merges(forest, optimal))
        value = 1 - Fraction(together - reached, utility)
        if best.merges is None or value > best.value:
            best = Curvature(value, sequence)
    return best


def greedy_curvature(text: str, optimal: Sequence[Merge], greedy: Sequence[Merge]) -> Fraction | None:
    """Return σ′(optimal, greedy); μ is the greedy sequence without its last merge. None if κ(μ) = 0 (FORMAL, Eq 11)."""
    prefix = list(greedy[:-1])
    utility = compression_utility(text, prefix)
    if utility == 0:
        return None
    together = compression_utility(text, [*prefix, *optimal])
    return 1 - Fraction(together - compression_utility(text, optimal), utility)


def greedy_bound(curvature: Fraction | float) -> float:
    """Return (1 - e^-σ) / σ, the share of the optimal utility that the greedy trainer is guaranteed to reach.

    *A Formal Perspective on Byte-Pair Encoding*, Theorem 3.10. The curvature σ must not be negative.
    """
    if curvature < 0:
        raise TrainingError("the curvature must not be negative", value=curvature)
    return 1.0 if curvature == 0 else -math.expm1(-float(curvature)) / float(curvature)

"""The best possible merge sequence: depth-first search, with and without a guard against redundant orders."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, TypeAlias, cast, get_args

from tokdfa.automata.alphabet import Word, concatenate
from tokdfa.automata.dictionary import Dictionary
from tokdfa.base.errors import LimitExceededError, TrainingError
from tokdfa.training.rules import base_alphabet
from tokdfa.training.theory.merges import Forest, Merge, apply_merge, yield_of

__all__ = [
    "CONFLICTS",
    "GUARDS",
    "Conflict",
    "ExactResult",
    "Guard",
    "boundary_conflict",
    "overlap_conflict",
    "train_exact",
]

Guard: TypeAlias = Literal["overlap", "boundary", "literal", "none"]
Conflict: TypeAlias = Callable[[str, str], bool]

GUARDS: tuple[Guard, ...] = get_args(Guard)

_DEFAULT_LIMIT = 1_000_000
_MOST_SYMBOLS = 200


def boundary_conflict(one: str, other: str) -> bool:
    """Return whether two yields conflict as the paper defines it: one ends with the symbol with which the other begins.

    Notes
    -----
    *A Formal Perspective on Byte-Pair Encoding*, Def 5.2.
    """
    return one[-1] == other[0] or other[-1] == one[0]


def overlap_conflict(one: str, other: str) -> bool:
    """Return whether occurrences of two yields can overlap in a text.

    That is, whether one is a factor of the other, or a proper suffix of one is a prefix of the other. Merges whose
    yields do not overlap commute: whatever the text, neither can take anything from the other. The boundary symbols
    alone do not show this: [x, ab] and [ab, y] compete for the ``ab`` of ``xaby``.
    """
    if one in other or other in one:
        return True
    shorter = min(len(one), len(other))
    return any(one[-n:] == other[:n] or other[-n:] == one[:n] for n in range(1, shorter))


CONFLICTS: dict[str, Conflict] = {"boundary": boundary_conflict, "overlap": overlap_conflict}


@dataclass(frozen=True, slots=True)
class ExactResult:
    """A best sequence of merges, fewer than requested if no pair is left; and the forests that they make of the texts.

    `units` weights each text by its multiplicity; `explored` is the number of sequences examined.
    """

    merges: tuple[Merge, ...]
    forests: tuple[Forest, ...]
    units: int
    explored: int


def train_exact(
    pieces: str | Mapping[str, int], merges: int, *, guard: Guard = "overlap", limit: int = _DEFAULT_LIMIT
) -> ExactResult:
    """Find a sequence of merges of the greatest compression utility, in exponential time.

    Parameters
    ----------
    pieces : str or mapping from str to int
        A text, or pieces with their multiplicities.
    merges : int
        The maximum length of the sequence.
    guard : str
        Which sequences are skipped. μ may follow ρ

        ``overlap``
            if they conflict by :func:`overlap_conflict`, or (|Yield μ|, Yield μ) ≥ (|Yield ρ|, Yield ρ): exact;
        ``boundary``
            the same with :func:`boundary_conflict`, which misses optima;
        ``literal``
            if they do *not* conflict by :func:`boundary_conflict`, and neither |Yield μ| < |Yield ρ| nor
            Yield μ < Yield ρ, as the paper has it, which misses many;
        ``none``
            always: brute force.
    limit : int
        The maximum number of symbols to examine; those of the texts count once for each sequence of merges.

    Raises
    ------
    LimitExceededError
        If there are more to examine, or the texts have more than 200 symbols.
    TrainingError
        If the guard is unknown.

    Notes
    -----
    *A Formal Perspective on Byte-Pair Encoding*, Algorithm 3, with a corrected guard of Def 5.6. Why ``overlap`` is
    exact: in any sequence, two neighbours that do not conflict can change places, because they commute and neither is a
    submerge of the other. Doing so wherever the second one is the lesser ends, after finitely many inversions, in a
    sequence that has the same effect on every text and that the guard allows.
    """
    if guard not in GUARDS:
        raise TrainingError("unknown guard", value=guard, hint=f"use one of {', '.join(GUARDS)}")
    texts = {pieces: 1} if isinstance(pieces, str) else pieces
    hint = "it is for tiny texts and few merges; train greedily"
    if (symbols := sum(map(len, texts))) > _MOST_SYMBOLS:
        what = f"the exact search is for texts of up to {_MOST_SYMBOLS} symbols, different pieces taken together"
        raise LimitExceededError(what, value=symbols, hint=hint)
    weights = list(texts.values())
    start: tuple[Forest, ...] = tuple(tuple(text) for text in texts)
    yields: dict[Merge, str] = {}
    conflicts: dict[tuple[str, str], bool] = {}

    def spelled(merge: Merge) -> str:
        known = yields.get(merge)
        if known is None:
            known = yields[merge] = yield_of(merge)
        return known

    def follows(mu: str, rho: str) -> bool:
        if guard == "literal":
            return not boundary_conflict(mu, rho) and len(mu) >= len(rho) and mu >= rho
        if (len(mu), mu) >= (len(rho), rho):
            return True
        known = conflicts.get((mu, rho))
        if known is None:
            known = conflicts[mu, rho] = CONFLICTS[guard](mu, rho)
        return known

    def count(forests: tuple[Forest, ...]) -> int:
        return sum(weight * len(forest) for weight, forest in zip(weights, forests, strict=True))

    best: tuple[Merge, ...] = ()
    best_forests, fewest = start, count(start)
    explored = 0
    stack: list[tuple[tuple[Merge, ...], tuple[Forest, ...]]] = [((), start)]
    while stack:
        sequence, forests = stack.pop()
        explored += 1
        if explored * symbols > limit:
            what = f"the exact search has examined {explored} sequences of merges and is not done"
            raise LimitExceededError(what, hint=hint)
        units = count(forests)
        if units < fewest:
            best, best_forests, fewest = sequence, forests, units
        if len(sequence) == merges:
            continue
        pairs = dict.fromkeys(pair for forest in forests for pair in pairwise(forest))
        chosen: Iterator[tuple[Merge, Merge]] = reversed(pairs)
        if guard != "none" and sequence:
            rho = spelled(sequence[-1])
            chosen = (pair for pair in chosen if follows(spelled(pair), rho))
        # The last one pushed is examined first; in reverse, so that ties go to the pair that occurs first.
        stack.extend(((*sequence, pair), tuple(apply_merge(forest, pair) for forest in forests)) for pair in chosen)
    return ExactResult(best, best_forests, fewest, explored)


def train_exact_dictionary(
    pieces: Mapping[Any, int],
    merges: int,
    *,
    alphabet: str | bytes | Sequence[Word] | None = None,
    limit: int = _DEFAULT_LIMIT,
) -> Dictionary:
    """Train the dictionary of the greatest compression utility, in exponential time.

    The limit is that of :func:`train_exact`; the rest as for :func:`~tokdfa.training.naive.train_naive`.
    """
    symbols = base_alphabet(pieces, alphabet)
    # The search is over strings: every symbol becomes the character of its number.
    texts = {"".join(map(chr, symbols.base_tokenization(piece))): count for piece, count in pieces.items()}
    result = train_exact(texts, merges, limit=limit)

    def word(tree: Merge) -> Word:
        return concatenate((symbols[ord(symbol)] for symbol in yield_of(tree)), symbols.kind)

    pairs = (cast("tuple[Merge, Merge]", merge) for merge in result.merges)
    return Dictionary(((word(left), word(right)) for left, right in pairs), symbols.symbols)

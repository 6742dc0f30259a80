"""The theory of the objective of training: merges as trees, their curvature, and the best possible sequence of them.

No job uses it; its callers are the command `train` (the exact optimum), drawings of forests, and notebooks. The exact
search is exponential and for small words only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any, Literal, TypeAlias, Union, cast, get_args

from tokdfa.automata.alphabet import Word, concatenate
from tokdfa.automata.dictionary import Dictionary
from tokdfa.base.errors import LimitExceededError, TrainingError
from tokdfa.training.naive import apply_rule
from tokdfa.training.rules import base_alphabet

Merge: TypeAlias = Union[str, tuple["Merge", "Merge"]]  # noqa: UP007 (a string cannot be an operand of |)
"""A symbol (a trivial merge), or a pair of merges: ``(("a", "b"), "a")`` is the paper's [[a, b], a]."""

Forest: TypeAlias = tuple[Merge, ...]
"""The result of applying merges to a string: a tree for each unit."""

# Comparing and hashing nested tuples uses the interpreter's own stack.
_DEEPEST = 500


def iter_submerges(merge: Merge) -> Iterator[Merge]:
    """Yield a merge and all its submerges, including trivial ones, as often as they occur: parts after the whole."""
    stack: list[tuple[Merge, int]] = [(merge, 0)]
    while stack:
        inner, depth = stack.pop()
        yield inner
        if isinstance(inner, tuple) and len(inner) == 2:
            if depth == _DEEPEST:
                raise LimitExceededError("a merge is nested too deeply", hint=f"{_DEEPEST} levels are allowed")
            stack.extend(((inner[1], depth + 1), (inner[0], depth + 1)))
        elif not isinstance(inner, str) or not inner:
            raise TrainingError("a merge must be a symbol or a pair of merges", value=inner)


def yield_of(merge: Merge) -> str:
    """Return Yield(merge), the string that the merge spells (*A Formal Perspective on Byte-Pair Encoding*, Def 2.4)."""
    return "".join(inner for inner in iter_submerges(merge) if isinstance(inner, str))


def apply_merge(forest: Sequence[Merge], merge: Merge) -> Forest:
    """Return Apply(merge): `forest` with every occurrence of the pair replaced, from left to right."""
    return tuple(apply_rule(forest, cast("tuple[Merge, Merge]", merge), merge))


def apply_merges(text: Sequence[Merge], merges: Iterable[Merge]) -> Forest:
    """Return the forest that a sequence of merges makes of a string of symbols or merges, one after the other.

    *A Formal Perspective on Byte-Pair Encoding*, section 2.2.
    """
    forest: Forest = tuple(text)
    for merge in merges:
        forest = apply_merge(forest, merge)
    return forest


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

    `optimal` is an optimal sequence, and μ has up to `merges` merges; if `exactly`, it has so many, which all replace
    something. *A Formal Perspective on Byte-Pair Encoding*, Def 3.9, by enumeration: only for very short texts.
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


def greedy_bound(curvature: Fraction | float) -> float:
    """Return (1 - e^-σ) / σ, the share of the optimal utility that the greedy trainer is guaranteed to reach.

    *A Formal Perspective on Byte-Pair Encoding*, Theorem 3.10. The curvature σ must not be negative.
    """
    if curvature < 0:
        raise TrainingError("the curvature must not be negative", value=curvature)
    return 1.0 if curvature == 0 else -math.expm1(-float(curvature)) / float(curvature)


# The best sequence

Guard: TypeAlias = Literal["parts", "overlap", "boundary", "literal", "none"]
Conflict: TypeAlias = Callable[[str, str], bool]

GUARDS: tuple[Guard, ...] = get_args(Guard)

_DEFAULT_LIMIT = 1_000_000
_MOST_SYMBOLS = 200


def boundary_conflict(one: str, other: str) -> bool:
    """Return whether two yields conflict as the paper defines it: one ends with the first symbol of the other.

    *A Formal Perspective on Byte-Pair Encoding*, Def 5.2.
    """
    return one[-1] == other[0] or other[-1] == one[0]


def overlap_conflict(one: str, other: str) -> bool:
    """Return whether occurrences of two yields can overlap in a text.

    That is, whether one is a factor of the other, or a proper suffix of one is a prefix of the other. Merges commute if
    their yields do not overlap: in no text can either take anything from the other. The boundary symbols alone do not
    show this: [x, ab] and [ab, y] compete for the ``ab`` of ``xaby``. Merges whose yields overlap may commute, too: see
    :func:`parts_conflict`.
    """
    if one in other or other in one:
        return True
    shorter = min(len(one), len(other))
    return any(one[-n:] == other[:n] or other[-n:] == one[:n] for n in range(1, shorter))


def parts_conflict(one: Merge, other: Merge) -> bool:
    """Return whether the right part of one merge is the left part of the other, or one is a part of the other.

    Two neighbours in a sequence commute iff they do not conflict, if both replace something in some text. The class
    :class:`tokdfa.RuleOrder` is about the same relation between rules.
    """
    return one[1] == other[0] or one[0] == other[1] or one in other or other in one


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
    pieces: str | Mapping[str, int], merges: int, *, guard: Guard = "parts", limit: int = _DEFAULT_LIMIT
) -> ExactResult:
    """Find a sequence of merges of the greatest compression utility, in exponential time.

    The pieces are a text, or strings with their multiplicities. The `guard` says which sequences are skipped. μ may
    follow ρ

    ``parts``
        if they conflict by :func:`parts_conflict`, or (|Yield μ|, Yield μ) ≥ (|Yield ρ|, Yield ρ): exact;
    ``overlap``
        the same with :func:`overlap_conflict`, exact as well, but it examines more;
    ``boundary``
        the same with :func:`boundary_conflict`, which misses optima;
    ``literal``
        if they do *not* conflict by :func:`boundary_conflict`, and neither |Yield μ| < |Yield ρ| nor Yield μ < Yield ρ,
        as the paper has it, which misses many;
    ``none``
        always: brute force.

    Texts of more than 200 symbols, or more than `limit` symbols to examine, are a LimitExceededError; the symbols of
    the texts count once for each sequence of merges.

    *A Formal Perspective on Byte-Pair Encoding*, Algorithm 3, with a corrected guard of Def 5.6. Why ``parts`` is
    exact: in any sequence, two neighbours that do not conflict can be exchanged, because they commute and neither is a
    submerge of the other. Exchanging them while some second one is the lesser leads, after finitely many inversions, to
    a sequence that has the same effect on every text and that the guard allows.
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
    spelled = cache(yield_of)

    @cache
    def follows(mu: Merge, rho: Merge) -> bool:
        one, other = spelled(mu), spelled(rho)
        if guard == "literal":
            return not boundary_conflict(one, other) and len(one) >= len(other) and one >= other
        if (len(one), one) >= (len(other), other):
            return True
        return parts_conflict(mu, rho) if guard == "parts" else CONFLICTS[guard](one, other)

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
            rho = sequence[-1]
            chosen = (pair for pair in chosen if follows(pair, rho))
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

    The limit is as for :func:`train_exact`, the rest as for :func:`~tokdfa.training.naive.train_naive`.
    """
    symbols = base_alphabet(pieces, alphabet)
    # The search is over strings: every symbol becomes the character of its number.
    texts = {"".join(map(chr, symbols.base_tokenization(piece))): count for piece, count in pieces.items()}
    result = train_exact(texts, merges, limit=limit)

    def word(tree: Merge) -> Word:
        return concatenate((symbols[ord(symbol)] for symbol in yield_of(tree)), symbols.kind)

    pairs = (cast("tuple[Merge, Merge]", merge) for merge in result.merges)
    return Dictionary(((word(left), word(right)) for left, right in pairs), symbols.symbols)

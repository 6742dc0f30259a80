"""The best possible merge sequence: depth-first search, with and without a guard against redundant orders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, Literal, TypeAlias, cast, get_args

from tokdfa.automata.alphabet import Word, concatenate, one_character_spellings
from tokdfa.automata.dictionary import Dictionary, Rule
from tokdfa.base.errors import LimitExceededError, TrainingError
from tokdfa.base.verdict import Verdict
from tokdfa.training.rules import base_alphabet
from tokdfa.training.theory.merges import Forest, Merge, apply_merge, yield_of

Guard: TypeAlias = Literal["overlap", "boundary", "literal", "none"]
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
    show this: [x, ab] and [ab, y] compete for the ``ab`` of ``xaby``.
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

    The pieces are a text, or strings with their multiplicities. The `guard` says which sequences are skipped. μ may
    follow ρ

    ``overlap``
        if they conflict by :func:`overlap_conflict`, or (|Yield μ|, Yield μ) ≥ (|Yield ρ|, Yield ρ): exact;
    ``boundary``
        the same with :func:`boundary_conflict`, which misses optima;
    ``literal``
        if they do *not* conflict by :func:`boundary_conflict`, and neither |Yield μ| < |Yield ρ| nor Yield μ < Yield ρ,
        as the paper has it, which misses many;
    ``none``
        always: brute force.

    Texts of more than 200 symbols, or more than `limit` symbols to examine, are a LimitExceededError; the symbols of
    the texts count once for each sequence of merges.

    *A Formal Perspective on Byte-Pair Encoding*, Algorithm 3, with a corrected guard of Def 5.6. Why ``overlap`` is
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
    def follows(mu: str, rho: str) -> bool:
        if guard == "literal":
            return not boundary_conflict(mu, rho) and len(mu) >= len(rho) and mu >= rho
        return (len(mu), mu) >= (len(rho), rho) or CONFLICTS[guard](mu, rho)

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


ConflictName: TypeAlias = Literal["overlap", "boundary"]


def permutation_safety(
    a: Dictionary, b: Dictionary, *, conflict: ConflictName = "overlap"
) -> Verdict[tuple[Rule, Rule]]:
    """Decide whether `b` has the rules of `a` in another order, but conflicting ones in the same order.

    Then exchanging neighbours that do not conflict turns one into the other. By "overlap", rules conflict if their
    products can overlap in a text, and the property implies equivalence; by "boundary", as in the paper, if one product
    ends with the first symbol of the other, which does not imply it. See :func:`overlap_conflict` and
    :func:`boundary_conflict`. It is not necessary for equivalence, which :func:`tokdfa.compare` decides. The witness is
    a pair of conflicting rules, in their order in `a`, that `b` exchanges; None if the rules are not the same. Both
    dictionaries must be proper.

    *A Formal Perspective on Byte-Pair Encoding*, Def 5.2 to Prop 5.5. Only the smallest blocks of rules that contain an
    exchange are examined, in time proportional to the number of factors of their products, not to the number of pairs
    of rules.
    """
    a.require_proper()
    b.require_proper()
    rules_a, rules_b = list(a), list(b)
    if a.alphabet.symbols != b.alphabet.symbols or Counter(rules_a) != Counter(rules_b):
        return Verdict(False, None, "the rules are not the same")
    spelled = one_character_spellings(a.alphabet)
    yields = [spelled[number] for number in a.product.tolist()]
    indices: dict[Rule, list[int]] = {}
    for index in range(len(rules_b) - 1, -1, -1):
        indices.setdefault(rules_b[index], []).append(index)
    # A repeated rule is dead from its second occurrence on; the occurrences correspond in order.
    index_in_b = [indices[rule].pop() for rule in rules_a]
    longest = 1 if conflict == "boundary" else None
    for block in _blocks(index_in_b):
        exchanged = _overlaps(yields, index_in_b, block, longest)
        if exchanged is None and conflict == "overlap":
            exchanged = _factors(yields, index_in_b, block)
        if exchanged is not None:
            break
    else:
        return Verdict(True, None, "conflicting rules are in the same order")
    first, second = (rules_a[index] for index in exchanged)
    return Verdict(False, (first, second), f"{first} and {second} conflict and are exchanged")


def _blocks(index_in_b: list[int]) -> Iterator[range]:
    """Yield the smallest blocks of rules that `b` has at the same indices, except blocks of one rule."""
    start, last = 0, -1
    for index, other in enumerate(index_in_b):
        last = max(last, other)
        if last == index:
            if index > start:
                yield range(start, index + 1)
            start = index + 1


def _overlaps(yields: list[str], index_in_b: list[int], block: range, longest: int | None) -> tuple[int, int] | None:
    """Return two rules that `b` exchanges where a suffix of one, up to `longest` symbols, is a prefix of the other."""
    # The last index in b of the rules so far, by their suffixes and by their prefixes.
    last_ending: dict[str, int] = {}
    last_beginning: dict[str, int] = {}
    for index in block:
        text, here = yields[index], index_in_b[index]
        lengths = range(1, min(len(text) - 1, longest or len(text)) + 1)
        for last, parts in ((last_ending, [text[:n] for n in lengths]), (last_beginning, [text[-n:] for n in lengths])):
            for part in parts:
                if (other := last.get(part)) is not None and index_in_b[other] > here:
                    return other, index
        for n in lengths:
            for last, part in ((last_ending, text[-n:]), (last_beginning, text[:n])):
                other = last.get(part)
                if other is None or index_in_b[other] < here:
                    last[part] = index
    return None


def _factors(yields: list[str], index_in_b: list[int], block: range) -> tuple[int, int] | None:
    """Return two rules that `b` exchanges such that the product of one is a factor of the product of the other."""
    rules_of: dict[str, list[int]] = {}
    for index in block:
        rules_of.setdefault(yields[index], []).append(index)
    for index in block:
        for factor in _known_factors(yields[index], rules_of):
            for other in rules_of[factor]:
                if (other < index) != (index_in_b[other] < index_in_b[index]) and other != index:
                    return min(other, index), max(other, index)
    return None


def _known_factors(text: str, known: dict[str, list[int]]) -> Iterator[str]:
    for start in range(len(text)):
        for stop in range(start + 2, len(text) + 1):
            if text[start:stop] in known:
                yield text[start:stop]

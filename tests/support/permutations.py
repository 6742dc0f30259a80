"""Safe permutations of rules, as a paper defines them, and corrected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Literal, TypeAlias

from tokdfa.automata.alphabet import one_character_spellings
from tokdfa.automata.dictionary import Dictionary, Rule
from tokdfa.base.verdict import Verdict

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
    # At most one occurrence of a repeated rule is live, perhaps not the first; the occurrences correspond in order.
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

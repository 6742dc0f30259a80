"""Safe permutations: rearrangements of rules that change nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Literal, TypeAlias, cast

from tokdfa.automata.dictionary import Dictionary, Rule
from tokdfa.base.verdict import Verdict

__all__ = ["Conflict", "permutation_safety"]

Conflict: TypeAlias = Literal["overlap", "boundary"]


def permutation_safety(a: Dictionary, b: Dictionary, *, conflict: Conflict = "overlap") -> Verdict[tuple[Rule, Rule]]:
    """Decide whether `b` has the rules of `a` in another order, but conflicting ones in the same order.

    Then exchanging neighbours that do not conflict turns one into the other.

    Parameters
    ----------
    a, b : Dictionary
        Two proper dictionaries.
    conflict : {"overlap", "boundary"}
        Which rules conflict: those whose products can overlap in a text, which implies equivalence; or, as in the
        paper, those where one product ends with the symbol with which the other begins, which does not imply it.
        See :func:`~tokdfa.training.theory.exact.overlap_conflict` and
        :func:`~tokdfa.training.theory.exact.boundary_conflict`.

    Returns
    -------
    Verdict
        Its witness is a pair of conflicting rules, in their order in `a`, that `b` exchanges; None if the rules are not
        the same. The property is sufficient for equivalence, not necessary; :func:`tokdfa.compare` decides equivalence.

    Raises
    ------
    ImproperDictionaryError
        If one of the dictionaries is not proper.

    Notes
    -----
    *A Formal Perspective on Byte-Pair Encoding*, Def 5.2 to Prop 5.5. Only the smallest blocks of rules within which
    some change places are examined, in time proportional to the number of factors of their products, not to the number
    of pairs of rules.
    """
    a.require_proper()
    b.require_proper()
    rules_a, rules_b = list(a), list(b)
    if a.alphabet.symbols != b.alphabet.symbols or Counter(rules_a) != Counter(rules_b):
        return Verdict(False, None, "the rules are not the same")
    yields = _yields(a)
    places: dict[Rule, list[int]] = {}
    for place in range(len(rules_b) - 1, -1, -1):
        places.setdefault(rules_b[place], []).append(place)
    # A repeated rule is dead from its second occurrence on; the occurrences correspond in order.
    place_in_b = [places[rule].pop() for rule in rules_a]
    longest = 1 if conflict == "boundary" else None
    for block in _blocks(place_in_b):
        exchanged = _overlaps(yields, place_in_b, block, longest)
        if exchanged is None and conflict == "overlap":
            exchanged = _factors(yields, place_in_b, block)
        if exchanged is not None:
            break
    else:
        return Verdict(True, None, "conflicting rules are in the same order")
    first, second = (rules_a[index] for index in exchanged)
    return Verdict(False, (first, second), f"{first} and {second} conflict and are exchanged")


def _yields(dictionary: Dictionary) -> list[str]:
    """Return the products of the rules as strings with one character per symbol."""
    words = dictionary.alphabet
    products = [words[number] for number in dictionary.product.tolist()]
    if words.kind == "bytes":
        return [cast(bytes, word).decode("latin-1") for word in products]
    if words.kind == "characters":
        return [cast(str, word) for word in products]
    character = {symbol[0]: chr(number) for number, symbol in enumerate(words.symbols)}
    return ["".join(character[cast(str, symbol)] for symbol in word) for word in products]


def _blocks(place_in_b: list[int]) -> Iterator[range]:
    """Yield the smallest blocks of rules that `b` has in the same places, except those of one rule."""
    start, last = 0, -1
    for index, place in enumerate(place_in_b):
        last = max(last, place)
        if last == index:
            if index > start:
                yield range(start, index + 1)
            start = index + 1


def _overlaps(yields: list[str], place_in_b: list[int], block: range, longest: int | None) -> tuple[int, int] | None:
    """Return two rules that `b` exchanges where a suffix of one, up to `longest` symbols, is a prefix of the other."""
    # The last place in b of the rules so far, by their suffixes and by their prefixes.
    last_ending: dict[str, int] = {}
    last_beginning: dict[str, int] = {}
    for index in block:
        text, place = yields[index], place_in_b[index]
        lengths = range(1, min(len(text) - 1, longest or len(text)) + 1)
        for last, parts in ((last_ending, [text[:n] for n in lengths]), (last_beginning, [text[-n:] for n in lengths])):
            for part in parts:
                if (other := last.get(part)) is not None and place_in_b[other] > place:
                    return other, index
        for n in lengths:
            for last, part in ((last_ending, text[-n:]), (last_beginning, text[:n])):
                other = last.get(part)
                if other is None or place_in_b[other] < place:
                    last[part] = index
    return None


def _factors(yields: list[str], place_in_b: list[int], block: range) -> tuple[int, int] | None:
    """Return two rules that `b` exchanges such that the product of one is a factor of that of the other."""
    rules_of: dict[str, list[int]] = {}
    for index in block:
        rules_of.setdefault(yields[index], []).append(index)
    for index in block:
        for factor in _known_factors(yields[index], rules_of):
            for other in rules_of[factor]:
                if (other < index) != (place_in_b[other] < place_in_b[index]) and other != index:
                    return min(other, index), max(other, index)
    return None


def _known_factors(text: str, known: dict[str, list[int]]) -> Iterator[str]:
    for start in range(len(text)):
        for stop in range(start + 2, len(text) + 1):
            if text[start:stop] in known:
                yield text[start:stop]

"""Dictionaries that do the same: Proposition 5.5 of *A Formal Perspective on Byte-Pair Encoding*, exactly.

All dictionaries of some live rules, up to renaming of symbols, in classes that tokenize alike. Exchanging neighbouring
rules connects a class, or leaves it in several parts; first only if the products cannot overlap, then if the
exchange changes no tokenization.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import pairwise, permutations, product
from typing import TYPE_CHECKING, TypeAlias

from figures.chart import line_chart
from figures.small_dictionaries import LETTERS, Rules, small_dictionaries
from figures.table import Row

if TYPE_CHECKING:
    from tokdfa import Dictionary

RANGES = {1: 2, 2: 4, 3: 6, 4: 8}

Behaviour: TypeAlias = frozenset[tuple[str, str]]


def behaviour(dictionary: Dictionary) -> Behaviour:
    """Return the pairs of live tokens that are neighbours in some correct tokenization: they decide all of it."""
    from tokdfa import CompactTokenDFA

    automaton = CompactTokenDFA(dictionary)
    words = dictionary.alphabet
    live = [token for token in range(len(words)) if automaton.birth[token] >= 0]
    pairs = [(words[u], words[v]) for u in live for v in live if automaton.step(int(automaton.state[u]), v) is not None]
    return frozenset([*pairs, *((words[token], "") for token in live)])  # type: ignore[misc]


def live_dictionary(rules: Rules) -> Dictionary | None:
    """Return the dictionary of these rules over their own symbols if all of them are live."""
    from tokdfa import Dictionary

    dictionary = Dictionary(rules, "".join(sorted({*"".join(u + v for u, v in rules)})))
    return dictionary if len(dictionary.live_rules) == len(rules) else None


def with_the_same_products(rules: Rules) -> Iterator[Rules]:
    """Yield all proper dictionaries that make the same tokens with as many rules."""
    products = [u + v for u, v in rules]
    symbols = {*"".join(products)}
    tokens = symbols | {*products}
    splits = [
        [(token[:i], token[i:]) for i in range(1, len(token)) if {token[:i], token[i:]} <= tokens] for token in products
    ]
    for choice in product(*splits):
        for order in permutations(choice):
            if all({u, v} <= symbols | {a + b for a, b in order[:i]} for i, (u, v) in enumerate(order)):
                yield order


def equivalent(rules: Rules, behaves: Callable[[Dictionary], object] = behaviour) -> list[Rules]:
    """Return all dictionaries of as many live rules that tokenize every text alike, the given one among them."""
    given = live_dictionary(rules)
    expected = None if given is None else behaves(given)
    found = ((other, live_dictionary(other)) for other in with_the_same_products(rules))
    return [other for other, live in found if live is not None and behaves(live) == expected]


def n_parts(members: Collection[Rules], may_change_places: Callable[[str, str], bool]) -> int:
    """Return in how many parts exchanges of neighbouring rules within the class leave it."""
    left, parts = set(members), 0
    while left:
        waiting, parts = [left.pop()], parts + 1
        while waiting:
            rules = waiting.pop()
            for i, (first, second) in enumerate(pairwise(rules)):
                other = (*rules[:i], second, first, *rules[i + 2 :])
                if other in left and may_change_places("".join(first), "".join(second)):
                    left.remove(other)
                    waiting.append(other)
    return parts


def renamed(rules: Rules) -> Rules:
    """Return the rules with their symbols named in the order in which they come for the first time."""
    names = dict(zip(dict.fromkeys("".join(u + v for u, v in rules)), LETTERS, strict=False))
    return tuple(("".join(map(names.__getitem__, u)), "".join(map(names.__getitem__, v))) for u, v in rules)


def classes(n_rules: int, most_symbols: int) -> Iterator[list[Rules]]:
    """Yield the classes of the dictionaries of that many live rules, up to renaming of symbols."""
    seen: set[Rules] = set()
    for rules in small_dictionaries(n_rules, most_symbols):
        if rules not in seen and live_dictionary(rules) is not None:
            members = equivalent(rules)
            # Another order of the rules may have its symbols in another order.
            seen.update(map(renamed, members))
            yield members


def measure(ranges: dict[int, int] = RANGES) -> list[Row]:
    """Find the classes and their parts: some minutes."""
    from tokdfa.training.theory import overlap_conflict

    rows = []
    for n_rules, most in ranges.items():
        row: Row = {"rules": n_rules, "symbols": most}
        row |= dict.fromkeys(("classes", "of_several", "apart", "other_rules", "apart_with_the_same_rules"), 0)
        for members in classes(n_rules, most):
            sets = {frozenset(rules) for rules in members}
            row["classes"] += 1
            row["of_several"] += len(members) > 1
            row["apart"] += n_parts(members, lambda one, other: not overlap_conflict(one, other)) > 1
            row["other_rules"] += len(sets) > 1
            row["apart_with_the_same_rules"] += n_parts(members, lambda _one, _other: True) > len(sets)
        rows.append(row)
    return rows


def draw(rows: list[Row]) -> str:
    named = {
        "classes": "classes",
        "of_several": "of several dictionaries",
        "apart": "not by non-overlapping rules",
        "other_rules": "with different rules",
    }
    exceptions = sum(row["apart_with_the_same_rules"] for row in rows)
    return line_chart(
        {label: [(row["rules"], row[key]) for row in rows if row[key]] for key, label in named.items()},
        title="Dictionaries that tokenize alike",
        x_label="rules, all of them live",
        y_label="classes",
        log_y=True,
        note="All dictionaries up to renaming of symbols. Exchanges of neighbouring rules that change no tokenization\n"
        f"lead to every order of the same rules that does the same, as proved; exceptions: {exceptions}.",
    )

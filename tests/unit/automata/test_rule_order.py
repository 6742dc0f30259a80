"""The partial order of live rules, against Algorithm 1 on all orders of small dictionaries."""

from __future__ import annotations

import random
from itertools import pairwise, permutations, product
from math import factorial

import pytest

from figures.papers import rule_order
from figures.small_dictionaries import LETTERS, Rules, small_dictionaries
from tests.campaigns.evidence.tally import Tally
from tokdfa import Dictionary, RuleOrder, compare, default_dictionary, tokenize_single_pass
from tokdfa.base.errors import DictionaryError, ImproperDictionaryError, LimitExceededError


def over_its_symbols(rules: Rules) -> Dictionary:
    return Dictionary(rules, "".join(sorted({*"".join(u + v for u, v in rules)})))


def behaviour(dictionary: Dictionary) -> list[tuple[object, ...]]:
    """Tokenizations by Algorithm 1 of every text of at most two tokens: a shortest difference is at most as long."""
    tokens = sorted(map(str, dictionary.alphabet))
    texts = sorted({*tokens, *(u + v for u, v in product(tokens, repeat=2))})
    return [tokenize_single_pass(dictionary, text) for text in texts]


def all_live(rules: Rules) -> bool:
    return len({u + v for u, v in rules}) == len(rules) == len(over_its_symbols(rules).live_rules)


def orders_that_do_the_same(rules: Rules) -> set[Rules]:
    expected = behaviour(over_its_symbols(rules))
    return {order for order in permutations(rules) if behaviour(over_its_symbols(order)) == expected}


def random_rules(dice: random.Random, n_rules: int) -> Rules:
    """Live rules, with parts that are often the last products."""
    while True:
        tokens, rules = [*LETTERS[: dice.randrange(1, 4)]], list[tuple[str, str]]()
        for _ in range(n_rules):
            rules.append((dice.choice(tokens[-5:]), dice.choice(tokens[-5:])))
            tokens.append("".join(rules[-1]))
        if len({*rules}) == n_rules and all_live(tuple(rules)):
            return tuple(rules)


def assert_connected_by_exchanges_of_neighbours(orders: set[Rules]) -> None:
    waiting = [min(orders)]
    left = orders - {*waiting}
    while waiting:
        order = waiting.pop()
        for i, (first, second) in enumerate(pairwise(order)):
            neighbour = (*order[:i], second, first, *order[i + 2 :])
            if neighbour in left:
                left.remove(neighbour)
                waiting.append(neighbour)
    assert not left


def assert_exactly_the_linear_extensions(rules: Rules) -> int:
    """Compare every decision with the orders that do the same by Algorithm 1; return their number."""
    order, alike = RuleOrder(over_its_symbols(rules)), orders_that_do_the_same(rules)
    for other in permutations(rules):
        dictionary = over_its_symbols(other)
        if not dictionary.properness() or len(dictionary.live_rules) < len(rules):
            assert other not in alike
            continue
        verdict = order.admits(dictionary)
        assert bool(verdict) == (other in alike), (rules, other)
        if not verdict:
            first, second, text = verdict.witness  # type: ignore[misc]
            assert other.index(rules[first]) > other.index(rules[second])
            assert tokenize_single_pass(order.dictionary, text) != tokenize_single_pass(dictionary, text)
    for one, other in product(range(len(rules)), repeat=2):
        both = {each.index(rules[one]) < each.index(rules[other]) for each in alike}
        may = order.may_change_places(one, other)
        assert bool(may) == (one == other or len(both) == 2)
        if not may:
            chain = [may.witness[0].first, *(step.second for step in may.witness)]  # type: ignore[index, union-attr]
            assert {chain[0], chain[-1]} == {one, other}
            assert chain == sorted(chain)
    assert order.n_orders() == len(alike)
    covers = {(rules[one], rules[other]) for one, other in order.covers()}
    extensions = {
        each for each in permutations(rules) if all(each.index(one) < each.index(other) for one, other in covers)
    }
    assert extensions == alike
    assert_connected_by_exchanges_of_neighbours(alike)
    return len(alike)


@pytest.mark.parametrize(
    ("n_rules", "n_dictionaries", "n_orders"),
    [(1, 2, 2), (2, 24, 30), (3, 638, 1324), pytest.param(4, 28788, 123734, marks=pytest.mark.slow)],
)
def test_all_orders_of_all_dictionaries_of_live_rules(
    n_rules: int, n_dictionaries: int, n_orders: int, tally: Tally
) -> None:
    live = [rules for rules in small_dictionaries(n_rules, 2 * n_rules) if all_live(rules)]
    alike = [assert_exactly_the_linear_extensions(rules) for rules in live]
    assert (len(live), sum(alike)) == (n_dictionaries, n_orders)
    tally("construction", "exhaustive cases", n_dictionaries * factorial(n_rules))


@pytest.mark.parametrize(
    ("n_rules", "n_dictionaries"),
    [(5, 6), pytest.param(6, 20, marks=pytest.mark.slow), pytest.param(7, 2, marks=pytest.mark.slow)],
)
def test_all_orders_of_random_dictionaries_of_live_rules(n_rules: int, n_dictionaries: int) -> None:
    dice = random.Random(n_rules)
    alike = [assert_exactly_the_linear_extensions(random_rules(dice, n_rules)) for _ in range(n_dictionaries)]
    assert max(alike) > 1


def test_dead_rules_are_left_out() -> None:
    # b≀c takes every bc, so that ab≀c is dead.
    order = RuleOrder(Dictionary([("b", "c"), ("a", "b"), ("ab", "c")]))
    assert order.rules == (0, 1)
    assert order.covers() == ((0, 1),)
    assert order.admits(Dictionary([("b", "c"), ("a", "b")]))
    with pytest.raises(DictionaryError, match="not the index of a live rule"):
        order.may_change_places(0, 2)
    with pytest.raises(DictionaryError, match="other live rules"):
        order.admits(Dictionary([("a", "b"), ("b", "c"), ("ab", "c")]))
    with pytest.raises(DictionaryError, match="other live rules"):
        order.admits(Dictionary([("b", "c"), ("a", "b"), ("ab", "c")], "abcd"))
    with pytest.raises(ImproperDictionaryError):
        RuleOrder(Dictionary([("ab", "c"), ("a", "b")]))


def test_symbols_of_several_characters_and_bytes() -> None:
    for rules, text in (
        ([(b"a", b"b"), (b"b", b"c")], b"abc"),
        ([(("lo",), ("w",)), (("w",), ("er",))], ("lo", "w", "er")),
    ):
        symbols = None if isinstance(text, bytes) else text
        (exchange,) = RuleOrder(Dictionary(rules, symbols)).may_change_places(1, 0).witness  # type: ignore[misc]
        assert exchange == (0, 1, text)


def test_independent_rules_have_all_orders() -> None:
    pairs = [(LETTERS[2 * i], LETTERS[2 * i + 1]) for i in range(8)]
    order = RuleOrder(Dictionary(pairs))
    assert order.n_orders() == factorial(8)
    assert order.covers() == ()
    with pytest.raises(LimitExceededError, match="more than 100 sets"):
        order.n_orders(limit=100)


def test_the_merges_of_the_figure_have_as_many_orders_as_the_page_says() -> None:
    order = rule_order.order()
    assert len(order.rules) == 15
    assert order.n_orders() == 762_030


def test_neighbours_of_a_whole_dictionary_against_their_automata() -> None:
    dictionary = default_dictionary()
    order, rules = RuleOrder(dictionary), [*dictionary]
    dice, decided = random.Random(5), []
    for _ in range(12):
        at = dice.randrange(len(rules) - 1) if len(decided) % 2 else _contested(order, dice)
        other = Dictionary([*rules[:at], rules[at + 1], rules[at], *rules[at + 2 :]], dictionary.alphabet.symbols)
        decided.append(bool(order.may_change_places(at, at + 1)))
        assert decided[-1] == bool(compare(dictionary, other))
    assert len({*decided}) == 2
    with pytest.raises(LimitExceededError, match="too large to be written out"):
        order.covers()


def _contested(order: RuleOrder, dice: random.Random) -> int:
    rules = [*order.dictionary]
    return dice.choice(
        [i for i in range(len(rules) - 1) if rules[i].right == rules[i + 1].left or rules[i].left == rules[i + 1].right]
    )

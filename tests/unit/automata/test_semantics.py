"""Whether Algorithm 1 and merging leftmost are one function, against both as they are defined."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.campaigns.evidence.tally import Tally
from tests.support.dictionaries import all_proper_dictionaries, all_words, proper_dictionaries
from tokdfa import Dictionary, load
from tokdfa.automata.bpe import tokenize_leftmost, tokenize_rounds, tokenize_single_pass
from tokdfa.automata.semantics import LateRule, agrees_with_leftmost
from tokdfa.base.errors import ImproperDictionaryError
from tokdfa.tokenizers.tokenizer import Tokenizer


def distinct(rules: Iterable[tuple[str, str]]) -> Dictionary:
    return Dictionary(dict.fromkeys(map(tuple, rules)), "abc")  # type: ignore[arg-type]


def repeating(symbols: str, n_rules: int) -> Iterator[Dictionary]:
    """Every proper dictionary with two distinct rules that make the same token; no others can differ."""
    for dictionary in all_proper_dictionaries(symbols, n_rules):
        if len(set(dictionary.product.tolist())) < n_rules:
            yield dictionary


def products(dictionary: Dictionary) -> set[str]:
    return {rule.product for rule in dictionary}  # type: ignore[misc]


def assert_decided_by_words(dictionary: Dictionary, words: Iterable[str]) -> bool:
    """Compare the decision with the tokenizations of words; return it."""
    verdict = agrees_with_leftmost(dictionary)
    if verdict:
        for word in words:
            expected = tokenize_single_pass(dictionary, word)
            assert tokenize_leftmost(dictionary, word) == expected, (dictionary, word)
            assert tokenize_rounds(dictionary, word) == expected, (dictionary, word)
    else:
        late = verdict.witness
        assert late is not None
        assert late.again is None
        rule = dictionary[late.index]
        assert late.text == rule.product
        assert late.index < late.made_by
        assert dictionary[late.made_by].product in (rule.left, rule.right)
        assert tokenize_single_pass(dictionary, late.text) == (rule.left, rule.right)
        assert tokenize_leftmost(dictionary, late.text) != (rule.left, rule.right)
        assert tokenize_rounds(dictionary, late.text) != (rule.left, rule.right)
    return bool(verdict)


@pytest.mark.parametrize(
    ("symbols", "n_rules", "longest", "n_dictionaries", "n_differing"),
    [
        ("a", 3, 12, 2, 0),
        ("ab", 3, 8, 4, 0),
        ("a", 4, 20, 50, 1),
        pytest.param("a", 5, 10, 1416, 45),
        pytest.param("ab", 4, 5, 240, 6),
        pytest.param("a", 5, 64, 1416, 45, marks=pytest.mark.slow),
        pytest.param("ab", 4, 11, 240, 6, marks=pytest.mark.slow),
        # 570 have one symbol or two: 3 * 50 + 3 * (240 - 2 * 50). With all three there are 48 with "bc" or
        # the like next to rules of one symbol, and 36 that make "abc" or the like in both ways.
        pytest.param("abc", 4, 6, 654, 15, marks=pytest.mark.slow),
    ],
)
def test_every_small_dictionary_whose_products_repeat(
    symbols: str, n_rules: int, longest: int, n_dictionaries: int, n_differing: int, tally: Tally
) -> None:
    # Where the decision is yes, words on which they differ would be found among the products of rules.
    short = list(all_words(symbols, longest))
    agreeing = [assert_decided_by_words(each, {*short, *products(each)}) for each in repeating(symbols, n_rules)]
    assert (len(agreeing), agreeing.count(False)) == (n_dictionaries, n_differing)
    tally("construction", "exhaustive cases", n_dictionaries * len(short))


def with_late_parts(dice: random.Random) -> Dictionary:
    """A proper dictionary, often with a rule that makes once more what another one makes, after rules that use it."""
    tokens, rules = list("ab"), list[tuple[str, str]]()
    for _ in range(dice.randrange(3, 10)):
        rule = (dice.choice(tokens[-4:]), dice.choice(tokens[-4:]))
        again = [(u, v) for u in tokens for v in tokens if u + v in tokens and (u, v) not in rules]
        if again and dice.random() < 0.3:
            rule = dice.choice(again)
        if rule not in rules and len("".join(rule)) <= 24:
            rules.append(rule)
            tokens.append("".join(rule))
    return Dictionary(rules, "ab")


def test_random_dictionaries_with_late_parts() -> None:
    dice = random.Random(7)
    agreeing = []
    for _ in range(1_000):
        dictionary = with_late_parts(dice)
        words = ["".join(dice.choices([*"ab", *products(dictionary)], k=3)) for _ in range(4)]
        agreeing.append(assert_decided_by_words(dictionary, {*words, *products(dictionary)}))
    assert agreeing.count(False) >= 20


@given(proper_dictionaries(max_rules=12), st.lists(st.text("abc", max_size=24), max_size=4))
def test_random_dictionaries(dictionary: Dictionary, words: list[str]) -> None:
    dictionary = distinct(dictionary)
    assert_decided_by_words(dictionary, {*words, *products(dictionary)})


WITNESSES = [
    ([("a", "a"), ("a", "aa"), ("aa", "aaa"), ("aa", "a")], "aaaaa"),
    ([("a", "a"), ("a", "aa"), ("b", "aaa"), ("aa", "a")], "baaa"),
    ([("b", "a"), ("ba", "b"), ("bab", "a"), ("baba", "bab"), ("ba", "ba")], "bababab"),
    ([("a", "b"), ("b", "c"), ("a", "bc"), ("abc", "ab"), ("ab", "c")], "abcab"),
]


@pytest.mark.parametrize(("rules", "text"), WITNESSES)
def test_dictionaries_on_which_they_differ(rules: list[tuple[str, str]], text: str) -> None:
    dictionary = Dictionary(rules)
    assert dictionary.properness()
    agrees = assert_decided_by_words(dictionary, [])
    assert not agrees
    assert agrees_with_leftmost(dictionary).witness.text == text  # type: ignore[union-attr]


def test_three_rules_never_differ() -> None:
    for symbols in ("a", "ab", "abc"):
        assert all(agrees_with_leftmost(each) for n in range(4) for each in all_proper_dictionaries(symbols, n))


def test_a_late_part_alone_makes_no_difference() -> None:
    # aaa, which rule 3 makes too late for rule 2, never meets a b there.
    dictionary = Dictionary([("a", "a"), ("a", "aa"), ("aaa", "b"), ("a", "b"), ("aa", "a")], "ab")
    assert dictionary.folding.birth[dictionary.alphabet.number("aaa")] > 0
    agrees = assert_decided_by_words(dictionary, all_words("ab", 8))
    assert agrees


@pytest.mark.parametrize(
    ("rules", "text"),
    [
        # The second time that a live rule occurs there, it is dead.
        ([("a", "b"), ("b", "a"), ("a", "b")], None),
        # Rule 2 is live the second time. Nothing comes between, so that using it early or late is the same.
        ([("a", "a"), ("a", "aa"), ("aa", "aaa"), ("aa", "a"), ("aa", "aaa")], None),
        # As before; but rule 4 takes an aa away first.
        ([("a", "a"), ("a", "aa"), ("aa", "aaa"), ("aa", "a"), ("b", "aa"), ("aa", "aaa")], "baaaaa"),
    ],
)
def test_rules_given_twice(rules: list[tuple[str, str]], text: str | None) -> None:
    dictionary = Dictionary(rules)
    verdict = agrees_with_leftmost(dictionary)
    assert bool(verdict) == (text is None)
    if verdict.witness is not None:
        assert (verdict.witness.text, verdict.witness.again) == (text, len(rules) - 1)
        assert tokenize_single_pass(dictionary, text) != tokenize_leftmost(dictionary, text)


def with_repeats(symbols: str, n_rules: int, rules: tuple[tuple[str, str], ...] = ()) -> Iterator[Dictionary]:
    """Every proper dictionary in which rules are given twice, only the last time for any use."""
    if len(rules) == n_rules:
        if len({*rules}) < n_rules:
            dictionary = Dictionary(rules, symbols)
            live = {*dictionary.live_rules.tolist()}
            if any(index in live and dictionary[index] in dictionary[:index] for index in range(n_rules)):
                yield dictionary
        return
    tokens = dict.fromkeys([*symbols, *(u + v for u, v in rules)])
    for pair in product(tokens, repeat=2):
        # Too few rules would be left to give one again.
        yield from with_repeats(symbols, n_rules, (*rules, pair))


@pytest.mark.parametrize(
    ("symbols", "n_rules", "longest", "n_dictionaries", "n_differing"),
    [
        ("a", 5, 24, 1, 0),
        pytest.param("a", 6, 40, 70, 7, marks=pytest.mark.slow),
        pytest.param("ab", 5, 9, 6, 0, marks=pytest.mark.slow),
    ],
)
def test_every_small_dictionary_in_which_a_rule_is_used_the_second_time_it_is_given(
    symbols: str, n_rules: int, longest: int, n_dictionaries: int, n_differing: int
) -> None:
    words, decided = [*all_words(symbols, longest)], []
    for dictionary in with_repeats(symbols, n_rules):
        verdict = agrees_with_leftmost(dictionary)
        differing = [w for w in words if tokenize_single_pass(dictionary, w) != tokenize_leftmost(dictionary, w)]
        decided.append(bool(verdict))
        assert bool(verdict) == (not differing)
        if verdict.witness is not None:
            assert verdict.witness.text == differing[0]
    assert (len(decided), decided.count(False)) == (n_dictionaries, n_differing)


def test_random_dictionaries_that_give_rules_twice() -> None:
    dice, found = random.Random(3), Counter[bool]()
    while found.total() < 200:
        dictionary = with_late_parts(dice)
        late = agrees_with_leftmost(dictionary).witness
        if late is None:
            continue
        # The late rule again, somewhere after the rule that makes its part.
        rules, at = [*dictionary], dice.randrange(late.made_by + 1, len(dictionary) + 1)
        dictionary = Dictionary([*rules[:at], rules[late.index], *rules[at:]], "ab")
        verdict = agrees_with_leftmost(dictionary)
        found[bool(verdict)] += 1
        assert verdict.witness is None or dictionary[verdict.witness.index].product in verdict.witness.text
        words = ["".join(dice.choices([*"ab", *products(dictionary)], k=3)) for _ in range(10)]
        for word in words if verdict else [verdict.witness.text]:  # type: ignore[union-attr]
            same = tokenize_single_pass(dictionary, word) == tokenize_leftmost(dictionary, word)
            assert same == bool(verdict)
    assert min(found[True], found[False]) > 20


def test_what_certainly_differs_is_told_first() -> None:
    # Rule 2 is given again; rule 3 is not.
    rules = [("a", "a"), ("a", "aa"), ("aa", "aaa"), ("b", "aaa"), ("aa", "a"), ("aa", "aaa")]
    verdict = agrees_with_leftmost(Dictionary(rules))
    assert verdict.witness == LateRule(index=3, made_by=4, text="baaa", again=None)


def test_of_several_late_rules_the_one_is_told_that_makes_the_difference() -> None:
    harmless = [("a", "a"), ("a", "aa"), ("aa", "aaa"), ("aa", "a"), ("aa", "aaa")]
    rules = [*harmless, ("b", "b"), ("b", "bb"), ("bb", "bbb"), ("bb", "b"), ("bb", "bb"), ("bb", "bbb")]
    assert agrees_with_leftmost(Dictionary(harmless))
    witness = agrees_with_leftmost(Dictionary(rules)).witness
    assert witness == LateRule(index=7, made_by=8, text="bbbbbbb", again=10)


def test_improper_dictionaries_are_refused() -> None:
    with pytest.raises(ImproperDictionaryError):
        agrees_with_leftmost(Dictionary([("ab", "a"), ("a", "b")]))


def test_a_large_dictionary_takes_one_pair_test_for_each_late_rule() -> None:
    # 2,000 rules use aaa before it is made. In the second dictionary each of them is barred by another rule.
    letters = [chr(0x4E00 + n) for n in range(2000)]
    rules = [("a", "a"), ("a", "aa"), *((letter, "aaa") for letter in letters), *((x, "a") for x in letters)]
    dictionary = Dictionary([*rules, ("aa", "a")])
    assert not agrees_with_leftmost(dictionary)
    barred = Dictionary([*rules[:1], *((x, "aa") for x in letters), *rules[1:], ("aa", "a")])
    assert agrees_with_leftmost(barred)
    aaa = barred.alphabet.number("aaa")
    assert barred.folding.birth[aaa] > 0
    assert (barred.right == aaa).sum() == 2000


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base.tiktoken", "o200k_base.tiktoken"])
def test_real_dictionaries_agree(data: Path, name: str) -> None:
    tokenizer = load(data / "vocabs" / name)
    assert isinstance(tokenizer, Tokenizer)
    assert len(tokenizer.dictionary) > 49_000
    assert agrees_with_leftmost(tokenizer.dictionary)

"""Dictionaries: reading rules, properness, live and dead rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.dictionaries import all_proper_dictionaries, proper_dictionaries
from tokdfa import Dictionary, Rule
from tokdfa.automata.bpe import tokenize_single_pass
from tokdfa.base.errors import AlphabetError, DictionaryError, ImproperDictionaryError

LOW = Dictionary.from_pairs([("l", "o"), ("lo", "w"), ("e", "r"), ("low", "er")])


def test_rules_in_order() -> None:
    assert list(LOW) == [Rule("l", "o"), Rule("lo", "w"), Rule("e", "r"), Rule("low", "er")]
    assert len(LOW) == 4
    assert LOW[-1] == ("low", "er")
    assert LOW[-1].product == "lower"
    assert LOW[1:3] == (Rule("lo", "w"), Rule("e", "r"))
    assert str(LOW[1]) == "lo≀w"
    assert Rule("e", "r") in LOW
    with pytest.raises(IndexError):
        LOW[4]


def test_tokens_are_numbered_as_the_rules_mention_them() -> None:
    assert list(LOW.alphabet) == ["e", "l", "o", "r", "w", "lo", "low", "er", "lower"]
    assert LOW.left.tolist() == [1, 5, 0, 6]
    assert LOW.right.tolist() == [2, 4, 3, 7]
    assert LOW.product.tolist() == [5, 6, 7, 8]
    assert LOW.birth.tolist() == [-1] * 5 + [0, 1, 2, 3]
    with pytest.raises(ValueError, match="read-only"):
        LOW.left[0] = 0


def test_default_alphabets() -> None:
    assert Dictionary.from_pairs([(b"a", b"b")]).alphabet.symbols == tuple(bytes([i]) for i in range(256))
    assert Dictionary.from_pairs([("b", "a")]).alphabet.symbols == ("a", "b")
    assert Dictionary.from_pairs([(("lo",), ("w",))]).alphabet.symbols == (("lo",), ("w",))
    assert len(Dictionary.from_pairs([])) == 0


def test_parts_over_longer_symbols_may_be_joined() -> None:
    dictionary = Dictionary.from_pairs([("l", "o"), ("lo", "w</w>")], ["l", "o", "w</w>"])
    assert list(dictionary) == [(("l",), ("o",)), (("l", "o"), ("w</w>",))]
    ambiguous = [("a", "b"), ("ab", "a")]
    with pytest.raises(DictionaryError, match=r"rule 1: ambiguous part: 'ab' \(write it as a tuple of symbols\)"):
        Dictionary.from_pairs(ambiguous, ["a", "b", "ab"])
    with pytest.raises(DictionaryError, match="rule 0: part that is neither a symbol nor made by an earlier rule"):
        Dictionary.from_pairs([("ab", "a")], ["a", "b", "x</w>"])


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([("a", "b"), ("a",)], r"rule 1: a rule must be a pair of words: \('a',\)"),
        ([("a", "b"), "ab"], "rule 1: a rule must be a pair of words: 'ab'"),
        ([("a", "")], "rule 0: a part of a rule must be a non-empty word: ''"),
        ([("a", 1)], "rule 0: a part of a rule must be a non-empty word: 1"),
        ([("a", "b"), (b"a", b"b")], "rule 1: one dictionary cannot have both bytes and strings"),
        ([("a", b"b")], "rule 0: one dictionary cannot have both bytes and strings"),
    ],
)
def test_what_is_not_a_rule(pairs, message: str) -> None:
    with pytest.raises(DictionaryError, match=message):
        Dictionary.from_pairs(pairs)


def test_rules_outside_the_alphabet_are_named() -> None:
    with pytest.raises(AlphabetError, match="rule 1: token 'ac' uses a symbol that is not in the base alphabet: 'c'"):
        Dictionary.from_pairs([("a", "b"), ("ac", "a")], "ab")
    with pytest.raises(AlphabetError, match=r"rule 1.*'c'"):
        Dictionary.from_pairs([("a", "b"), ("a", "c")], "ab")
    with pytest.raises(DictionaryError, match="rule 0: a rule over characters has parts of another type"):
        Dictionary.from_pairs([(b"a", b"b")], "ab")


@given(proper_dictionaries())
def test_prefixes_have_the_first_rules(dictionary: Dictionary) -> None:
    for length in range(len(dictionary) + 1):
        prefix = dictionary.prefix(length)
        assert tuple(prefix) == dictionary[:length]
        assert prefix.alphabet.symbols == dictionary.alphabet.symbols
        assert tuple(prefix.alphabet) == dictionary.alphabet[: len(prefix.alphabet)]
    for length in (-1, len(dictionary) + 1):
        with pytest.raises(DictionaryError, match="no such prefix"):
            dictionary.prefix(length)


def is_proper_by_definition(rules: list[tuple[str, str]]) -> bool:
    return all(
        len(part) == 1 or any(u + v == part for u, v in rules[:j]) for j, rule in enumerate(rules) for part in rule
    )


@given(st.lists(st.tuples(*[st.sampled_from(["a", "b", "ab", "ba", "aba", "abab"])] * 2), max_size=6))
def test_properness_is_that_of_the_definition(rules: list[tuple[str, str]]) -> None:
    dictionary = Dictionary.from_pairs(rules, "ab")
    verdict = dictionary.properness()
    assert bool(verdict) == is_proper_by_definition(rules)
    if verdict:
        dictionary.require_proper()
    else:
        offending = verdict.witness
        assert is_proper_by_definition(rules[: offending.index])
        assert not is_proper_by_definition(rules[: offending.index + 1])
        assert getattr(offending.rule, offending.side) == offending.part
        assert not any(u + v == offending.part for u, v in rules[: offending.index])
        with pytest.raises(ImproperDictionaryError, match=f"rule {offending.index}, {offending.rule}: no earlier rule"):
            dictionary.require_proper()


def assert_live_by_definition(dictionary: Dictionary) -> None:
    """A rule is live when the rules before it leave its parts as they are, a token when it is its own tokenization."""
    live = [
        index
        for index, rule in enumerate(dictionary)
        if tokenize_single_pass(dictionary.prefix(index), rule.product) == rule
    ]
    assert dictionary.live_rules.tolist() == live
    assert sorted([*live, *(dead.index for dead in dictionary.dead_rules)]) == list(range(len(dictionary)))
    dead_tokens = tuple(word for word in dictionary.alphabet if tokenize_single_pass(dictionary, word) != (word,))
    assert dictionary.dead_tokens == dead_tokens
    for dead in dictionary.dead_rules:
        assert dead.rule == dictionary[dead.index]
        if dead.blocker is None:
            assert dead.rule.left in dead_tokens or dead.rule.right in dead_tokens
        else:
            assert dead.blocker < dead.index
            assert dead.blocker in live
            assert f"rule {dead.blocker}" in dead.reason


def test_live_and_dead_rules_of_every_small_dictionary() -> None:
    for n_rules in range(4):
        for dictionary in all_proper_dictionaries("ab", n_rules):
            assert_live_by_definition(dictionary)


@given(proper_dictionaries(max_rules=14))
def test_live_and_dead_rules(dictionary: Dictionary) -> None:
    assert_live_by_definition(dictionary)


def test_reasons_for_dead_rules() -> None:
    rules = [("a", "b"), ("b", "c"), ("b", "d"), ("a", "bc"), ("abc", "d"), ("a", "b")]
    dictionary = Dictionary.from_pairs(rules)
    assert [(dead.index, dead.blocker) for dead in dictionary.dead_rules] == [(3, 0), (4, None), (5, 0)]
    assert [dead.reason for dead in dictionary.dead_rules] == [
        "rule 0, a≀b, merges across the boundary of its parts first",
        "no live rule makes its left part 'abc'",
        "it repeats rule 0",
    ]
    assert dictionary.dead_tokens == ("abc", "abcd")


def test_an_improper_dictionary_has_no_liveness() -> None:
    dictionary = Dictionary.from_pairs([("ab", "a")])
    for ask in ("folding", "live_rules", "dead_rules", "dead_tokens"):
        with pytest.raises(ImproperDictionaryError):
            getattr(dictionary, ask)


@given(proper_dictionaries(max_rules=4), proper_dictionaries(max_rules=4))
def test_equal_dictionaries_have_equal_fingerprints(first: Dictionary, second: Dictionary) -> None:
    assert (first == second) == (first.fingerprint == second.fingerprint)
    again = Dictionary.from_pairs(list(first), first.alphabet.symbols)
    assert again == first
    assert hash(again) == hash(first)
    assert again.fingerprint == first.fingerprint


def test_fingerprints_tell_kinds_and_boundaries_apart() -> None:
    dictionaries = [
        Dictionary.from_pairs([("a", "b")], "ab"),
        Dictionary.from_pairs([("a", "b")], "ba"),
        Dictionary.from_pairs([("a", "b")], "abc"),
        Dictionary.from_pairs([(b"a", b"b")], b"ab"),
        Dictionary.from_pairs([(("a",), ("b",))], [("a",), ("b",)]),
        Dictionary.from_pairs([("a", "b"), ("ab", "a")], "ab"),
        Dictionary.from_pairs([("a", "b"), ("a", "ba")], "ab"),
        Dictionary.from_pairs([("ab", "a"), ("a", "b")], "ab"),
    ]
    assert len({dictionary.fingerprint for dictionary in dictionaries}) == len(dictionaries)
    # Fingerprints are written down, so they stay what they are.
    assert dictionaries[0].fingerprint == "243ec26cd9b39461c7fdb901bd598da238131234b619233fa74c088aa9eae382"


def test_it_shows_its_first_rules() -> None:
    assert repr(LOW) == "<Dictionary of 4 rules over 5 characters: [l≀o, lo≀w, e≀r, low≀er]>"
    assert repr(Dictionary.from_pairs([("a", "a")] * 7)).endswith("a≀a, …]>")

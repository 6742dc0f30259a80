"""Comparing dictionaries: against all short words, and on real dictionaries with one thing changed."""

from __future__ import annotations

import random
from functools import lru_cache
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given, settings

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.support.dictionaries import all_proper_dictionaries, all_words, proper_dictionaries
from tests.support.inclusion import equivalence
from tests.support.permutations import permutation_safety
from tokdfa import Dictionary, Rule, compare, default_tokenizer
from tokdfa.automata.bpe import tokenize_leftmost, tokenize_single_pass
from tokdfa.base.errors import AlphabetError, ImproperDictionaryError, WrongTypeError
from tokdfa.jobs.comparison.result import Outcome, Part


@lru_cache(maxsize=2000)
def _tokenizations(dictionary: Dictionary, longest: int) -> dict[str, tuple[str, ...]]:
    return {word: tokenize_single_pass(dictionary, word) for word in all_words("ab", longest)}


def _least_difference(a: Dictionary, b: Dictionary, longest: int) -> str | None:
    """The text on which two dictionaries differ: fewest symbols, fewest tokens in both together, least."""
    of_a, of_b = _tokenizations(a, longest), _tokenizations(b, longest)
    texts = [word for word in of_a if of_a[word] != of_b[word]]
    return min(texts, key=lambda word: (len(word), len(of_a[word]) + len(of_b[word]), word), default=None)


def assert_compared_by_enumeration(a: Dictionary, b: Dictionary, longest: int) -> None:
    found, text = compare(a, b), _least_difference(a, b, longest)
    if text is None:
        assert found or len(found.witness.text) > longest
    else:
        assert not found
        assert found.witness.text == text
        assert found.witness.tokens_a == _tokenizations(a, longest)[text]
        assert found.witness.tokens_b == _tokenizations(b, longest)[text]
    pairs = found.pairs_only_a + found.pairs_only_b
    assert bool(found) == (not (pairs or found.n_tokens_only_a or found.n_tokens_only_b))


def test_all_pairs_of_dictionaries_of_up_to_two_rules(tally: Tally) -> None:
    # Their tokens have at most four symbols, and a least difference at most two tokens.
    dictionaries = [d for n in range(3) for d in all_proper_dictionaries("ab", n)]
    for a in dictionaries:
        for b in dictionaries:
            assert_compared_by_enumeration(a, b, 8)
    tally("comparison", "exhaustive cases", len(dictionaries) ** 2)


def test_two_rules_are_exchanged_iff_another_order_of_the_same_live_rules_differs() -> None:
    seen = set()
    for a in all_proper_dictionaries("ab", 3):
        for order in permutations(a):
            b = Dictionary(order, "ab")
            if b.properness() and {*map(a.__getitem__, a.live_rules)} == {*map(b.__getitem__, b.live_rules)}:
                found = compare(a, b)
                exchanged = [Rule(*parts) for _, *parts in found.exchanged_rules]
                assert bool(exchanged) == (not found)
                assert [a[number] for number, *_ in found.exchanged_rules] == exchanged
                assert sorted(exchanged, key=order.index) == exchanged[::-1]
                seen.add((order == tuple(a), bool(found)))
    assert seen == {(True, True), (False, True), (False, False)}


@pytest.mark.slow
def test_pairs_of_dictionaries_of_up_to_three_rules(tally: Tally) -> None:
    dictionaries = [d for n in range(4) for d in all_proper_dictionaries("ab", n)]
    for i, a in enumerate(dictionaries):
        # All of up to two rules are among the first; of the others every seventh.
        for b in {*dictionaries[: min(i, 40)], *dictionaries[i % 7 : i : 7]}:
            assert_compared_by_enumeration(a, b, 9)
            tally("comparison", "exhaustive cases", 1)


@settings(max_examples=150)
@given(proper_dictionaries("ab", 4), proper_dictionaries("ab", 4))
def test_random_pairs(a: Dictionary, b: Dictionary) -> None:
    assert_compared_by_enumeration(Dictionary(a, "ab"), Dictionary(b, "ab"), 9)


@settings(max_examples=60)
@given(proper_dictionaries("abc", 6), proper_dictionaries("abc", 6))
def test_the_answer_is_that_of_explicit_automata(a: Dictionary, b: Dictionary) -> None:
    a, b = Dictionary(a, "abc"), Dictionary(b, "abc")
    assert bool(compare(a, b)) == bool(tokdfa.token_dfa(a).equivalence(tokdfa.token_dfa(b)))
    assert bool(compare(a, a))
    assert bool(compare(a, b)) == bool(compare(b, a))


def test_what_is_reported() -> None:
    a = Dictionary([("a", "b"), ("b", "c"), ("ab", "c"), ("a", "bc")], "abc")
    b = Dictionary([("b", "c"), ("a", "b")], "abc")
    found = compare(a, b)
    assert found.witness == ("abc", ("abc",), ("a", "bc"))
    assert found.reason == "'abc' has different tokens"
    assert (found.tokens_only_a, found.tokens_only_b) == (("abc",), ())
    assert (found.n_tokens_only_a, found.n_tokens_only_b) == (1, 0)
    assert (found.n_dead_a, found.n_dead_b) == (0, 0)
    assert (found.pairs_only_a, found.pairs_only_b) == pair_counts(a, b)
    assert found.checked[Part.LIVE_TOKENS] is found.checked[Part.ALLOWED_PAIRS] is Outcome.DIFFERENT
    assert found.checked[Part.SHORTEST] is Outcome.PROVEN


def pair_counts(a: Dictionary, b: Dictionary) -> tuple[int, int]:
    """The number of pairs of common live tokens that only one of two dictionaries keeps apart, by Algorithm 1."""
    words = [word for word in a.alphabet if word in b.alphabet]
    live = [word for word in words if all(tokenize_single_pass(d, word) == (word,) for d in (a, b))]
    kept = [{(u, v) for u in live for v in live if tokenize_single_pass(d, u + v) == (u, v)} for d in (a, b)]
    return len(kept[0] - kept[1]), len(kept[1] - kept[0])


def test_a_symbol_that_one_lacks() -> None:
    found = compare(Dictionary([("a", "b")], "abc"), Dictionary([("a", "b")], "abd"))
    assert found.witness == ("c", ("c",), None)
    assert (found.tokens_only_a, found.tokens_only_b) == (("c",), ("d",))


def test_dead_rules_make_no_difference() -> None:
    a = Dictionary([("a", "b"), ("b", "c"), ("b", "d"), ("a", "bc")], "abcd")
    b = Dictionary([("a", "b"), ("b", "c"), ("b", "d"), ("a", "bd")], "abcd")
    found = compare(a, b)
    assert found
    assert (found.n_dead_a, found.n_dead_b) == (1, 1)
    assert not permutation_safety(a, b)


@pytest.mark.parametrize("symbols", [b"ab", ["lo", "w"]])
def test_the_other_kinds_of_words(symbols) -> None:
    x, y = Dictionary([], symbols).alphabet.symbols
    a, b = Dictionary([(x, y), (y, x)], symbols), Dictionary([(y, x), (x, y)], symbols)
    assert compare(a, b).witness == (x + y + x, (x + y, x), (x, y + x))
    assert not compare(a, Dictionary([(x, y)], symbols))


def test_what_cannot_be_compared() -> None:
    proper = Dictionary([("a", "b")], "ab")
    with pytest.raises(ImproperDictionaryError):
        compare(proper, Dictionary([("ab", "a"), ("a", "b")], "ab"))
    with pytest.raises(AlphabetError, match="over characters cannot be compared with one over bytes"):
        compare(proper, Dictionary([(b"a", b"b")]))
    with pytest.raises(WrongTypeError, match="a tokenizer or a dictionary is expected, not a str: 'ab'"):
        compare(proper, "ab")
    with pytest.raises(AlphabetError, match="only two dictionaries, or two tokenizers, can"):
        compare(proper, default_tokenizer())


def test_merging_leftmost_is_told_to_be_another_function() -> None:
    # A later rule brings a part of an earlier one to life, so that Algorithm 1 and the libraries part on bababab.
    late = Dictionary([("b", "a"), ("ba", "b"), ("bab", "a"), ("baba", "bab"), ("ba", "ba")], "ab")
    without = Dictionary([("b", "a"), ("ba", "b"), ("bab", "a"), ("ba", "ba")], "ab")
    assert tokenize_single_pass(late, "bababab") != tokenize_leftmost(late, "bababab")
    for a, b in ((late, without), (late, late)):
        assert compare(a, b).checked[Part.SEMANTICS] is Outcome.DIFFERENT
    assert_compared_by_enumeration(late, without, 12)
    assert compare(without, without).checked[Part.SEMANTICS] is Outcome.SAME
    # Of a rule that is given twice only the second one may be live.
    twice = Dictionary([*late, late[3]], "ab")
    assert compare(twice, twice).checked[Part.SEMANTICS] is Outcome.SAME
    assert compare(twice, late).checked[Part.SEMANTICS] is Outcome.DIFFERENT


def _changes(dictionary: Dictionary, rng: random.Random) -> dict[str, Dictionary]:
    """The dictionary with its last rules exchanged safely and not, one dropped, one added."""
    rules, symbols = list(dictionary), dictionary.alphabet.symbols
    changed = {}
    safe = rules[:]
    for _ in range(300):
        i = rng.randrange(len(safe) - 1)
        attempt = [*safe[:i], safe[i + 1], safe[i], *safe[i + 2 :]]
        if _commute(safe[i], safe[i + 1]):
            safe = attempt
    changed["safe"] = Dictionary(safe, symbols)
    while "unsafe" not in changed:
        i = rng.randrange(len(rules) - 1)
        j = rng.randrange(i + 1, min(i + 400, len(rules)))
        if not _commute(rules[i], rules[j]):
            attempt = [*rules[:i], rules[j], *rules[i + 1 : j], rules[i], *rules[j + 1 :]]
            if Dictionary(attempt, symbols).properness():
                changed["unsafe"] = Dictionary(attempt, symbols)
    used = {part for rule in rules for part in rule}
    while "dropped" not in changed:
        i = rng.randrange(len(rules))
        if rules[i].product not in used:
            changed["dropped"] = Dictionary([*rules[:i], *rules[i + 1 :]], symbols)
    while "added" not in changed:
        i = rng.randrange(len(rules) // 2, len(rules))
        rule = (rules[rng.randrange(i)].product, rules[rng.randrange(i)].product)
        changed["added"] = Dictionary([*rules[:i], rule, *rules[i:]], symbols)
    return changed


def _commute(one, other) -> bool:
    from tokdfa.training.theory import overlap_conflict

    return not overlap_conflict(*(rule.product.decode("latin-1") for rule in (one, other)))


def assert_witness_differs(a: Dictionary, b: Dictionary, kind: str) -> str:
    found = compare(a, b)
    if kind == "safe":
        assert found
        assert permutation_safety(a, b)
    if found:
        return "equivalent"
    text, tokens_a, tokens_b = found.witness
    assert tokens_a != tokens_b
    assert tokens_a == tokenize_leftmost(a, text)
    assert tokens_b == tokenize_leftmost(b, text)
    return "different"


def test_the_embedded_dictionary_with_one_thing_changed() -> None:
    dictionary = tokdfa.default_dictionary()
    rng = random.Random(3)
    outcomes = set()
    for _ in range(3):
        for kind, changed in _changes(dictionary, rng).items():
            outcomes.add((kind, assert_witness_differs(dictionary, changed, kind)))
    assert {("safe", "equivalent"), ("dropped", "different"), ("added", "different")} <= outcomes


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gpt2/merges.txt", "cl100k_base.tiktoken"])
def test_real_dictionaries_with_one_thing_changed(data: Path, name: str) -> None:
    dictionary = tokdfa.load(data / "vocabs" / name, pretokenizer="none").dictionary
    rng = random.Random(5)
    for _ in range(2):
        for kind, changed in _changes(dictionary, rng).items():
            assert_witness_differs(dictionary, changed, kind)


def test_the_protocol_says_the_same() -> None:
    # The compact automata themselves, compared pair of states by pair of states.
    a = Dictionary([("a", "b"), ("b", "a"), ("ab", "ab")], "ab")
    b = Dictionary([("a", "b"), ("ab", "ab"), ("b", "a")], "ab")
    assert list(a.alphabet) != list(b.alphabet)
    c = tokdfa.CompactTokenDFA(a)
    assert equivalence(c, tokdfa.CompactTokenDFA(a))
    assert bool(compare(a, b)) == (_least_difference(a, b, 10) is None)

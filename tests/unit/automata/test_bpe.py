"""The oracle itself: its three semantics, where they agree and where they do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.dictionaries import all_proper_dictionaries, all_words, proper_dictionaries
from tokdfa import Dictionary
from tokdfa.automata.bpe import tokenize_leftmost, tokenize_rounds, tokenize_single_pass
from tokdfa.automata.semantics import agrees_with_leftmost
from tokdfa.base.errors import AlphabetError

ALL_SEMANTICS = [tokenize_single_pass, tokenize_leftmost, tokenize_rounds]


@pytest.mark.parametrize("tokenize", ALL_SEMANTICS)
def test_no_rules_give_the_base_tokenization(tokenize) -> None:
    dictionary = Dictionary.from_pairs([], "ab")
    assert tokenize(dictionary, "abba") == ("a", "b", "b", "a")
    assert tokenize(dictionary, "") == ()


@pytest.mark.parametrize("tokenize", ALL_SEMANTICS)
def test_merges_are_made_from_the_left(tokenize) -> None:
    assert tokenize(Dictionary.from_pairs([("a", "a")], "a"), "aaa") == ("aa", "a")


@pytest.mark.parametrize("tokenize", ALL_SEMANTICS)
def test_the_three_kinds_of_words(tokenize) -> None:
    assert tokenize(Dictionary.from_pairs([(b"\x00", b"\xff")]), b"\x00\xff\x00") == (b"\x00\xff", b"\x00")
    assert tokenize(Dictionary.from_pairs([("é", "漢")]), "é漢é") == ("é漢", "é")
    by_symbols = Dictionary.from_pairs([("o", "</w>"), ("l", "o</w>")], ["l", "o", "</w>"])
    assert tokenize(by_symbols, ["l", "o", "</w>", "l"]) == (("l", "o", "</w>"), ("l",))


@pytest.mark.parametrize("tokenize", ALL_SEMANTICS)
def test_a_foreign_symbol_is_refused_with_its_offset(tokenize) -> None:
    with pytest.raises(AlphabetError, match=r"offset 2.*'c'"):
        tokenize(Dictionary.from_pairs([("a", "b")]), "abc")


def test_a_rule_given_twice_has_the_priority_of_its_first_place() -> None:
    dictionary = Dictionary.from_pairs([("a", "b"), ("b", "a"), ("a", "b")], "ab")
    assert tokenize_leftmost(dictionary, "bab") == tokenize_rounds(dictionary, "bab") == ("b", "ab")


def test_semantics_agree_on_every_small_proper_dictionary() -> None:
    cases = 0
    for n_rules in range(4):
        for dictionary in all_proper_dictionaries("ab", n_rules):
            for word in all_words("ab", 5):
                cases += 1
                expected = tokenize_single_pass(dictionary, word)
                assert tokenize_leftmost(dictionary, word) == expected, (dictionary, word)
                assert tokenize_rounds(dictionary, word) == expected, (dictionary, word)
    assert cases == 30_555  # 1 + 4 + 32 + 448 dictionaries, 63 words each


@given(proper_dictionaries(), st.data())
def test_semantics_agree_on_proper_dictionaries_iff_the_criterion_says_so(
    dictionary: Dictionary, data: st.DataObject
) -> None:
    dictionary = Dictionary(dict.fromkeys(dictionary), dictionary.alphabet.symbols)
    word = data.draw(st.text(dictionary.alphabet.symbols, max_size=40))
    verdict = agrees_with_leftmost(dictionary)
    differing = None if verdict.witness is None else verdict.witness.text
    for text in [word, *(rule.product for rule in dictionary)]:
        expected = tokenize_single_pass(dictionary, text)
        assert "".join(map(str, expected)) == text
        if verdict:
            assert tokenize_leftmost(dictionary, text) == tokenize_rounds(dictionary, text) == expected
        elif text == differing:
            assert tokenize_leftmost(dictionary, text) != expected != tokenize_rounds(dictionary, text)


def test_semantics_differ_on_proper_dictionaries() -> None:
    # The smallest ones, and one with a text on which only leftmost merging differs.
    for rules, text in (
        ([("a", "a"), ("a", "aa"), ("aa", "aaa"), ("aa", "a")], "aaaaa"),
        ([("a", "a"), ("a", "aa"), ("b", "aaa"), ("aa", "a")], "baaa"),
    ):
        dictionary = Dictionary(rules)
        assert dictionary.properness()
        assert tokenize_single_pass(dictionary, text) == rules[2]
        assert tokenize_leftmost(dictionary, text) == tokenize_rounds(dictionary, text) == (text,)
    dictionary = Dictionary([("a", "b"), ("b", "c"), ("a", "bc"), ("abc", "ab"), ("ab", "c")])
    assert dictionary.properness()
    assert tokenize_leftmost(dictionary, "abcabc") == ("abcab", "c")
    assert tokenize_rounds(dictionary, "abcabc") == tokenize_single_pass(dictionary, "abcabc") == ("abc", "abc")

"""One-pass tokenization against Algorithm 1."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.campaigns.evidence.tally import Tally
from tests.support.dictionaries import all_proper_dictionaries, all_words, proper_dictionaries
from tokdfa import Dictionary, TokdfaError
from tokdfa.automata.bpe import tokenize_leftmost, tokenize_single_pass
from tokdfa.automata.transducers.one_pass import OnePass


@pytest.mark.parametrize("n_rules", [0, 1, 2])
def test_all_small_dictionaries_and_all_short_words(n_rules: int) -> None:
    for dictionary in all_proper_dictionaries("ab", n_rules):
        evaluate = OnePass(dictionary)
        for word in all_words("ab", 8):
            assert evaluate(word) == tokenize_single_pass(dictionary, word), (dictionary, word)


@pytest.mark.slow
def test_all_dictionaries_of_three_rules(tally: Tally) -> None:
    words = list(all_words("ab", 8))
    for dictionary in all_proper_dictionaries("ab", 3):
        evaluate = OnePass(dictionary)
        for word in words:
            assert evaluate(word) == tokenize_single_pass(dictionary, word), (dictionary, word)
        tally("construction", "exhaustive cases", len(words))


@given(proper_dictionaries(max_rules=14), st.data())
def test_random_dictionaries(dictionary: Dictionary, data: st.DataObject) -> None:
    evaluate = OnePass(dictionary)
    symbols = "".join(map(str, dictionary.alphabet.symbols))
    for _ in range(20):
        word = data.draw(st.text(symbols, max_size=40))
        assert evaluate(word) == tokenize_single_pass(dictionary, word)


def test_words_of_near_merges() -> None:
    # Concatenated tokens put boundaries where rules nearly apply, and long words make the walk step back.
    draw = random.Random(3)
    for _ in range(60):
        tokens, rules = list("ab"), []
        for _ in range(draw.randrange(4, 30)):
            rule = (draw.choice(tokens[-4:]), draw.choice(tokens[-8:]))
            if len(rule[0] + rule[1]) <= 40 and rule not in rules:
                rules.append(rule)
                tokens.append(rule[0] + rule[1])
        dictionary = Dictionary.from_pairs(rules, "ab")
        evaluate = OnePass(dictionary)
        for _ in range(10):
            word = "".join(draw.choice(tokens) for _ in range(draw.randrange(1, 12)))
            assert evaluate(word) == tokenize_single_pass(dictionary, word)


def test_every_kind_of_word() -> None:
    for rules, alphabet, word in (
        ([(b"\xff", b"\0"), (b"\xff\0", b"\0")], None, b"\xff\0\0\xff\0\xff"),
        ([("é", "\U0001f600"), ("\ud800", "é")], None, "éé\U0001f600\ud800é\U0001f600"),
        ([(("a",), ("b</w>",)), (("a", "b</w>"), ("a",))], ["a", "b", "b</w>"], ("a", "b</w>", "a", "b", "a", "b</w>")),
    ):
        dictionary = Dictionary.from_pairs(rules, alphabet)  # type: ignore[arg-type]
        assert OnePass(dictionary)(word) == tokenize_single_pass(dictionary, word)


def test_more_symbols_than_there_are_characters_below_the_surrogates() -> None:
    symbols = [f"<{number}>" for number in range(0xE000)]
    dictionary = Dictionary.from_pairs([((symbols[0xD7FF],), (symbols[0xD800],))], symbols)
    word = (symbols[0xDFFF], symbols[0xD7FF], symbols[0xD800], symbols[0])
    assert OnePass(dictionary)(word) == ((word[0],), word[1:3], (word[3],))


def test_empty_word_and_empty_dictionary() -> None:
    evaluate = OnePass(Dictionary.from_pairs([], "ab"))
    assert evaluate("") == ()
    assert evaluate("abba") == ("a", "b", "b", "a")
    assert OnePass(Dictionary.from_pairs([], ""))("") == ()


@pytest.mark.parametrize(
    ("rules", "alphabet", "word", "message"),
    [
        ([("a", "b")], "ab", "abxab", "^offset 2: the symbol is not in the base alphabet: 'x'$"),
        ([("a", "b")], "ab", "ab\ud800", "^offset 2: the symbol is not in the base alphabet: "),
        ([(b"a", b"b")], b"ab", b"aab\xff", "^offset 3: the symbol is not in the base alphabet: "),
        ([("a", "b")], ["a", "b", "c</w>"], ("a", "b", "c"), "^offset 2: the symbol is not in the base alphabet: "),
        ([("a", "b")], "ab", b"ab", "expected a word over characters, not bytes"),
    ],
)
def test_foreign_symbols_are_named_with_their_offset(rules, alphabet, word, message) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(TokdfaError, match=message):
        OnePass(Dictionary.from_pairs(rules, alphabet)).tokenize(word)


def test_improper_dictionary_is_refused() -> None:
    with pytest.raises(TokdfaError, match="not proper"):
        OnePass(Dictionary.from_pairs([("ab", "a"), ("a", "b")], "ab"))


def test_stepping_back_does_not_repeat_itself() -> None:
    # Every token is a run of one letter, so that the longest token at a place is wrong again and again.
    rules = [("a" * length, "a") for length in range(1, 60)]
    evaluate = OnePass(Dictionary.from_pairs([*rules, ("b", "a" * 30)], "ab"))
    word = ("a" * 59 + "b") * 20_000
    start = time.perf_counter()
    assert "".join(map(str, evaluate(word))) == word
    assert time.perf_counter() - start < 20


def test_it_is_algorithm_1_where_the_semantics_differ() -> None:
    # Rule 2 is dead, so that only rule 4 makes baba, too late for rule 3.
    rules = [("b", "a"), ("ba", "b"), ("bab", "a"), ("baba", "bab"), ("ba", "ba")]
    dictionary = Dictionary.from_pairs(rules, "ab")
    assert tokenize_leftmost(dictionary, "bababab") == ("bababab",)
    assert OnePass(dictionary)("bababab") == tokenize_single_pass(dictionary, "bababab") == ("baba", "bab")

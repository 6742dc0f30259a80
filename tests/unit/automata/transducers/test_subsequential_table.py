"""Transducers as tables: against determinization, minimization and Algorithm 1."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given

from tests.support.dictionaries import all_proper_dictionaries, proper_dictionaries
from tokdfa import Dictionary, Transducer, determinize, token_dfa, tokenize_single_pass, train_greedy
from tokdfa.automata.transducers.determinize import minimize, onward
from tokdfa.automata.transducers.subsequential import TransducerTable
from tokdfa.base.errors import ImproperDictionaryError, LimitExceededError
from tokdfa.tokenizers.loading import default_dictionary

MANY = 1_000_000


def trained(n_rules: int) -> Dictionary:
    """A dictionary that makes some thousand states: trained on words with many common parts."""
    draw = random.Random(3)
    words = ["".join(draw.choices("aabcde", k=draw.randrange(3, 9))) for _ in range(4000)]
    return train_greedy(Counter(words), n_rules)


@pytest.mark.parametrize("n_rules", [0, 1, 2])
def test_small_dictionaries(n_rules: int) -> None:
    for dictionary in all_proper_dictionaries("ab", n_rules):
        assert_table_is_transducer(dictionary)


@given(proper_dictionaries("abc", max_rules=8))
def test_random_dictionaries(dictionary: Dictionary) -> None:
    assert_table_is_transducer(dictionary)


def assert_table_is_transducer(dictionary: Dictionary) -> None:
    expected = determinize(Transducer.from_token_dfa(token_dfa(dictionary)), check=False)
    table = TransducerTable.of(dictionary, max_states=MANY)
    assert table.transducer() == expected
    # All tokens are written as early as can be; so blocks of states are all there is to minimization.
    assert onward(expected) == expected
    assert table.minimal().transducer() == minimize(expected)


def test_more_states_than_there_is_room_for_at_first() -> None:
    dictionary = trained(120)
    table = TransducerTable.of(dictionary, max_states=MANY)
    assert table.n_states > 3_000
    assert_table_is_transducer(dictionary)
    transducer, minimal = table.transducer(), table.minimal().transducer()
    draw = random.Random(4)
    for _ in range(200):
        word = "".join(draw.choices("abcde", k=draw.randrange(30)))
        assert transducer(word) == tokenize_single_pass(dictionary, word) == minimal(word)


def test_budgets_of_states_are_kept() -> None:
    with pytest.raises(LimitExceededError, match="more than 3000 states"):
        TransducerTable.of(trained(120), max_states=3_000)
    with pytest.raises(LimitExceededError, match="more than 2000 states"):
        TransducerTable.of(default_dictionary(), max_states=2_000)
    with pytest.raises(ImproperDictionaryError):
        TransducerTable.of(Dictionary.from_pairs([("ab", "a"), ("a", "b")], "ab"), max_states=9)

"""The transducer built as texts ask for it: against determinization, Algorithm 1, and all continuations."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.dictionaries import all_proper_dictionaries, all_words, proper_dictionaries
from tokdfa import Dictionary, Transducer, determinize, token_dfa, tokenize_single_pass
from tokdfa.automata.transducers.subsequential import SubsequentialTransducer
from tokdfa.base.errors import AlphabetError, LimitExceededError
from tokdfa.tokenizers.loading import default_dictionary


@pytest.mark.parametrize("n_rules", [0, 1, 2])
def test_it_is_the_determinized_transducer(n_rules: int) -> None:
    for dictionary in all_proper_dictionaries("ab", n_rules):
        explicit = SubsequentialTransducer(dictionary).explicit()
        assert explicit == determinize(Transducer.from_token_dfa(token_dfa(dictionary)), check=False)


@given(proper_dictionaries("abc", max_rules=7))
def test_it_is_the_determinized_transducer_of_random_dictionaries(dictionary: Dictionary) -> None:
    expected = determinize(Transducer.from_token_dfa(token_dfa(dictionary)), check=False)
    assert SubsequentialTransducer(dictionary).explicit() == expected


@given(proper_dictionaries("ab", max_rules=8), st.data())
def test_streams_give_algorithm_1_in_any_parts(dictionary: Dictionary, data: st.DataObject) -> None:
    transducer = SubsequentialTransducer(dictionary, max_states=data.draw(st.sampled_from([1, 2, 5, 1000])))
    symbols = "".join(map(str, dictionary.alphabet.symbols))
    word = data.draw(st.text(symbols, max_size=40))
    expected = tokenize_single_pass(dictionary, word)
    assert transducer(word) == expected
    stream = transducer.stream()
    for size in data.draw(st.lists(st.integers(1, 40), min_size=1, max_size=3)):
        parts = [stream.feed(word[at : at + size]) for at in range(0, len(word), size)]
        assert stream.n_read == len(word)
        tokens = np.concatenate((*parts, stream.finish()))
        assert dictionary.alphabet.spell(tokens.tolist()) == expected


@given(proper_dictionaries("ab", max_rules=6), st.text("ab", max_size=8))
@settings(max_examples=60)
def test_tokens_come_when_all_continuations_agree(dictionary: Dictionary, word: str) -> None:
    if dictionary.alphabet.n_symbols < 2:
        return
    stream = SubsequentialTransducer(dictionary).stream()
    written: list[int] = []
    for end in range(1, len(word) + 1):
        written += stream.feed(word[end - 1]).tolist()
        # Tokens of the dictionary reach this far: output that no continuation of this length changes is final.
        continuations = [word[:end] + more for more in all_words("ab", 5)]
        outputs = [tokenize_single_pass(dictionary, continuation) for continuation in continuations]
        agreed = next(
            i for i in range(end + 1) if i == len(outputs[0]) or any(o[: i + 1] != outputs[0][: i + 1] for o in outputs)
        )
        spelled = dictionary.alphabet.spell(written)
        assert outputs[0][: len(spelled)] == spelled
        if dictionary.alphabet.longest <= 5:
            assert len(spelled) == agreed
        assert stream.delay == end - sum(map(len, spelled))


def test_delay_is_measured() -> None:
    dictionary = Dictionary.from_pairs([("a", "b"), ("ab", "ab")], "ab")
    stream = SubsequentialTransducer(dictionary).stream()
    assert stream.feed("aba").tolist() == []
    assert (stream.n_read, stream.n_settled, stream.delay) == (3, 0, 3)
    assert dictionary.alphabet.spell(stream.feed("a").tolist()) == ("ab", "a")
    assert (stream.delay, stream.longest_delay) == (1, 3)
    assert dictionary.alphabet.spell(stream.finish().tolist()) == ("a",)
    assert stream.delay == 0


def test_bounded_states_on_a_larger_dictionary() -> None:
    dictionary = default_dictionary()
    draw = random.Random(6)
    tokens = [dictionary.alphabet[draw.randrange(len(dictionary.alphabet))] for _ in range(300)]
    text = b"".join(tokens)  # type: ignore[arg-type]
    transducers = [SubsequentialTransducer(dictionary, max_states=n) for n in (1, 50, 100_000)]
    expected = transducers[0].tokenize(text)
    for transducer in transducers:
        for size in (1, 7, 64, len(text)):
            stream = transducer.stream()
            parts = [stream.feed(text[at : at + size]) for at in range(0, len(text), size)]
            assert np.array_equal(np.concatenate((*parts, stream.finish())), expected)
    assert transducers[0].n_states <= 1
    assert 0 < transducers[1].n_states <= 50


def test_every_kind_of_symbol_and_foreign_ones() -> None:
    words = Dictionary.from_pairs([(("a",), ("b</w>",))], ["a", "b", "b</w>"])
    stream = SubsequentialTransducer(words).stream()
    tokens = np.concatenate((stream.feed(("a", "b</w>")), stream.finish()))
    assert words.alphabet.spell(tokens.tolist()) == (("a", "b</w>"),)
    stream = SubsequentialTransducer(Dictionary.from_pairs([("a", "b")], "ab")).stream()
    stream.feed("ab")
    with pytest.raises(AlphabetError, match="offset 3: the symbol is not in the base alphabet: 'x'"):
        stream.feed("axb")
    with pytest.raises(AlphabetError, match="offset 1: the symbol is not in the base alphabet: 'x'"):
        SubsequentialTransducer(Dictionary.from_pairs([("a", "b")], "ab"))("ax")


def test_budget_of_explicit_states() -> None:
    dictionary = Dictionary.from_pairs([("a", "b"), ("b", "a")], "ab")
    with pytest.raises(LimitExceededError, match="more than 2 states"):
        SubsequentialTransducer(dictionary).explicit(max_states=2)

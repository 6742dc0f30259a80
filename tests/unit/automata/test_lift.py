"""Lifting: tokenizations of the words of a language, and the correct ones among them."""

from __future__ import annotations

import random
import re
from itertools import islice, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokdfa
from tests.support.automata import iter_tokenizations, string_dfas
from tests.support.dictionaries import proper_dictionaries
from tests.support.inclusion import equivalence, inclusion
from tokdfa import Dictionary, TokenAlphabet, TokenDFA
from tokdfa.automata.boolean import complement, difference, intersection, union
from tokdfa.automata.bpe import tokenize_leftmost, tokenize_single_pass
from tokdfa.automata.language import Language
from tokdfa.automata.lift import language, lift, tokenized_language
from tokdfa.automata.protocol import accepts
from tokdfa.base.errors import AutomatonError, ImproperDictionaryError
from tokdfa.regex.trie import TokenTrie

ALPHABET = TokenAlphabet("ab", ["ab", "abb", "ba", "bb", "abab"])


@given(string_dfas("ab"))
def test_a_tokenization_is_lifted_when_its_text_is_accepted(dfa: TokenDFA) -> None:
    lifted = lift(dfa, ALPHABET)
    for sequence in iter_tokenizations(len(ALPHABET), 3):
        assert accepts(lifted, sequence) == dfa.accepts(ALPHABET.base_tokenization(ALPHABET.text(sequence)))


@given(string_dfas("ab"))
def test_moves_and_steps_agree(dfa: TokenDFA) -> None:
    lifted = lift(dfa, ALPHABET)
    for state in range(dfa.n_states):
        steps = [(token, lifted.step(state, token)) for token in range(-1, len(ALPHABET) + 1)]
        expected = [(token, target) for token, target in steps if target is not None]
        assert list(lifted.moves(state)) == expected
        assert list(lifted.moves(state)) == expected  # kept


@given(string_dfas("ab"))
def test_the_symbols_among_the_tokens_give_the_language_back(dfa: TokenDFA) -> None:
    lifted = lift(dfa, TokenAlphabet("ab"))
    assert equivalence(lifted, dfa)


@given(string_dfas("ab", 3), string_dfas("ab", 3))
def test_lifting_is_a_homomorphism_of_boolean_algebras(first: TokenDFA, second: TokenDFA) -> None:
    def explicit(automaton) -> TokenDFA:
        return TokenDFA.from_automaton(automaton, first.alphabet)

    def lifted(automaton):
        return lift(explicit(automaton), ALPHABET)

    a, b = lift(first, ALPHABET), lift(second, ALPHABET)
    assert equivalence(lifted(intersection(first, second)), intersection(a, b))
    assert equivalence(lifted(union(first, second)), union(a, b))
    assert equivalence(lifted(difference(first, second)), difference(a, b))
    assert equivalence(lifted(complement(first, 2)), complement(a, len(ALPHABET)))
    assert bool(inclusion(first, second)) == bool(inclusion(a, b))


@given(proper_dictionaries("ab", 4), string_dfas("ab", 4))
def test_the_lazy_product_is_algorithm_2(dictionary: Dictionary, dfa: TokenDFA) -> None:
    language = TokenDFA.from_automaton(intersection(dfa, TokenDFA.universal("ab")), TokenAlphabet("ab"))
    dictionary = Dictionary(dictionary, "ab")
    assert equivalence(tokenized_language(dictionary, language), tokdfa.token_dfa(dictionary, language))


@given(proper_dictionaries("ab", 5), string_dfas("ab", 4))
def test_it_is_what_algorithm_1_makes_of_every_word(dictionary: Dictionary, dfa: TokenDFA) -> None:
    dictionary = Dictionary(dictionary, "ab")
    found = tokenized_language(dictionary, dfa)
    for word in ("", *map("".join, _words("ab", 7))):
        tokens = dictionary.alphabet.numbers(tokenize_single_pass(dictionary, word))
        assert accepts(found, tokens) == dfa.accepts(dfa.alphabet.base_tokenization(word))


@pytest.mark.filterwarnings("ignore::tokdfa.automata.protocol.DeadEndWarning")
@given(proper_dictionaries("ab", 5), string_dfas("ab", 4), string_dfas("ab", 3))
def test_masks_tell_the_moves(dictionary: Dictionary, dfa: TokenDFA, other: TokenDFA) -> None:
    dictionary = Dictionary(dictionary, "ab")
    found = tokenized_language(dictionary, dfa)
    lifted = lift(other, dictionary.alphabet)
    for automaton in (
        TokenDFA.from_automaton(found, dictionary.alphabet),
        found.second,
        found,
        *(operation(found, lifted) for operation in (union, difference, intersection)),
    ):
        states = [automaton.initial]
        for state in states:  # grows while it is walked
            moves = dict(automaton.moves(state))
            assert np.flatnonzero(automaton.allowed_mask(state)).tolist() == sorted(moves)
            states += [target for target in moves.values() if target not in states]


def test_masks_of_what_has_none() -> None:
    combined = intersection(complement(TokenDFA.universal("ab"), 2), TokenDFA.universal("ab"))
    with pytest.raises(AutomatonError, match="has no masks"):
        combined.allowed_mask(combined.initial)


@pytest.mark.parametrize("pattern", ["[0-9]{4}", "yes|no|maybe", " (?:May|June|July) [0-9]{1,2}"])
def test_masks_of_a_real_dictionary(data: Path, pattern: str) -> None:
    """Decoding that follows the masks of the trim automaton writes members, and nothing but them."""
    tokenizer = tokdfa.load(data / "vocabs/gpt2")
    dictionary = tokenizer.dictionary
    automaton = TokenDFA.from_automaton(
        tokenized_language(dictionary, language(pattern, dictionary)), dictionary.alphabet
    ).trim()
    dice = np.random.default_rng(1)
    for _ in range(20):
        state, ids = automaton.initial, []
        while not automaton.is_final(state) or (automaton.allowed_mask(state).any() and dice.random() < 0.5):
            allowed = np.flatnonzero(tokenizer.id_mask(automaton.allowed_mask(state)))
            ids.append(int(dice.choice(allowed)))
            state = automaton.step(state, int(tokenizer.id_to_token[ids[-1]]))
        text = tokenizer.decode(ids)
        assert re.fullmatch(pattern, text)
        assert tokenizer.encode_piece(text).tolist() == ids


def test_members_of_a_real_dictionary(data: Path) -> None:
    dictionary = tokdfa.load(data / "vocabs/gpt2").dictionary
    members = Language(tokenized_language(dictionary, language("[0-9]{4}", dictionary)))
    counts = [members.count(length) for length in range(6)]
    assert counts == [0, 94, 9876, 30, 0, 0]  # 10,000 in all: every one has one correct tokenization
    assert (members.longest, members.is_empty(), bool(members.finiteness())) == (3, False, True)
    shortest = next(iter(members))
    assert len(shortest) == next(length for length, count in enumerate(counts) if count)
    dice = random.Random(1)
    for length, count in enumerate(counts):
        if count:
            sample = members.sample(length, dice)
            text = b"".join(dictionary.alphabet.spell(sample))
            assert tokenize_leftmost(dictionary, text) == dictionary.alphabet.spell(sample)
    assert sum(1 for _ in members) == 10_000


def _words(symbols: str, longest: int):
    return (sequence for length in range(1, longest + 1) for sequence in product(symbols, repeat=length))


@given(proper_dictionaries("ab", 4), string_dfas("ab", 3), string_dfas("ab", 3))
def test_tokenization_distributes_over_boolean_operations(dictionary: Dictionary, first, second) -> None:
    dictionary = Dictionary(dictionary, "ab")
    base = TokenAlphabet("ab")

    def tokenized(automaton):
        return tokenized_language(dictionary, TokenDFA.from_automaton(automaton, base))

    a, b = tokenized(first), tokenized(second)
    assert equivalence(tokenized(intersection(first, second)), intersection(a, b))
    assert equivalence(tokenized(union(first, second)), union(a, b))
    assert equivalence(tokenized(difference(first, second)), difference(a, b))


@given(proper_dictionaries("ab", 4), string_dfas("ab", 4), st.integers(0, 6))
def test_every_word_has_one_correct_tokenization(dictionary: Dictionary, dfa: TokenDFA, length: int) -> None:
    dictionary = Dictionary(dictionary, "ab")
    words = Language(dfa)
    if words.longest is None or words.longest > 8:
        return
    tokenizations = Language(tokenized_language(dictionary, dfa))
    assert sum(words.count(n) for n in range(9)) == sum(tokenizations.count(n) for n in range(9))


def test_the_three_kinds_of_words() -> None:
    for symbols, pair in ((b"ab", (b"a", b"b")), ("ab", ("a", "b")), (["lo", "</w>"], ("lo", "</w>"))):
        dictionary = Dictionary([pair], symbols)
        language = TokenDFA(TokenAlphabet(symbols), [{0: 1}, {1: 0}], finals=[0])
        found = tokenized_language(dictionary, language)
        assert [tuple(member) for member in _first(Language(found), 3)] == [(), (2,), (2, 2)]


def _first(language: Language, n: int):
    return islice(language, n)


def test_automata_over_other_symbols_are_refused() -> None:
    with pytest.raises(AutomatonError, match="different symbols"):
        lift(TokenDFA.universal("abc"), ALPHABET)
    with pytest.raises(AutomatonError, match="reads single symbols: 'ab'"):
        lift(TokenDFA.from_edges([(0, "ab", 0)], finals=[0]), ALPHABET)


def test_improper_dictionaries_are_refused() -> None:
    with pytest.raises(ImproperDictionaryError):
        tokenized_language(Dictionary([("ab", "a"), ("a", "b")], "ab"), TokenDFA.universal("ab"))


@given(st.lists(st.binary(max_size=4), max_size=30))
def test_the_trie_holds_the_words(words: list[bytes]) -> None:
    offsets = np.cumsum([0, *map(len, words)])
    trie = TokenTrie(np.frombuffer(b"".join(words), np.uint8), offsets)
    held = []
    path: list[int] = []
    for node in range(trie.n_nodes):
        path[max(trie.depth[node] - 1, 0) :] = [int(trie.symbol[node])] if node else []
        held += [(int(word), bytes(path)) for word in trie.words[trie.first[node] : trie.first[node + 1]]]
        below = [other for other in range(trie.n_nodes) if node <= other < trie.end[node]]
        assert all(trie.depth[other] > trie.depth[node] for other in below[1:])
        assert trie.end[node] == trie.n_nodes or trie.depth[trie.end[node]] <= trie.depth[node]
    assert sorted(held) == list(enumerate(words))
    assert trie.n_nodes == len({word[:i] for word in words for i in range(len(word) + 1)} | {b""})


def test_a_dictionary_stands_for_its_tokens() -> None:
    d = Dictionary.from_pairs([("a", "a"), ("b", "a")], alphabet="ab")
    names = tokdfa.language("aa|baa", d)
    lifted, same = tokdfa.lift(names, d), tokdfa.lift(names, d.alphabet)
    assert list(tokdfa.Language(lifted)) == list(tokdfa.Language(same))
    assert len(list(tokdfa.Language(lifted))) == 5

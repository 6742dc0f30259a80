"""Related work on byte pair encoding: the statements that tokdfa uses, each against Algorithm 1."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings

from tests.support.dictionaries import all_proper_dictionaries, all_words, proper_dictionaries
from tokdfa import (
    CompactTokenDFA,
    Dictionary,
    Rule,
    SubsequentialTransducer,
    Transducer,
    default_dictionary,
    guide,
    load,
    look_ahead,
    token_dfa,
    tokenize_single_pass,
)
from tokdfa.automata.alphabet import Word

DICTIONARIES = [*all_proper_dictionaries("ab", 3, up_to_renaming=True)][::25]


# Canonical prefixes: a sequence of tokens is the beginning of a canonical one iff it is canonical, pair by pair.


def test_canonical_prefixes_are_what_the_automaton_allows_next() -> None:
    for dictionary in DICTIONARIES:
        automaton, words = CompactTokenDFA(dictionary), dictionary.alphabet
        canonical = {tokenize_single_pass(dictionary, word) for word in all_words("ab", 7)}
        assert {tau[:-1] for tau in canonical if tau} <= canonical
        for tau in canonical:
            state = 0
            for token in words.numbers(tau):
                state = automaton.step(state, token)  # type: ignore[assignment]
            for token, word in enumerate(words):
                if len("".join(map(str, tau))) + len(word) <= 7:
                    assert (automaton.step(state, token) is not None) == ((*tau, word) in canonical)


def test_canonical_prefixes_are_the_masks_of_a_guide(tmp_path: Path) -> None:
    default_dictionary().save(tmp_path / "merges.txt")
    tokenizer = load(tmp_path / "merges.txt", pretokenizer="none")
    letters, ids = guide(tokenizer, r"[a-z ]*"), list[int]()
    spelled = {id: tokenizer.decode_bytes([id]) for id in range(0, len(default_dictionary().alphabet), 7)}
    n_allowed = 0
    for id in tokenizer.encode("the cats sat").tolist():
        allowed = {*letters.allowed(letters.read(ids)).tolist()}
        for candidate, word in spelled.items():
            fits = all(chr(byte) in "abcdefghijklmnopqrstuvwxyz " for byte in word)
            longer = [*ids, candidate]
            is_canonical = fits and tokenizer.encode(tokenizer.decode(longer)).tolist() == longer
            assert (candidate in allowed) == is_canonical
            n_allowed += is_canonical
        ids.append(id)
    assert n_allowed > 500


# One transducer for each rule, composed: a second construction of the tokenization, and of its transducer.


class RuleTransducer:
    """Writes what it reads, but uv for a u that is followed by v: it holds a u until the next token."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.holds = False

    def read(self, token: Word) -> Iterator[Word]:
        held, self.holds = self.holds, False
        if held and token == self.rule.right:
            yield self.rule.product
            return
        if held:
            yield self.rule.left
        if token == self.rule.left:
            self.holds = True
        else:
            yield token

    def end(self) -> Iterator[Word]:
        if self.holds:
            yield self.rule.left
        self.holds = False


def read_all(transducers: list[RuleTransducer], tokens: Iterable[Word]) -> list[Word]:
    for transducer in transducers:
        tokens = [written for token in tokens for written in transducer.read(token)]
    return [*tokens]


def composed(transducers: list[RuleTransducer], word: str) -> Iterator[tuple[tuple[bool, ...], list[Word]]]:
    """Yield the state and the output after each symbol, and after the end."""
    for symbol in word:
        yield tuple(each.holds for each in transducers), read_all(transducers, [symbol])
    written: list[Word] = []
    for at, transducer in enumerate(transducers):
        written += read_all(transducers[at + 1 :], transducer.end())
    yield (), written


@settings(max_examples=40)
@given(proper_dictionaries("ab", max_rules=6))
def test_transducers_of_rules_composed_are_the_transducer_of_observation_3(dictionary: Dictionary) -> None:
    transducer = Transducer.from_token_dfa(token_dfa(dictionary))
    transducers = [RuleTransducer(dictionary[index]) for index in dictionary.live_rules.tolist()]
    for word in all_words("".join(map(str, dictionary.alphabet.symbols)), 6):
        tokens = tuple(token for _, written in composed(transducers, word) for token in written)
        assert transducer(word) == tokens == tokenize_single_pass(dictionary, word)


def test_transducers_of_rules_composed_have_at_most_two_to_the_n_states() -> None:
    # Each holds its left part or does not. So do all n live rules, which is another proof of the bound 2ⁿ.
    doubling = Dictionary([("a" * 2**i, "a" * 2**i) for i in range(5)])
    transducers = [RuleTransducer(rule) for rule in doubling]
    states = {state for state, _ in composed(transducers, "a" * 200)} - {()}
    assert len(states) == 2**5 == SubsequentialTransducer(doubling).explicit().n_states


# Incremental tokenization: the tokens of every prefix; and how many of them are settled.


@pytest.mark.parametrize("dictionary", DICTIONARIES[::3], ids=repr)
def test_incremental_tokenization_adds_the_last_token_of_each_prefix(dictionary: Dictionary) -> None:
    revised = look_ahead(dictionary).revised
    for word in all_words("ab", 8):
        tau = tokenize_single_pass(dictionary, word)
        if tau:
            # One token a prefix is enough to have all of them.
            assert tau[:-1] == tokenize_single_pass(dictionary, word[: -len(tau[-1])])
        stream = SubsequentialTransducer(dictionary).stream()
        written = dictionary.alphabet.spell(stream.feed(word).tolist())
        assert tau[: len(written)] == written
        assert len(tau) - len(written) <= revised


def test_incremental_tokenization_holds_back_as_much_as_the_look_ahead_says() -> None:
    dictionary = default_dictionary()
    found = look_ahead(dictionary, "symbols")
    stream = SubsequentialTransducer(dictionary).stream()
    delays = [stream.delay for symbol in found.text if not stream.feed(bytes([symbol])).size]  # type: ignore[list-item]
    assert max(delays) == stream.delay == found.revised == 44


@pytest.mark.parametrize("dictionary", DICTIONARIES[::3], ids=repr)
def test_covers_of_a_prefix_share_all_but_the_tokens_that_the_look_ahead_counts(dictionary: Dictionary) -> None:
    # A cover of w is a canonical sequence that ends, for the first time, at the end of w or beyond it.
    revised = look_ahead(dictionary).revised
    seen = 0
    canonical = [tokenize_single_pass(dictionary, word) for word in all_words("ab", 9)]
    for word in all_words("ab", 4):
        tau = tokenize_single_pass(dictionary, word)
        covers = {
            each
            for each in canonical
            if "".join(each).startswith(word) and len("".join(each[:-1])) < len(word)  # type: ignore[arg-type]
        }
        assert tau in covers or not word
        for cover in covers:
            settled = next((i for i, (a, b) in enumerate(zip(tau, cover, strict=False)) if a != b), len(tau))
            assert len(tau) - settled <= revised
            seen += cover != tau
    assert seen > 0 or revised == 0

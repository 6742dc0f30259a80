"""The compact token DFA against Algorithm 2 and Algorithm 1."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from tests.campaigns.evidence.tally import Tally
from tests.support.dictionaries import all_proper_dictionaries, all_words, proper_dictionaries
from tokdfa import Dictionary, TokdfaError
from tokdfa.automata.bpe import tokenize_single_pass
from tokdfa.automata.compact import CompactTokenDFA
from tokdfa.automata.fold import token_dfa
from tokdfa.automata.protocol import accepts
from tokdfa.base.errors import LimitExceededError
from tokdfa.tokenizers.formats import read


def dictionary(*rules: str, alphabet: str) -> Dictionary:
    return Dictionary.from_pairs([tuple(rule.split("≀")) for rule in rules], alphabet)  # type: ignore[misc]


def transitions(automaton: CompactTokenDFA) -> dict[int, set[str]]:
    return {
        state: {f"{automaton.alphabet[token]}{target}" for token, target in automaton.moves(state)}
        for state in range(automaton.states_built)
    }


def test_figure_3_is_the_compact_automaton() -> None:
    automaton = CompactTokenDFA(dictionary("a≀a", "b≀a", alphabet="ab"))
    # A2 of the figure, its states 1 and 2 numbered by the rules that made them.
    assert transitions(automaton) == {
        0: {"a1", "b2", "aa0", "ba1"},
        1: {"b2", "ba1"},
        2: {"b2", "aa0", "ba1"},
    }
    assert (automaton.states_built, automaton.states_reachable, automaton.states_minimal) == (3, 3, 3)


@pytest.mark.parametrize("n_rules", range(5))
def test_algorithm_2_builds_the_same_for_every_small_dictionary(n_rules: int) -> None:
    for rules in all_proper_dictionaries("ab", n_rules, up_to_renaming=n_rules == 4):
        assert CompactTokenDFA(rules).to_token_dfa() == token_dfa(rules), rules


@given(proper_dictionaries(max_rules=16))
def test_algorithm_2_builds_the_same_for_random_dictionaries(rules: Dictionary) -> None:
    automaton = CompactTokenDFA(rules)
    explicit = token_dfa(rules)
    assert automaton.to_token_dfa() == explicit
    assert automaton.states_built == explicit.n_states == 1 + len(rules.live_rules)
    assert automaton.states_reachable == explicit.trim().n_states
    assert automaton.states_minimal == explicit.minimize().n_states


def test_unreachable_state() -> None:
    automaton = CompactTokenDFA(dictionary("a≀b", "a≀c", alphabet="abc"))
    assert (automaton.states_built, automaton.states_reachable, automaton.states_minimal) == (3, 2, 2)
    assert automaton.reachable_states.tolist() == [0, 2]


def test_dead_rules_have_reasons() -> None:
    rules = dictionary("a≀b", "b≀c", "a≀bc", "a≀bc", "bc≀a", "abc≀a", "a≀b", alphabet="abc")
    assert rules.live_rules.tolist() == [0, 1, 4]
    assert [(dead.index, dead.blocker) for dead in rules.dead_rules] == [(2, 0), (3, 0), (5, None), (6, 0)]
    assert rules.dead_rules[0].reason == "rule 0, a≀b, merges across the boundary of its parts first"
    assert rules.dead_rules[2].reason == "no live rule makes its left part 'abc'"
    assert rules.dead_rules[3].reason == "it repeats rule 0"
    assert rules.dead_tokens == ("abc", "abca")
    automaton = CompactTokenDFA(rules)
    assert automaton.state_of("abc") is None
    assert not automaton.allows("abc", "a")
    assert not automaton.allows("a", "abc")
    assert not automaton.allowed_mask(0)[automaton.alphabet.number("abc")]


def test_pairs_and_what_blocks_them() -> None:
    automaton = CompactTokenDFA(dictionary("a≀a", "b≀a", "aa≀aa", alphabet="ab"))
    assert automaton.allows("aa", "a")
    assert automaton.blocking_rule("aa", "a") is None
    assert not automaton.allows("a", "aa")
    assert automaton.blocking_rule("a", "aa") == 0
    assert automaton.blocking_rule("aa", "aaaa") == 2
    assert accepts(automaton, automaton.alphabet.numbers(("aaaa", "aa", "a", "b")))
    assert not accepts(automaton, automaton.alphabet.numbers(("a", "a")))


def test_empty_dictionaries() -> None:
    for alphabet in ("", "ab"):
        automaton = CompactTokenDFA(Dictionary.from_pairs([], alphabet))
        assert (automaton.states_built, automaton.states_reachable, automaton.states_minimal) == (1, 1, 1)
        assert list(automaton.moves(0)) == [(token, 0) for token in range(len(alphabet))]


def test_improper_dictionary_is_refused() -> None:
    with pytest.raises(TokdfaError, match="not proper: rule 0, ab≀a"):
        CompactTokenDFA(dictionary("ab≀a", "a≀b", alphabet="ab"))


def test_wrong_tokens_and_states_are_refused() -> None:
    automaton = CompactTokenDFA(dictionary("a≀a", alphabet="ab"))
    with pytest.raises(TokdfaError, match="not a token"):
        automaton.allows("a", "c")
    with pytest.raises(TokdfaError, match="no such state"):
        automaton.allowed_mask(2)
    assert automaton.step(0, 17) is None
    assert automaton.step(0, -1) is None


def test_arrays_are_read_only() -> None:
    automaton = CompactTokenDFA(dictionary("a≀a", alphabet="ab"))
    for array in (automaton.parent, automaton.state, automaton.position, automaton.width, *automaton.rows):
        assert array.dtype == np.int32
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0


def assert_pairs_are_what_algorithm_1_leaves(rules: Dictionary) -> None:
    """Compare live tokens, pairs, masks, rows and the number of minimal states with tokenizing one and two tokens."""
    automaton = CompactTokenDFA(rules)
    words = list(rules.alphabet)
    live = [tokenize_single_pass(rules, word) == (word,) for word in words]
    assert [automaton.state_of(word) is not None for word in words] == live
    assert rules.dead_tokens == tuple(word for word, alive in zip(words, live, strict=True) if not alive)
    allowed = np.zeros((len(words), len(words)), dtype=bool)
    for i, u in enumerate(words):
        for j, v in enumerate(words):
            allowed[i, j] = live[i] and live[j] and tokenize_single_pass(rules, u + v) == (u, v)
            assert automaton.allows(i, j) == allowed[i, j], (rules, u, v)
            assert (automaton.blocking_rule(u, v) is None) == (allowed[i, j] or not (live[i] and live[j]))
    for token in np.flatnonzero(live):
        assert np.array_equal(automaton.allowed_mask(automaton.state[token]), allowed[token])
        row = automaton.rows.of_token[token]
        lacking = np.zeros(len(words), dtype=bool)
        for k in range(automaton.rows.pointer[row], automaton.rows.pointer[row + 1]):
            lacking[automaton.rows.start[k] : automaton.rows.stop[k]] = True
        assert np.array_equal(~lacking[automaton.position], allowed[token])
    assert automaton.states_minimal == len({tuple(row) for row in (*allowed[live].tolist(), live)})


@pytest.mark.parametrize("n_rules", range(5))
def test_every_small_dictionary_has_the_pairs_that_algorithm_1_leaves(n_rules: int) -> None:
    for rules in all_proper_dictionaries("ab", n_rules, up_to_renaming=n_rules == 4):
        assert_pairs_are_what_algorithm_1_leaves(rules)


@given(proper_dictionaries(max_rules=12))
def test_random_dictionaries_have_the_pairs_that_algorithm_1_leaves(rules: Dictionary) -> None:
    assert_pairs_are_what_algorithm_1_leaves(rules)


def assert_accepts_exactly_what_algorithm_1_gives(rules: Dictionary, longest: int) -> int:
    """Compare both ways on all texts of up to `longest` symbols; return the number of tokenizations looked at."""
    automaton = CompactTokenDFA(rules)
    lengths = [len(word) for word in automaton.alphabet]
    accepted = []
    looked_at = 0
    stack: list[tuple[int, tuple[int, ...], int]] = [(0, (), longest)]
    while stack:
        state, tokenization, room = stack.pop()
        accepted.append(tokenization)
        for token, length in enumerate(lengths):
            if length <= room:
                looked_at += 1
                target = automaton.step(state, token)
                if target is not None:
                    stack.append((target, (*tokenization, token), room - length))
    symbols = "".join(map(str, automaton.alphabet.symbols))
    expected = [automaton.alphabet.numbers(tokenize_single_pass(rules, word)) for word in all_words(symbols, longest)]
    assert sorted(accepted) == sorted(expected), rules
    return looked_at


@pytest.mark.parametrize(("n_rules", "longest"), [(0, 8), (1, 8), (2, 8), (3, 7), (4, 4)])
def test_every_small_dictionary_accepts_exactly_what_algorithm_1_gives(n_rules: int, longest: int) -> None:
    for rules in all_proper_dictionaries("ab", n_rules, up_to_renaming=n_rules == 4):
        assert_accepts_exactly_what_algorithm_1_gives(rules, longest)


@pytest.mark.slow
def test_every_dictionary_of_four_rules_accepts_exactly_what_algorithm_1_gives(tally: Tally) -> None:
    for rules in all_proper_dictionaries("ab", 4):
        assert_accepts_exactly_what_algorithm_1_gives(rules, 9)
        tally("construction", "exhaustive cases", 1)


@given(proper_dictionaries(max_rules=10))
def test_random_dictionaries_accept_exactly_what_algorithm_1_gives(rules: Dictionary) -> None:
    assert_accepts_exactly_what_algorithm_1_gives(rules, 5)


def test_expansion_has_a_budget() -> None:
    with pytest.raises(LimitExceededError, match="more than 5 transitions"):
        CompactTokenDFA(dictionary("a≀a", "b≀a", alphabet="ab")).to_token_dfa(max_transitions=5)


@pytest.mark.parametrize(
    ("name", "states"),
    [
        ("gpt2/merges.txt", (50_001, 14_639, 14_410)),
        ("cl100k_base.tiktoken", (100_001, 28_450, 27_889)),
        ("o200k_base.tiktoken", (199_743, 59_709, 58_866)),
    ],
)
def test_real_dictionaries(data: Path, name: str, states: tuple[int, int, int]) -> None:
    rules = read(data / "vocabs" / name).dictionary
    automaton = CompactTokenDFA(rules)
    assert (automaton.states_built, automaton.states_reachable, automaton.states_minimal) == states
    assert rules.dead_rules == ()
    for token in np.random.default_rng(0).integers(0, len(rules.alphabet), size=20).tolist():
        row = automaton.rows.of_token[token]
        lacking = np.zeros(len(rules.alphabet), dtype=bool)
        for k in range(automaton.rows.pointer[row], automaton.rows.pointer[row + 1]):
            lacking[automaton.rows.start[k] : automaton.rows.stop[k]] = True
        assert np.array_equal(automaton.allowed_mask(automaton.state[token]), ~lacking[automaton.position])


def test_rows_have_a_budget() -> None:
    # Followers forbidden after a token are forbidden after every later token that ends with it.
    letters = "abcdefgh"
    rules = [("a", letter) for letter in letters[1:]]
    word = "a"
    for letter in "stuvwx":
        rules += [(letter, word), (letter + word, letter)]
        word = letter + word
    dictionary = Dictionary(rules, letters + "stuvwx")
    assert np.diff(CompactTokenDFA(dictionary).rows.pointer).max() == len("stuvwx")
    automaton = CompactTokenDFA(dictionary, max_intervals=20)
    with pytest.raises(LimitExceededError, match="too long"):
        _ = automaton.rows
    assert not automaton.allows("a", "b")

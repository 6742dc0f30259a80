"""Determinization and minimization against Algorithm 1 and against residuals counted one by one."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings

from tests.campaigns.evidence.tally import Tally
from tests.support.automata import string_dfas
from tests.support.dictionaries import all_proper_dictionaries, all_words, proper_dictionaries
from tests.support.transducers import backward_sequential, transducers, with_copies
from tokdfa import Dictionary, TokenDFA, token_dfa, tokenize_single_pass
from tokdfa.automata.transducers.determinize import determinize, minimize, onward, twinning
from tokdfa.automata.transducers.square import functionality
from tokdfa.automata.transducers.transducer import Transducer
from tokdfa.base.errors import AutomatonError, LimitExceededError


def subsequential(dictionary: Dictionary, language: TokenDFA | None = None) -> Transducer:
    return determinize(Transducer.from_token_dfa(token_dfa(dictionary, language)))


@pytest.mark.parametrize(("symbols", "n_rules", "longest"), [("ab", 0, 9), ("ab", 1, 9), ("ab", 2, 9), ("abc", 1, 6)])
def test_all_small_dictionaries_and_all_short_words(symbols: str, n_rules: int, longest: int) -> None:
    for dictionary in all_proper_dictionaries(symbols, n_rules):
        transducer = subsequential(dictionary)
        minimal = minimize(transducer)
        assert transducer.subsequentiality()
        assert minimal.subsequentiality()
        for word in all_words(symbols, longest):
            assert transducer(word) == tokenize_single_pass(dictionary, word) == minimal(word)


@pytest.mark.slow
@pytest.mark.parametrize(("symbols", "n_rules", "longest"), [("ab", 3, 10), ("abc", 2, 7)])
def test_all_dictionaries_of_more_rules(symbols: str, n_rules: int, longest: int, tally: Tally) -> None:
    for dictionary in all_proper_dictionaries(symbols, n_rules):
        transducer = subsequential(dictionary)
        tally("construction", "exhaustive cases", 1)
        for word in all_words(symbols, longest):
            assert transducer(word) == tokenize_single_pass(dictionary, word)


@given(proper_dictionaries("ab", max_rules=6), string_dfas("ab", 4))
def test_random_regular_languages(dictionary: Dictionary, language: TokenDFA) -> None:
    assume(dictionary.alphabet.n_symbols == 2)
    transducer = subsequential(dictionary, language)
    minimal = minimize(transducer)
    assert minimal.n_states <= transducer.n_states + 1
    for word in all_words("ab", 7):
        expected = tokenize_single_pass(dictionary, word) if language.accepts(list(word)) else None
        assert transducer(word) == expected == minimal(word)


@given(transducers(max_states=3) | backward_sequential())
def test_what_is_functional_and_twinned_becomes_subsequential(transducer: Transducer) -> None:
    assume(functionality(transducer) and twinning(transducer))
    result = determinize(transducer)
    assert result.subsequentiality()
    for word in all_words("ab", 6):
        assert result.outputs(word) == transducer.outputs(word)
        assert minimize(result).outputs(word) == transducer.outputs(word)


@given(backward_sequential())
def test_what_is_functional_but_not_twinned_has_no_end(transducer: Transducer) -> None:
    assert functionality(transducer)
    assume(not twinning(transducer))
    with pytest.raises(AutomatonError, match="no subsequential transducer computes the same function"):
        determinize(transducer)
    with pytest.raises(LimitExceededError):
        determinize(transducer, check=False, max_states=100)


def test_what_is_not_functional_is_refused() -> None:
    transducer = Transducer.from_edges([(0, "a", ["a"], 1), (0, "a", ["b"], 2)], finals={1: [], 2: []})
    with pytest.raises(AutomatonError, match="'a' has the outputs a and b"):
        determinize(transducer)
    with pytest.raises(AutomatonError, match="not functional"):
        determinize(transducer, check=False)


def residuals(transducer: Transducer, prefixes: int, suffixes: int) -> int:
    """Count the different functions that are left to compute after the prefixes of words of the domain."""
    words = list(all_words("ab", prefixes + suffixes))
    outputs = {word: output for word in words if (output := transducer(word)) is not None}
    seen = set()
    for prefix in all_words("ab", prefixes):
        rest = {w[len(prefix) :]: outputs[w] for w in outputs if w.startswith(prefix)}
        if not rest:
            continue
        common = min(rest.values()), max(rest.values())
        n = next((i for i, (x, y) in enumerate(zip(*common, strict=False)) if x != y), min(map(len, common)))
        # The initial state has nothing to write early.
        cut = 0 if prefix == "" else n
        seen.add(frozenset((suffix, o[cut:]) for suffix, o in rest.items() if len(suffix) <= suffixes))
    return len(seen)


@given(proper_dictionaries("ab", max_rules=4))
@settings(max_examples=30)
def test_minimal_has_a_state_for_each_residual(dictionary: Dictionary) -> None:
    assume(dictionary.alphabet.n_symbols == 2)
    minimal = minimize(subsequential(dictionary))
    assume(minimal.n_states <= 5)
    assert minimal.n_states == residuals(minimal, 4, 4)


@given(proper_dictionaries("ab", max_rules=5), string_dfas("ab", 3))
def test_minimizing_does_not_depend_on_the_transducer_at_hand(dictionary: Dictionary, language: TokenDFA) -> None:
    assume(dictionary.alphabet.n_symbols == 2)
    transducer = subsequential(dictionary, language)
    minimal = minimize(transducer)
    assert minimize(minimal) == minimal
    assert minimize(with_copies(transducer)) == minimal
    assert minimize(transducer) == minimize(with_copies(transducer))


def test_onward_writes_what_is_certain() -> None:
    # Only on reading the second symbol does it write, though the first one settles it.
    late = Transducer.from_edges(
        [(0, "a", [], 1), (0, "b", [], 2), (1, "a", ["a", "b"], 3), (1, "b", ["a", "a"], 3), (2, "a", ["b"], 3)],
        finals={3: ["a"]},
    )
    early = onward(late)
    assert set(early.edges()) == {
        (0, "a", ("a",), 1),
        (0, "b", ("b", "a"), 2),
        (1, "a", ("b", "a"), 3),
        (1, "b", ("a", "a"), 3),
        (2, "a", (), 3),
    }
    assert early.finals == {3: ()}
    assert minimize(late) != minimize(Transducer(late.alphabet, late.arcs, finals={3: ()}))


def test_onward_from_the_initial_state() -> None:
    # All outputs begin with a, but nothing can be written before something is read.
    transducer = Transducer.from_edges(
        [(0, "a", ["a"], 1), (1, "a", ["b"], 1), (1, "b", ["b"], 0)], finals={1: [], 0: ["a"]}
    )
    early = minimize(transducer)
    for word in all_words("ab", 6):
        assert early.outputs(word) == transducer.outputs(word)
    assert early("") == ("a",)


def test_minimizing_wants_a_subsequential_transducer() -> None:
    dictionary = Dictionary.from_pairs([("a", "a")], "ab")
    with pytest.raises(AutomatonError, match="state 0 has 2 transitions on 'a'"):
        minimize(Transducer.from_token_dfa(token_dfa(dictionary)))
    nothing = Transducer.from_edges([(0, "a", [], 0)], finals={})
    assert minimize(nothing).n_states == 1


def test_budget_of_states() -> None:
    transducer = Transducer.from_token_dfa(token_dfa(Dictionary.from_pairs([("a", "b"), ("b", "a")], "ab")))
    with pytest.raises(LimitExceededError, match="more than 2 states"):
        determinize(transducer, max_states=2)

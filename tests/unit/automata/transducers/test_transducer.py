"""Transducers as objects."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.support.dictionaries import all_words
from tests.support.transducers import transducers
from tokdfa import TokdfaError, TokenAlphabet, TokenDFA, token_dfa
from tokdfa.automata.dictionary import Dictionary
from tokdfa.automata.transducers.transducer import Transducer
from tokdfa.base.errors import AutomatonError, LimitExceededError

# Reads a word over {a, b} and writes ab for every a, doubled at the end; b is read both ways.
EXAMPLE = Transducer.from_edges(
    [(0, "a", ["ab"], 0), (0, "b", [], 0), (0, "b", ["b"], 1), (1, "a", ["ab", "ab"], 1)], finals={0: [], 1: ["a", "b"]}
)


def test_runs_are_those_of_the_definition() -> None:
    runs = {(run.states, run.outputs) for run in EXAMPLE.iter_runs("ba")}
    assert runs == {((0, 0, 0), ((), ("ab",))), ((0, 1, 1), (("b",), ("ab", "ab")))}
    assert [run.states for run in EXAMPLE.iter_runs("", 1)] == [(1,)]
    assert not list(EXAMPLE.iter_runs("b", 1))
    assert {run.output for run in EXAMPLE.iter_runs("ba")} == {("ab",), ("b", "ab", "ab")}


@given(transducers())
def test_outputs_are_what_accepting_runs_write(transducer: Transducer) -> None:
    for word in all_words("ab", 4):
        expected = {
            run.output + transducer.alphabet.spell(transducer.finals[run.states[-1]])
            for run in transducer.iter_runs(word)
            if run.states[-1] in transducer.finals
        }
        assert transducer.outputs(word) == expected


def test_relation_on_finitely_many_words() -> None:
    assert EXAMPLE.relation(["b", "ab", "bb"]) == {
        ("b", ()),
        ("b", ("b", "a", "b")),
        ("ab", ("ab",)),
        ("ab", ("ab", "b", "a", "b")),
        ("bb", ()),
        ("bb", ("b", "a", "b")),
    }


def test_calling_wants_one_output() -> None:
    assert EXAMPLE("aa") == ("ab", "ab")
    with pytest.raises(AutomatonError, match="not functional"):
        EXAMPLE("b")
    no_b = Transducer.from_edges([(0, "a", ["a"], 0)], finals={0: []}, alphabet=TokenAlphabet("ab"))
    assert no_b("ab") is None


def test_a_long_word_needs_no_recursion() -> None:
    n = 50_000
    assert EXAMPLE("a" * n) == ("ab",) * n
    assert sum(1 for _ in EXAMPLE.iter_runs("a" * n)) == 1


def test_subsequential_and_sequential() -> None:
    verdict = EXAMPLE.subsequentiality()
    assert not verdict
    assert verdict.witness is not None
    assert (verdict.witness.state, verdict.witness.first.symbol) == (0, EXAMPLE.alphabet.number("b"))
    assert "state 0 has 2 transitions on 'b'" in verdict.reason
    assert not EXAMPLE.sequentiality()
    with_end = Transducer.from_edges([(0, "a", ["a", "a"], 0)], finals={0: ["a"]})
    assert with_end.subsequentiality()
    assert with_end.sequentiality().witness == 0
    assert with_end.sequentiality().reason == "F(0) = a"
    assert Transducer.from_edges([(0, "a", ["a", "a"], 0)], finals={0: []}).sequentiality()


def test_trimming_keeps_the_relation() -> None:
    edges = [(0, "a", [], 1), (1, "a", ["a"], 0), (0, "a", ["a"], 2), (3, "a", ["a"], 0)]
    transducer = Transducer.from_edges(edges, finals={1: ["a"]})
    trim = transducer.trim()
    assert list(trim.edges()) == [(0, "a", (), 1), (1, "a", ("a",), 0)]
    assert trim.relation(all_words("a", 6)) == transducer.relation(all_words("a", 6))
    assert Transducer.from_edges([(0, "a", [], 1)], finals={}).trim().n_states == 1


@given(transducers())
def test_composition_keeps_what_the_automaton_accepts(transducer: Transducer) -> None:
    # At most one ab, and not as the first token.
    alphabet = transducer.alphabet
    automaton = TokenDFA(alphabet, [{0: 1, 1: 1}, {0: 1, 1: 1, 2: 2}, {0: 2, 1: 2}], finals=[0, 1, 2])
    composed = transducer.compose(automaton)
    for word in all_words("ab", 4):
        assert composed.outputs(word) == {output for output in transducer.outputs(word) if automaton.accepts(output)}


def test_budgets_of_states_are_kept() -> None:
    dictionary = Dictionary.from_pairs([("a", "b"), ("ab", "ab")], "ab")
    with pytest.raises(LimitExceededError, match="more than 4 states"):
        Transducer.from_token_dfa(token_dfa(dictionary), max_states=4)
    with pytest.raises(LimitExceededError, match="more than 1 states"):
        EXAMPLE.compose(TokenDFA.universal("ab").over(EXAMPLE.alphabet), max_states=1)


@pytest.mark.parametrize(
    ("arcs", "initial", "finals", "message"),
    [
        ([], 0, {}, "at least one state"),
        ([[(2, (), 0)]], 0, {}, "state 0: symbol out of range: 2"),
        ([[(0, (9,), 0)]], 0, {}, "state 0: token out of range: 9"),
        ([[(0, (), 1)]], 0, {}, "state 0: target out of range: 1"),
        ([[(0, (), "x")]], 0, {}, "a target must be an integer: 'x'"),
        ([[]], 1, {}, "initial state: state out of range"),
        ([[]], 0, {3: ()}, "final states: state out of range"),
        ([[]], 0, {0: (7,)}, "final state 0: token out of range"),
    ],
)
def test_what_is_no_transducer_is_refused(arcs, initial, finals, message) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(TokdfaError, match=message):
        Transducer(TokenAlphabet("ab", ["ab"]), arcs, initial, finals=finals)


def test_foreign_symbols_are_refused() -> None:
    for read in (EXAMPLE, EXAMPLE.outputs, lambda word: list(EXAMPLE.iter_runs(word))):
        with pytest.raises(TokdfaError, match="offset 1: the symbol is not in the base alphabet: 'x'"):
            read("ax")


def test_equality_and_representation() -> None:
    again = Transducer.from_edges(EXAMPLE.edges(), finals={0: [], 1: ["a", "b"]}, alphabet=EXAMPLE.alphabet)
    assert again == EXAMPLE
    assert hash(again) == hash(EXAMPLE)
    assert repr(EXAMPLE) == "<Transducer: 2 states (2 final), 4 transitions, 3 tokens>"
    assert Transducer.from_edges([(0, "a", [], 0)], finals={}) != EXAMPLE


def test_dot_shows_symbols_outputs_and_what_final_states_write() -> None:
    dot = EXAMPLE.to_dot()
    assert 'label="a|ab, b|ε"' in dot
    assert 'label="a|ab≀ab"' in dot
    assert 'label="a≀b"' in dot
    assert dot == EXAMPLE.to_dot()

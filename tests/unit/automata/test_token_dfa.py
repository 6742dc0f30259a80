"""Explicit token DFAs: building, checking, running, trimming."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from tests.support.automata import iter_tokenizations, language, spelled_language, token_dfas
from tokdfa import TokenAlphabet
from tokdfa.automata.protocol import accepts, run
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.base.errors import AlphabetError, AutomatonError, LimitExceededError

AB = TokenAlphabet("ab", ["ab"])
FIGURE_1 = [(0, "a", 1), (1, "b", 2), (2, "c", 3), (1, "bc", 4)]


def test_a_figure_is_written_down_as_it_is_drawn() -> None:
    dfa = TokenDFA.from_edges(FIGURE_1, finals=[3, 4])
    assert list(dfa.alphabet) == ["a", "b", "c", "bc"]
    assert list(dfa.edges()) == [(0, "a", 1), (1, "b", 2), (1, "bc", 4), (2, "c", 3)]
    assert (dfa.n_states, dfa.n_transitions, dfa.initial, dfa.finals) == (5, 4, 0, {3, 4})
    assert spelled_language(dfa, 5) == {("a", "b", "c"), ("a", "bc")}


def test_the_three_kinds_of_words() -> None:
    assert TokenDFA.from_edges([(0, b"\x00\xff", 0)], finals=[0]).accepts([b"\x00\xff"] * 2)
    dfa = TokenDFA.from_edges([(0, ("lo",), 1), (1, ("lo", "w"), 0)], finals=[0])
    assert dfa.alphabet.symbols == (("lo",), ("w",))
    assert dfa.accepts([("lo",), ("lo", "w")])
    assert TokenDFA.universal(["<s>", "x"]).accepts([("<s>",), ("x",)])


def test_tokens_may_be_spelled_or_numbered() -> None:
    dfa = TokenDFA.from_edges(FIGURE_1, finals=[3, 4])
    assert dfa.accepts(["a", "bc"])
    assert dfa.accepts([0, 3])
    assert dfa.accepts(np.array([0, 3], dtype=np.uint16))
    assert dfa.accepts(iter(("a", "b", 2)))
    assert not dfa.accepts(["a", "b"])
    assert not dfa.accepts(["bc"])
    assert not dfa.accepts([])
    assert dfa.run(["b"], state=1) == 2
    assert dfa.run(["a"], state=1) is None


@pytest.mark.parametrize("tokenization", ["abc", b"abc", ["a", "x"], [0, 4], [-1], [0.0], [None]])
def test_what_is_not_a_tokenization_is_refused(tokenization) -> None:
    with pytest.raises(AlphabetError):
        TokenDFA.from_edges(FIGURE_1, finals=[3, 4]).run(tokenization)


@pytest.mark.parametrize(
    ("transitions", "initial", "finals", "message"),
    [
        ([], 0, [], "at least one state"),
        ([{3: 0}], 0, [], "state 0: token out of range: 3"),
        ([{}, {0: 2}], 0, [], "state 1, token 0: target out of range: 2"),
        ([{-1: 0}], 0, [], "token out of range: -1"),
        ([{0: -1}], 0, [], "target out of range: -1"),
        ([{0: 0.0}], 0, [], "a target must be an integer: 0.0"),
        ([{"a": 0}], 0, [], "a token must be an integer: 'a'"),
        ([{}], 1, [], "initial state: state out of range: 1"),
        ([{}], None, [], "initial state: a state must be an integer"),
        ([{}], 0, [1], "final states: state out of range: 1"),
        ([{}], 0, [-1], "final states: state out of range: -1"),
    ],
)
def test_what_is_not_an_automaton_is_refused(transitions, initial, finals, message) -> None:
    with pytest.raises(AutomatonError, match=message):
        TokenDFA(AB, transitions, initial, finals=finals)


def test_two_transitions_on_one_token_are_refused() -> None:
    with pytest.raises(AutomatonError, match="state 0: two transitions on the same token: 'ab'"):
        TokenDFA.from_edges([(0, "ab", 0), (0, "ab", 1)], finals=[0])


def test_a_start_that_does_not_exist_is_refused() -> None:
    with pytest.raises(AutomatonError, match="start of the run"):
        TokenDFA.universal("ab").run([], state=-1)


def test_it_cannot_be_changed() -> None:
    dfa = TokenDFA.universal("ab")
    for array in (dfa.offsets, dfa.tokens, dfa.targets, dfa.final, dfa.sources):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@given(token_dfas(tokens=["ab"]))
def test_it_keeps_to_the_protocol(dfa: TokenDFA) -> None:
    for state in range(dfa.n_states):
        moves = list(dfa.moves(state))
        assert moves == sorted(moves)
        assert dict(moves) == {token: q for token in range(3) if (q := dfa.step(state, token)) is not None}
    for tau in iter_tokenizations(3, 3):
        assert dfa.run(tau) == run(dfa, tau)
        assert dfa.accepts(tau) == accepts(dfa, tau) == dfa.accepts(dfa.alphabet.spell(tau))


@given(token_dfas(tokens=["ab"]))
def test_equal_parts_make_equal_automata(dfa: TokenDFA) -> None:
    rows = [dict(dfa.moves(state)) for state in range(dfa.n_states)]
    same = TokenDFA(dfa.alphabet, rows, dfa.initial, finals=dfa.finals)
    assert same == dfa
    assert hash(same) == hash(dfa)
    assert TokenDFA(dfa.alphabet, rows, dfa.initial, finals=set(range(dfa.n_states)) - dfa.finals) != dfa
    assert TokenDFA(dfa.alphabet, [*rows, {}], dfa.initial, finals=dfa.finals) != dfa


@given(token_dfas(tokens=["ab", "ba"], max_states=8))
def test_trimming_keeps_the_language_and_only_useful_states(dfa: TokenDFA) -> None:
    on_accepting_runs = {dfa.initial}
    for tau in language(dfa, 2 * dfa.n_states if dfa.n_states <= 3 else 5):
        on_accepting_runs.update(dfa.run(tau[:i]) for i in range(len(tau) + 1))
    trim = dfa.trim()
    assert language(trim, 4) == language(dfa, 4)
    assert trim.n_states >= len(on_accepting_runs)
    for state in range(trim.n_states):
        if state != trim.initial:
            assert reaches(trim, trim.initial, state)
            assert any(reaches(trim, state, final) for final in trim.finals)
    assert trim.trim() == trim


@given(token_dfas(max_states=8))
def test_what_cannot_be_reached_is_removed(dfa: TokenDFA) -> None:
    reachable = dfa.reachable()
    assert reachable.n_states == sum(reaches(dfa, dfa.initial, state) for state in range(dfa.n_states))
    assert language(reachable, 5) == language(dfa, 5)


def reaches(dfa: TokenDFA, start: int, end: int) -> bool:
    reached = {start}
    while True:
        further = reached | {q for p in reached for _, q in dfa.moves(p)}
        if further == reached:
            return end in reached
        reached = further


@given(token_dfas(tokens=["ab"]))
def test_another_alphabet_changes_numbers_only(dfa: TokenDFA) -> None:
    wider = TokenAlphabet("xba", ["ba", "ab"])
    moved = dfa.over(wider)
    assert set(moved.edges()) == set(dfa.edges())
    for state in range(moved.n_states):
        tokens = [token for token, _ in moved.moves(state)]
        assert tokens == sorted(tokens)
    assert spelled_language(moved, 3) == spelled_language(dfa, 3)
    assert moved.over(dfa.alphabet) == dfa


def test_another_alphabet_must_have_the_tokens_in_use() -> None:
    with pytest.raises(AlphabetError, match="not a token of this alphabet: 'b'"):
        TokenDFA.universal("ab").over(TokenAlphabet("a"))


@given(token_dfas(tokens=["ab"]))
def test_any_automaton_can_be_written_out(dfa: TokenDFA) -> None:
    written = TokenDFA.from_automaton(dfa, dfa.alphabet)
    assert written.n_states == dfa.reachable().n_states
    assert written.isomorphism(dfa)


def test_writing_out_has_a_budget() -> None:
    class Counter:
        """Counts tokens without end."""

        initial = 0

        def step(self, state: int, token: int) -> int:
            return state + 1

        def is_final(self, state: int) -> bool:
            return True

        def moves(self, state: int):
            yield 0, state + 1

    with pytest.raises(LimitExceededError, match=r"more than 50 states.*max_states"):
        TokenDFA.from_automaton(Counter(), AB, max_states=50)
    with pytest.raises(LimitExceededError, match=r"more than 2 transitions.*max_transitions"):
        TokenDFA.from_automaton(TokenDFA.universal("abc"), TokenAlphabet("abc"), max_transitions=2)


def test_a_token_beyond_the_alphabet_is_refused_when_writing_out() -> None:
    with pytest.raises(AutomatonError, match="token out of range: 2"):
        TokenDFA.from_automaton(TokenDFA.universal("abc"), TokenAlphabet("ab"))

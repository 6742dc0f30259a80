"""Sliding windows decide what the automaton decides."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.automata import iter_tokenizations, string_dfas, token_dfas
from tests.support.dictionaries import proper_dictionaries
from tokdfa import Dictionary
from tokdfa.automata.fold import token_dfa
from tokdfa.automata.locality import local_from, verify_by_windows
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.base.errors import AlphabetError, AutomatonError


def first_dead_token(dfa: TokenDFA, tau) -> int | None:
    return next((i for i in range(len(tau)) if dfa.run(tau[: i + 1]) is None), None)


def assert_windows_decide(dfa: TokenDFA, k: int, tau) -> None:
    verdict = verify_by_windows(dfa, k, tau)
    assert bool(verdict) == dfa.accepts(tau)
    dead = first_dead_token(dfa, tau)
    assert verdict.witness == (None if verdict else len(tau) if dead is None else dead)


@given(token_dfas("ab", ["ab"], max_states=5), st.integers(0, 2))
def test_windows_decide_local_automata(dfa: TokenDFA, more: int) -> None:
    least = local_from(dfa)
    assume(least is not None)
    for tau in iter_tokenizations(3, 3):
        assert_windows_decide(dfa, least + more, tau)


@given(proper_dictionaries(), string_dfas("abc"), st.data())
def test_windows_decide_tokenizations(dictionary: Dictionary, language: TokenDFA, data: st.DataObject) -> None:
    dfa = token_dfa(Dictionary(dictionary, "abc"), language).trim()
    least = local_from(dfa)
    assume(least is not None)
    assert_windows_decide(dfa, least, data.draw(st.lists(st.integers(0, len(dfa.alphabet) - 1), max_size=12)))


def test_windows_alone_would_accept_what_only_begins() -> None:
    dfa = TokenDFA.from_edges([(0, "a", 1), (1, "b", 2)], finals=[2])
    assert verify_by_windows(dfa, 1, ["a", "b"])
    verdict = verify_by_windows(dfa, 1, ["a"])
    assert not verdict
    assert verdict.witness == 1
    assert verdict.reason == "the stream may not end after 1 tokens"
    verdict = verify_by_windows(dfa, 1, ["b"])
    assert verdict.witness == 0
    assert verdict.reason == "token 0, b, is not allowed after nothing"


def test_a_stream_is_read_up_to_the_first_token_that_is_not_allowed() -> None:
    dfa = token_dfa(Dictionary.from_pairs([("a", "a"), ("b", "a")], "ab"))
    assert verify_by_windows(dfa, 1, iter(["aa", "ba", "ba"]))
    stream = iter(["aa", "ba", "ba", "b", "a", "a"])
    verdict = verify_by_windows(dfa, 1, stream)
    assert not verdict
    assert verdict.witness == 4
    assert verdict.reason == "token 4, a, is not allowed after b"
    assert list(stream) == ["a"]


def test_only_local_automata_have_windows() -> None:
    even = TokenDFA.from_edges([(0, "a", 1), (1, "a", 0)], finals=[0])
    with pytest.raises(AutomatonError, match="not 2-local: two runs read the same 2 tokens"):
        verify_by_windows(even, 2, [])


def test_foreign_tokens_are_refused() -> None:
    with pytest.raises(AlphabetError):
        verify_by_windows(TokenDFA.universal("a"), 0, ["b"])

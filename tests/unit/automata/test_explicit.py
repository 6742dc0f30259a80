"""Explicit intersections equal the lazy ones, state by state."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.support.automata import token_dfas
from tokdfa.automata import explicit
from tokdfa.automata.boolean import intersection
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.base.errors import LimitExceededError

dfas = token_dfas("abc", max_states=5)


@given(dfas, dfas)
def test_it_equals_the_lazy_one(first: TokenDFA, second: TokenDFA) -> None:
    second = second.over(first.alphabet) if second.alphabet != first.alphabet else second
    lazy = intersection(first, second)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(explicit, "intersect_explicit", lambda *_, **__: None)
        slow = TokenDFA.from_automaton(lazy, first.alphabet)
    assert TokenDFA.from_automaton(lazy, first.alphabet) == slow
    for limits in ({"max_states": slow.n_states - 1}, {"max_transitions": slow.n_transitions - 1}):
        if slow.n_states > 1 and min(limits.values()) >= 0:
            with pytest.raises(LimitExceededError):
                TokenDFA.from_automaton(lazy, first.alphabet, **limits)

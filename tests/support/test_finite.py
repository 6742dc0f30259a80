"""Finite languages as minimal DFAs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.dictionaries import all_words
from tests.support.finite import finite_language
from tokdfa.automata.lift import language
from tokdfa.base.errors import AlphabetError


@given(st.lists(st.text("ab", max_size=5), max_size=8))
def test_the_language_is_the_list(words: list[str]) -> None:
    dfa = finite_language(words, "ab")
    assert {word for word in all_words("ab", 6) if dfa.accepts(list(word))} == set(words)
    assert dfa == dfa.minimize()
    if words:
        # Written as alternatives; the empty word is one of them as "()".
        assert dfa == language("|".join(word or "()" for word in words), "ab")


def test_other_kinds_of_symbols() -> None:
    assert finite_language([b"ab", b"b"], b"ab").accepts([b"a", b"b"])
    assert finite_language([("lo", "w")], ["lo", "w"]).accepts([("lo",), ("w",)])
    assert not finite_language([], "ab").finals
    with pytest.raises(AlphabetError):
        finite_language(["abc"], "ab")

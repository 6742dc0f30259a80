"""Whoever samples into a dead end is told to use the trim automaton."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import tokdfa
from tokdfa.automata.boolean import difference, intersection, union
from tokdfa.automata.lift import tokenized_language
from tokdfa.automata.protocol import DeadEndWarning

# Over a and b: after "b" the language has only "ba". Its tokenization is one token; b≀a is not canonical.
TOY = tokdfa.Dictionary([("b", "a")], alphabet="ab")
PRODUCT = tokenized_language(TOY, tokdfa.language("ba", "ab"))
A, B, BA = TOY.alphabet.numbers(["a", "b", "ba"])


def test_the_masks_of_a_product_lead_to_a_dead_end_with_a_warning() -> None:
    mask = PRODUCT.allowed_mask(PRODUCT.initial)
    assert mask[[B, BA]].all()
    stuck = PRODUCT.step(PRODUCT.initial, B)
    assert stuck is not None
    with pytest.warns(DeadEndWarning, match=r"TokenDFA.from_automaton\(automaton, alphabet\).trim\(\)") as caught:
        assert not PRODUCT.allowed_mask(stuck).any()
    assert caught[0].filename == __file__


def test_written_out_it_warns_until_it_is_trim() -> None:
    written = tokdfa.TokenDFA.from_automaton(PRODUCT, TOY.alphabet)
    stuck = written.step(written.initial, B)
    assert stuck is not None
    with pytest.warns(DeadEndWarning, match=f"state {stuck} is a dead end") as caught:
        written.allowed_mask(stuck)
    assert caught[0].filename == __file__
    trim = written.trim()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        masks = [trim.allowed_mask(state) for state in range(trim.n_states)]
    assert np.flatnonzero(masks[trim.initial]).tolist() == [BA]


def test_a_dead_end_of_one_automaton_is_none_of_both() -> None:
    nothing = tokdfa.TokenDFA(TOY.alphabet, [{}], finals=[])
    everything = tokdfa.TokenDFA(TOY.alphabet, [{A: 0, B: 0, BA: 0}], finals=[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert union(nothing, everything).allowed_mask((0, 0)).all()
        assert union(intersection(nothing, nothing), everything).allowed_mask(((0, 0), 0)).all()
        assert difference(everything, nothing).allowed_mask((0, 0)).all()
    with pytest.warns(DeadEndWarning):
        intersection(nothing, everything).allowed_mask((0, 0))


def test_a_final_state_is_no_dead_end() -> None:
    end = tokdfa.TokenDFA(TOY.alphabet, [{}], finals=[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not end.allowed_mask(0).any()

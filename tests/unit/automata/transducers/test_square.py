"""Functional or not, and twinned or not, against all short words and all short runs."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from tests.support.dictionaries import all_words, proper_dictionaries
from tests.support.transducers import rightmost_transducer, transducers
from tokdfa import Dictionary, token_dfa
from tokdfa.automata.transducers.determinize import Twins, determinize, twinning
from tokdfa.automata.transducers.square import functionality
from tokdfa.automata.transducers.transducer import Transducer
from tokdfa.base.errors import AutomatonError, LimitExceededError


@given(transducers())
@settings(max_examples=200)
def test_functional_means_no_word_with_two_outputs(transducer: Transducer) -> None:
    verdict = functionality(transducer)
    several = [word for word in all_words("ab", 6) if len(transducer.outputs(word)) > 1]
    if verdict:
        assert not several
    else:
        assert verdict.witness is not None
        word, first, second = verdict.witness
        assert first != second
        assert {first, second} <= transducer.outputs(word)


def check_twins(transducer: Transducer, twins: Twins) -> None:
    """Check a witness by the runs of the trim transducer alone."""
    trim = transducer.trim()
    p, q = twins.states
    reached = {(run.states[-1], run.output) for run in trim.iter_runs(twins.word)}
    assert {(p, twins.outputs[0]), (q, twins.outputs[1])} <= reached
    for state, output in zip(twins.states, twins.loop_outputs, strict=True):
        assert (state, output) in {(run.states[-1], run.output) for run in trim.iter_runs(twins.loop, state)}

    def delay(first: tuple, second: tuple) -> tuple[tuple, tuple]:  # type: ignore[type-arg]
        while first and second and first[0] == second[0]:
            first, second = first[1:], second[1:]
        return first, second

    before = delay(*twins.outputs)
    after = delay(*(twins.outputs[i] + twins.loop_outputs[i] for i in range(2)))
    assert before != after


def loops_that_shift(transducer: Transducer, longest: int) -> bool:
    """Look for twins among all words and loops up to a length."""
    trim = transducer.trim()
    for word in all_words("ab", longest):
        runs = {(run.states[-1], run.output) for run in trim.iter_runs(word)}
        for loop in all_words("ab", longest):
            loops: dict[int, set[tuple]] = {}  # type: ignore[type-arg]
            for state, _ in runs:
                loops[state] = {run.output for run in trim.iter_runs(loop, state) if run.states[-1] == state}
            for p, x in runs:
                for q, y in runs:
                    for a in loops[p]:
                        for b in loops[q]:
                            # Equal delays: x⁻¹y = (xa)⁻¹(yb) in the free group.
                            if reduce_word(x, y) != reduce_word(x + a, y + b):
                                return True
    return False


def reduce_word(first: tuple, second: tuple) -> tuple[tuple, tuple]:  # type: ignore[type-arg]
    while first and second and first[0] == second[0]:
        first, second = first[1:], second[1:]
    return first, second


@given(transducers(max_states=3))
@settings(max_examples=150)
def test_twinned_means_no_loop_shifts_a_delay(transducer: Transducer) -> None:
    verdict = twinning(transducer)
    if verdict:
        assert not loops_that_shift(transducer, 3)
    else:
        assert verdict.witness is not None
        check_twins(transducer, verdict.witness)


@pytest.mark.parametrize("early", [1, 2])
def test_a_delay_that_is_made_up_for_is_functional(early: int) -> None:
    # Of two runs on ab either writes at once and the other one later; then either writes something else.
    late = 3 - early
    edges = [(0, "a", ["a"], early), (0, "a", [], late), (early, "b", [], 3)]
    assert functionality(Transducer.from_edges([*edges, (late, "b", ["a"], 3)], finals={3: []}))
    verdict = functionality(Transducer.from_edges([*edges, (late, "b", ["b"], 3)], finals={3: []}))
    assert not verdict
    assert verdict.witness is not None
    assert verdict.witness[0] == "ab"
    assert set(verdict.witness[1:]) == {("a",), ("b",)}


def test_delays_that_only_a_detour_tells_apart() -> None:
    # The component {1, 2} × {3, 4} is entered with two delays, and one of its loops is wrong.
    edges = [
        (0, "a", ["a"], 1), (0, "a", ["a"], 3), (1, "a", ["b"], 2), (2, "a", ["a"], 1),
        (3, "a", ["b"], 4), (4, "a", ["a"], 3), (2, "b", [], 1), (4, "b", ["b"], 3),
    ]  # fmt: skip
    transducer = Transducer.from_edges(edges, finals={1: [], 3: ["a"]})
    verdict = twinning(transducer)
    assert not verdict
    assert verdict.witness is not None
    check_twins(transducer, verdict.witness)
    assert verdict.witness.loop.count("b")


@given(proper_dictionaries("ab", max_rules=5))
def test_rightmost_rules_are_functional_and_seldom_twinned(dictionary: Dictionary) -> None:
    transducer = rightmost_transducer(dictionary)
    assert functionality(transducer)
    verdict = twinning(transducer)
    if verdict:
        # Then a subsequential transducer exists, and does what the right-to-left one does.
        subsequential = determinize(transducer)
        symbols = "".join(map(str, dictionary.alphabet.symbols))
        assert all(subsequential.outputs(word) == transducer.outputs(word) for word in all_words(symbols, 5))
    else:
        assert verdict.witness is not None
        check_twins(transducer, verdict.witness)
        with pytest.raises(AutomatonError, match=r"computes the same function: .* leads to states"):
            determinize(transducer)
        with pytest.raises(LimitExceededError, match="more than 200 states"):
            determinize(transducer, check=False, max_states=200)


def test_budgets_of_pairs_are_kept() -> None:
    transducer = Transducer.from_token_dfa(token_dfa(Dictionary.from_pairs([("a", "a"), ("aa", "b")], "ab")))
    with pytest.raises(LimitExceededError, match="more than 3 pairs"):
        functionality(transducer, max_pairs=3)
    with pytest.raises(LimitExceededError, match="more than 3 pairs"):
        twinning(transducer, max_pairs=3)
    with pytest.raises(LimitExceededError, match="more than 3 delays"):
        twinning(transducer, max_configurations=3)


def test_transducers_without_words() -> None:
    nothing = Transducer.from_edges([(0, "a", [], 0), (0, "a", ["a"], 0)], finals={})
    assert functionality(nothing)
    assert twinning(nothing)
    assert determinize(nothing).finals == {}

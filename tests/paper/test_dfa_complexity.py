"""*Constructing a BPE Tokenization DFA*, section 5: locality and the number of states."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.automata import (
    all_runs,
    automata_with_a_rule,
    context_invariant_dfas,
    iter_tokenizations,
    token_dfas,
)
from tests.support.dictionaries import proper_dictionaries
from tests.support.figures import FIGURE_1, FIGURE_5, drawn
from tokdfa import Dictionary, TokenDFA, apply_merge, dloc, iter_token_dfas, k_locality, token_dfa
from tokdfa.automata.alphabet import Word
from tokdfa.automata.fold import Merge
from tokdfa.automata.locality import states_after, verify_by_windows

SMALL = token_dfas("ab", ["ab"], max_states=5)


def fold(example: tuple[TokenDFA, Word, Word]) -> tuple[TokenDFA, Merge]:
    """Apply Algorithm 2 where it does something, as section 5 supposes: uv is on no transition yet."""
    dfa, u, v = example
    assume(u + v not in {token for _, token, _ in dfa.edges()})  # type: ignore[operator]
    return dfa, apply_merge(dfa, u, v)


def tight_family(k: int) -> Dictionary:
    """D_k = [a≀a, aa≀aa, aaaa≀aaaa, …]."""
    return Dictionary.from_pairs([("a" * 2**i, "a" * 2**i) for i in range(k)], "a")


@given(SMALL, st.integers(1, 3))
def test_definition_4_degree_of_locality(dfa: TokenDFA, k: int) -> None:
    ends: dict[tuple[int, ...], set[int]] = {}
    for _, tau, end in all_runs(dfa, 2 * k):
        ends.setdefault(tau, set()).add(end)
    assert dloc(dfa, k).degree == max((len(states) for tau, states in ends.items() if len(tau) == k), default=0)


@given(SMALL, st.integers(0, 4))
def test_definition_5_k_local_means_degree_one(dfa: TokenDFA, k: int) -> None:
    assert bool(k_locality(dfa, k)) == (dloc(dfa, k).degree <= 1)


def test_definition_5_by_example() -> None:
    assert k_locality(FIGURE_1, 1)
    assert not k_locality(FIGURE_1, 0)
    two_ends = drawn({0: "a1", 1: "a2", 2: "b2"}, "2")
    assert not k_locality(two_ends, 1)
    assert k_locality(two_ends, 2)


@given(SMALL, st.integers(0, 3), st.integers(1, 3))
def test_observation_1_degrees_do_not_grow(dfa: TokenDFA, i: int, more: int) -> None:
    assert dloc(dfa, i).degree >= dloc(dfa, i + more).degree


@given(automata_with_a_rule(), st.integers(1, 4))
def test_lemma_4_the_degree_does_not_grow(example: tuple[TokenDFA, Word, Word], k: int) -> None:
    dfa, merge = fold(example)
    assert dloc(merge.dfa, k).degree <= dloc(dfa, k).degree


def test_lemma_4_is_about_one_token_or_more() -> None:
    dfa = TokenDFA.universal("a")
    assert dloc(apply_merge(dfa, "a", "a").dfa, 0).degree > dloc(dfa, 0).degree


@given(automata_with_a_rule(), st.integers(1, 3))
def test_corollary_1_k_local_automata_stay_k_local(example: tuple[TokenDFA, Word, Word], k: int) -> None:
    dfa, merge = fold(example)
    assume(k_locality(dfa, k))
    assert k_locality(merge.dfa, k)


@given(automata_with_a_rule())
def test_lemma_5_counting_states(example: tuple[TokenDFA, Word, Word]) -> None:
    dfa, merge = fold(example)
    u, v = merge.rule
    E_u = states_after(dfa, [u])
    E_u_then_v = {state for state in E_u if dfa.run([v], state) is not None}
    n_fresh = merge.dfa.n_states - dfa.n_states
    # (1)
    assert n_fresh == len(merge.fresh) == len(E_u_then_v)
    assert set(merge.fresh) == E_u_then_v
    assert len(E_u_then_v) <= len(E_u) <= dloc(dfa, 1).degree
    # (2)
    assert len(E_u) == n_fresh + len(E_u - E_u_then_v) == len(states_after(merge.dfa, [u]))
    # (3)
    assert len(states_after(merge.dfa, [merge.rule.product])) <= len(states_after(dfa, [v]))
    # (4)
    for token in dfa.alphabet:
        if token != merge.rule.product:
            assert len(states_after(merge.dfa, [token])) == len(states_after(dfa, [token]))


@given(automata_with_a_rule())
def test_corollary_2_the_degree_of_1_locality_is_preserved(example: tuple[TokenDFA, Word, Word]) -> None:
    dfa, merge = fold(example)
    assert dloc(merge.dfa, 1).degree == dloc(dfa, 1).degree


@given(automata_with_a_rule())
def test_theorem_3_one_fold_writes_no_more_than_its_bound(example: tuple[TokenDFA, Word, Word]) -> None:
    """The size of the output bounds the time from below; the time itself is measured by ``bench_fold_growth``."""
    dfa, merge = fold(example)
    # Every state is copied at most once, with at most its transitions and one on the new token.
    assert merge.dfa.n_states <= 2 * dfa.n_states
    assert merge.dfa.n_transitions <= 2 * (dfa.n_transitions + dfa.n_states)
    assert merge.dfa.n_transitions <= 2 * dfa.n_states * len(merge.dfa.alphabet)


@given(context_invariant_dfas(), proper_dictionaries("ab", 6))
def test_theorem_2_the_number_of_states(dfa: TokenDFA, dictionary: Dictionary) -> None:
    bound = dfa.n_states
    degree = dloc(dfa, 1).degree
    for rule in Dictionary(dictionary, "ab"):
        dfa = apply_merge(dfa, *rule).dfa
        bound += degree
        assert dfa.n_states <= bound


@given(proper_dictionaries(max_rules=12))
def test_theorem_2_of_all_strings_one_state_a_live_rule(dictionary: Dictionary) -> None:
    assert token_dfa(dictionary).n_states == 1 + len(dictionary.live_rules) <= 1 + len(dictionary)


def test_theorem_2_is_tight_for_every_size() -> None:
    automata = list(iter_token_dfas(tight_family(20)))
    assert [dfa.n_states for dfa in automata] == [k + 1 for k in range(21)]
    # None of the states is useless, and no two of them are one.
    assert [dfa.minimize().n_states for dfa in automata] == [k + 1 for k in range(21)]
    assert [dloc(dfa, 1).degree for dfa in automata] == [1] * 21


def test_figure_5_is_the_tight_family() -> None:
    for dfa, figure in zip(iter_token_dfas(tight_family(3)), FIGURE_5, strict=True):
        assert dfa.isomorphism(figure)
        assert dfa.n_states == figure.n_states


@given(proper_dictionaries(max_rules=8))
def test_observation_2_adjacent_pairs_decide(dictionary: Dictionary) -> None:
    dfa = token_dfa(dictionary)
    assert dloc(dfa, 1).degree <= 1
    first = {token for token, _ in dfa.moves(dfa.initial)}
    pairs = {(u, v) for state in range(dfa.n_states) for u, end in dfa.moves(state) for v, _ in dfa.moves(end)}
    for tau in iter_tokenizations(len(dfa.alphabet), 2 if len(dfa.alphabet) > 6 else 3):
        by_pairs = first.issuperset(tau[:1]) and pairs.issuperset(pairwise(tau))
        assert dfa.accepts(tau) == by_pairs == bool(verify_by_windows(dfa, 1, tau))


def test_observation_2_windows_need_both_ends_of_the_stream() -> None:
    # For {ab} every window of two tokens in the stream a has a run, there being none.
    dfa = token_dfa(Dictionary.from_pairs([], "ab"), drawn({0: "a1", 1: "b2", 2: ""}, "2"))
    assert k_locality(dfa, 1)
    assert not verify_by_windows(dfa, 1, ["a"])
    assert not verify_by_windows(dfa, 1, ["b"])
    assert verify_by_windows(dfa, 1, ["a", "b"])

"""*Constructing a BPE Tokenization DFA*: the smallest counterexamples to the printed statements."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest

from tests.support.automata import all_runs, iter_tokenizations, spelled_language
from tests.support.dictionaries import all_rules_up_to_renaming, all_words
from tests.support.figures import drawn
from tokdfa import (
    Dictionary,
    TokenDFA,
    apply_merge,
    context_invariance,
    dloc,
    iter_token_dfas,
    k_locality,
    token_dfa,
    tokenize_leftmost,
    tokenize_single_pass,
)
from tokdfa.automata.locality import states_after, verify_by_windows
from tokdfa.automata.transducers.determinize import determinize, minimize
from tokdfa.automata.transducers.transducer import Transducer


def symbols_of(rules: tuple[tuple[str, str], ...]) -> str:
    return "".join(sorted({symbol for rule in rules for symbol in "".join(rule)}))


@pytest.mark.parametrize(("n_rules", "n_dictionaries", "n_repeating"), [(1, 2, 0), (2, 25, 0), (3, 685, 2)])
def test_section_2_the_two_semantics_coincide_up_to_three_rules(
    n_rules: int, n_dictionaries: int, n_repeating: int
) -> None:
    # A rule that makes a token which an earlier one makes, too, is needed: see test_algorithm_1_both_semantics_agree_…
    found = list(all_rules_up_to_renaming(n_rules))
    repeating = [rules for rules in found if len({u + v for u, v in rules}) < n_rules]
    assert (len(found), len(repeating)) == (n_dictionaries, n_repeating)
    for rules in found:
        dictionary = Dictionary.from_pairs(rules)
        longest = 12 if rules in repeating else 4
        for word in [*all_words(symbols_of(rules)[:2], longest), *(rule.product for rule in dictionary)]:
            assert tokenize_single_pass(dictionary, word) == tokenize_leftmost(dictionary, word)


def test_section_2_the_smallest_dictionaries_whose_semantics_differ() -> None:
    shortest = dict[tuple[tuple[str, str], ...], str]()
    repeating = 0
    for rules in all_rules_up_to_renaming(4):
        products = [u + v for u, v in rules]
        if len(set(products)) < len(products):
            repeating += 1
            dictionary = Dictionary.from_pairs(rules)
            for word in [*all_words(symbols_of(rules), 4), *products]:
                if tokenize_single_pass(dictionary, word) != tokenize_leftmost(dictionary, word):
                    shortest[rules] = word
                    break
    assert repeating == 134
    assert shortest == {
        (("a", "a"), ("a", "aa"), ("aa", "aaa"), ("aa", "a")): "aaaaa",
        (("a", "a"), ("a", "aa"), ("aaa", "b"), ("aa", "a")): "aaab",
        (("a", "a"), ("a", "aa"), ("b", "aaa"), ("aa", "a")): "baaa",
    }


def test_remark_2_the_smallest_dictionaries_with_an_unreachable_state() -> None:
    found = []
    for rules in (rules for n_rules in (0, 1, 2) for rules in all_rules_up_to_renaming(n_rules)):
        # A symbol that no rule has changes nothing.
        for more in ("", "z"):
            dfa = token_dfa(Dictionary.from_pairs(rules, symbols_of(rules) + more or "z"))
            if dfa.reachable().n_states < dfa.n_states:
                found.append((rules, more))
    unreachable = [(("a", "a"), ("a", "b")), (("a", "b"), ("a", "ab")), (("a", "b"), ("a", "c"))]
    assert found == [(rules, more) for rules in unreachable for more in ("", "z")]


def test_lemma_1_the_smallest_run_whose_beginning_is_not_initial() -> None:
    # One state, one symbol. Every run of A begins in the initial state, but not every run of A'.
    before = TokenDFA.universal("a")
    merge = apply_merge(before, "a", "a")
    assert merge.dfa.n_states == 2
    assert {start for start, _, _ in all_runs(before, 3)} == {before.initial}
    assert {start for start, _, _ in all_runs(merge.dfa, 3)} == {merge.dfa.initial, merge.fresh[before.initial]}
    # As the lemma is used, it holds: from the initial state of the one to the initial state of the other.
    assert merge.gamma[merge.dfa.initial] == before.initial


def small_automata(n_states: int, symbols: str) -> list[TokenDFA]:
    """Every automaton with these states, all final, over symbols as tokens; the first state is the initial one."""
    found = []
    for targets in product((None, *range(n_states)), repeat=n_states * len(symbols)):
        arcs = [(i // len(symbols), symbols[i % len(symbols)], q) for i, q in enumerate(targets) if q is not None]
        found.append(TokenDFA.from_edges(arcs, finals=range(n_states), symbols=symbols))
    return found


def test_lemma_4_the_smallest_automata_that_break_a_step_of_its_proof() -> None:
    # The step: in A', every run with u as its last token ends in a fresh state.
    found = Counter[tuple[int, str, bool]]()
    for n_states, symbols in ((1, "a"), (1, "ab"), (2, "a"), (2, "ab"), (3, "a")):
        for dfa in small_automata(n_states, symbols):
            merge = apply_merge(dfa, "a", symbols[-1])
            if merge.fresh:
                broken = not states_after(merge.dfa, ["a"]) <= set(merge.fresh.values())
                found[n_states, symbols, broken] += 1
                # The lemma's statement holds all the same.
                assert all(dloc(merge.dfa, k).degree <= dloc(dfa, k).degree for k in (1, 2))
    assert {key[:2] for key in found if key[2]} == {(2, "ab"), (3, "a")}
    assert {key[:2] for key in found} == {(1, "a"), (1, "ab"), (2, "a"), (2, "ab"), (3, "a")}
    smallest = drawn({0: "a1", 1: "a0 b0"}, "01")
    assert context_invariance(smallest)
    merge = apply_merge(smallest, "a", "b")
    assert (merge.fresh, states_after(merge.dfa, ["a"])) == ({1: 2}, {0, 2})


def has_runs_of_its_windows(dfa: TokenDFA, k: int, tau: tuple[int, ...]) -> bool:
    """Whether each k + 1 neighbouring tokens have some run."""
    windows = [tau[i : i + k + 1] for i in range(len(tau) - k)]
    return all(any(dfa.run(window, state) is not None for state in range(dfa.n_states)) for window in windows)


@pytest.mark.parametrize(
    ("arcs", "finals", "stream"),
    [
        # The smallest: one state, and a stream too short for a window.
        ({0: ""}, "0", "a"),
        # Every window of the stream has a run, but the stream begins elsewhere, or ends too early.
        ({0: "a1", 1: "b0"}, "0", "ba"),
        ({0: "a1", 1: "b0"}, "0", "aba"),
    ],
)
def test_observation_2_windows_alone_accept_what_is_not_in_the_language(arcs, finals: str, stream: str) -> None:
    dfa = token_dfa(Dictionary.from_pairs([], "ab"), drawn(arcs, finals))
    assert k_locality(dfa, 1)
    tau = tuple(dfa.alphabet.numbers(stream))
    assert has_runs_of_its_windows(dfa, 1, tau)
    assert not dfa.accepts(tau)
    assert not verify_by_windows(dfa, 1, tau)


def test_observation_2_windows_decide_between_both_ends() -> None:
    # All 1-local automata of two states, with all choices of final states: the repaired statement.
    wrong = right = 0
    for dfa in small_automata(2, "ab"):
        if not k_locality(dfa, 1):
            continue
        for finals in ((0,), (1,), (0, 1)):
            each = TokenDFA.from_edges(dfa.edges(), finals=finals, symbols="ab")
            for tau in iter_tokenizations(2, 3):
                assert bool(verify_by_windows(each, 1, tau)) == each.accepts(tau)
                wrong += has_runs_of_its_windows(each, 1, tau) and not each.accepts(tau)
                right += each.accepts(tau)
    assert wrong > 0
    assert right > 0


def test_section_3_the_languages_are_those_of_algorithm_1_for_improper_dictionaries_too() -> None:
    # "Lemma 3 does not hold without [properness]": it does, for Algorithm 1.
    words = [*all_words("ab", 5)]
    parts = ["a", "b", "aa", "ab", "ba", "bb"]
    improper = [
        dictionary
        for rules in product(product(parts, repeat=2), repeat=2)
        if rules[0][0].startswith("a") and not (dictionary := Dictionary(rules, "ab")).properness()
    ]
    assert len(improper) == 630
    unlike_leftmost = 0
    for dictionary in improper[::4]:
        expected = {tokenize_single_pass(dictionary, word) for word in words}
        *_, last = iter_token_dfas(dictionary, check=False)
        assert {tau for tau in spelled_language(last, 5) if len("".join(tau)) <= 5} == expected
        unlike_leftmost += expected != {tokenize_leftmost(dictionary, word) for word in words}
    assert unlike_leftmost > 0


@pytest.mark.parametrize(("symbols", "writes_a"), [("a", False), ("ab", True)])
def test_example_9_a_is_written_as_soon_as_a_b_follows(symbols: str, writes_a: bool) -> None:
    # "Can never output the token a": over one symbol only. With b, the transition on b writes a≀b.
    transducer = Transducer.from_token_dfa(token_dfa(Dictionary([("a", "a")], symbols)))
    steps = [output for _, _, output, _ in minimize(determinize(transducer)).edges()]
    assert any("a" in output for output in steps) == writes_a

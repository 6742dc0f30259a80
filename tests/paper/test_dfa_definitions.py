"""*Constructing a BPE Tokenization DFA*, sections 1 to 3: definitions, figures and examples."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.automata import spelled_language, token_dfas
from tests.support.dictionaries import all_proper_dictionaries, all_words, proper_dictionaries
from tests.support.figures import FIGURE_1, FIGURE_2, FIGURE_3, FIGURE_4
from tokdfa import (
    CompactTokenDFA,
    Dictionary,
    TokenAlphabet,
    TokenDFA,
    apply_merge,
    context_invariance,
    iter_token_dfas,
    token_dfa,
    tokenize_leftmost,
    tokenize_rounds,
    tokenize_single_pass,
)
from tokdfa.automata.protocol import accepts
from tokdfa.automata.semantics import LateRule, agrees_with_leftmost
from tokdfa.base.errors import AutomatonError, ImproperDictionaryError

EXAMPLE_2 = Dictionary.from_pairs([("a", "a"), ("b", "a")], "ab")
EXAMPLE_5 = Dictionary.from_pairs([("ab", "a"), ("a", "b")], "ab")


def test_section_1_gpt2(data: Path) -> None:
    lines = (data / "vocabs/gpt2/merges.txt").read_text(encoding="utf-8").splitlines()
    dictionary = Dictionary.from_pairs(tuple(line.split(" ")) for line in lines[1:] if line)  # type: ignore[misc]
    automaton = CompactTokenDFA(dictionary)
    # Ġ is a space in GPT-2's byte alphabet.
    pieces = ["CIA≀A", "Ġ2024", "Ġin", "ĠAk≀ita", "ĠJapan", "Ak≀ita", "kit"]
    for tokens in (tuple(piece.split("≀")) for piece in pieces):
        text = "".join(tokens)
        assert tokenize_single_pass(dictionary, text) == tokenize_leftmost(dictionary, text) == tokens
        assert accepts(automaton, dictionary.alphabet.numbers(tokens))
    for tokens in (("CI", "AA"), ("ĠAki", "ta")):
        assert all(token in dictionary.alphabet for token in tokens)
        assert not accepts(automaton, dictionary.alphabet.numbers(tokens))


def test_definition_1_token_dfa() -> None:
    alphabet = TokenAlphabet("ab", ["ab"])
    dfa = TokenDFA(alphabet, [{0: 1, 2: 0}, {1: 0}], finals=[0])
    assert dfa.run(["a", "b", "ab"]) == 0
    assert dfa.run(["b"], state=1) == 0
    assert dfa.run(["b"]) is None
    # An accepting run begins in the initial state and ends in a final one.
    assert dfa.accepts(["a", "b", "ab"])
    assert not dfa.accepts(["ab", "a"])
    assert not dfa.accepts(["b", "ab"])
    # A tokenization is not the string that it spells.
    assert alphabet.text(["a", "b"]) == alphabet.text(["ab"])
    assert spelled_language(dfa, 2) == {(), ("ab",), ("ab", "ab"), ("a", "b")}


def test_figure_1_two_tokenizations_of_one_string() -> None:
    assert spelled_language(FIGURE_1, 4) == {("a", "b", "c"), ("a", "bc")}
    verdict = context_invariance(FIGURE_1)
    assert not verdict
    # The paper's runs begin with a common a; the shortest ones do without it.
    text, first, second = verdict.witness
    assert (text, first.tokens, second.tokens) == ("bc", ("b", "c"), ("bc",))
    assert (first.states, second.states) == ((1, 2, 3), (1, 4))


def test_definition_2_and_remark_1_unique_tokenizations_are_not_enough() -> None:
    # Figure 2 accepts a…a≀aa, one tokenization of every string of two symbols or more.
    texts = [FIGURE_2.alphabet.text(tokens) for tokens in spelled_language(FIGURE_2, 8)]
    assert sorted(map(len, texts)) == list(range(2, 10))
    verdict = context_invariance(FIGURE_2)
    assert not verdict
    assert (verdict.witness.first.tokens, verdict.witness.second.tokens) == (("a", "a"), ("aa",))


@given(token_dfas("ab", ["ab", "ba", "aba"], max_states=4))
def test_remark_1_context_invariance_gives_unique_tokenizations(dfa: TokenDFA) -> None:
    if context_invariance(dfa):
        tokenizations = spelled_language(dfa, 4)
        assert len({dfa.alphabet.text(tokens) for tokens in tokenizations}) == len(tokenizations)


def test_definition_3_proper_dictionaries() -> None:
    assert EXAMPLE_2.properness()
    verdict = EXAMPLE_5.properness()
    assert not verdict
    assert (verdict.witness.index, verdict.witness.side, verdict.witness.part) == (0, "left", "ab")
    on_the_right = Dictionary.from_pairs([("a", "b"), ("a", "ba"), ("b", "a")]).properness()
    assert (on_the_right.witness.index, on_the_right.witness.side, on_the_right.witness.part) == (1, "right", "ba")
    # Its own product does not count: the rule that makes a part comes earlier.
    assert not Dictionary.from_pairs([("a", "b"), ("aba", "b"), ("ab", "a")]).properness()


def test_algorithm_1_both_semantics_agree_exactly_where_the_criterion_says() -> None:
    # All proper dictionaries of four rules over ab. Only a dictionary with two rules for one token can differ.
    found = Counter[tuple[bool, bool]]()
    for dictionary in all_proper_dictionaries("ab", 4):
        verdict = agrees_with_leftmost(dictionary)
        repeats = len(set(dictionary.product.tolist())) < len(dictionary)
        found[repeats, bool(verdict)] += 1
        if repeats:
            words = [*all_words("ab", 4), *(rule.product for rule in dictionary)]
            assert bool(verdict) == all(
                tokenize_single_pass(dictionary, word) == tokenize_leftmost(dictionary, word) for word in words
            )
    assert found == {(False, True): 9580, (True, True): 234, (True, False): 6}


@given(proper_dictionaries(), st.data())
def test_algorithm_1_both_semantics_agree_where_no_token_is_made_twice(
    dictionary: Dictionary, data: st.DataObject
) -> None:
    rules = {rule.product: rule for rule in reversed(dictionary)}
    dictionary = Dictionary([rule for rule in dictionary if rules[rule.product] is rule], dictionary.alphabet.symbols)
    word = data.draw(st.text(st.sampled_from("".join(map(str, dictionary.alphabet.symbols))), max_size=12))
    assert dictionary.properness()
    assert agrees_with_leftmost(dictionary)
    assert tokenize_single_pass(dictionary, word) == tokenize_leftmost(dictionary, word)


def test_algorithm_1_erratum_a_later_rule_may_bring_an_earlier_part_to_life() -> None:
    for rules, text in (
        ([("a", "a"), ("a", "aa"), ("aa", "aaa"), ("aa", "a")], "aaaaa"),
        ([("a", "a"), ("a", "aa"), ("b", "aaa"), ("aa", "a")], "baaa"),
    ):
        dictionary = Dictionary.from_pairs(rules, "ab")
        assert dictionary.properness()
        assert tokenize_single_pass(dictionary, text) == rules[2]
        assert tokenize_leftmost(dictionary, text) == (text,)
        assert agrees_with_leftmost(dictionary).witness == LateRule(2, 3, text, None)


def test_example_1_tokenizes_rule_by_rule() -> None:
    rules = [("a", "a"), ("a", "b"), ("b", "c"), ("ab", "c"), ("bc", "ab")]
    dictionary = Dictionary.from_pairs(rules)
    steps = [tokenize_single_pass(dictionary.prefix(i), "aaaaacbcabc") for i in range(6)]
    assert ["≀".join(step) for step in steps] == [
        "a≀a≀a≀a≀a≀c≀b≀c≀a≀b≀c",
        "aa≀aa≀a≀c≀b≀c≀a≀b≀c",
        "aa≀aa≀a≀c≀b≀c≀ab≀c",
        "aa≀aa≀a≀c≀bc≀ab≀c",
        "aa≀aa≀a≀c≀bc≀abc",
        "aa≀aa≀a≀c≀bc≀abc",
    ]
    assert tokenize_leftmost(dictionary, "aaaaacbcabc") == steps[-1]
    assert [dfa.accepts(step) for dfa, step in zip(iter_token_dfas(dictionary), steps, strict=True)] == [True] * 6
    assert not token_dfa(dictionary).accepts(steps[3])


def test_example_2_and_figure_3() -> None:
    automata = list(iter_token_dfas(EXAMPLE_2))
    assert len(automata) == 3
    for dfa, figure in zip(automata, FIGURE_3, strict=True):
        assert dfa.isomorphism(figure)
        assert dfa.n_states == figure.n_states
    # The paper says that two transitions of A2 are labelled ba.
    assert [token for _, token, _ in automata[2].edges()].count("ba") == 3


def test_algorithm_2_copies_the_product_to_fresh_states_unless_both_parts_are_equal() -> None:
    first = apply_merge(TokenDFA.universal("ab"), "a", "a")
    assert first.fresh == {0: 1}
    assert list(first.dfa.edges()) == [(0, "a", 1), (0, "b", 0), (0, "aa", 0), (1, "b", 0)]
    second = apply_merge(first.dfa, "b", "a")
    assert second.fresh == {0: 2}
    assert second.dfa.run(["ba"], state=2) == 1


def test_algorithm_2_without_runs_adds_the_token_only() -> None:
    merge = apply_merge(FIGURE_3[1], "a", "a")
    assert merge.dfa == FIGURE_3[1]
    merge = apply_merge(FIGURE_3[1], "aab", "a")
    assert merge.fresh == {}
    assert merge.dfa.isomorphism(FIGURE_3[1])
    assert "aaba" in merge.dfa.alphabet


def test_remark_2_erratum_a_fresh_state_may_be_unreachable() -> None:
    automata = list(iter_token_dfas(Dictionary.from_pairs([("a", "b"), ("a", "c")], "abc")))
    assert [dfa.n_states for dfa in automata] == [1, 2, 3]
    last = automata[-1]
    assert [state for state in range(3) if state not in last.targets] == [1]
    assert last.reachable().n_states == last.trim().n_states == 2
    # Before the second rule the state was in use: the rule took its only ways in away.
    assert automata[1].reachable().n_states == 2


@given(proper_dictionaries())
def test_remark_2_no_state_is_useless_in_the_other_sense(dictionary: Dictionary) -> None:
    # All states accept, so that every one leads to acceptance; it may just not be reached.
    dfa = token_dfa(dictionary)
    assert len(dfa.finals) == dfa.n_states
    assert dfa.trim() == dfa.reachable()


def test_remark_3_loops_at_fresh_states() -> None:
    before, after = FIGURE_3[1], apply_merge(FIGURE_3[1], "b", "a")
    fresh = after.fresh[0]
    assert before.run(["b"], state=0) == 0
    assert after.dfa.run(["b"], state=0) == fresh
    assert after.dfa.run(["b"], state=fresh) == fresh
    # With equal parts a loop does not arise.
    loop = apply_merge(TokenDFA.universal("a"), "a", "a")
    assert loop.dfa.run(["a"], state=loop.fresh[0]) is None


Edges = set[tuple[int, str, int]]


def algorithm_2_unchecked(dfa: TokenDFA, u: str, v: str) -> tuple[Edges, set[int], dict[int, int]]:
    """Algorithm 2 on any automaton: the transitions and final states of a nondeterministic one, and fresh(·)."""
    edges: Edges = {(p, str(token), q) for p, token, q in dfa.edges()}
    S = [(s1, s2, s3) for s1, x, s2 in edges if x == u for t2, y, s3 in edges if t2 == s2 and y == v]
    fresh = {s2: dfa.n_states + i for i, s2 in enumerate(sorted({s2 for _, s2, _ in S}))}
    edges |= {(s1, u + v, s3) for s1, _, s3 in S}
    lost = {v} if u != v else {v, u + v}
    edges |= {(fresh[p], token, q) for p, token, q in edges if p in fresh and token not in lost}
    edges = {(p, token, fresh[q] if token == u and q in fresh else q) for p, token, q in edges}
    return edges, {*dfa.finals, *(fresh[s] for s in dfa.finals if s in fresh)}, fresh


def spelled_runs(edges: Edges, start: int, longest: int) -> set[tuple[str, int]]:
    """The strings of up to `longest` symbols that runs from a state read, each with the state in which one ends."""
    found, stack = set[tuple[str, int]](), [("", start)]
    while stack:
        text, state = stack.pop()
        if (text, state) not in found:
            found.add((text, state))
            stack += [(text + x, q) for p, x, q in edges if p == state and len(text + x) <= longest]
    return found


def test_algorithm_2_unchecked_is_what_is_checked_on_figure_3() -> None:
    for before, after, rule in zip(FIGURE_3, FIGURE_3[1:], ("aa", "ba"), strict=False):
        edges, finals, _ = algorithm_2_unchecked(before, *rule)
        assert TokenDFA.from_edges(edges, finals=finals, symbols="ab").isomorphism(after)


def test_example_3_a_second_transition_on_one_token() -> None:
    edges, finals, fresh = algorithm_2_unchecked(FIGURE_1, "b", "c")
    assert {q for p, token, q in edges if (p, token) == (1, "bc")} == {3, 4}
    assert all(len({q for p, x, q in edges if (p, x) == (state, token)}) == 1 for state, token, _ in edges - {
        (1, "bc", 3), (1, "bc", 4)
    })  # fmt: skip
    # "Lemma 1 remains valid otherwise": the runs read the same as before, from and to corresponding states.
    before = {(str(p), token, q) for p, token, q in FIGURE_1.edges()}
    gamma = {**{state: state for state in range(FIGURE_1.n_states)}, **{new: old for old, new in fresh.items()}}
    for state in range(FIGURE_1.n_states):
        old = spelled_runs({(int(p), str(token), q) for p, token, q in before}, state, 4)
        assert {(text, gamma[q]) for text, q in spelled_runs(edges, state, 4)} == old
    assert {text for text, q in spelled_runs(edges, 0, 4) if q in finals} == {"abc"}


def test_example_4_a_string_is_lost() -> None:
    assert FIGURE_2.accepts(["a", "aa"])
    edges, finals, fresh = algorithm_2_unchecked(FIGURE_2, "a", "a")
    assert fresh == {0: 2}
    assert {q for p, token, q in edges if (p, token) == (0, "aa")} == {0, 1}
    accepted = {text for text, state in spelled_runs(edges, 0, 8) if state in finals}
    assert accepted == {"a" * n for n in (2, 4, 6, 8)}
    assert {"".join(map(str, tau)) for tau in spelled_language(FIGURE_2, 7)} == {"a" * n for n in range(2, 9)}
    # So Lemma 1 fails: in the automaton before, aaa leads from the initial state to the accepting one.
    assert ("aaa", 1) not in spelled_runs(edges, 0, 3)


@pytest.mark.parametrize(
    ("figure", "left", "right", "text", "state", "second"),
    [(FIGURE_1, "b", "c", "bc", 1, "bc"), (FIGURE_2, "a", "a", "aa", 0, "aa")],
    ids=["example 3", "example 4"],
)
def test_examples_3_and_4_algorithm_2_needs_context_invariance(figure, left, right, text, state, second) -> None:
    with pytest.raises(AutomatonError, match=f"not context-invariant: two runs read '{text}' differently"):
        apply_merge(figure, left, right)
    with pytest.raises(AutomatonError, match=f"state {state}: a second transition on {second}"):
        apply_merge(figure, left, right, check=False)


def test_example_5_three_semantics_of_an_improper_dictionary() -> None:
    word = "ababababa"
    assert "≀".join(tokenize_leftmost(EXAMPLE_5, word)) == "aba≀b≀aba≀b≀a"
    assert "≀".join(tokenize_single_pass(EXAMPLE_5, word)) == "ab≀ab≀ab≀ab≀a"
    assert "≀".join(tokenize_rounds(EXAMPLE_5, word)) == "ab≀ab≀ab≀aba"


def test_example_5_and_figure_4_the_automaton_accepts_one_of_them() -> None:
    with pytest.raises(ImproperDictionaryError, match="rule 0, ab≀a"):
        token_dfa(EXAMPLE_5)
    automata = list(iter_token_dfas(EXAMPLE_5, check=False))
    assert automata[1].isomorphism(automata[0])
    dfa = automata[2]
    assert dfa.isomorphism(FIGURE_4)
    assert dfa.n_states == FIGURE_4.n_states
    semantics = [tokenize_leftmost, tokenize_single_pass, tokenize_rounds]
    known = [all(token in dfa.alphabet for token in tokenize(EXAMPLE_5, "ababababa")) for tokenize in semantics]
    assert known == [True] * 3
    assert [dfa.accepts(tokenize(EXAMPLE_5, "ababababa")) for tokenize in semantics] == [False, True, False]
    assert "aba" not in [token for _, token, _ in dfa.edges()]

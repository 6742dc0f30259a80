"""*Constructing a BPE Tokenization DFA*, section 6: transducers."""

from __future__ import annotations

from itertools import combinations, pairwise

import networkx as nx
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.automata import spelled_language, string_dfas, token_dfas
from tests.support.dictionaries import all_proper_dictionaries, all_words, proper_dictionaries
from tests.support.transducers import rightmost_transducer
from tokdfa import (
    CompactTokenDFA,
    Dictionary,
    TokenAlphabet,
    TokenDFA,
    context_invariance,
    token_dfa,
    tokenize_single_pass,
)
from tokdfa.automata.alphabet import Word, concatenate
from tokdfa.automata.transducers.determinize import determinize, minimize, twinning
from tokdfa.automata.transducers.one_pass import OnePass
from tokdfa.automata.transducers.square import functionality
from tokdfa.automata.transducers.subsequential import SubsequentialTransducer, TransducerTable
from tokdfa.automata.transducers.transducer import Transducer
from tokdfa.base.errors import AutomatonError
from tokdfa.tokenizers.loading import default_dictionary

EXAMPLE_6 = Dictionary.from_pairs([("a", "a")], "ab")
EXAMPLE_7 = Dictionary.from_pairs([("a", "b"), ("ab", "a")], "ab")
FIGURE_6A = Transducer.from_edges(
    [(0, "b", ["b"], 0), (0, "a", ["a"], 1), (1, "b", ["b"], 0), (0, "a", [], 2), (2, "a", ["aa"], 0)],
    finals={0: [], 1: []},
)
FIGURE_6B = Transducer.from_edges(
    [(0, "b", ["b"], 0), (0, "a", [], 1), (1, "a", ["aa"], 0), (1, "b", ["a", "b"], 0)], finals={0: [], 1: ["a"]}
)


def isomorphic(first: Transducer, second: Transducer) -> bool:
    graphs = []
    for transducer in (first, second):
        graph = nx.DiGraph()
        for state in range(transducer.n_states):
            output = transducer.finals.get(state)
            shown = None if output is None else transducer.alphabet.spell(output)
            graph.add_node(state, kind=(state == transducer.initial, shown))
        for p, symbol, output, q in transducer.edges():
            labels = graph.get_edge_data(p, q, {"labels": frozenset()})["labels"]
            graph.add_edge(p, q, labels=labels | {(symbol, output)})
        graphs.append(graph)
    return nx.is_isomorphic(
        *graphs, node_match=lambda a, b: a["kind"] == b["kind"], edge_match=lambda a, b: a["labels"] == b["labels"]
    )


def lcp(x: tuple[Word, ...] | str, y: tuple[Word, ...] | str) -> int:
    return next((i for i, (a, b) in enumerate(zip(x, y, strict=False)) if a != b), min(len(x), len(y)))


def distance(x: tuple[Word, ...] | str, y: tuple[Word, ...] | str) -> int:
    return len(x) + len(y) - 2 * lcp(x, y)


def test_definition_6_transducers() -> None:
    alphabet = TokenAlphabet("ab", ["ab"])
    # A relation, not a function: from state 0, reading a leads to two states.
    transducer = Transducer(alphabet, [[(0, (), 1), (0, (0,), 0)], [(1, (2,), 0)]], finals={0: (0,)})
    runs = {(run.states, run.output) for run in transducer.iter_runs("aab")}
    assert runs == {((0, 0, 1, 0), ("a", "ab"))}
    # An accepting run ends where F is defined, and F is written after it.
    assert transducer.relation(all_words("ab", 2)) == {
        ("", ("a",)),
        ("a", ("a", "a")),
        ("aa", ("a", "a", "a")),
        ("ab", ("ab", "a")),
    }
    assert transducer.functionality()
    assert not transducer.subsequentiality()
    assert FIGURE_6B.subsequentiality()
    assert not FIGURE_6B.sequentiality()
    assert Transducer(alphabet, [[(0, (0, 1), 0)]], finals={0: ()}).sequentiality()


def test_definition_6_subsequential_outputs_are_words() -> None:
    # The definition allows one token or none at a step. Observation 3 writes no more; the figure does.
    assert all(len(output) <= 1 for _, _, output, _ in FIGURE_6A.edges())
    assert (1, "b", ("a", "b"), 0) in set(FIGURE_6B.edges())


def test_definition_6_erratum_one_token_a_step_takes_three_states_here() -> None:
    # The b is written one step later, or at the end.
    alphabet = FIGURE_6B.alphabet
    a, b, aa = (alphabet.number(token) for token in ("a", "b", "aa"))
    arcs = [[(0, (), 1), (1, (b,), 0)], [(0, (aa,), 0), (1, (a,), 2)], [(0, (b,), 1), (1, (b,), 2)]]
    delayed = Transducer(alphabet, arcs, finals={0: (), 1: (a,), 2: (b,)})
    assert delayed.subsequentiality()
    assert all(len(output) <= 1 for _, _, output, _ in delayed.edges())
    assert minimize(delayed) == FIGURE_6B
    for word in all_words("ab", 8):
        assert delayed(word) == FIGURE_6B(word) == tokenize_single_pass(EXAMPLE_6, word)


@given(token_dfas("ab", ["aa", "ab", "aab"], max_states=4))
def test_observation_3_transducer_from_a_token_dfa(dfa: TokenDFA) -> None:
    transducer = Transducer.from_token_dfa(dfa)
    spelled = [dfa.alphabet[token] for token in dfa.tokens.tolist()]
    assert transducer.n_states == dfa.n_states + sum(len(word) - 1 for word in spelled)
    assert transducer.n_arcs == sum(map(len, spelled))
    assert transducer.finals == dict.fromkeys(dfa.finals, ())


@given(token_dfas("ab", ["aa", "ab", "aab"], max_states=4))
def test_lemma_6_relation_and_functionality(dfa: TokenDFA) -> None:
    transducer = Transducer.from_token_dfa(dfa)
    expected = {(concatenate(tau, "characters"), tau) for tau in spelled_language(dfa, 5) if sum(map(len, tau)) <= 5}
    assert transducer.relation(all_words("ab", 5)) == expected
    if context_invariance(dfa):
        assert functionality(transducer)


@given(proper_dictionaries("ab", max_rules=6), string_dfas("ab", 4))
def test_lemma_6_for_folded_dictionaries(dictionary: Dictionary, language: TokenDFA) -> None:
    assume(dictionary.alphabet.n_symbols == 2)
    transducer = Transducer.from_token_dfa(token_dfa(dictionary, language))
    assert functionality(transducer)
    assert transducer.relation(all_words("ab", 6)) == {
        (word, tokenize_single_pass(dictionary, word)) for word in all_words("ab", 6) if language.accepts(list(word))
    }


def test_example_6_figure_6a() -> None:
    transducer = Transducer.from_token_dfa(token_dfa(EXAMPLE_6))
    assert isomorphic(transducer, FIGURE_6A)
    verdict = transducer.subsequentiality()
    assert not verdict
    assert verdict.witness is not None
    assert verdict.witness.state == transducer.initial
    assert {verdict.witness.first.output, verdict.witness.second.output} == {(), (transducer.alphabet.number("a"),)}


def test_example_6_figure_6b() -> None:
    transducer = determinize(Transducer.from_token_dfa(token_dfa(EXAMPLE_6)))
    assert isomorphic(transducer, FIGURE_6B)
    assert minimize(transducer) == transducer
    assert transducer.finals == {0: (), 1: (transducer.alphabet.number("a"),)}


def test_definition_7_and_example_7() -> None:
    u, v = "ababa", "ababb"
    outputs = {word: tokenize_single_pass(EXAMPLE_7, word) for word in (u, v, "abab")}
    assert u[: lcp(u, v)] == "abab"
    assert outputs["abab"] == ("ab", "ab")
    assert outputs[u] == ("ab", "aba")
    assert outputs[v] == ("ab", "ab", "b")
    assert outputs[u][: lcp(outputs[u], outputs[v])] == ("ab",)
    assert distance(u, v) == 2
    assert distance(outputs[u], outputs[v]) == 3


@pytest.mark.parametrize(
    ("symbols", "n_rules", "longest", "n_pairs", "n_revised", "most"),
    [("ab", 1, 6, 3_048, 630, 1), ("ab", 2, 6, 24_384, 7_138, 2), ("a", 3, 20, 882, 560, 3)],
)
def test_lemma_7_bounded_variation(
    symbols: str, n_rules: int, longest: int, n_pairs: int, n_revised: int, most: int
) -> None:
    # All dictionaries, all words, and their continuations by at most two symbols. The statement says something where
    # later symbols revise tokens: where the outputs of the two words have less in common than the words have.
    pairs = revised = most_tokens = 0
    for dictionary in all_proper_dictionaries(symbols, n_rules):
        t = max(len(rule.product) for rule in dictionary)
        ends = [end for end in all_words(symbols, 2) if end]
        output = {word: tokenize_single_pass(dictionary, word) for word in all_words(symbols, longest + 2)}
        for word in all_words(symbols, longest):
            for end in ends:
                u, v = word, word + end
                k = distance(u, v)
                assert k == len(end)
                pairs += 1
                assert distance(output[u], output[v]) <= 2 * n_rules * t + k
                lost = len(output[u]) - lcp(output[u], output[v])
                revised += lost > 0
                most_tokens = max(most_tokens, lost)
    assert (pairs, revised, most_tokens) == (n_pairs, n_revised, most)


def test_lemma_7_words_that_both_go_on() -> None:
    # Example 7's words are of this kind: both continue after a common beginning, in different ways.
    revised = 0
    for dictionary in all_proper_dictionaries("ab", 2):
        t = max(len(rule.product) for rule in dictionary)
        output = {word: tokenize_single_pass(dictionary, word) for word in all_words("ab", 5)}
        for u, v in combinations(output, 2):
            d, k = distance(output[u], output[v]), distance(u, v)
            assert d <= 2 * len(dictionary) * t + k
            revised += d > k
    assert revised == 5_482


def test_example_8_rightmost_rules_vary_without_bound() -> None:
    transducer = rightmost_transducer(EXAMPLE_6)
    for n in range(12):
        assert transducer("a" * n) == ("a",) * (n % 2) + ("aa",) * (n // 2)
    # One more a, and everything changes: no bound holds for words at distance 1.
    distances = [distance(*map(tuple, map(transducer, ("a" * n, "a" * (n + 1))))) for n in range(0, 12, 2)]
    assert distances == [n + 1 for n in range(0, 12, 2)]
    verdict = twinning(transducer)
    assert not verdict
    assert verdict.witness is not None
    assert verdict.witness.loop == "aa"
    assert set(verdict.witness.loop_outputs) == {("aa",)}
    with pytest.raises(AutomatonError, match="no subsequential transducer computes the same function"):
        determinize(transducer)


def test_example_9_no_sequential_transducer() -> None:
    transducer = minimize(determinize(Transducer.from_token_dfa(token_dfa(EXAMPLE_6))))
    # A sequential function writes on a word a prefix of its output on every continuation of the word.
    a, aa = transducer("a"), transducer("aa")
    assert a is not None
    assert aa is not None
    assert aa[: len(a)] != a
    assert not transducer.sequentiality()


@given(proper_dictionaries("abc", max_rules=5))
def test_theorem_4_a_subsequential_transducer_exists(dictionary: Dictionary) -> None:
    transducer = Transducer.from_token_dfa(token_dfa(dictionary))
    assert twinning(transducer)
    subsequential = determinize(transducer)
    assert subsequential.subsequentiality()
    for word in all_words("".join(map(str, dictionary.alphabet.symbols)), 5):
        assert subsequential(word) == tokenize_single_pass(dictionary, word)


@given(proper_dictionaries("abc", max_rules=8), st.data())
def test_corollary_3_one_pass_over_the_word(dictionary: Dictionary, data: st.DataObject) -> None:
    # The growth with the length is measured in tests/benchmarks; here, that it is the same function.
    evaluate = OnePass(dictionary)
    symbols = "".join(map(str, dictionary.alphabet.symbols))
    word = data.draw(st.text(symbols, max_size=60))
    output = evaluate(word)
    assert output == tokenize_single_pass(dictionary, word)
    automaton = CompactTokenDFA(dictionary)
    assert all(automaton.allows(u, v) for u, v in pairwise(output))


def test_section_7_state_complexity_of_the_subsequential_transducer() -> None:
    # Open in the paper. The token DFA grows with the rules; the subsequential transducer about with their square, and
    # more: figures/papers/subsequential_states has larger dictionaries.
    sizes = []
    for n in (20, 40, 80):
        dictionary = default_dictionary().prefix(n)
        assert CompactTokenDFA(dictionary).states_built == n + 1
        table = TransducerTable.of(dictionary, max_states=100_000)
        sizes.append((table.n_states, table.minimal().n_states))
    assert sizes == [(117, 14), (280, 31), (1085, 80)]


@given(proper_dictionaries("ab", max_rules=6))
def test_section_7_never_more_states_than_sets_of_live_rules(dictionary: Dictionary) -> None:
    table = TransducerTable.of(dictionary, max_states=10_000)
    assert table.minimal().n_states <= 2 ** len(dictionary.live_rules)


@pytest.mark.parametrize("n", range(1, 8))
def test_section_7_the_doubling_family_has_a_state_for_each_set_of_rules(n: int) -> None:
    dictionary = Dictionary([("a" * 2**i, "a" * 2**i) for i in range(n)], "a")
    assert TransducerTable.of(dictionary, max_states=10_000).minimal().n_states == 2**n


@given(proper_dictionaries("ab", max_rules=6), st.text("ab", max_size=14))
def test_section_7_what_is_unsettled_is_left_parts_of_rules(dictionary: Dictionary, text: str) -> None:
    # Later rules first, each at most once: this bounds the number of states.
    text = "".join(symbol for symbol in text if symbol in dictionary.alphabet)
    stream = SubsequentialTransducer(dictionary).stream()
    stream.feed(text)
    unsettled = text[len(text) - stream.delay :]
    found = {""}
    for rule in dictionary.live_rules.tolist()[::-1]:
        found |= {each + str(dictionary[rule].left) for each in found}
    assert unsettled in found


def test_section_7_transitions_over_large_alphabets() -> None:
    # However many symbols there are, those that no rule has are read alike in every state, and add no states.
    rules = [("a", "b"), ("ab", "a"), ("b", "b"), ("ab", "ab")]
    tables = [
        TransducerTable.of(Dictionary.from_pairs(rules, "ab" + more), max_states=1_000)
        for more in ("", "c", "".join(map(chr, range(0x4E00, 0x5000))))
    ]
    assert len({table.n_states for table in tables}) == 1
    assert len({table.minimal().n_states for table in tables}) == 1
    assert (tables[-1].target[:, 2:] == 0).all()
    assert (tables[-1].target[:, :2] == tables[0].target).all()

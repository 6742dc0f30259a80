"""*Constructing a BPE Tokenization DFA*, section 4: Algorithm 2 is correct."""

from __future__ import annotations

from hypothesis import assume, given

from tests.support.automata import all_runs, automata_with_a_rule, spelled_language, string_dfas
from tests.support.dictionaries import proper_dictionaries
from tokdfa import (
    Dictionary,
    TokenDFA,
    apply_merge,
    context_invariance,
    iter_token_dfas,
    token_dfa,
    tokenize_leftmost,
    tokenize_single_pass,
)
from tokdfa.automata.alphabet import Word
from tokdfa.automata.semantics import agrees_with_leftmost


def merged(tau: tuple[Word, ...], u: Word, v: Word) -> tuple[Word, ...]:
    """Replace u≀v by uv from left to right."""
    result: list[Word] = []
    rest = list(tau)
    while rest:
        if rest[:2] == [u, v]:
            result.append(u + v)  # type: ignore[operator]
            del rest[:2]
        else:
            result.append(rest.pop(0))
    return tuple(result)


def unmerged(tau: tuple[Word, ...], u: Word, v: Word) -> tuple[Word, ...]:
    """Replace uv by u≀v."""
    return tuple(part for token in tau for part in ((u, v) if token == u + v else (token,)))  # type: ignore[operator]


@given(automata_with_a_rule())
def test_lemma_1_runs_correspond(example: tuple[TokenDFA, Word, Word]) -> None:
    dfa, u, v = example
    merge = apply_merge(dfa, u, v)
    gamma = merge.gamma
    assert sorted(set(gamma)) == list(range(dfa.n_states))
    assert all(merge.dfa.is_final(state) == dfa.is_final(gamma[state]) for state in range(merge.dfa.n_states))
    if not merge.fresh:
        assert list(merge.dfa.edges()) == list(dfa.edges())
        return
    # From A' to A: uv is undone, every state is sent through γ.
    for start, tau, end in all_runs(merge.dfa, 5):
        assert dfa.run(unmerged(merge.dfa.alphabet.spell(tau), u, v), gamma[start]) == gamma[end]
    # From A to A': the rule is applied from the left, and the run begins where it did.
    for start, tau, end in all_runs(dfa, 5):
        after = merged(dfa.alphabet.spell(tau), u, v)
        reached = merge.dfa.run(after, start)
        assert reached is not None
        assert gamma[reached] == end
        assert merge.dfa.accepts(after) == dfa.accepts(dfa.alphabet.spell(tau))


def test_lemma_1_initial_states_correspond_from_the_initial_state_on() -> None:
    # "Either both runs start from an initial state or neither does" holds for q₀ itself. A run from fresh(q₀), which
    # is not initial, has its counterpart begin in γ(fresh(q₀)) = q₀, which is.
    merge = apply_merge(TokenDFA.universal("ab"), "a", "b")
    fresh = merge.fresh[0]
    assert merge.dfa.run(["a"], fresh) is not None
    assert fresh != merge.dfa.initial
    assert merge.gamma[fresh] == merge.dfa.initial


@given(automata_with_a_rule())
def test_lemma_2_context_invariance_is_preserved(example: tuple[TokenDFA, Word, Word]) -> None:
    dfa, u, v = example
    after = apply_merge(dfa, u, v).dfa
    assert context_invariance(after)
    # The decision procedure itself against all short runs.
    read: dict[Word, tuple[int, ...]] = {}
    for _, tau, _ in all_runs(after, 6):
        assert read.setdefault(after.alphabet.text(tau), tau) == tau


@given(proper_dictionaries("ab", 6), string_dfas("ab"))
def test_lemma_3_one_more_rule_makes_one_more_step(dictionary: Dictionary, language: TokenDFA) -> None:
    assume(len(dictionary) > 0)
    dictionary = Dictionary(dictionary, "ab")
    shorter = dictionary.prefix(len(dictionary) - 1)
    before, after = token_dfa(shorter, language), token_dfa(dictionary, language)
    for tau in spelled_language(before, 5):
        text = before.alphabet.text(tau)
        assert tau == tokenize_single_pass(shorter, text)
        expected = merged(tau, *dictionary[-1])
        assert expected == tokenize_single_pass(dictionary, text)
        assert after.accepts(expected)


@given(proper_dictionaries("abc", 6), string_dfas("abc"))
def test_theorem_1_every_automaton_accepts_the_tokenizations_of_its_prefix(
    dictionary: Dictionary, language: TokenDFA
) -> None:
    dictionary = Dictionary(dictionary, "abc")
    words = ["".join(symbols) for symbols in spelled_language(language, 4)]
    for i, dfa in enumerate(iter_token_dfas(dictionary, language)):
        prefix = dictionary.prefix(i)
        expected = {tokenize_single_pass(prefix, word) for word in words}
        accepted = {tau for tau in spelled_language(dfa, 4) if len("".join(tau)) <= 4}
        assert accepted == expected
        # SentencePiece's semantics is the same function where the criterion holds, and there only.
        if agrees_with_leftmost(prefix):
            assert expected == {tokenize_leftmost(prefix, word) for word in words}


def test_theorem_1_is_about_algorithm_1_where_the_semantics_differ() -> None:
    dictionary = Dictionary([("a", "a"), ("a", "aa"), ("aa", "aaa"), ("aa", "a")])
    *automata, last = iter_token_dfas(dictionary)
    assert all(agrees_with_leftmost(dictionary.prefix(i)) for i in range(len(automata)))
    assert not agrees_with_leftmost(dictionary)
    for n in range(13):
        assert last.accepts(tokenize_single_pass(dictionary, "a" * n))
    assert tokenize_leftmost(dictionary, "aaaaa") == ("aaaaa",)
    assert not last.accepts(["aaaaa"])

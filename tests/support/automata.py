"""Random explicit automata, and their languages, found by trying everything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hypothesis import strategies as st

from tests.support.dictionaries import proper_dictionaries
from tokdfa import Dictionary, token_dfa
from tokdfa.automata.alphabet import TokenAlphabet, Word
from tokdfa.automata.protocol import TokenAutomaton
from tokdfa.automata.token_dfa import TokenDFA


@st.composite
def token_dfas(
    draw: st.DrawFn,
    symbols: str = "ab",
    tokens: Sequence[str] = (),
    max_states: int = 6,
) -> TokenDFA:
    """Partial DFAs with useless states as often as not."""
    alphabet = TokenAlphabet(symbols, tokens)
    n = draw(st.integers(1, max_states))
    # The last value means a missing transition.
    targets = st.lists(st.integers(0, n), min_size=len(alphabet), max_size=len(alphabet))
    rows = [{token: q for token, q in enumerate(draw(targets)) if q < n} for _ in range(n)]
    finals = [state for state in range(n) if draw(st.booleans())]
    return TokenDFA(alphabet, rows, draw(st.integers(0, n - 1)), finals=finals)


def string_dfas(symbols: str = "ab", max_states: int = 5) -> st.SearchStrategy[TokenDFA]:
    """DFAs of regular languages of strings: the tokens are the symbols."""
    return token_dfas(symbols, (), max_states)


@st.composite
def context_invariant_dfas(draw: st.DrawFn) -> TokenDFA:
    """Context-invariant token DFAs over {a, b}: folded from a language, then robbed of some transitions.

    Taking transitions away takes runs away, which cannot make two runs disagree.
    """
    dictionary = Dictionary(draw(proper_dictionaries("ab", 4)), "ab")
    dfa = token_dfa(dictionary, draw(string_dfas("ab", 4)))
    lost = draw(st.sets(st.sampled_from(range(dfa.n_transitions)), max_size=3)) if dfa.n_transitions else set()
    rows: list[dict[int, int]] = [{} for _ in range(dfa.n_states)]
    columns = zip(dfa.sources.tolist(), dfa.tokens.tolist(), dfa.targets.tolist(), strict=True)
    for i, (source, token, target) in enumerate(columns):
        if i not in lost:
            rows[source][token] = target
    return TokenDFA(dfa.alphabet, rows, dfa.initial, finals=dfa.finals)


@st.composite
def automata_with_a_rule(draw: st.DrawFn) -> tuple[TokenDFA, Word, Word]:
    """A context-invariant token DFA and a rule u≀v over its tokens; nearly always one that some run reads."""
    dfa = draw(context_invariant_dfas())
    pairs = sorted({(u, v) for _, u, p in dfa.edges() for q, v, _ in dfa.edges() if p == q})
    words = list(dfa.alphabet)
    anything = st.tuples(st.sampled_from(words), st.sampled_from(words))
    u, v = draw(st.one_of(st.sampled_from(pairs), st.sampled_from(pairs), anything) if pairs else anything)
    return dfa, u, v


def iter_tokenizations(n_tokens: int, longest: int) -> Iterator[tuple[int, ...]]:
    """Every sequence of up to `longest` token numbers, the shortest first."""
    level: list[tuple[int, ...]] = [()]
    for _ in range(longest + 1):
        yield from level
        level = [(*sequence, token) for sequence in level for token in range(n_tokens)]


def language(automaton: TokenAutomaton[int], longest: int) -> set[tuple[int, ...]]:
    """Every accepted sequence of up to `longest` tokens."""
    accepted = set()
    level = [((), automaton.initial)]
    for _ in range(longest + 1):
        accepted.update(sequence for sequence, state in level if automaton.is_final(state))
        level = [((*sequence, token), target) for sequence, state in level for token, target in automaton.moves(state)]
    return accepted


def spelled_language(dfa: TokenDFA, longest: int) -> set[tuple[Word, ...]]:
    """Every accepted tokenization of up to `longest` tokens, spelled."""
    return {dfa.alphabet.spell(sequence) for sequence in language(dfa, longest)}


def all_runs(dfa: TokenDFA, longest: int) -> Iterator[tuple[int, tuple[int, ...], int]]:
    """Every run that reads up to `longest` symbols, from any state: its first state, its symbols, its last state."""
    length = [len(word) for word in dfa.alphabet]
    level = [(state, (), state, longest) for state in range(dfa.n_states)]
    while level:
        yield from ((start, tau, state) for start, tau, state, _ in level)
        level = [
            (start, (*tau, token), target, left - length[token])
            for start, tau, state, left in level
            for token, target in dfa.moves(state)
            if length[token] <= left
        ]

"""Random transducers, and transducers of other rules than Algorithm 1's."""

from __future__ import annotations

from hypothesis import strategies as st

from tokdfa import Dictionary, TokenAlphabet, TokenDFA, token_dfa
from tokdfa.automata.transducers.square import Arc
from tokdfa.automata.transducers.transducer import Transducer


@st.composite
def transducers(draw: st.DrawFn, max_states: int = 4, longest_output: int = 2) -> Transducer:
    """Small transducers over {a, b} with tokens a, b and ab: useless states and conflicts as they come."""
    alphabet = TokenAlphabet("ab", ["ab"])
    n = draw(st.integers(1, max_states))
    output = st.lists(st.integers(0, 2), max_size=longest_output).map(tuple)
    arc = st.builds(Arc, st.integers(0, 1), output, st.integers(0, n - 1))
    arcs = [draw(st.lists(arc, max_size=3)) for _ in range(n)]
    finals = draw(st.dictionaries(st.integers(0, n - 1), output, max_size=n))
    return Transducer(alphabet, arcs, finals=finals)


@st.composite
def backward_sequential(draw: st.DrawFn, max_states: int = 4) -> Transducer:
    """Transducers that are sequential when read from right to left: functional, and often not subsequential."""
    alphabet = TokenAlphabet("ab", ["ab"])
    n = draw(st.integers(2, max_states))
    output = st.lists(st.integers(0, 2), max_size=1).map(tuple)
    arcs: list[list[Arc]] = [[] for _ in range(n)]
    for target in range(n):
        for symbol in range(2):
            arcs[draw(st.integers(0, n - 1))].append(Arc(symbol, draw(output), target))
    return Transducer(alphabet, arcs, finals={draw(st.integers(0, n - 1)): ()})


def rightmost_transducer(dictionary: Dictionary) -> Transducer:
    """The transducer of Algorithm 1 with rules applied rightmost first.

    That is Algorithm 1 on reversed words with reversed rules: fold these, and turn every transition around.
    """
    backwards = token_dfa(
        Dictionary.from_pairs([(rule.right[::-1], rule.left[::-1]) for rule in dictionary], dictionary.alphabet.symbols)
    )
    words = [word[::-1] for word in backwards.alphabet]
    alphabet = TokenAlphabet(words[: backwards.alphabet.n_symbols], words[backwards.alphabet.n_symbols :])
    # Every state of the folded automaton is final, so that any of them can be first now; a state of its own goes
    # nowhere back, and stands for all of them.
    arcs: list[list[Arc]] = [[] for _ in range(backwards.n_states + 1)]
    first = backwards.n_states
    for target, row in enumerate(list(backwards.moves(state)) for state in range(backwards.n_states)):
        for token, source in row:
            for start in {source, first}:
                *most, last = alphabet.base_tokenization(alphabet[token])
                at = start
                for symbol in most:
                    arcs.append([])
                    arcs[at].append(Arc(symbol, (), len(arcs) - 1))
                    at = len(arcs) - 1
                arcs[at].append(Arc(last, (token,), target))
    return Transducer(alphabet, arcs, first, finals={backwards.initial: (), first: ()})


def with_copies(transducer: Transducer) -> Transducer:
    """The same function, with every state twice and transitions leading to either copy in turn."""
    n = transducer.n_states
    arcs = [
        [arc._replace(target=arc.target + n * ((state + arc.symbol + copy) % 2)) for arc in transducer.arcs[state]]
        for copy in range(2)
        for state in range(n)
    ]
    finals = {state + n * copy: output for copy in range(2) for state, output in transducer.finals.items()}
    return Transducer(transducer.alphabet, arcs, transducer.initial + n, finals=finals)


def language_of(word_length: int, remainder: int, symbols: str) -> TokenDFA:
    """The words with a length of this remainder modulo `word_length`."""
    alphabet = TokenAlphabet(symbols)
    rows = [dict.fromkeys(range(len(symbols)), (state + 1) % word_length) for state in range(word_length)]
    return TokenDFA(alphabet, rows, finals=[remainder])

"""Transducers from words to tokenizations, with every transition written out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from tokdfa.automata.alphabet import TokenAlphabet, Word, iter_symbols, quoted
from tokdfa.automata.protocol import TokenAutomaton, check_budget, checked, reached
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.automata.transducers.square import Arc, Output, compose, functionality, show_output
from tokdfa.base.errors import AutomatonError
from tokdfa.base.verdict import Displayed, Verdict

__all__ = ["Transducer"]

DEFAULT_MAX_STATES = 1_000_000


class TransducerRun(NamedTuple):
    """A run: the states that it visits and, between them, the tokens (spelled) that it writes at each step."""

    states: tuple[int, ...]
    outputs: tuple[tuple[Word, ...], ...]

    @property
    def output(self) -> tuple[Word, ...]:
        """All tokens that the run writes."""
        return tuple(token for step in self.outputs for token in step)


class TwoArcs(NamedTuple):
    """Two transitions of one state on one symbol."""

    state: int
    first: Arc
    second: Arc


class Transducer(Displayed):
    """A transducer T = (Q, Σ × Γ*, q₀, δ, F) from words over the symbols of Γ to tokenizations.

    The states are 0 to n-1. Immutable.

    Parameters
    ----------
    alphabet : TokenAlphabet
        Γ; its symbols are Σ.
    arcs : sequence of iterables of (symbol, output, target)
        δ: the transitions of each state, with numbers for the symbol and the tokens written. Duplicates are dropped.
    initial : int
        q₀.
    finals : mapping from state to output
        F, a partial function: the states in its domain accept, and their values are written at the end.

    Attributes
    ----------
    alphabet : TokenAlphabet
    arcs : tuple of tuples of Arc
        The transitions of each state, ascending.
    initial : int
    finals : mapping from state to output

    Raises
    ------
    AutomatonError
        If there is no state, or if a number is not an integer or out of range; the message says where.

    Notes
    -----
    *Constructing a BPE Tokenization DFA*, Def 6. In the paper a transition writes at most one token, which is too few
    for the subsequential transducer of Fig 6(b). Here a transition writes any number of tokens.

    Examples
    --------
    >>> d = tokdfa.Dictionary.from_pairs([("a", "a"), ("b", "a")], alphabet="ab")
    >>> T = tokdfa.Transducer.from_token_dfa(tokdfa.token_dfa(d))
    >>> T.outputs("baa")
    frozenset({('b', 'aa')})
    >>> bool(T.functionality()), bool(T.subsequentiality())
    (True, False)
    """

    def __init__(
        self,
        alphabet: TokenAlphabet,
        arcs: Sequence[Iterable[tuple[int, Sequence[int], int]]],
        initial: int = 0,
        *,
        finals: Mapping[int, Sequence[int]],
    ) -> None:
        n = len(arcs)
        if n == 0:
            raise AutomatonError("a transducer must have at least one state, the initial one")
        self.alphabet = alphabet
        self.arcs = tuple(
            tuple(sorted({_checked_arc(alphabet, n, state, arc) for arc in row})) for state, row in enumerate(arcs)
        )
        self.initial = checked(initial, n, "state", "initial state")
        self.finals: Mapping[int, Output] = {
            checked(state, n, "state", "final states"): _checked_output(alphabet, output, f"final state {state}")
            for state, output in sorted(finals.items())
        }

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[tuple[int, Word, Sequence[Word], int]],
        initial: int = 0,
        *,
        finals: Mapping[int, Sequence[Word]],
        alphabet: TokenAlphabet | None = None,
        n_states: int | None = None,
    ) -> Transducer:
        """Return the transducer with these transitions, written as in a figure: source, symbol, tokens written, target.

        `finals` maps the final states to the tokens that they write. The alphabet is, by default, the sorted symbols
        that are mentioned, then the tokens in order of first mention; the number of states is one more than the largest
        mentioned.
        """
        rows = list(edges)
        if alphabet is None:
            tokens = [token for _, _, output, _ in rows for token in output]
            tokens += [token for output in finals.values() for token in output]
            symbols = sorted(
                {s for word in [*tokens, *(symbol for _, symbol, _, _ in rows)] for s in iter_symbols(word)}
            )
            alphabet = TokenAlphabet(TokenAlphabet(symbols).symbols, dict.fromkeys(t for t in tokens if len(t) > 1))
        if n_states is None:
            n_states = 1 + max([initial, *finals, *(state for p, _, _, q in rows for state in (p, q))])
        arcs: list[list[Arc]] = [[] for _ in range(n_states)]
        for p, symbol, output, q in rows:
            arc = Arc(alphabet.number(symbol), alphabet.numbers(output), q)
            arcs[checked(p, n_states, "state", f"transition {p} {symbol!r} {q}")].append(arc)
        numbered = {state: alphabet.numbers(output) for state, output in finals.items()}
        return cls(alphabet, arcs, initial, finals=numbered)

    @classmethod
    def from_token_dfa(cls, dfa: TokenDFA, *, max_states: int = DEFAULT_MAX_STATES) -> Transducer:
        """Return the transducer that maps the text of each tokenization that `dfa` accepts to the tokenization.

        The states of `dfa` keep their numbers. A transition on a token of k symbols becomes k steps through k - 1
        states of its own; the last step writes the token. More than `max_states` states are a LimitExceededError.

        *Constructing a BPE Tokenization DFA*, Observation 3. By Lemma 6 it is functional if `dfa` is context-invariant.
        """
        alphabet = dfa.alphabet
        spelled = [alphabet.base_tokenization(word) for word in alphabet]
        arcs: list[list[Arc]] = [[] for _ in range(dfa.n_states)]
        for p in range(dfa.n_states):
            for token, q in dfa.moves(p):
                *first, last = spelled[token]
                at = p
                for symbol in first:
                    check_budget("states", len(arcs) + 1, max_states, "the transducer would have")
                    arcs[at].append(Arc(symbol, (), len(arcs)))
                    at = len(arcs)
                    arcs.append([])
                arcs[at].append(Arc(last, (token,), q))
        return cls(alphabet, arcs, dfa.initial, finals=dict.fromkeys(dfa.finals, ()))

    @property
    def n_states(self) -> int:
        """|Q|."""
        return len(self.arcs)

    @cached_property
    def n_arcs(self) -> int:
        """|δ|."""
        return sum(map(len, self.arcs))

    def edges(self) -> Iterator[tuple[int, Word, tuple[Word, ...], int]]:
        """Yield every transition as (source, symbol, tokens written, target), spelled."""
        spell = self.alphabet.spell
        for p, row in enumerate(self.arcs):
            for symbol, output, q in row:
                yield p, self.alphabet[symbol], spell(output), q

    @cached_property
    def rows(self) -> tuple[Mapping[int, tuple[Arc, ...]], ...]:
        """The transitions of each state, grouped by the symbol that they read."""
        # They come in the order of their symbols.
        return tuple({symbol: tuple(arcs) for symbol, arcs in groupby(row, itemgetter(0))} for row in self.arcs)

    # Running it on words

    def iter_runs(self, word: Word | Iterable[str], state: int | None = None) -> Iterator[TransducerRun]:
        """Yield the runs on `word` from `state`, by default the initial state, whether they accept or not."""
        symbols = self.alphabet.base_tokenization(word)
        start = self.initial if state is None else checked(state, self.n_states, "state", "start of the runs")
        states: list[int] = []
        written: list[Output] = []
        # Depth first: the arcs to try, each with the number of symbols read before it.
        pending = [(0, Arc(-1, (), start))]
        while pending:
            n_read, arc = pending.pop()
            states[n_read:], written[n_read:] = [arc.target], [arc.output]
            if n_read == len(symbols):
                yield TransducerRun(tuple(states), tuple(map(self.alphabet.spell, written[1:])))
            else:
                following = self.rows[arc.target].get(symbols[n_read], ())
                pending += [(n_read + 1, arc) for arc in reversed(following)]

    def outputs(self, word: Word | Iterable[str]) -> frozenset[tuple[Word, ...]]:
        """Return every tokenization that an accepting run on `word` writes, spelled."""
        # An output is a node in a tree of tokens: equal outputs are the same number, and a step copies nothing.
        nodes: dict[tuple[int, int], int] = {}
        at: dict[int, set[int]] = {self.initial: {-1}}
        for symbol in self.alphabet.base_tokenization(word):
            following: dict[int, set[int]] = {}
            for state, written in at.items():
                for _, output, target in self.rows[state].get(symbol, ()):
                    reached = following.setdefault(target, set())
                    for node in written:
                        for token in output:
                            node = nodes.setdefault((node, token), len(nodes))
                        reached.add(node)
            at = following
        tree = list(nodes)
        found = set()
        for state, written in at.items():
            if state in self.finals:
                end = self.alphabet.spell(self.finals[state])
                for node in written:
                    tokens = []
                    while node >= 0:
                        node, token = tree[node]
                        tokens.append(token)
                    found.add(self.alphabet.spell(reversed(tokens)) + end)
        return frozenset(found)

    def __call__(self, word: Word | Iterable[str]) -> tuple[Word, ...] | None:
        """Return the only tokenization of `word`, spelled, or None if there is none; two are an AutomatonError."""
        found = self.outputs(word)
        if len(found) > 1:
            raise AutomatonError("the transducer is not functional: a word with several outputs", value=word)
        return next(iter(found), None)

    def relation(self, words: Iterable[Word]) -> set[tuple[Word, tuple[Word, ...]]]:
        """Return the recognized relation restricted to a finite set of words: (word, tokenization), spelled."""
        return {(word, output) for word in words for output in self.outputs(word)}

    # Its properties

    def functionality(self) -> Verdict[tuple[Word, tuple[Word, ...], tuple[Word, ...]]]:
        """Decide whether no word has two outputs; see :func:`tokdfa.automata.transducers.square.functionality`."""
        return functionality(self)

    def subsequentiality(self) -> Verdict[TwoArcs]:
        """Decide whether the state and the symbol read determine every step.

        The witness is a state with two transitions on one symbol. *Constructing a BPE Tokenization DFA*, Def 6.
        """
        for state, row in enumerate(self.rows):
            for symbol, (first, *others) in row.items():
                if others:
                    reason = f"state {state} has {1 + len(others)} transitions on {quoted(self.alphabet[symbol])}"
                    return Verdict(False, TwoArcs(state, first, others[0]), reason)
        return Verdict(True, None, "no state has two transitions on one symbol")

    def sequentiality(self) -> Verdict[TwoArcs | int]:
        """Decide whether the transducer is subsequential and its final states write nothing.

        The witness is the one of :meth:`subsequentiality`, or a final state that writes something. *Constructing a BPE
        Tokenization DFA*, Def 6.
        """
        subsequential = self.subsequentiality()
        if not subsequential:
            return Verdict(False, subsequential.witness, subsequential.reason)
        for state, output in self.finals.items():
            if output:
                return Verdict(False, state, f"F({state}) = {show_output(self.alphabet, output)}")
        return Verdict(True, None, "subsequential, and no final state writes anything")

    # Constructions

    def trim(self) -> Transducer:
        """Return the transducer restricted to the states on accepting runs, in their order.

        A transducer that accepts nothing becomes one state without transitions.
        """
        sources = np.repeat(np.arange(self.n_states, dtype=np.int32), [len(row) for row in self.arcs])
        targets = np.array([arc.target for row in self.arcs for arc in row], dtype=np.int32)
        states = np.arange(self.n_states)
        useful = reached(sources, targets, states == self.initial)
        useful &= reached(targets, sources, np.isin(states, [*self.finals]))
        if not useful[self.initial]:
            return Transducer(self.alphabet, [()], finals={})
        number = {state: i for i, state in enumerate(np.flatnonzero(useful).tolist())}
        arcs = [
            [arc._replace(target=number[arc.target]) for arc in self.arcs[state] if arc.target in number]
            for state in number
        ]
        finals = {number[state]: output for state, output in self.finals.items() if state in number}
        return Transducer(self.alphabet, arcs, number[self.initial], finals=finals)

    def compose(self, automaton: TokenAutomaton[int], *, max_states: int = DEFAULT_MAX_STATES) -> Transducer:
        """Return the transducer of the pairs (word, tokenization) whose tokenization `automaton` accepts.

        It is an automaton over the token numbers of this alphabet. More than `max_states` states are a
        LimitExceededError.
        """
        return compose(self, automaton, max_states=max_states)

    def to_dot(self) -> str:
        """Return the transducer in the DOT language; see :func:`tokdfa.draw.automaton.transducer_to_dot`."""
        from tokdfa.draw.automaton import transducer_to_dot

        return transducer_to_dot(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Transducer):
            return NotImplemented
        return (
            self.initial == other.initial
            and self.finals == other.finals
            and self.arcs == other.arcs
            and self.alphabet == other.alphabet
        )

    def __hash__(self) -> int:
        return hash((self.initial, self.arcs))

    def __repr__(self) -> str:
        return (
            f"<Transducer: {self.n_states} states ({len(self.finals)} final), {self.n_arcs} transitions, "
            f"{len(self.alphabet)} tokens>"
        )


def _checked_arc(alphabet: TokenAlphabet, n_states: int, state: int, arc: tuple[int, Sequence[int], int]) -> Arc:
    """Return a transition of `state` after checking its numbers."""
    symbol, output, target = arc
    where = f"state {state}"
    return Arc(
        checked(symbol, alphabet.n_symbols, "symbol", where),
        _checked_output(alphabet, output, where),
        checked(target, n_states, "target", where),
    )


def _checked_output(alphabet: TokenAlphabet, output: Sequence[int], where: str) -> Output:
    """Return an output after checking that it consists of tokens."""
    return tuple(checked(token, len(alphabet), "token", where) for token in output)

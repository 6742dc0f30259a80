"""Explicit token DFAs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tokdfa.automata.alphabet import TokenAlphabet, Word, iter_symbols
from tokdfa.automata.protocol import TokenAutomaton, checked, warn_of_dead_end
from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.base.errors import AlphabetError, AutomatonError
from tokdfa.base.verdict import Displayed, Verdict

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["TokenDFA"]

S = TypeVar("S", bound=Hashable)

DEFAULT_MAX_STATES = 100_000
DEFAULT_MAX_TRANSITIONS = 20_000_000


class TokenDFA(Displayed):
    """A token DFA (Q, Γ, q₀, δ, F) with every transition written out.

    The states are 0 to n-1, and δ may be partial. Immutable. Two token DFAs are equal if all five parts are equal,
    state by state; :meth:`isomorphism` and :meth:`equivalence` compare up to renaming of states and by language. A DFA
    for a language of strings is a token DFA with the symbols as tokens.

    Parameters
    ----------
    alphabet : TokenAlphabet
        Γ, which maps token numbers to words.
    transitions : sequence of mappings from token number to state
        δ: one mapping per state.
    initial : int
        q₀.
    finals : iterable of int
        F.

    Attributes
    ----------
    alphabet : TokenAlphabet
    initial : int
    offsets : int64 array of shape (n + 1,)
    tokens, targets : int32 arrays, one entry per transition
        The transitions of state p are at ``offsets[p]`` to ``offsets[p + 1]``, tokens ascending. Read-only.
    final : bool array of shape (n,)
        Whether a state is final. Read-only.

    Raises
    ------
    AutomatonError
        If there is no state, or if a state, token or target is not an integer or out of range; the message says where.

    Notes
    -----
    *Constructing a BPE Tokenization DFA*, Def 1. It implements the protocol of
    :class:`~tokdfa.automata.protocol.TokenAutomaton`.

    Examples
    --------
    >>> A = tokdfa.TokenDFA.from_edges([(0, "a", 1), (1, "b", 0)], 0, finals=[0])
    >>> A.n_states, A.accepts(["a", "b"]), A.accepts(["a"])
    (2, True, False)
    """

    def __init__(
        self,
        alphabet: TokenAlphabet,
        transitions: Sequence[Mapping[int, int]],
        initial: int = 0,
        *,
        finals: Iterable[int],
    ) -> None:
        n = len(transitions)
        if n == 0:
            raise AutomatonError("a DFA must have at least one state, the initial one")
        offsets = np.zeros(n + 1, dtype=np.int64)
        tokens: list[int] = []
        targets: list[int] = []
        for state, row in enumerate(transitions):
            for token, target in sorted(row.items()):
                where = f"state {state}"
                tokens.append(checked(token, len(alphabet), "token", where))
                targets.append(checked(target, n, "target", f"{where}, token {token}"))
            offsets[state + 1] = len(tokens)
        final = np.zeros(n, dtype=np.bool_)
        for state in finals:
            final[checked(state, n, "state", "final states")] = True
        initial = checked(initial, n, "state", "initial state")
        self._set(alphabet, offsets, np.array(tokens, np.int32), np.array(targets, np.int32), initial, final)

    def _set(
        self,
        alphabet: TokenAlphabet,
        offsets: Int64Array,
        tokens: Int32Array,
        targets: Int32Array,
        initial: int,
        final: BoolArray,
    ) -> None:
        for array in (offsets, tokens, targets, final):
            array.setflags(write=False)
        self.alphabet = alphabet
        self.offsets = offsets
        self.tokens = tokens
        self.targets = targets
        self.initial = initial
        self.final = final

    @classmethod
    def from_arrays(
        cls,
        alphabet: TokenAlphabet,
        offsets: Int64Array,
        tokens: Int32Array,
        targets: Int32Array,
        initial: int,
        final: BoolArray,
    ) -> TokenDFA:
        """Return the DFA with these arrays, used unchecked and without a copy; see the attributes of the class."""
        dfa = cls.__new__(cls)
        dfa._set(alphabet, offsets, tokens, targets, initial, final)
        return dfa

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[tuple[int, Word, int]],
        initial: int = 0,
        *,
        finals: Iterable[int],
        symbols: str | bytes | Iterable[Word] | None = None,
        n_states: int | None = None,
    ) -> TokenDFA:
        """Return the DFA with these transitions, written as in a figure: (source, token, target).

        `symbols` is the base alphabet; by default the sorted symbols of the tokens. Tokens of more than one symbol are
        numbered in order of first mention. There is one state more than the largest mentioned, unless `n_states` says
        how many. Two transitions of one state on the same token are an AutomatonError.
        """
        rows = list(edges)
        words = dict.fromkeys(token for _, token, _ in rows)
        if symbols is None:
            symbols = sorted({symbol for word in words for symbol in iter_symbols(word)})
        base = TokenAlphabet(symbols)
        alphabet = TokenAlphabet(base.symbols, [word for word in words if word not in base])
        finals = list(finals)
        if n_states is None:
            n_states = 1 + max([initial, *finals, *(state for p, _, q in rows for state in (p, q))])
        transitions: list[dict[int, int]] = [{} for _ in range(n_states)]
        for p, word, q in rows:
            row = transitions[checked(p, n_states, "state", f"transition {p} {word!r} {q}")]
            if row.setdefault(alphabet.number(word), q) != q:
                raise AutomatonError("two transitions on the same token", value=word, where=f"state {p}")
        return cls(alphabet, transitions, initial, finals=finals)

    @classmethod
    def universal(cls, symbols: str | bytes | Iterable[Word]) -> TokenDFA:
        """Return the DFA with one state that accepts every word over these symbols."""
        alphabet = TokenAlphabet(symbols)
        return cls(alphabet, [dict.fromkeys(range(len(alphabet)), 0)], finals=[0])

    @classmethod
    def from_automaton(
        cls,
        automaton: TokenAutomaton[S],
        alphabet: TokenAlphabet,
        *,
        max_states: int = DEFAULT_MAX_STATES,
        max_transitions: int = DEFAULT_MAX_TRANSITIONS,
    ) -> TokenDFA:
        """Return the reachable part of any token automaton as an explicit DFA, states in breadth-first order.

        `alphabet` is the alphabet of its tokens. More states or transitions than allowed are a LimitExceededError.
        """
        from tokdfa.automata.explicit import write_out

        return write_out(automaton, alphabet, max_states, max_transitions)

    @property
    def n_states(self) -> int:
        """|Q|."""
        return len(self.final)

    @property
    def n_transitions(self) -> int:
        """The number of transitions."""
        return len(self.tokens)

    @cached_property
    def finals(self) -> frozenset[int]:
        """F as a set."""
        return frozenset(np.flatnonzero(self.final).tolist())

    @cached_property
    def sources(self) -> Int32Array:
        """The source of each transition, parallel to `tokens` and `targets`."""
        sources = np.repeat(np.arange(self.n_states, dtype=np.int32), np.diff(self.offsets))
        sources.setflags(write=False)
        return sources

    @cached_property
    def _rows(self) -> list[dict[int, int]]:
        tokens, targets, offsets = self.tokens.tolist(), self.targets.tolist(), self.offsets.tolist()
        return [dict(zip(tokens[start:stop], targets[start:stop], strict=True)) for start, stop in pairwise(offsets)]

    def step(self, state: int, token: int) -> int | None:
        """Return δ(state, token), or None if it is undefined."""
        return self._rows[state].get(token)

    def is_final(self, state: int) -> bool:
        """Return whether `state` is final."""
        return state in self.finals

    def moves(self, state: int) -> Iterator[tuple[int, int]]:
        """Yield the transitions out of `state` as (token, target), tokens ascending."""
        return iter(self._rows[state].items())

    def allowed_mask(self, state: int) -> BoolArray:
        """Return whether `state` has a transition on each token, as a bool array over the token numbers.

        A state that is not final and has no transition at all is a
        :class:`~tokdfa.automata.protocol.DeadEndWarning`; :meth:`trim` removes such states.
        """
        mask = self.mask_of_moves(state)
        warn_of_dead_end(self, state, mask)
        return mask

    def mask_of_moves(self, state: int) -> BoolArray:
        """Return :meth:`allowed_mask` without a warning, for products in which a dead end may be none."""
        state = checked(state, self.n_states, "state", "mask")
        allowed = np.zeros(len(self.alphabet), dtype=np.bool_)
        allowed[self.tokens[self.offsets[state] : self.offsets[state + 1]]] = True
        return allowed

    def edges(self) -> Iterator[tuple[int, Word, int]]:
        """Yield every transition as (source, spelled token, target), in the order of states and token numbers."""
        columns = (self.sources.tolist(), self.alphabet.spell(self.tokens.tolist()), self.targets.tolist())
        return zip(*columns, strict=True)

    def run(self, tokenization: Iterable[Word | int], state: int | None = None) -> int | None:
        """Return the state reached on tokens, spelled or numbered, or None without such a run.

        The run starts in `state`, by default the initial state. A token that is not in the alphabet, or a word rather
        than a sequence of tokens, is an AlphabetError.
        """
        if isinstance(tokenization, (str, bytes)):
            raise AlphabetError(
                "a tokenization is a sequence of tokens, not a word",
                value=tokenization,
                hint="list the tokens, or let alphabet.base_tokenization list the symbols",
            )
        if isinstance(tokenization, np.ndarray):
            tokenization = tokenization.tolist()
        current = self.initial if state is None else checked(state, self.n_states, "state", "start of the run")
        rows = self._rows
        for token in self.alphabet.numbers(tokenization):
            following = rows[current].get(token)
            if following is None:
                return None
            current = following
        return current

    def accepts(self, tokenization: Iterable[Word | int]) -> bool:
        """Return whether `tokenization` is in the language; arguments and errors are as for :meth:`run`."""
        state = self.run(tokenization)
        return state is not None and state in self.finals

    def over(self, alphabet: TokenAlphabet) -> TokenDFA:
        """Return the same automaton over another token alphabet.

        A token on a transition that is missing from it is an AlphabetError.
        """
        if alphabet == self.alphabet:
            return self
        used = np.unique(self.tokens)
        number = np.full(len(self.alphabet), -1, dtype=np.int32)
        number[used] = alphabet.numbers(self.alphabet.spell(used.tolist()))
        tokens = number[self.tokens]
        order = np.lexsort((tokens, self.sources))
        return TokenDFA.from_arrays(
            alphabet, self.offsets, tokens[order], self.targets[order], self.initial, self.final
        )

    def reachable(self) -> TokenDFA:
        """Return the automaton without the states that cannot be reached; the others keep their order."""
        from tokdfa.automata.explicit import reachable_states, restricted

        return restricted(self, reachable_states(self))

    def trim(self) -> TokenDFA:
        """Return the automaton restricted to the states on accepting runs, in their order.

        An automaton that accepts nothing becomes one state without transitions.
        """
        from tokdfa.automata.explicit import restricted, useful_states

        useful = useful_states(self)
        return restricted(self, useful) if useful[self.initial] else TokenDFA(self.alphabet, [{}], finals=[])

    def minimize(self) -> TokenDFA:
        """Return the minimal trim DFA of the same language, its states numbered breadth first with tokens ascending.

        Equal languages over equal alphabets give equal (``==``) results. See
        :func:`~tokdfa.automata.explicit.minimize_hopcroft`.
        """
        from tokdfa.automata.explicit import minimize_hopcroft

        return minimize_hopcroft(self)

    def equivalence(self, other: TokenDFA) -> Verdict[tuple[Word, ...]]:
        """Decide whether both DFAs accept the same language; see :func:`~tokdfa.automata.explicit.equivalence`."""
        from tokdfa.automata.explicit import equivalence

        return equivalence(self, other)

    def isomorphism(self, other: TokenDFA) -> Verdict[dict[int, int] | tuple[Word, ...]]:
        """Decide whether both are equal up to names of states; see :func:`~tokdfa.automata.explicit.isomorphism`."""
        from tokdfa.automata.explicit import isomorphism

        return isomorphism(self, other)

    def to_networkx(self) -> nx.MultiDiGraph[int]:
        """Return the automaton as a graph; see :func:`~tokdfa.automata.explicit.to_networkx`."""
        from tokdfa.automata.explicit import to_networkx

        return to_networkx(self)

    @classmethod
    def from_networkx(cls, graph: nx.MultiDiGraph[Any]) -> TokenDFA:
        """Return the automaton that a graph describes; see :func:`~tokdfa.automata.explicit.from_networkx`."""
        from tokdfa.automata.explicit import from_networkx

        return from_networkx(graph)

    def to_dot(self, *, max_labels: int | None = None) -> str:
        """Return the automaton in the DOT language; see :func:`~tokdfa.draw.automaton.dfa_to_dot`."""
        from tokdfa.draw.automaton import dfa_to_dot

        return dfa_to_dot(self, max_labels=max_labels)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TokenDFA):
            return NotImplemented
        arrays = ((getattr(self, name), getattr(other, name)) for name in ("final", "offsets", "tokens", "targets"))
        same = self.initial == other.initial and all(np.array_equal(ours, theirs) for ours, theirs in arrays)
        return same and self.alphabet == other.alphabet

    def __hash__(self) -> int:
        return hash((self.initial, self.final.tobytes(), self.tokens.tobytes(), self.targets.tobytes()))

    def __repr__(self) -> str:
        return (
            f"<TokenDFA: {self.n_states} states ({len(self.finals)} final), {self.n_transitions} transitions, "
            f"{len(self.alphabet)} tokens>"
        )

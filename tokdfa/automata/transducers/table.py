"""Subsequential transducers of all states as tables: millions of states in arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tokdfa.automata.alphabet import TokenAlphabet
from tokdfa.automata.compact import CompactTokenDFA
from tokdfa.automata.dictionary import Dictionary
from tokdfa.automata.protocol import check_budget
from tokdfa.automata.transducers.arcs import Arc, Output
from tokdfa.automata.transducers.transducer import Transducer
from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.base.errors import LimitExceededError
from tokdfa.kernels.encode.subsequential import LONGEST_STATE, Construction, partition
from tokdfa.regex.trie import TokenTrie

__all__ = ["TransducerTable"]

# The maximum number of allowed tokens, summed over all states of the token DFA.
_MAX_ENTRIES = 1 << 28


@dataclass(frozen=True, eq=False, repr=False)
class TransducerTable:
    """A subsequential transducer that can read every symbol in every state, and whose states are all final."""

    alphabet: TokenAlphabet
    # For each state, 0 being the initial one, and each symbol the next state, and the number of the output.
    target: Int32Array
    written: Int32Array
    # For each state the number of the output at the end of a word.
    ends: Int32Array
    # Output i is ``outputs[offsets[i]:offsets[i + 1]]``, as token numbers.
    outputs: Int32Array
    offsets: Int64Array

    def __post_init__(self) -> None:
        for array in (self.target, self.written, self.ends, self.outputs, self.offsets):
            array.setflags(write=False)

    @classmethod
    def of(cls, dictionary: Dictionary, *, max_states: int) -> TransducerTable:
        """Return the subsequential transducer of a proper dictionary, its states numbered breadth first.

        The number of states is limited, and that of the tokens which the states of the token DFA allow to 2^28 in all.

        Notes
        -----
        *Constructing a BPE Tokenization DFA*, Theorem 4, by the construction of Béal and Carton, on the states of the
        token DFA and the nodes of the trie of all tokens.
        """
        construction = _begin(dictionary)
        while not construction.go_on() and len(construction.states) <= max_states:
            if 4 * construction.longest_state + 64 > LONGEST_STATE:
                raise LimitExceededError("a state of the subsequential transducer has too many tokens pending")
            construction.grow()
        check_budget("states", len(construction.states), max_states, "the subsequential transducer has")
        outputs = construction.outputs
        return cls(dictionary.alphabet, *construction.transitions(), outputs.pool, outputs.offsets)

    @property
    def n_states(self) -> int:
        """|Q|."""
        return len(self.ends)

    def minimal(self) -> TransducerTable:
        """Return the minimal transducer of the same function, for one in onward form, as :meth:`of` makes it.

        The form is onward: a place is kept only if a token can be completed there, and ending the text here writes only
        what is pending, so the common prefix of all continuations has been written. The states of the result are
        numbered breadth first.
        """
        n = self.n_states
        block, n_blocks = partition(self.target, self.written, self.ends)
        # A block is numbered at its first state, and states come breadth first.
        first = np.full(n_blocks, n, dtype=np.int64)
        np.minimum.at(first, block, np.arange(n))
        return TransducerTable(
            self.alphabet, block[self.target[first]], self.written[first], self.ends[first], self.outputs, self.offsets
        )

    def transducer(self) -> Transducer:
        """Return the transducer with its transitions as objects."""
        bounds = self.offsets.tolist()
        tokens = self.outputs.tolist()
        outputs: list[Output] = [tuple(tokens[bounds[i] : bounds[i + 1]]) for i in range(len(bounds) - 1)]
        arcs = [
            [Arc(symbol, outputs[output], state) for symbol, (state, output) in enumerate(zip(*row, strict=True))]
            for row in zip(self.target.tolist(), self.written.tolist(), strict=True)
        ]
        finals = {state: outputs[output] for state, output in enumerate(self.ends.tolist())}
        return Transducer(self.alphabet, arcs, finals=finals)

    def __repr__(self) -> str:
        return f"<TransducerTable: {self.n_states} states, {self.target.shape[1]} symbols>"


def _begin(dictionary: Dictionary) -> Construction:
    """Return the construction of a dictionary's transducer, with its first state."""
    automaton = CompactTokenDFA(dictionary)
    alphabet = dictionary.alphabet
    every = alphabet.trie()
    trie = TokenTrie(every.symbols, every.offsets, dictionary.folding.birth < 0)
    if automaton.states_built * (trie.n_nodes + len(alphabet)) > _MAX_ENTRIES:
        what = "the dictionary is too large for an explicit subsequential transducer"
        raise LimitExceededError(what, value=len(dictionary))
    child, token = _children(trie, alphabet.n_symbols)
    allowed = np.stack([automaton.allowed_mask(state) for state in range(automaton.states_built)])
    reached = np.maximum(dictionary.folding.state, 0)
    return Construction(child, token, allowed, _goes_on(child, token, allowed), reached)


def _children(trie: TokenTrie, n_symbols: int) -> tuple[Int32Array, Int32Array]:
    """Return the children of all nodes, and the tokens that the nodes spell; -1 if there is none."""
    child = np.full((trie.n_nodes, n_symbols), -1, dtype=np.int32)
    token = np.full(trie.n_nodes, -1, dtype=np.int32)
    above: list[int] = []
    for node, (symbol, depth) in enumerate(zip(trie.symbol.tolist(), trie.depth.tolist(), strict=True)):
        above[depth:] = [node]
        if depth:
            child[above[depth - 1], symbol] = node
        if trie.first[node] < trie.first[node + 1]:
            token[node] = trie.words[trie.first[node]]
    return child, token


def _goes_on(child: Int32Array, token: Int32Array, allowed: BoolArray) -> BoolArray:
    """Return, for each state and node, whether the state allows a longer token that begins like the node."""
    goes_on = np.zeros((len(allowed), len(token)), dtype=np.bool_)
    # The nodes are in depth-first order: descendants come after a node.
    for node in range(len(token) - 1, -1, -1):
        for below in child[node][child[node] >= 0].tolist():
            goes_on[:, node] |= goes_on[:, below]
            if token[below] >= 0:
                goes_on[:, node] |= allowed[:, token[below]]
    return goes_on

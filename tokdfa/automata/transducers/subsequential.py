"""The subsequential transducer of a dictionary, built lazily as texts are read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from tokdfa.automata.alphabet import TokenAlphabet, Word
from tokdfa.automata.compact import CompactTokenDFA
from tokdfa.automata.dictionary import Dictionary
from tokdfa.automata.protocol import check_budget
from tokdfa.automata.transducers.one_pass import OnePass
from tokdfa.automata.transducers.square import Arc, Output, common_prefix
from tokdfa.automata.transducers.transducer import Transducer
from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.base.errors import AlphabetError, LimitExceededError
from tokdfa.base.verdict import Displayed
from tokdfa.kernels.encode.subsequential import LONGEST_STATE, Construction, partition
from tokdfa.regex.trie import TokenTrie

__all__ = ["SubsequentialTransducer", "TransducerStream", "TransducerTable"]

# The maximum number of states of the token DFA, times its tokens and the nodes of their trie.
_MAX_ENTRIES = 1 << 28


@dataclass(frozen=True, eq=False, repr=False)
class TransducerTable:
    """A subsequential transducer that can read every symbol in every state; all states are final."""

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

        The number of states is limited, and so is the number of states of the token DFA, times its tokens and the nodes
        of their trie, to 2^28. *Constructing a BPE Tokenization DFA*, Theorem 4, by the construction of Béal and
        Carton, on the states of the token DFA and the nodes of the trie of all tokens.
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

        The form is onward: a position is kept only if a token can be completed there, and ending the text here writes
        only pending tokens, so the common prefix of all continuations has been written. The states of the result are
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


DEFAULT_MAX_STATES = 1 << 16
DEFAULT_MAX_EXPLICIT_STATES = 100_000

# The number of answers kept to each question.
_MAX_ANSWERS = 1 << 20
_FEW = 8

# A position where a token may have begun: the tokens before it that are not yet written, the node of the trie that
# spells the part of it read so far, and the state of the token DFA before it.
_Candidate: TypeAlias = tuple[Output, int, int]


class _State:
    """The knowledge about a text: the positions where its last token may begin, the end of the text first."""

    __slots__ = ("arcs", "candidates")

    def __init__(self, candidates: tuple[_Candidate, ...]) -> None:
        self.candidates = candidates
        self.arcs: dict[int, tuple[Output, _State]] = {}


class SubsequentialTransducer(Displayed):
    """The function T^D of a proper dictionary, symbol by symbol: tokens are written as soon as they are settled.

    A token is settled when no continuation of the text can change it. States are made when a text first reaches them,
    and a bounded number is kept. It therefore also works for dictionaries with explicit transducers that would not fit
    in memory. Whole words are evaluated in one pass without states.

    Parameters
    ----------
    dictionary : Dictionary
        A proper dictionary.
    max_states : int
        The number of states kept. When there are more, all but the current one are dropped.

    Raises
    ------
    ImproperDictionaryError
        If the dictionary is not proper.

    Notes
    -----
    *Constructing a BPE Tokenization DFA*, Theorem 4. The states are as in the subset construction of Béal and Carton,
    with all tokens that continue alike in one element. A position in the text where the last token is known is in the
    state as long as some token that may follow there begins with everything read since.

    Examples
    --------
    >>> T = tokdfa.SubsequentialTransducer(tokdfa.default_dictionary())
    >>> tokens = T(b"single")
    >>> tokens
    (b's', b'ingle')
    """

    def __init__(self, dictionary: Dictionary, *, max_states: int = DEFAULT_MAX_STATES) -> None:
        self.dictionary = dictionary
        self._automaton = CompactTokenDFA(dictionary)
        self._one_pass: OnePass | None = None
        self._max_states = max_states
        self._states: dict[tuple[_Candidate, ...], _State] = {}
        self._reached: list[int] = dictionary.folding.state.tolist()
        every = dictionary.alphabet.trie()
        self._trie = TokenTrie(every.symbols, every.offsets, dictionary.folding.birth < 0)
        self._words: list[int] = self._trie.words.tolist()
        self._child = lru_cache(_MAX_ANSWERS)(self._child_of)
        self._allows = lru_cache(_MAX_ANSWERS)(lambda state, token: self._automaton.step(state, token) is not None)
        self._goes_on = lru_cache(_MAX_ANSWERS)(self._may_go_on)

    def __call__(self, word: Word | Iterable[str]) -> tuple[Word, ...]:
        """Return T^D(word), spelled; for a foreign symbol, an AlphabetError gives its offset."""
        return self.dictionary.alphabet.spell(self.tokenize(word).tolist())

    def tokenize(self, word: Word | Iterable[str]) -> Int32Array:
        """Return T^D(word) as token numbers; errors are as for a call."""
        if self._one_pass is None:
            self._one_pass = OnePass(self.dictionary)
        return self._one_pass.tokenize(word)

    def stream(self) -> TransducerStream:
        """Return a stream that is fed a text part by part."""
        return TransducerStream(self)

    @property
    def n_states(self) -> int:
        """The number of states currently kept."""
        return len(self._states)

    def explicit(self, *, max_states: int = DEFAULT_MAX_EXPLICIT_STATES) -> Transducer:
        """Return the whole transducer with every state and transition, numbered breadth first.

        More than `max_states` states are a LimitExceededError.
        """
        return TransducerTable.of(self.dictionary, max_states=max_states).transducer()

    def _start(self) -> _State:
        return self._state((((), 0, 0),))

    def _state(self, candidates: tuple[_Candidate, ...]) -> _State:
        state = self._states.get(candidates)
        if state is None:
            if len(self._states) >= self._max_states:
                forgotten, self._states = self._states, {}
                for old in list(forgotten.values()):
                    old.arcs.clear()
            state = self._states[candidates] = _State(candidates)
        return state

    def step(self, state: _State, symbol: int) -> tuple[Output, _State]:
        """Return the tokens written on a symbol, and the next state."""
        arc = state.arcs.get(symbol)
        if arc is None:
            output, candidates = self._advance(state.candidates, symbol)
            arc = state.arcs[symbol] = (output, self._state(candidates))
        return arc

    def _advance(self, candidates: tuple[_Candidate, ...], symbol: int) -> tuple[Output, tuple[_Candidate, ...]]:
        end: _Candidate | None = None
        following: list[_Candidate] = []
        for pending, node, state in candidates:
            child = self._child(node, symbol)
            if child < 0:
                continue
            first, stop = self._trie.first[child : child + 2]
            if first < stop and self._allows(state, token := self._words[first]):
                end = ((*pending, token), 0, self._reached[token])
            if self._goes_on(state, child):
                following.append((pending, child, state))
        # Every prefix of a word has a tokenization and therefore a last token.
        assert end is not None
        new = [end, *following]
        written = common_prefix([pending for pending, _, _ in new])
        if not written:
            return (), tuple(new)
        return written, tuple((pending[len(written) :], node, state) for pending, node, state in new)

    def _child_of(self, node: int, symbol: int) -> int:
        child, stop = node + 1, int(self._trie.end[node])
        while child < stop and self._trie.symbol[child] != symbol:
            child = int(self._trie.end[child])
        return child if child < stop else -1

    def _may_go_on(self, state: int, node: int) -> bool:
        """Return whether a state allows a token that properly extends the spelling of a node."""
        longer = self._words[self._trie.first[node + 1] : self._trie.first[self._trie.end[node]]]
        if any(self._allows(state, token) for token in longer[:_FEW]):
            return True
        return len(longer) > _FEW and bool(self._automaton.allowed_mask(state)[longer].any())


class TransducerStream:
    """A text read in parts; tokens are returned as soon as they are settled."""

    def __init__(self, transducer: SubsequentialTransducer) -> None:
        self._transducer = transducer
        self._state = transducer._start()
        self._symbol = {word: number for number, word in enumerate(transducer.dictionary.alphabet.symbols)}
        self._lengths = [len(word) for word in transducer.dictionary.alphabet]
        # The symbols read, the symbols in tokens returned so far, and the largest delay so far.
        self.n_read = self.n_settled = self.longest_delay = 0

    @property
    def delay(self) -> int:
        """The number of symbols that have been read but are not in a token returned so far."""
        return self.n_read - self.n_settled

    def feed(self, part: Word | Iterable[str]) -> Int32Array:
        """Read more of the text and return the numbers of the tokens settled since the last call.

        Of a part with a symbol outside the base alphabet, which is an error, the symbols before it have been read.
        """
        word = self._transducer.dictionary.alphabet.word(part)
        written: list[int] = []
        step = self._transducer.step
        for i in range(len(word)):
            symbol = self._symbol.get(word[i : i + 1])
            if symbol is None:
                what = "the symbol is not in the base alphabet"
                raise AlphabetError(what, value=word[i : i + 1], where=f"offset {self.n_read}")
            output, self._state = step(self._state, symbol)
            self.n_read += 1
            if output:
                written.extend(output)
                self.n_settled += sum(self._lengths[token] for token in output)
            self.longest_delay = max(self.longest_delay, self.delay)
        return np.array(written, dtype=np.int32)

    def finish(self) -> Int32Array:
        """Return the tokens of the rest of the text, and reset the stream for another text."""
        rest = self._state.candidates[0][0]
        self._state = self._transducer._start()
        self.n_read = self.n_settled = 0
        return np.array(rest, dtype=np.int32)

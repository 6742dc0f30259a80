"""Languages of texts as languages of tokenizations: the inverse image under π, and T^D(L)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from tokdfa.automata.alphabet import TokenAlphabet, show
from tokdfa.automata.boolean import Combination, intersection
from tokdfa.automata.compact import CompactTokenDFA
from tokdfa.automata.dictionary import Dictionary
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.base.arrays import BoolArray, Int32Array
from tokdfa.base.errors import AutomatonError, LimitExceededError
from tokdfa.base.suggestions import wrong_argument
from tokdfa.base.verdict import Displayed
from tokdfa.kernels.dfa import explicit as kernels
from tokdfa.kernels.library import Struct
from tokdfa.regex.trie import TokenTrie

__all__ = ["Lift", "lift", "tokenized_language"]

DEFAULT_MAX_ENTRIES = 1 << 27
_MAX_CACHED_MOVES = 1 << 24


class Lift(Displayed):
    """All tokenizations of the words of a language, correct or not: π⁻¹(L) for the language L of a string DFA.

    It implements the protocol of :class:`~tokdfa.automata.protocol.TokenAutomaton`. Its states are the states of the
    string DFA, which reads a token symbol by symbol; the tokens of `dfa` are the symbols of `alphabet`, in the same
    order. The transitions of a state are found by running the DFA over the trie of the tokens, which visits only nodes
    that it can read; a bounded number of them is kept. Errors are as for :func:`lift`.
    """

    def __init__(self, dfa: TokenDFA, alphabet: TokenAlphabet, trie: TokenTrie | None = None) -> None:
        if dfa.alphabet.symbols != alphabet.symbols:
            raise AutomatonError("the automaton and the tokens have different symbols", value=dfa.alphabet)
        if dfa.n_transitions and dfa.tokens.max() >= alphabet.n_symbols:
            token = dfa.alphabet[int(dfa.tokens.max())]
            raise AutomatonError("a DFA of strings reads single symbols", value=show(token))
        self.dfa = dfa
        self.alphabet = alphabet
        self.trie = alphabet.trie() if trie is None else trie
        # A dense table with a sink as state 0; equal columns are stored once.
        used, column = np.unique(dfa.tokens, return_inverse=True)
        if (dfa.n_states + 1) * (len(used) + 1) > DEFAULT_MAX_ENTRIES:
            raise LimitExceededError("the automaton has too many states and symbols to lift", value=dfa)
        table = np.zeros((dfa.n_states + 1, len(used) + 1), dtype=np.int32)
        table[dfa.sources + 1, column + 1] = dfa.targets + 1
        distinct, shared = np.unique(table, axis=1, return_inverse=True)
        self._n_columns = distinct.shape[1]
        self._table: Int32Array = np.ascontiguousarray(distinct).reshape(-1)
        column_of_symbol = np.full(max(alphabet.n_symbols, 1), shared.reshape(-1)[0], dtype=np.int32)
        column_of_symbol[used] = shared.reshape(-1)[1:]
        self._column_of_symbol: Int32Array = column_of_symbol
        self._moves: dict[int, tuple[Int32Array, Int32Array]] = {}
        self._n_cached = 0

    @property
    def initial(self) -> int:
        """The initial state."""
        return self.dfa.initial

    def is_final(self, state: int) -> bool:
        """Return whether `state` is final."""
        return self.dfa.is_final(state)

    def step(self, state: int, token: int) -> int | None:
        """Return the state reached by reading the symbols of `token`, or None when that is not possible."""
        if not 0 <= token < len(self.alphabet):
            return None
        current = state + 1
        for column in self._column_of_symbol[self.trie.word(token)].tolist():
            current = int(self._table[current * self._n_columns + column])
        return current - 1 if current else None

    def moves(self, state: int) -> Iterator[tuple[int, int]]:
        """Yield every transition out of `state` as (token, target), tokens ascending."""
        tokens, targets = self.move_arrays(state)
        return zip(tokens.tolist(), targets.tolist(), strict=True)

    def move_arrays(self, state: int) -> tuple[Int32Array, Int32Array]:
        """Return the transitions out of `state`: int32 arrays of the tokens, ascending, and their targets."""
        known = self._moves.get(state)
        if known is not None:
            return known
        trie = self.trie
        positions, targets = kernels.tokens_from(self._trie_of_columns, self._table, self._n_columns, state + 1)
        tokens = trie.words[positions]
        order = np.argsort(tokens)
        moves = tokens[order].astype(np.int32), targets[order] - np.int32(1)
        if self._n_cached + len(tokens) <= _MAX_CACHED_MOVES:
            self._n_cached += len(tokens)
            self._moves[state] = moves
        return moves

    def allowed_mask(self, state: int) -> BoolArray:
        """Return whether `state` allows each token, as a bool array over the token numbers."""
        allowed = np.zeros(len(self.alphabet), dtype=np.bool_)
        allowed[self.move_arrays(state)[0]] = True
        return allowed

    @cached_property
    def _trie_of_columns(self) -> Struct:
        trie = self.trie
        return kernels.trie_of(self._column_of_symbol[trie.symbol], trie.depth, trie.end, trie.first)

    def __repr__(self) -> str:
        return f"<Lift: {self.dfa.n_states} states, {len(self.alphabet)} tokens>"


def lift(dfa: TokenDFA, alphabet: TokenAlphabet | Dictionary, trie: TokenTrie | None = None) -> Lift:
    """Return the automaton of all tokenizations of the words that a string DFA accepts, as a :class:`Lift`.

    Parameters
    ----------
    dfa : TokenDFA
        A DFA over the base symbols.
    alphabet : TokenAlphabet or Dictionary
        The tokens, or the dictionary that has them.
    trie : TokenTrie, optional
        The trie of the tokens, if it has been built already.

    Raises
    ------
    AutomatonError
        If `dfa` is over other symbols, or reads longer tokens.
    LimitExceededError
        If its table of states and symbols would be too large.

    Examples
    --------
    >>> d = tokdfa.Dictionary.from_pairs([("a", "a"), ("b", "a")], alphabet="ab")
    >>> lifted = tokdfa.lift(tokdfa.language("aa|baa", "ab"), d.alphabet)
    >>> sorted(d.alphabet.spell(member) for member in tokdfa.Language(lifted))
    [('a', 'a'), ('aa',), ('b', 'a', 'a'), ('b', 'aa'), ('ba', 'a')]
    """
    if not isinstance(dfa, TokenDFA):
        raise wrong_argument(dfa, "a token DFA", "tokdfa.lift(dfa, alphabet)", swapped=isinstance(alphabet, TokenDFA))
    return Lift(dfa, alphabet.alphabet if isinstance(alphabet, Dictionary) else alphabet, trie)


def tokenized_language(
    dictionary: Dictionary, language: TokenDFA, *, dfa: CompactTokenDFA | None = None
) -> Combination[int, int]:
    """Return the lazy automaton of T^D(L), the correct tokenizations of the words of L.

    Parameters
    ----------
    dictionary : Dictionary
        D, a proper dictionary of any size.
    language : TokenDFA
        A DFA of the language L over the symbols of D.
    dfa : CompactTokenDFA, optional
        The token DFA of D, if it has been built already.

    Raises
    ------
    ImproperDictionaryError
        If the dictionary is not proper.
    AutomatonError
        If `language` is over other symbols, or reads longer tokens.

    Notes
    -----
    T^D(L) = T^D(Σ*) ∩ π⁻¹(L). :func:`~tokdfa.automata.fold.token_dfa` makes an explicit automaton of the same
    language by Algorithm 2 of *Constructing a BPE Tokenization DFA* (Theorem 1).

    Examples
    --------
    >>> d = tokdfa.Dictionary.from_pairs([("a", "a"), ("b", "a")], alphabet="ab")
    >>> correct = tokdfa.tokenized_language(d, tokdfa.language("aa|baa", "ab"))
    >>> sorted(d.alphabet.spell(member) for member in tokdfa.Language(correct))
    [('aa',), ('b', 'aa')]
    """
    call = "tokdfa.tokenized_language(dictionary, language)"
    if not isinstance(dictionary, Dictionary):
        raise wrong_argument(dictionary, "a dictionary", call, swapped=isinstance(language, Dictionary))
    if not isinstance(language, TokenDFA):
        raise wrong_argument(language, "a DFA of a language", call)
    compact = CompactTokenDFA(dictionary) if dfa is None else dfa
    return intersection(compact, lift(language.over(TokenAlphabet(dictionary.alphabet.symbols)), dictionary.alphabet))

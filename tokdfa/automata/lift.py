"""Languages of texts: regular expressions as automata, and the languages of their tokenizations, π⁻¹(L) and T^D(L)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import cast

import numpy as np

from tokdfa.automata.alphabet import TokenAlphabet, Word, show
from tokdfa.automata.boolean import Combination, intersection
from tokdfa.automata.compact import CompactTokenDFA
from tokdfa.automata.dictionary import Dictionary
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.base.arrays import BoolArray, Int32Array, running_sum
from tokdfa.base.budget import DEFAULT_MAX_SECONDS, DEFAULT_MAX_STATES, Budget
from tokdfa.base.errors import AutomatonError, LimitExceededError
from tokdfa.base.suggestions import expect, is_tokenizer, wrong_argument
from tokdfa.base.verdict import Displayed
from tokdfa.kernels.dfa import explicit as kernels
from tokdfa.kernels.library import Struct
from tokdfa.regex.class_dfa import ClassDFA
from tokdfa.regex.program import compile_program
from tokdfa.regex.subset import determinize
from tokdfa.regex.syntax import parse
from tokdfa.regex.trie import TokenTrie
from tokdfa.regex.utf8 import to_bytes

__all__ = ["Lift", "language", "lift", "tokenized_language"]


# The number of table cells that are examined at once.
_BLOCK = 1 << 22
_MAX_TRANSITIONS = 1 << 23


def language(
    pattern: str,
    symbols: str | bytes | Iterable[Word] | TokenAlphabet | Dictionary,
    *,
    table: str = "regex",
    max_states: int = DEFAULT_MAX_STATES,
    max_seconds: float = DEFAULT_MAX_SECONDS,
) -> TokenDFA:
    r"""Return the minimal DFA of the words that a regular expression matches from beginning to end.

    Parameters
    ----------
    pattern : str
        The regular expression: literals, classes (``\p{L}``), repetition, alternation, groups, anchors, word
        boundaries, one-symbol look-ahead, ``(?i)``.
    symbols : alphabet
        The base alphabet Σ, or something that has one. Over bytes, the words are the UTF-8 of the texts that match;
        over characters, the texts themselves; over longer symbols, the words that spell such a text.
    table : {"regex", "tokenizers", "tiktoken"}, or such a name with a version
        The library, for its dialect and character classes, as in "regex" or ``regex==2023.12.25``.
    max_states, max_seconds : int, float
        The budget: the maximum number of states of the automaton over classes of symbols before it is minimized (over
        bytes, ten times as many), and the maximum total time.

    Returns
    -------
    TokenDFA
        A DFA over the symbols of Σ. Texts with other symbols are not in its language.

    Raises
    ------
    PatternError
        If the pattern cannot be read, or needs something automata cannot express: back-references, look-behind,
        look-ahead at more than one symbol, atomic groups.
    LimitExceededError
        If the automaton would exceed the budget, or groups are nested too deeply.

    Examples
    --------
    >>> tokdfa.language("a(b|c)*", "abc")
    <TokenDFA: 2 states (1 final), 3 transitions, 3 tokens>
    """
    if issubclass(type(pattern), (Dictionary, TokenAlphabet)):
        raise wrong_argument(pattern, "a pattern", "tokdfa.language(pattern, symbols)", swapped=True)
    alphabet, budget = _base_alphabet(symbols), Budget(max_states, max_seconds)
    program = compile_program(parse(pattern, table, budget), budget=budget)
    explicit = _explicit(determinize(program, budget=budget), alphabet, budget)
    budget.check_time()
    return explicit.minimize()


def _base_alphabet(symbols: str | bytes | Iterable[Word] | TokenAlphabet | Dictionary) -> TokenAlphabet:
    if isinstance(symbols, Dictionary):
        symbols = symbols.alphabet
    if isinstance(symbols, TokenAlphabet):
        symbols = symbols.symbols
    if is_tokenizer(symbols):
        raise wrong_argument(symbols, "an alphabet or a dictionary", "tokdfa.language(pattern, symbols)")
    return TokenAlphabet(symbols)


def _explicit(dfa: ClassDFA, alphabet: TokenAlphabet, budget: Budget) -> TokenDFA:
    if alphabet.kind == "bytes":
        over_bytes = to_bytes(dfa, budget)
        columns = over_bytes.column[[symbol[0] for symbol in cast("tuple[bytes, ...]", alphabet.symbols)]]
        final = (over_bytes.delay == 0) | (over_bytes.end_delay == 0)
        return _over(alphabet, over_bytes.table, [columns], over_bytes.initial, final, budget)
    final = (dfa.accepts & ~dfa.late)[dfa.table[:, dfa.edge]] if dfa.delayed else dfa.accepts
    return _over(alphabet, dfa.table, _spelled(dfa, alphabet), int(dfa.initial[-1]), final, budget)


def _spelled(dfa: ClassDFA, alphabet: TokenAlphabet) -> list[Int32Array]:
    """Return the columns of the first characters of all symbols, of the second ones, …; -1 past the end of a symbol."""
    spelled = ["".join(cast("str | tuple[str, ...]", symbol)) for symbol in alphabet.symbols]
    columns = np.full((max(map(len, spelled), default=1), len(spelled)), -1, dtype=np.int32)
    for number, word in enumerate(spelled):
        columns[: len(word), number] = [ord(character) for character in word]
    return [np.where(row < 0, row, dfa.partition.classes(np.maximum(row, 0))) for row in columns]


def _over(
    alphabet: TokenAlphabet,
    table: Int32Array,
    columns: list[Int32Array],
    initial: int,
    final: BoolArray,
    budget: Budget,
) -> TokenDFA:
    """Return the explicit automaton of a table with state 0 as its sink; each symbol is read column by column."""
    found = []
    n_transitions = 0
    rows = max(_BLOCK // max(len(columns[0]), 1), 1)
    for start in range(0, len(table), rows):
        targets = table[start : start + rows][:, columns[0]]
        for column in columns[1:]:
            targets = np.where(column < 0, targets, table[targets, column])
        sources, tokens = np.nonzero(targets)
        n_transitions += len(tokens)
        if n_transitions > _MAX_TRANSITIONS:
            what = f"the automaton of the pattern has more than {_MAX_TRANSITIONS:,} transitions"
            raise LimitExceededError(what, hint="narrow it")
        budget.check_time()
        found.append((sources + start, tokens.astype(np.int32), targets[sources, tokens]))
    sources, tokens, reached = (np.concatenate(part) for part in zip(*found, strict=True))
    offsets = running_sum(np.bincount(sources, minlength=len(table)))
    return TokenDFA.from_arrays(alphabet, offsets, tokens, reached, initial, final.copy())


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
    expect(dfa, TokenDFA, "a token DFA", "tokdfa.lift(dfa, alphabet)", swapped=isinstance(alphabet, TokenDFA))
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
    expect(dictionary, Dictionary, "a dictionary", call, swapped=isinstance(language, Dictionary))
    expect(language, TokenDFA, "a DFA of a language", call)
    compact = CompactTokenDFA(dictionary) if dfa is None else dfa
    return intersection(compact, lift(language.over(TokenAlphabet(dictionary.alphabet.symbols)), dictionary.alphabet))

"""Regular expressions as automata."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import numpy as np

from tokdfa.automata.alphabet import TokenAlphabet, Word
from tokdfa.automata.dictionary import Dictionary
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.base.arrays import BoolArray, Int32Array, running_sum
from tokdfa.base.budget import DEFAULT_MAX_SECONDS, DEFAULT_MAX_STATES, Budget
from tokdfa.base.errors import LimitExceededError
from tokdfa.base.suggestions import is_tokenizer, wrong_argument
from tokdfa.regex.class_dfa import ClassDFA
from tokdfa.regex.program import compile_program
from tokdfa.regex.subset import determinize
from tokdfa.regex.syntax import parse
from tokdfa.regex.utf8 import to_bytes

__all__ = ["language"]

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
    program = compile_program(parse(pattern, table, budget), budget)
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

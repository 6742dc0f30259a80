"""Regular expressions as automata."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias, cast

import numpy as np
import numpy.typing as npt

from tokdfa.alphabet import TokenAlphabet, Word
from tokdfa.automata.class_dfa import ClassDFA
from tokdfa.automata.program import Program, compile_program
from tokdfa.automata.subset import DEFAULT_MAX_SECONDS, DEFAULT_MAX_STATES, determinize
from tokdfa.automata.syntax import parse
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.automata.utf8 import to_bytes
from tokdfa.dictionary import Dictionary
from tokdfa.unicode import Table

__all__ = ["language"]

Int32Array: TypeAlias = npt.NDArray[np.int32]


def language(
    pattern: str,
    symbols: str | bytes | Iterable[Word] | TokenAlphabet | Dictionary,
    *,
    table: Table = "regex",
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
        The base alphabet Σ, or something that has one. Over bytes the words are the UTF-8 of the texts that match;
        over characters they are these texts; over longer symbols their characters, one symbol after the other, are.
    table : {"regex", "tokenizers", "tiktoken"}
        The library whose dialect and character classes are meant.
    max_states, max_seconds : int, float
        The budget for the automaton before it is minimized.

    Returns
    -------
    TokenDFA
        Over the symbols of Σ. Texts with other symbols are not in its language.

    Raises
    ------
    PatternError
        If the pattern cannot be read, or asks for what automata cannot do: back-references, look-behind, look-ahead at
        more than one symbol, atomic groups.
    LimitExceededError
        If the automaton would have more states, or take longer; or if groups are nested too deeply.

    Examples
    --------
    >>> language("a(b|c)*", "abc")
    <TokenDFA: 2 states (1 final), 3 transitions, 3 tokens>
    """
    alphabet = _base_alphabet(symbols)
    program = compile_program(parse(pattern, table))
    return _explicit(program, alphabet, max_states, max_seconds).minimize()


def _base_alphabet(symbols: str | bytes | Iterable[Word] | TokenAlphabet | Dictionary) -> TokenAlphabet:
    if isinstance(symbols, Dictionary):
        symbols = symbols.alphabet
    if isinstance(symbols, TokenAlphabet):
        symbols = symbols.symbols
    return TokenAlphabet(symbols)


def _explicit(program: Program, alphabet: TokenAlphabet, max_states: int, max_seconds: float) -> TokenDFA:
    dfa = determinize(program, max_states=max_states, max_seconds=max_seconds)
    if alphabet.kind == "bytes":
        over_bytes = to_bytes(dfa)
        columns = [over_bytes.column[symbol[0]] for symbol in cast("tuple[bytes, ...]", alphabet.symbols)]
        final = (over_bytes.delay == 0) | (over_bytes.end_delay == 0)
        return _over(alphabet, over_bytes.table[:, columns], over_bytes.initial, final)
    final = (dfa.accepts & ~dfa.late)[dfa.table[:, dfa.edge]] if dfa.delayed else dfa.accepts
    return _over(alphabet, _symbol_targets(dfa, alphabet), int(dfa.initial[-1]), final)


def _symbol_targets(dfa: ClassDFA, alphabet: TokenAlphabet) -> Int32Array:
    """Return the target of each state on each symbol, which is read character by character."""
    spelled = ["".join(cast("str | tuple[str, ...]", symbol)) for symbol in alphabet.symbols]
    targets = np.empty((len(dfa.table), len(spelled)), dtype=np.int32)
    code_points = np.array([ord(character) for word in spelled for character in word], dtype=np.int32)
    classes = iter(dfa.partition.classes(code_points).tolist())
    for column, word in enumerate(spelled):
        reached = np.arange(len(dfa.table), dtype=np.int32)
        for _ in word:
            reached = dfa.table[reached, next(classes)]
        targets[:, column] = reached
    return targets


def _over(alphabet: TokenAlphabet, targets: Int32Array, initial: int, final: npt.NDArray[np.bool_]) -> TokenDFA:
    """Return the explicit automaton of a table whose state 0 is a sink."""
    sources, tokens = np.nonzero(targets)
    offsets = np.zeros(len(targets) + 1, dtype=np.int64)
    np.cumsum(np.bincount(sources, minlength=len(targets)), out=offsets[1:])
    return TokenDFA.from_arrays(
        alphabet, offsets, tokens.astype(np.int32), targets[sources, tokens], initial, final.copy()
    )

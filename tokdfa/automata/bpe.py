"""Byte pair encoding of a word, straight from the definitions: Algorithm 1 and its two neighbours.

Three semantics are in use. They agree on every word when each part of a rule is a symbol or the product of an earlier
live rule. A proper dictionary can fail this condition: the earlier rule may be dead while a later one makes the same
token. Whether the semantics still agree is decided in :mod:`tokdfa.automata.semantics`.

*single pass*
    Algorithm 1 of the automaton paper: each rule once, in order of priority, each to exhaustion from the left.
*leftmost*
    each merge is by the strongest rule that applies anywhere, at its leftmost position (SentencePiece, tiktoken,
    Hugging Face's ``tokenizers``).
*rounds*
    the strongest rule that applies anywhere, to exhaustion from the left, then again from the top (Hugging Face's
    slow tokenizers, minbpe).

Nothing here is fast or clever. The automata are tested against these functions, which share no code with them.

Notes
-----
Berglund, Martens, van der Merwe, *Constructing a BPE Tokenization DFA*, Algorithm 1 and Example 5.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from tokdfa.automata.alphabet import Word
from tokdfa.automata.dictionary import Dictionary, Rule
from tokdfa.base.suggestions import expect

__all__ = ["tokenize_leftmost", "tokenize_rounds", "tokenize_single_pass"]


def tokenize_single_pass(dictionary: Dictionary, word: Word | Iterable[str]) -> tuple[Word, ...]:
    """Tokenize `word` by Algorithm 1: each rule once, in order of priority, each to exhaustion from the left.

    Parameters
    ----------
    dictionary : Dictionary
        The rules; proper or not.
    word : bytes, str or sequence of symbols
        A word over the dictionary's base alphabet.

    Returns
    -------
    tuple of words
        The tokens, spelled.

    Raises
    ------
    AlphabetError
        If `word` has a symbol outside the base alphabet.

    Notes
    -----
    *Constructing a BPE Tokenization DFA*, Algorithm 1 (called "HuggingFace semantics" there). The time is proportional
    to the number of rules times the length of the word, and to the square of the length where many merges happen.

    Examples
    --------
    >>> d = tokdfa.Dictionary.from_pairs([("a", "a"), ("b", "a")], alphabet="ab")
    >>> tokdfa.tokenize_single_pass(d, "baaab")
    ('b', 'aa', 'a', 'b')
    """
    tau = _base_tokenization(dictionary, word)
    for rule in dictionary:
        while (position := _first_index(tau, rule)) is not None:
            tau[position : position + 2] = [rule.product]
    return tuple(tau)


def tokenize_leftmost(dictionary: Dictionary, word: Word | Iterable[str]) -> tuple[Word, ...]:
    """Tokenize `word` by repeatedly applying the strongest applicable rule at its leftmost position.

    Parameters, result and errors are as for :func:`tokenize_single_pass`.

    Notes
    -----
    *Constructing a BPE Tokenization DFA*, section 2 (called "SentencePiece semantics" there).

    Examples
    --------
    >>> d = tokdfa.Dictionary.from_pairs([("a", "a"), ("b", "a")], alphabet="ab")
    >>> tokdfa.tokenize_leftmost(d, "baaab")
    ('b', 'aa', 'a', 'b')
    """
    tau = _base_tokenization(dictionary, word)
    priority = _priorities(dictionary)
    while (rule := _strongest_applicable(tau, priority)) is not None:
        position = _first_index(tau, rule)
        assert position is not None
        tau[position : position + 2] = [rule.product]
    return tuple(tau)


def tokenize_rounds(dictionary: Dictionary, word: Word | Iterable[str]) -> tuple[Word, ...]:
    """Tokenize `word` in rounds; each applies the strongest applicable rule to exhaustion from the left.

    Parameters, result and errors are as for :func:`tokenize_single_pass`.

    Notes
    -----
    *Constructing a BPE Tokenization DFA*, Example 5, the second reading of "HuggingFace semantics" there.

    Examples
    --------
    >>> d = tokdfa.Dictionary.from_pairs([("a", "a"), ("b", "a")], alphabet="ab")
    >>> tokdfa.tokenize_rounds(d, "baaab")
    ('b', 'aa', 'a', 'b')
    """
    tau = _base_tokenization(dictionary, word)
    priority = _priorities(dictionary)
    while (rule := _strongest_applicable(tau, priority)) is not None:
        while (position := _first_index(tau, rule)) is not None:
            tau[position : position + 2] = [rule.product]
    return tuple(tau)


def _base_tokenization(dictionary: Dictionary, word: Word | Iterable[str]) -> list[Word]:
    call = "tokdfa.tokenize_leftmost(dictionary, word)"
    expect(dictionary, Dictionary, "a dictionary", call, swapped=isinstance(word, Dictionary))
    alphabet = dictionary.alphabet
    return list(alphabet.spell(alphabet.base_tokenization(word)))


def _first_index(tau: list[Word], rule: Rule) -> int | None:
    """Return the least |φ| with φ≀u≀v≀φ' = `tau`, or None."""
    return next((index for index in range(len(tau) - 1) if (tau[index], tau[index + 1]) == rule), None)


@lru_cache(maxsize=4)
def _priorities(dictionary: Dictionary) -> dict[Rule, int]:
    """Return the priority of each rule; a rule given twice has the priority of its first occurrence."""
    return {rule: index for index, rule in reversed([*enumerate(dictionary)])}


def _strongest_applicable(tau: list[Word], priority: dict[Rule, int]) -> Rule | None:
    applicable = [rule for rule in map(Rule, tau, tau[1:]) if rule in priority]
    return min(applicable, key=priority.__getitem__, default=None)

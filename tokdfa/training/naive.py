"""The greedy trainer as in the papers: count every pair afresh, merge the best one everywhere, repeat."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias, TypeVar

from tokdfa.automata.alphabet import TokenAlphabet, Word
from tokdfa.automata.dictionary import Dictionary, Rule
from tokdfa.base.errors import TrainingError
from tokdfa.training.rules import CountRule, GreedyRules, TieRule, base_alphabet, code_points, symbol_ranks

Pair: TypeAlias = tuple[int, int]
T = TypeVar("T")


def train_naive(
    pieces: Mapping[Any, int],
    merges: int,
    *,
    tie: TieRule = "first-seen",
    count: CountRule = "non-overlapping",
    min_frequency: int = 2,
    max_token_length: int | None = None,
    alphabet: str | bytes | Sequence[Word] | None = None,
) -> Dictionary:
    """Train a byte pair dictionary greedily, slowly and obviously.

    Parameters
    ----------
    pieces : mapping from word to int
        The pieces of the corpus with their multiplicities, in the order of their first occurrence. Nothing is merged
        across the boundary between two pieces.
    merges : int
        The number of rules to make. There are fewer if no pair is left.
    tie, count, min_frequency, max_token_length
        See :class:`~tokdfa.training.rules.GreedyRules`.
    alphabet : str, bytes or sequence of symbols, optional
        Symbols that the dictionary has even if they do not occur; see :func:`~tokdfa.training.rules.base_alphabet`.

    Returns
    -------
    Dictionary
        The rules in the order of their merges. The dictionary is proper, and every rule is live.

    Raises
    ------
    TrainingError
        If the pieces are not words of one kind, or a rule is unknown.

    Notes
    -----
    *A Formal Perspective on Byte-Pair Encoding*, Algorithm 1: O(N) per merge for N symbols. A trained dictionary never
    makes a token twice: once uv is merged, the tokenization of that text into u·v occurs nowhere, and by
    context-invariance no other tokenization of it does.
    """
    rules = GreedyRules(tie, count, min_frequency, max_token_length)
    if merges < 0:
        raise TrainingError("the number of merges must not be negative", value=merges)
    symbols = base_alphabet(pieces, alphabet)
    words = list(symbols)
    texts = [list(symbols.base_tokenization(piece)) for piece in pieces]
    weights = list(pieces.values())
    key = _tie_key(rules.tie, symbols, words)
    entered: dict[Pair, int] = {}
    made: list[Pair] = []
    while len(made) < merges:
        counts: dict[Pair, int] = {}
        for text, weight in zip(texts, weights, strict=True):
            for pair in count_pairs(text, rules.count):
                counts[pair] = counts.get(pair, 0) + weight
                entered.setdefault(pair, len(entered))
        seen = {pair: order for order, pair in enumerate(counts)}
        longest = math.inf if rules.max_token_length is None else rules.max_token_length
        candidates = [
            (u, v)
            for (u, v), frequency in counts.items()
            if frequency >= rules.min_frequency and len(words[u]) + len(words[v]) <= longest
        ]
        if not candidates:
            break
        best = min(candidates, key=lambda pair: (-counts[pair], key(pair, seen[pair], entered[pair])))
        texts = [apply_rule(text, best, len(words)) for text in texts]
        words.append(Rule(words[best[0]], words[best[1]]).product)
        made.append(best)
    return Dictionary(((words[u], words[v]) for u, v in made), symbols.symbols)


def count_pairs(text: list[int], count: CountRule) -> list[Pair]:
    """Return the pairs of neighbours in `text`, from left to right, each as often as it counts."""
    pairs: list[Pair] = []
    last = -2
    for index, pair in enumerate(pairwise(text)):
        # Only a pair of equal tokens can overlap itself, and only at the very next index.
        if count == "non-overlapping" and pair[0] == pair[1] and last == index - 1 and pairs[-1] == pair:
            continue
        pairs.append(pair)
        last = index
    return pairs


def apply_rule(text: Sequence[T], pair: tuple[T, T], product: T) -> list[T]:
    """Return `text` with the occurrences of `pair` replaced from left to right (FORMAL's Apply)."""
    merged = []
    position = 0
    while position < len(text):
        if tuple(text[position : position + 2]) == pair:
            merged.append(product)
            position += 2
        else:
            merged.append(text[position])
            position += 1
    return merged


def _tie_key(tie: TieRule, symbols: TokenAlphabet, words: list[Word]) -> Callable[[Pair, int, int], Any]:
    """Return a key; its least value selects the pair to merge among equally frequent ones. `words` may grow."""
    if tie == "first-seen":
        return lambda pair, seen, entered: seen
    if tie == "oldest-pair":
        return lambda pair, seen, entered: entered
    if tie in ("huggingface", "rustbpe"):
        rank = symbol_ranks(symbols, tie).tolist()
        return lambda pair, seen, entered: [rank[token] if token < len(rank) else token for token in pair]
    if tie == "sentencepiece":
        return lambda pair, seen, entered: (
            len(words[pair[0]]) + len(words[pair[1]]),
            _text(words[pair[0]]) + _text(words[pair[1]]),
            len(words[pair[0]]),
        )
    return lambda pair, seen, entered: [tuple(-unit for unit in [*code_points(words[token]), -1]) for token in pair]


def _text(word: Word) -> Any:
    return "".join(word) if isinstance(word, tuple) else word

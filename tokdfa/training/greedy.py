"""The fast greedy trainer: unique pieces, positions of pairs, incremental counts, and a priority queue."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from tokdfa.automata.alphabet import TokenAlphabet, Word, concatenate
from tokdfa.automata.dictionary import Dictionary, Rule
from tokdfa.base.arrays import Int32Array, Int64Array
from tokdfa.base.errors import LimitExceededError, TrainingError
from tokdfa.base.suggestions import expect
from tokdfa.kernels.train import merging
from tokdfa.tokenizers.formats.checked_dictionary import ByteTokens, CheckedDictionary
from tokdfa.training.corpus import PieceCounts
from tokdfa.training.rules import CountRule, GreedyRules, TieRule, base_alphabet, code_points, symbol_ranks

__all__ = ["GreedyTrace", "trace_greedy", "train_greedy", "vocabulary_sizes"]

_MOST_OCCURRENCES = 2**62


def train_greedy(
    pieces: Mapping[Any, int],
    merges: int,
    *,
    tie: TieRule = "first-seen",
    count: CountRule = "non-overlapping",
    min_frequency: int = 2,
    max_token_length: int | None = None,
    alphabet: str | bytes | Sequence[Word] | None = None,
    progress: Callable[[int], object] | None = None,
) -> Dictionary:
    """Train a byte pair dictionary greedily.

    Parameters
    ----------
    pieces, merges, tie, count, min_frequency, max_token_length, alphabet
        As for :func:`~tokdfa.training.naive.train_naive`, which gives the same result.
    progress : callable, optional
        Called now and then with the number of rules made so far.

    Returns
    -------
    Dictionary
        The rules in the order of their merges. The dictionary is proper, and every rule is live.

    Raises
    ------
    TrainingError
        If the pieces are not words of one kind, or a rule is unknown.
    LimitExceededError
        If the unique pieces have 2³¹ symbols or more.

    Notes
    -----
    *A Formal Perspective on Byte-Pair Encoding*, Algorithm 2 and Theorem 4.2: O(N log P) for N symbols and P pairs in
    the queue, for any number of merges. The heap is not cut to the M best pairs, which would lose merges.

    Examples
    --------
    >>> d = tokdfa.train_greedy({"low": 5, "lower": 2, "newest": 6}, 3)
    >>> [str(rule) for rule in d]
    ['w≀e', 'l≀o', 'n≀e']
    """
    expect(pieces, Mapping, "a mapping from pieces to their counts", "tokdfa.train_greedy(pieces, merges)")
    rules = GreedyRules(tie, count, min_frequency, max_token_length)
    symbols, training = _trained(pieces, merges, rules, alphabet, progress)
    return _dictionary(symbols, training.left, training.right)


@dataclass(frozen=True, slots=True)
class GreedyTrace:
    """A trained dictionary, and the effect of each rule on the corpus.

    `occurrences` has the number of each symbol in the corpus; `gain` the number of replacements that each rule made;
    their sum is the compression utility.
    """

    dictionary: Dictionary
    occurrences: Int64Array
    gain: Int64Array


def trace_greedy(
    pieces: Mapping[Any, int],
    merges: int,
    rules: GreedyRules,
    alphabet: str | bytes | Sequence[Word] | None = None,
    progress: Callable[[int], object] | None = None,
) -> GreedyTrace:
    """Train as :func:`train_greedy` does, and record the effect of each rule."""
    symbols, training = _trained(pieces, merges, rules, alphabet, progress)
    lengths, weights = _lengths_and_weights(pieces)
    occurrences = np.zeros(len(symbols), np.int64)
    np.add.at(occurrences, _numbers(pieces, symbols), np.repeat(weights, lengths))
    return GreedyTrace(_dictionary(symbols, training.left, training.right), occurrences, training.gain)


def _trained(
    pieces: Mapping[Any, int],
    merges: int,
    rules: GreedyRules,
    alphabet: str | bytes | Sequence[Word] | None,
    progress: Callable[[int], object] | None,
) -> tuple[TokenAlphabet, merging.Training]:
    """Return the base alphabet, and the training when it has ended."""
    if merges < 0:
        raise TrainingError("the number of merges must not be negative", value=merges)
    symbols, training = begin_training(pieces, merges, rules, alphabet)
    most = training.most
    step = max(most if progress is None else most // 100, 1)
    for target in chain(range(step, most, step), [most]):
        made = training.run(target)
        if progress is not None:
            progress(made)
    return symbols, training


def begin_training(
    pieces: Mapping[Any, int],
    merges: int,
    rules: GreedyRules,
    alphabet: str | bytes | Sequence[Word] | None = None,
    wanted: Callable[[TokenAlphabet], merging.Wanted] | None = None,
) -> tuple[TokenAlphabet, merging.Training]:
    """Return the base alphabet, and a training with no merge made yet; `wanted` numbers the merges to check, if any."""
    # Pieces counted as bytes need no second look.
    counted = isinstance(pieces, PieceCounts) and alphabet is None
    symbols = TokenAlphabet(bytes(range(256))) if counted else base_alphabet(pieces, alphabet)
    text = _lay_out(pieces, symbols, rules.tie)
    listed = None if wanted is None else wanted(symbols)
    most = min(merges, len(text.symbols)) if listed is None else len(listed.left)
    rank = np.empty(0, np.int32)
    if rules.tie in ("huggingface", "rustbpe"):
        products = np.arange(len(symbols), len(symbols) + most, dtype=np.int32)
        rank = np.concatenate((symbol_ranks(symbols, rules.tie), products))
    ties = {
        "first-seen": merging.FIRST_SEEN,
        "sentencepiece": merging.SENTENCEPIECE,
        "subword-nmt": merging.SUBWORD_NMT,
    }
    training = merging.Training(
        text,
        len(symbols),
        most,
        rank,
        tie=ties.get(rules.tie, merging.FIXED),
        overlapping=rules.count == "overlapping",
        least=min(rules.min_frequency, _MOST_OCCURRENCES),
        longest=rules.max_token_length or merging.LONGEST_TEXT,
        wanted=listed,
    )
    return symbols, training


def _lengths_and_weights(pieces: Mapping[Any, int]) -> tuple[Int64Array, Int64Array]:
    """Return the length of each piece in symbols, and the number of its occurrences."""
    if isinstance(pieces, PieceCounts):
        return np.diff(pieces.ends, prepend=0), pieces.counts
    most = max(pieces.values(), default=0)
    if most >= _MOST_OCCURRENCES:
        raise LimitExceededError("a piece occurs too often", value=most, hint="less than 2⁶² symbols fit")
    n_pieces = len(pieces)
    return np.fromiter(map(len, pieces), np.int64, n_pieces), np.fromiter(pieces.values(), np.int64, n_pieces)


def _lay_out(pieces: Mapping[Any, int], symbols: TokenAlphabet, tie: TieRule) -> merging.Text:
    """Return the text in the form that the kernel reads."""
    lengths, weights = _lengths_and_weights(pieces)
    total = int(lengths.sum()) + len(pieces) + 1
    if total > merging.LONGEST_TEXT:
        raise LimitExceededError("the unique pieces are too long to train on", value=total, hint="2³¹ symbols fit")
    # Not np.dot: its threads would keep spinning.
    if (lengths * weights.astype(np.float64)).sum() >= _MOST_OCCURRENCES:
        raise LimitExceededError("the corpus is too long to train on", hint="less than 2⁶² symbols fit")
    # Boundaries come before, between and after the pieces. Their weight is not read.
    inside = np.ones(total, np.bool_)
    inside[0] = False
    inside[np.cumsum(lengths + 1)] = False
    text = np.full(total, -1, np.int32)
    text[inside] = _numbers(pieces, symbols)
    weight = np.repeat(np.append(weights, 0), np.append(lengths + 1, 1))
    units, unit_at = np.empty(0, np.int32), np.empty(0, np.int64)
    if tie in ("sentencepiece", "subword-nmt"):
        spelled = [code_points(word) for word in symbols.symbols]
        widths = np.zeros(total + 1, np.int64)
        widths[1:][inside] = np.fromiter(map(len, spelled), np.int64, len(spelled))[text[inside]]
        unit_at = np.cumsum(widths)
        units = np.fromiter(chain.from_iterable(spelled[number] for number in text[inside].tolist()), np.int32)
    return merging.Text(text, weight, units, unit_at)


def _numbers(pieces: Mapping[Any, int], symbols: TokenAlphabet) -> Int32Array:
    """Return the symbols of all pieces, one after the other, as numbers."""
    joined = b"" if isinstance(pieces, PieceCounts) else concatenate(pieces, symbols.kind)
    if isinstance(joined, tuple):
        number = {cast("tuple[str, ...]", word)[0]: i for i, word in enumerate(symbols.symbols)}
        return np.fromiter(map(number.__getitem__, joined), np.int32, len(joined))
    units: npt.NDArray[Any]
    if isinstance(joined, bytes):
        units = pieces.text if isinstance(pieces, PieceCounts) else np.frombuffer(joined, np.uint8)
    else:
        units = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), np.uint32)
    spelled = np.array([code_points(word)[0] for word in symbols.symbols], np.int64)
    table = np.zeros(int(spelled.max(initial=0)) + 1, np.int32)
    table[spelled] = np.arange(len(symbols), dtype=np.int32)
    return table[units]


def _dictionary(symbols: TokenAlphabet, left: Int32Array, right: Int32Array) -> Dictionary:
    words = list(symbols.symbols)
    for u, v in zip(left.tolist(), right.tolist(), strict=True):
        words.append(Rule(words[u], words[v]).product)
    if symbols == TokenAlphabet(bytes(range(256))):
        # No token is made twice, so each is first mentioned as the product of its rule.
        product = np.arange(256, len(words), dtype=np.int32)
        return CheckedDictionary(ByteTokens(cast("list[bytes]", words[256:])), left, right, product)
    return Dictionary(zip(map(words.__getitem__, left), map(words.__getitem__, right), strict=True), symbols.symbols)


def vocabulary_sizes(trace: GreedyTrace) -> Int64Array:
    """Return the number of different tokens in the corpus of a trace before the first merge and after each merge.

    BLOG: a merge adds its product and removes each part that occurs nowhere else, so the size changes by +1, 0 or -1.
    """
    dictionary = trace.dictionary
    occurrences = np.zeros(len(dictionary.alphabet), np.int64)
    occurrences[: len(trace.occurrences)] = trace.occurrences
    sizes = [int(np.count_nonzero(occurrences))]
    rules = (dictionary.left.tolist(), dictionary.right.tolist(), dictionary.product.tolist(), trace.gain.tolist())
    for left, right, product, gain in zip(*rules, strict=True):
        occurrences[left] -= gain
        occurrences[right] -= gain
        occurrences[product] += gain
        sizes.append(sizes[-1] + 1 - sum(occurrences[part] == 0 for part in {left, right}))
    return np.array(sizes, np.int64)

"""The function `compare`, for two dictionaries or two tokenizers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tokdfa.automata.dictionary import Dictionary
from tokdfa.base.errors import AlphabetError, UnsupportedFeatureError
from tokdfa.base.suggestions import wrong_argument
from tokdfa.jobs.comparison.dictionaries import compare_dictionaries
from tokdfa.jobs.comparison.result import Comparison, Stage
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["compare"]


def compare(
    a: Dictionary | AnyTokenizer,
    b: Dictionary | AnyTokenizer,
    *,
    ignore_ids: bool = False,
    progress: Callable[[Stage], object] | None = None,
) -> Comparison:
    """Decide whether two dictionaries, or two tokenizers, give every text the same tokens.

    Parameters
    ----------
    a, b : Dictionary or AnyTokenizer
        Two dictionaries, or two tokenizers of one algorithm. Dictionaries are compared by Algorithm 1, on all words
        over their base alphabet; tokenizers by the behaviour of their libraries, on all texts.
    ignore_ids : bool
        For tokenizers: whether to compare the spelling of tokens instead of their ids.
    progress : callable, optional
        For byte pair tokenizers: called from time to time with the :class:`Stage` of the comparison: its step, and the
        length of the texts that it has reached.

    Returns
    -------
    Comparison
        Truthy if they are equivalent; otherwise its witness is a text on which they differ.

    Raises
    ------
    WrongTypeError
        If one is neither a dictionary nor a tokenizer.
    AlphabetError
        If they are not two dictionaries, or two tokenizers of one algorithm.
    ImproperDictionaryError
        If a dictionary is not proper.
    UnsupportedFeatureError
        If neither a difference nor equivalence of two tokenizers could be established; the error says why.
    LimitExceededError
        If an automaton is too large.

    Examples
    --------
    >>> a = tokdfa.Dictionary([("a", "b"), ("b", "c")])
    >>> b = tokdfa.Dictionary([("b", "c"), ("a", "b")])
    >>> tokdfa.compare(a, b).witness
    Difference(text='abc', tokens_a=('ab', 'c'), tokens_b=('a', 'bc'))
    """
    if isinstance(a, Dictionary) and isinstance(b, Dictionary):
        return compare_dictionaries(a, b)
    for given in (a, b):
        if not isinstance(given, (AnyTokenizer, Dictionary)):
            raise wrong_argument(given, "a tokenizer or a dictionary", "tokdfa.compare(a, b)")
    if not isinstance(a, AnyTokenizer) or not isinstance(b, AnyTokenizer) or a.algorithm != b.algorithm:
        what = "only two dictionaries, or two tokenizers of one algorithm, can be compared"
        raise AlphabetError(what, value=f"{type(a).__name__} and {type(b).__name__}")
    sides: Any = a, b
    match a.algorithm:
        case "byte pair":
            from tokdfa.jobs.comparison.tokenizers import compare_tokenizers

            return compare_tokenizers(*sides, ignore_ids=ignore_ids, progress=progress)
        case "Unigram":
            from tokdfa.jobs.comparison.models import compare_unigrams

            return compare_unigrams(*sides, ignore_ids=ignore_ids)
        case "WordPiece":
            from tokdfa.jobs.comparison.models import compare_wordpieces

            return compare_wordpieces(*sides, ignore_ids=ignore_ids)
    raise UnsupportedFeatureError("tokenizers of this algorithm cannot be compared", value=a.algorithm)

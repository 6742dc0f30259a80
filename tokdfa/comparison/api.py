"""The function `compare`, for any two things that can be compared."""

from __future__ import annotations

from collections.abc import Callable

from tokdfa.comparison.dictionaries import compare_dictionaries
from tokdfa.comparison.findings import Stage
from tokdfa.comparison.result import Comparison
from tokdfa.dictionary import Dictionary
from tokdfa.errors import AlphabetError
from tokdfa.tokenizers.tokenizer import Tokenizer
from tokdfa.tokenizers.wordpiece import WordPieceTokenizer

__all__ = ["compare"]


def compare(
    a: Dictionary | Tokenizer | WordPieceTokenizer,
    b: Dictionary | Tokenizer | WordPieceTokenizer,
    *,
    ignore_ids: bool = False,
    progress: Callable[[Stage], object] | None = None,
) -> Comparison:
    """Decide whether two dictionaries, or two tokenizers, give every text the same tokens.

    Parameters
    ----------
    a, b : Dictionary, Tokenizer or WordPieceTokenizer
        What is to be compared: two of a kind. Dictionaries are compared by Algorithm 1, on all words over their base
        alphabet; tokenizers by what their libraries do, on all texts.
    ignore_ids : bool
        For tokenizers: whether it is enough that the tokens are spelled alike, whatever their ids are.
    progress : callable, optional
        For byte pair tokenizers: called now and then with how far the comparison has come: the step, and the length of
        the texts that it has come to.

    Returns
    -------
    Comparison
        Truthy if they are equivalent. Otherwise its witness is a text on which they differ.

    Raises
    ------
    AlphabetError
        If they are not two of a kind.
    ImproperDictionaryError
        If a dictionary is not proper.
    UnsupportedFeatureError
        If neither a difference nor equivalence of two tokenizers can be claimed; says why.
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
    if isinstance(a, Tokenizer) and isinstance(b, Tokenizer):
        from tokdfa.comparison.tokenizers import compare_tokenizers

        return compare_tokenizers(a, b, ignore_ids=ignore_ids, progress=progress)
    if isinstance(a, WordPieceTokenizer) and isinstance(b, WordPieceTokenizer):
        from tokdfa.comparison.wordpiece import compare_wordpieces

        return compare_wordpieces(a, b, ignore_ids=ignore_ids)
    raise AlphabetError(
        "a dictionary is compared with a dictionary, a tokenizer with a tokenizer of its kind",
        value=f"{type(a).__name__} and {type(b).__name__}",
    )

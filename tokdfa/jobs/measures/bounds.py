"""The function `bounds`: the fewest and the most bytes and characters per token, and tokens per text."""

from __future__ import annotations

import numpy as np

from tokdfa.base.budget import total_of
from tokdfa.base.errors import WrongTypeError
from tokdfa.base.suggestions import expect
from tokdfa.jobs.measures.attained import SECONDS_FOR_TEXTS, Texts
from tokdfa.jobs.measures.extremes import Bounds
from tokdfa.jobs.measures.other_tokens import most_of_other
from tokdfa.jobs.measures.per_token import Ratios
from tokdfa.jobs.measures.sized import MAX_BYTES
from tokdfa.jobs.measures.tokens_of_texts import tokens_of_language, tokens_of_size
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["bounds"]


def bounds(
    tokenizer: AnyTokenizer,
    *,
    language: str | None = None,
    n_bytes: int | None = None,
    other: AnyTokenizer | None = None,
    max_seconds: float = 600.0,
) -> Bounds:
    """Return the fewest and the most bytes and characters per token, over all texts, each with a text that attains it.

    With `language` or `n_bytes`, also the fewest and the most tokens of a text.

    Parameters
    ----------
    tokenizer : AnyTokenizer
        A byte pair tokenizer over bytes, without a normalizer or with a normalization form; or one over characters; or
        WordPiece.
    language : str, optional
        A regular expression; only texts count that match it as a whole.
    n_bytes : int, optional
        The number of bytes of the texts that `tokens` is about.
    other : AnyTokenizer, optional
        Another tokenizer: the result has the most tokens of it per token of `tokenizer`.
    max_seconds : float
        The processor time for proofs, which the questions share. If a share ends, the answer is a text and the bound
        proved so far. Building the automata and finding the texts may take 20 seconds more.

    Returns
    -------
    Bounds

    Raises
    ------
    PatternError
        If the language has no text, or no text with `n_bytes` bytes.
    UnsupportedFeatureError
        If there is no automaton of the canonical ids of a tokenizer, as for Unigram.
    LimitExceededError
        If no text was found in time.

    Notes
    -----
    Texts are valid UTF-8 without control tokens; ratios are over texts that are not empty. Only texts count that
    decoding gives back, so not those that the normalizer changes.

    Examples
    --------
    >>> found = tokdfa.bounds(tokdfa.default_tokenizer(), language="[a-z]+")
    >>> str(found.bytes.most.value), found.bytes.most.text
    ('10', 'oluntarily')
    """
    expect(tokenizer, AnyTokenizer, "a tokenizer", "tokdfa.bounds(tokenizer)")
    if n_bytes is not None and (isinstance(n_bytes, bool) or not isinstance(n_bytes, (int, np.integer))):
        raise WrongTypeError("a number of bytes is whole", value=n_bytes, where="n_bytes")
    if n_bytes is not None and not 0 <= n_bytes <= MAX_BYTES:
        raise WrongTypeError(f"a number of bytes is from 0 to {MAX_BYTES}", value=n_bytes, where="n_bytes")
    has_tokens = n_bytes is not None or language is not None
    with total_of(max_seconds + SECONDS_FOR_TEXTS):
        texts = Texts(tokenizer, language, max_seconds, n_questions=4 + 2 * has_tokens + (other is not None))
        return _bounds(texts, n_bytes, other)


def _bounds(texts: Texts, n_bytes: int | None, other: AnyTokenizer | None) -> Bounds:
    """Return the answers to all questions."""
    ratios = Ratios(texts)
    bytes, characters = ratios.of_bytes(), ratios.of_characters()
    tokens = None
    if n_bytes is not None:
        tokens = tokens_of_size(texts, int(n_bytes), ratios.potentials)
    elif texts.language is not None:
        tokens = tokens_of_language(texts)
    return Bounds(bytes, characters, tokens=tokens, other=None if other is None else most_of_other(texts, other))

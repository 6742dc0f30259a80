"""Deciding whether a stream of ids is canonical: the ids that its tokenizer gives for its text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np
import numpy.typing as npt

from tokdfa.arrays import IntegerArray, id_array
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.validation.judges.choice import whole_walk
from tokdfa.validation.result import Validation, validation
from tokdfa.validation.tuning import DEFAULT, Tuning
from tokdfa.validation.validator import Validator
from tokdfa.validation.violation import Violation

__all__ = ["iter_violations", "validate"]


_WALKED = (np.dtype(np.int32), np.dtype(np.uint32), np.dtype(np.int64))


def validate(
    tokenizer: AnyTokenizer,
    ids: npt.ArrayLike | Iterator[IntegerArray],
    *,
    every: bool = False,
    window: bool = False,
    documents: int | npt.ArrayLike | None = None,
    literal: bool = False,
    tuning: Tuning = DEFAULT,
) -> Validation:
    """Decide whether ids are canonical: the ids that the tokenizer gives for the text that they spell.

    Parameters
    ----------
    tokenizer : AnyTokenizer
    ids : array_like of int, or iterator of arrays
        The stream; an iterator gives it in chunks.
    every : bool
        Whether to go on after the first violation, from where token and piece borders meet again.
    window : bool
        Whether the stream was cut out of a longer one: then only what is wrong in any context is reported.
    documents : int or array_like of int, optional
        The id that separates documents, or the index of the first token of each document. Each document is judged
        separately, and the ids between them are not judged.
    literal : bool
        Whether to judge special tokens that `encode` never gives, such as SentencePiece's control pieces, by the text
        that `decode` makes of them. They are then never canonical, and the answer is that of
        ``encode(decode(ids)) == ids``. By default they split the stream, and the parts between them are judged
        separately.
    tuning : Tuning, optional
        How many ids are judged at once, and how many are kept; see :class:`~tokdfa.validation.tuning.Tuning`.

    Returns
    -------
    Validation
        Truthy if they are canonical. An empty stream is canonical.

    Raises
    ------
    TokenStreamError
        If they are not ids of the tokenizer; the error says which. If documents do not begin in order, or one begins
        after the end.
    ImproperDictionaryError
        If the dictionary is not proper and its format does not say what a library makes of it.
    UnsupportedFeatureError
        If windows or documents of such a tokenizer cannot be judged.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> bool(tokdfa.validate(tokenizer, tokenizer.encode("a single man")))
    True
    >>> verdict = tokdfa.validate(tokenizer, [64, 261, 1193])  # a≀ s≀ingle
    >>> verdict.index, verdict.canonical_ids
    (1, (2513,))
    """
    n_accepted = None if window or literal or documents is not None else _n_accepted(tokenizer, ids, tuning)
    if n_accepted is not None:
        return validation(n_accepted)
    validator = Validator(tokenizer, window=window, documents=documents, literal=literal, tuning=tuning)
    chunks = _chunks(ids if isinstance(ids, Iterator) else [ids], tuning.chunk)
    violations = _violations(validator, chunks)
    found = tuple(violations if every else islice(violations, 1))
    for chunk in chunks:
        validator.skip(chunk)
    validator.check_end()
    return validation(validator.tokens, found)


def iter_violations(
    tokenizer: AnyTokenizer, chunks: Iterable[npt.ArrayLike], *, tuning: Tuning = DEFAULT
) -> Iterator[Violation]:
    """Yield every place where a stream is not canonical, in order; see :func:`validate`."""
    return _violations(Validator(tokenizer, tuning=tuning), _chunks(chunks, tuning.chunk))


def _chunks(arrays: Iterable[npt.ArrayLike], size: int) -> Iterator[IntegerArray]:
    for array in map(id_array, arrays):
        for begin in range(0, len(array), size):
            yield array[begin : begin + size]


def _violations(validator: Validator, chunks: Iterable[IntegerArray]) -> Iterator[Violation]:
    for chunk in chunks:
        yield from validator.feed(chunk)
    yield from validator.finish()


def _n_accepted(tokenizer: AnyTokenizer, ids: object, tuning: Tuning) -> int | None:
    """Return the number of ids if they are few and one walk shows that they are canonical; None if that is not known.

    The walk keeps no ids and has no other state, so for short streams nothing else is needed.
    """
    if not tuning.walks:
        return None
    try:
        array = np.array(ids) if type(ids) is list else ids
    except (ValueError, OverflowError):
        return None
    if type(array) is not np.ndarray or array.ndim != 1 or array.dtype not in _WALKED or len(array) > tuning.chunk:
        return None
    if not (array.flags.c_contiguous and array.flags.aligned):
        return None
    walk = whole_walk(tokenizer)
    return len(array) if walk is not None and walk.accepts(array) else None

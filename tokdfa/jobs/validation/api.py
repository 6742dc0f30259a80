"""Deciding whether a stream of ids (array or iterator) is canonical: the ids that its tokenizer gives for its text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Unpack

import numpy as np
import numpy.typing as npt

from tokdfa.base.arrays import IntegerArray, id_array
from tokdfa.base.errors import TokenStreamError
from tokdfa.base.suggestions import wrong_argument
from tokdfa.jobs.validation.engine import engine_of
from tokdfa.jobs.validation.validator import ValidationOptions, Validator
from tokdfa.jobs.validation.violation import Violation
from tokdfa.jobs.validation.violations import Validation, Violations, validation
from tokdfa.jobs.validation.window import DEFAULT, WHOLE, Rest, Tuning
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["check", "n_accepted", "validate", "walk_over"]

_SMALL = 1 << 12
"""The number of ids that are judged first, if only the first violation is wanted."""

_WALKED = frozenset(np.dtype(kind) for kind in (np.uint16, np.int32, np.uint32, np.int64, np.uint64))


def validate(
    tokenizer: AnyTokenizer,
    ids: npt.ArrayLike | Iterator[IntegerArray],
    *,
    all: bool = False,
    window: bool = False,
    documents: int | npt.ArrayLike | None = None,
    literal: bool = False,
) -> Validation:
    """Decide whether ids are canonical: the ids that the tokenizer gives for the text that they spell.

    Parameters
    ----------
    tokenizer : AnyTokenizer
    ids : array_like of int, or iterator of arrays
        The stream; an iterator gives it in chunks.
    all : bool
        Whether to find all violations, not only the first; `violations` of the answer has them. The search continues
        after each one, where token and piece boundaries meet again.
    window : bool
        Whether the stream was cut out of a longer one: then only violations in any context are reported.
    documents : int or array_like of int, optional
        The id that separates documents, or the index of the first token of each document. Each document is judged
        separately, and the ids between them are not judged.
    literal : bool
        Whether to judge special tokens that `encode` never gives, such as SentencePiece's control pieces, by the text
        that `decode` makes of them. They are then never canonical, and the answer is the same as
        ``encode(decode(ids)) == ids``. By default they split the stream, and the parts between them are judged
        separately.

    Returns
    -------
    Validation
        Truthy if they are canonical. An empty stream is canonical.

    Raises
    ------
    TokenStreamError
        If they are not integers. If documents do not begin in order, or one begins after the end.
    ImproperDictionaryError
        If the dictionary is not proper and its format does not say how libraries merge with it.
    UnsupportedFeatureError
        If windows or documents of such a tokenizer cannot be judged.

    Notes
    -----
    An id that the tokenizer does not have is a violation. The ids before and after it are judged separately.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> bool(tokdfa.validate(tokenizer, tokenizer.encode("a single man")))
    True
    >>> verdict = tokdfa.validate(tokenizer, [64, 261, 1193])  # a≀ s≀ingle
    >>> verdict.index, verdict.canonical_ids
    (1, (2513,))
    """
    if window or literal or documents is not None:
        return check(tokenizer, ids, all=all, window=window, documents=documents, literal=literal)
    walked = walk_over(tokenizer, ids)
    if walked is not None and walked[1] is None:
        return validation(len(walked[0]))
    return check(tokenizer, ids, walked, all=all)


def check(
    tokenizer: AnyTokenizer,
    ids: npt.ArrayLike | Iterator[IntegerArray],
    walked: tuple[IntegerArray, Rest | None] | None = None,
    *,
    all: bool,
    tuning: Tuning = DEFAULT,
    **options: Unpack[ValidationOptions],
) -> Validation:
    """Return the result of :func:`validate` for ids that may be wrong, given the result of :func:`walk_over`."""
    if isinstance(ids, AnyTokenizer):
        raise wrong_argument(tokenizer, "a tokenizer", "tokdfa.validate(tokenizer, ids)", swapped=True)
    validator = Validator(tokenizer, **options)
    if tuning is not DEFAULT:
        validator._tune(tuning)
    chunks: Iterator[tuple[IntegerArray, bool]]
    if isinstance(ids, Iterator):
        chunks = ((chunk, False) for array in map(id_array, ids) for chunk, _ in _chunks(array, tuning, all))
    else:
        # The ids before the rest are canonical, and need not be looked at again.
        array, rest = (id_array(ids), WHOLE) if walked is None else (walked[0], walked[1] or WHOLE)
        validator._skip_to(rest)
        chunks = _chunks(array[rest.first :], tuning, all)
    parts = _parts(validator, chunks)
    found = Violations([*(parts if all else islice(parts, 1))])
    for chunk, _ in chunks:
        validator.skip(chunk)
    validator.check_end()
    return validation(validator.tokens, found if all else found[:1])


def _chunks(array: IntegerArray, tuning: Tuning, all: bool) -> Iterator[tuple[IntegerArray, bool]]:
    """Yield an array in parts, each with whether it is the last one; small ones first, if they may be enough."""
    begin, end = 0, tuning.chunk if all else min(_SMALL, tuning.chunk)
    while begin < len(array):
        yield array[begin:end], end >= len(array)
        begin, end = end, end + min(4 * (end - begin), tuning.chunk)


def _parts(validator: Validator, chunks: Iterator[tuple[IntegerArray, bool]]) -> Iterator[Sequence[Violation]]:
    """Yield the violations in chunks, in parts that are not empty."""
    is_last = False
    for chunk, is_last in chunks:
        yield from filter(len, validator.iter_parts(chunk, is_last=is_last))
    if not is_last:
        yield from filter(len, [[*validator.iter_finish()]])


def n_accepted(tokenizer: object, ids: object) -> int | None:
    """Return the number of ids if they are in an array and one walk shows that they are canonical; None otherwise."""
    walked = walk_over(tokenizer, ids)
    return None if walked is None or walked[1] is not None else len(walked[0])


def walk_over(tokenizer: object, ids: object) -> tuple[IntegerArray, Rest | None] | None:
    """Walk over ids if they are in an array; return them, and the part of them that this shows not to be canonical.

    The walk keeps no ids and has no other state, so for streams that are canonical nothing else is needed.
    """
    if not isinstance(tokenizer, AnyTokenizer):
        return None
    try:
        array = id_array(ids) if type(ids) is list else ids
    except TokenStreamError:
        return None
    if type(array) is not np.ndarray or array.ndim != 1 or array.dtype not in _WALKED:
        return None
    if not (array.flags.c_contiguous and array.flags.aligned):
        return None
    unjudged = tokenizer.derived(engine_of).unjudged
    return None if unjudged is None else (array, unjudged(array))

"""Encoding many documents, with one thread per core."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import islice, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tokdfa.arguments import is_tokenizer, wrong_argument
from tokdfa.arrays import Int32Array, Int64Array
from tokdfa.encoding.texts import check_texts
from tokdfa.errors import AlphabetError, WrongTypeError

if TYPE_CHECKING:
    from concurrent.futures import Future

    from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["EncodedDocuments", "encode_batch", "iter_encoded"]


# Documents go to the threads in parcels of about so many characters, so that small ones are worth the overhead, and
# none waits long for the others at the end.
_PARCEL = 1 << 17
# Not more than so many of them are asked for at a time, which may be slow to come.
_AT_A_TIME = 256


class EncodedDocuments(NamedTuple):
    """The ids of several documents: those of document i are ``ids[offsets[i]:offsets[i + 1]]``.

    `ids` is an int32 array, and `offsets` an int64 array with one more entry than there are documents.

    Examples
    --------
    >>> ids, offsets = tokdfa.encode_batch(tokdfa.default_tokenizer(), ["a man", "", "a single man"])
    >>> offsets.tolist(), ids[offsets[2] : offsets[3]].tolist()
    ([0, 2, 2, 5], [64, 2513, 462])
    """

    ids: Int32Array
    offsets: Int64Array


def encode_batch(tokenizer: AnyTokenizer, texts: Iterable[str], *, threads: int | None = None) -> EncodedDocuments:
    """Encode documents, each separately.

    Parameters
    ----------
    tokenizer : AnyTokenizer
    texts : iterable of str
    threads : int, optional
        The number of threads, at least one; by default one per core. The compiled loops release the interpreter's
        lock.

    Raises
    ------
    AlphabetError
        If a document has a symbol for which the tokenizer has no token, or a lone surrogate; the error says where.
    WrongTypeError
        If the tokenizer is none, a document is not a string, `texts` is a single string, or the number of threads is
        not a positive integer.

    Examples
    --------
    >>> encoded = tokdfa.encode_batch(tokdfa.default_tokenizer(), ["a man", "a single man"], threads=2)
    >>> encoded.ids.tolist(), encoded.offsets.tolist()
    ([64, 462, 64, 2513, 462], [0, 2, 5])
    """
    parcels = [*_iter_parcels(tokenizer, texts, threads)]
    lengths = np.concatenate((np.zeros(1, dtype=np.int64), *(np.diff(parcel.offsets) for parcel in parcels)))
    ids = np.concatenate((np.zeros(0, dtype=np.int32), *(parcel.ids for parcel in parcels)))
    return EncodedDocuments(ids, np.cumsum(lengths))


def iter_encoded(tokenizer: AnyTokenizer, texts: Iterable[str], *, threads: int | None = None) -> Iterator[Int32Array]:
    """Yield the ids of each document, in order, holding only a few parcels of documents at a time.

    Parameters and errors are those of :func:`encode_batch`.

    Examples
    --------
    >>> texts = (text for text in ("a man", "a single man"))
    >>> [ids.tolist() for ids in tokdfa.iter_encoded(tokdfa.default_tokenizer(), texts)]
    [[64, 462], [64, 2513, 462]]
    """
    for ids, offsets in _iter_parcels(tokenizer, texts, threads):
        for begin, end in pairwise(offsets.tolist()):
            yield ids[begin:end]


def _iter_parcels(tokenizer: AnyTokenizer, texts: Iterable[str], threads: int | None) -> Iterator[EncodedDocuments]:
    """Yield the ids of parcels of documents, in order, holding only a few parcels at a time."""
    if not is_tokenizer(tokenizer):
        raise wrong_argument(
            tokenizer, "a tokenizer", "tokdfa.encode_batch(tokenizer, texts)", swapped=is_tokenizer(texts)
        )
    check_texts(texts)
    if threads is not None and (not isinstance(threads, int) or isinstance(threads, bool) or threads < 1):
        raise WrongTypeError("the number of threads must be a positive integer", value=threads)
    n_threads = os.cpu_count() or 1 if threads is None else threads
    parcels = _in_parcels(iter(texts))
    if n_threads == 1:
        for first, parcel in parcels:
            yield _encode_parcel(tokenizer, first, parcel)
        return
    # Not before: a program that is ending, and still validates, can't import it.
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(n_threads) as pool:
        waiting: list[Future[EncodedDocuments]] = []
        while True:
            for first, parcel in islice(parcels, max(2 * n_threads + 1 - len(waiting), 0)):
                waiting.append(pool.submit(_encode_parcel, tokenizer, first, parcel))
            if not waiting:
                return
            yield waiting.pop(0).result()


def _in_parcels(texts: Iterator[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield parcels of texts, each with the number of its first one."""
    first, step = 0, 1
    while parcel := [*islice(texts, step)]:
        size = _length(parcel)
        while size < _PARCEL and (more := [*islice(texts, _missing(parcel, size))]):
            parcel += more
            size += _length(more)
        yield first, parcel
        first += len(parcel)
        step = min(max(_PARCEL * len(parcel) // (size + 1), 1), _AT_A_TIME)


def _missing(parcel: list[str], size: int) -> int:
    """Return about the number of texts that are missing in a parcel of this size."""
    return min(max((_PARCEL - size) * len(parcel) // (size + 1), 1), _AT_A_TIME)


def _length(texts: list[str]) -> int:
    try:
        return sum(map(len, texts))
    except TypeError:
        # One is no text, for which it is refused where it is encoded.
        return _PARCEL


def _encode_parcel(tokenizer: AnyTokenizer, first: int, texts: list[str]) -> EncodedDocuments:
    """Return the ids of documents, the first of which has that number."""
    together = tokenizer.encode_together(texts)
    if together is not None:
        return together
    encoded = [_encode(tokenizer, number, text) for number, text in enumerate(texts, first)]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded)), out=offsets[1:])
    return EncodedDocuments(np.concatenate(encoded), offsets)


def _encode(tokenizer: AnyTokenizer, number: int, text: str) -> Int32Array:
    try:
        return tokenizer.encode(text)
    except AlphabetError as error:
        where = f"document {number}, {error.where}"
        raise AlphabetError(error.what, value=error.value, where=where, hint=error.hint) from None
    except WrongTypeError as error:
        raise WrongTypeError(error.what, value=error.value, where=f"document {number}", hint=error.hint) from None

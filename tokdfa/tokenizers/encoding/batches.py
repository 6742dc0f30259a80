"""Encoding many documents, with one thread per core."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import islice, pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array, offsets_of
from tokdfa.base.errors import AlphabetError, WrongTypeError
from tokdfa.base.suggestions import is_tokenizer, wrong_argument
from tokdfa.kernels.pages import empty
from tokdfa.tokenizers.encoding.texts import check_texts
from tokdfa.tokenizers.encoding.threads import in_order

if TYPE_CHECKING:
    from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["EncodedDocuments", "encode_batch", "iter_encoded"]


# Documents go to the threads in parcels of up to about this many characters: a small one is not worth a call.
_PARCEL = 1 << 18
# Few documents become this many smaller parcels for each thread, of at least so many characters: then no thread waits
# long for the others at the end.
_PARCELS_A_THREAD = 4
_LEAST = 1 << 16
# The largest number of documents that are asked for at a time; they may be slow to come.
_AT_A_TIME = 256
# At most this many documents are measured to cut all of them into parcels.
_SAMPLE = 1000

# The number of the first document, and several documents.
Parcel: TypeAlias = "tuple[int, Sequence[str]]"


class EncodedDocuments(NamedTuple):
    """The ids of several documents; document i has ``ids[offsets[i]:offsets[i + 1]]``.

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
        If `tokenizer` is not a tokenizer, a document is not a string, `texts` is a single string, or the number of
        threads is not a positive integer.

    Examples
    --------
    >>> encoded = tokdfa.encode_batch(tokdfa.default_tokenizer(), ["a man", "a single man"], threads=2)
    >>> encoded.ids.tolist(), encoded.offsets.tolist()
    ([64, 462, 64, 2513, 462], [0, 2, 5])
    """
    n_threads = _checked(tokenizer, texts, threads)
    if isinstance(texts, list | tuple):
        # The caller may change its list meanwhile.
        together = tokenizer.encode_side_by_side([*texts], n_threads)
        if together is not None:
            return together
    n_texts = len(texts) if isinstance(texts, Sized) else 0
    ids: Int32Array = np.zeros(0, dtype=np.int32)
    n = 0
    offsets = [np.zeros(1, dtype=np.int64)]
    # Finished work is copied while the other threads continue.
    for parcel, n_done in _iter_parcels(tokenizer, texts, n_threads):
        end = n + len(parcel.ids)
        if end > len(ids):
            expected = end * n_texts // max(n_done, 1)
            larger = empty(max(end, 2 * len(ids), expected + expected // 16), np.int32)
            larger[:n] = ids[:n]
            ids = larger
        ids[n:end] = parcel.ids
        offsets.append(parcel.offsets[1:] + n)
        n = end
    ids.resize(n, refcheck=False)
    return EncodedDocuments(ids, np.concatenate(offsets))


def iter_encoded(tokenizer: AnyTokenizer, texts: Iterable[str], *, threads: int | None = None) -> Iterator[Int32Array]:
    """Yield the ids of each document, in order, holding only a few parcels of documents at a time.

    Parameters and errors are as for :func:`encode_batch`.

    Examples
    --------
    >>> texts = (text for text in ("a man", "a single man"))
    >>> [ids.tolist() for ids in tokdfa.iter_encoded(tokdfa.default_tokenizer(), texts)]
    [[64, 462], [64, 2513, 462]]
    """
    for (ids, offsets), _ in _iter_parcels(tokenizer, texts, _checked(tokenizer, texts, threads)):
        for begin, end in pairwise(offsets.tolist()):
            yield ids[begin:end]


def _checked(tokenizer: AnyTokenizer, texts: Iterable[str], threads: int | None) -> int:
    """Check the arguments and return the number of threads."""
    if not is_tokenizer(tokenizer):
        raise wrong_argument(
            tokenizer, "a tokenizer", "tokdfa.encode_batch(tokenizer, texts)", swapped=is_tokenizer(texts)
        )
    check_texts(texts)
    if threads is not None and (not isinstance(threads, int) or isinstance(threads, bool) or threads < 1):
        raise WrongTypeError("the number of threads must be a positive integer", value=threads)
    return os.cpu_count() or 1 if threads is None else threads


def _iter_parcels(
    tokenizer: AnyTokenizer, texts: Iterable[str], n_threads: int
) -> Iterator[tuple[EncodedDocuments, int]]:
    """Yield the ids of parcels of documents, in order, and the number of documents so far.

    Only a few parcels are held at a time.
    """
    parcels = _cut(texts, n_threads) if isinstance(texts, list | tuple) else _gathered(iter(texts))
    return in_order(lambda parcel: _encode_parcel(tokenizer, *parcel), parcels, n_threads)


def _cut(texts: Sequence[str], n_threads: int) -> Iterator[Parcel]:
    """Yield parcels of a list of texts; only a sample of them is measured."""
    every = 1 + len(texts) // _SAMPLE
    so_far = every * np.cumsum(_lengths(texts[::every]))
    total = int(so_far[-1:].sum())
    size = _PARCEL
    if n_threads > 1:
        size = min(max(total // (_PARCELS_A_THREAD * n_threads), _LEAST), _PARCEL)
    # Each parcel ends with the first text that makes it large enough.
    ends = every * (1 + np.searchsorted(so_far, np.arange(size, total, size)))
    for first, stop in pairwise([0, *np.unique(ends[ends < len(texts)]).tolist(), len(texts)]):
        if first < stop:
            yield first, texts[first:stop]


def _gathered(texts: Iterator[str]) -> Iterator[Parcel]:
    """Yield parcels of texts that come one by one."""
    first, step = 0, 1
    while parcel := [*islice(texts, step)]:
        size = sum(_lengths(parcel))
        while size < _PARCEL and (more := [*islice(texts, _n_texts(_PARCEL - size, parcel, size))]):
            parcel += more
            size += sum(_lengths(more))
        yield first, parcel
        first += len(parcel)
        step = _n_texts(_PARCEL, parcel, size)


def _n_texts(n_characters: int, parcel: list[str], size: int) -> int:
    """Return about the number of texts with so many characters, given others and their size."""
    return min(max(n_characters * len(parcel) // (size + 1), 1), _AT_A_TIME)


def _lengths(texts: Sequence[str]) -> list[int]:
    try:
        return [*map(len, texts)]
    except TypeError:
        # One is not a text: it is refused where it is encoded.
        return [_PARCEL // _AT_A_TIME] * len(texts)


def _encode_parcel(tokenizer: AnyTokenizer, first: int, documents: Sequence[str]) -> tuple[EncodedDocuments, int]:
    """Return the ids of documents numbered from `first` on, and the number of the next."""
    texts = [*documents]
    together = tokenizer.encode_together(texts)
    if together is None:
        encoded = [_encode(tokenizer, number, text) for number, text in enumerate(texts, first)]
        together = EncodedDocuments(np.concatenate(encoded), offsets_of(encoded))
    return together, first + len(texts)


def _encode(tokenizer: AnyTokenizer, number: int, text: str) -> Int32Array:
    try:
        return tokenizer.encode(text)
    except AlphabetError as error:
        where = f"document {number}, {error.where}"
        raise AlphabetError(error.what, value=error.value, where=where, hint=error.hint) from None
    except WrongTypeError as error:
        raise WrongTypeError(error.what, value=error.value, where=f"document {number}", hint=error.hint) from None

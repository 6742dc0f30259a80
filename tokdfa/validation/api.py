"""Deciding whether a stream of ids is canonical: the ids that its tokenizer gives for its text.

`validate` is for streams at hand or in an iterator, `Validator` for streams that are fed in chunks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tokdfa.arguments import wrong_argument
from tokdfa.arrays import Int32Array, Int64Array, IntegerArray, id_array
from tokdfa.errors import TokenStreamError
from tokdfa.guesses import Guided
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.validation.judges.walks import documents_walk, whole_walk
from tokdfa.validation.result import Validation, validation
from tokdfa.validation.tuning import DEFAULT, Tuning

if TYPE_CHECKING:
    from tokdfa.validation.judges.rest import Rest
    from tokdfa.validation.violation import Violation

__all__ = ["Validator", "iter_violations", "n_accepted", "validate"]


_WALKED = frozenset(np.dtype(kind) for kind in (np.uint16, np.int32, np.uint32, np.int64, np.uint64))


def validate(
    tokenizer: AnyTokenizer,
    ids: npt.ArrayLike | Iterator[IntegerArray],
    *,
    all: bool = False,
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
    all : bool
        Whether to find all violations, not only the first; `violations` of the answer has them. After each one, it
        goes on from where token and piece borders meet again.
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
        The numbers of ids that are judged at once and kept; see :class:`~tokdfa.validation.tuning.Tuning`.

    Returns
    -------
    Validation
        Truthy if they are canonical. An empty stream is canonical.

    Raises
    ------
    TokenStreamError
        If they are not integers. If documents do not begin in order, or one begins after the end.
    ImproperDictionaryError
        If the dictionary is not proper and its format does not say what a library makes of it.
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
    walked = None if window or literal or documents is not None else _walked(tokenizer, ids, tuning)
    if walked is not None and walked[1] is None:
        return validation(len(walked[0]))
    if isinstance(ids, AnyTokenizer):
        raise wrong_argument(tokenizer, "a tokenizer", "tokdfa.validate(tokenizer, ids)", swapped=True)
    validator = Validator(tokenizer, window=window, documents=documents, literal=literal, tuning=tuning)
    if walked is not None and walked[1] is not None:
        # What is before this is canonical, and need not be looked at again.
        validator._skip_to(*walked[1])
        ids = walked[0][walked[1].first :]
    chunks = _chunks(ids if isinstance(ids, Iterator) else [ids], tuning.chunk)
    violations = _violations(validator, chunks)
    found = tuple(violations if all else islice(violations, 1))
    for chunk in chunks:
        validator.skip(chunk)
    validator.check_end()
    return validation(validator.tokens, found)


def iter_violations(
    tokenizer: AnyTokenizer, chunks: Iterable[npt.ArrayLike], *, tuning: Tuning = DEFAULT
) -> Iterator[Violation]:
    """Yield every place where a stream is not canonical, in order; see :func:`validate`."""
    return _violations(Validator(tokenizer, tuning=tuning), _chunks(chunks, tuning.chunk))


class Validator(Guided):
    """A validator for a stream that comes in chunks, in memory that does not grow with the stream.

    The answer does not depend on how the stream is cut into chunks. The end of the stream is kept, back to the
    last place where its text is certainly cut into pieces; an endless piece is kept as a whole.

    Parameters
    ----------
    tokenizer : AnyTokenizer
    window : bool
        Whether the stream was cut out of a longer one: then only what is wrong in any context is reported.
    documents : int or array_like of int, optional
        The id that separates documents, or the index of the first token of each document. Each document is judged
        separately.
    literal : bool
        Whether to judge special tokens that `encode` never gives, such as SentencePiece's control pieces, by the text
        that `decode` makes of them; they are then never canonical. By default they split the stream, and the parts
        between them are judged separately.
    tuning : Tuning, optional
        The numbers of ids that are judged at once and kept; see :class:`~tokdfa.validation.tuning.Tuning`.

    Attributes
    ----------
    tokens : int
        The number of ids fed so far.

    Raises
    ------
    ImproperDictionaryError
        If the dictionary is not proper and its format does not say what a library makes of it.
    UnsupportedFeatureError
        If windows or documents of such a tokenizer cannot be judged.
    TokenStreamError
        If the documents do not begin in order, or are not given by ids.

    Notes
    -----
    A stream is canonical iff ``encode(decode(ids)) == ids``. By *Constructing a BPE Tokenization DFA*, Observation 2,
    that depends on pairs of neighbours within each piece, so only what is wrong is encoded again. Tokenizers that drop
    text or insert spaces are the exception: their streams are decoded and encoded as a whole.

    Examples
    --------
    >>> validator = tokdfa.Validator(tokdfa.default_tokenizer())
    >>> found = validator.feed([64, 261]) + validator.feed([1193]) + validator.finish()
    >>> validator.tokens, [violation.index for violation in found]
    (3, [1])
    """

    def __init__(
        self,
        tokenizer: AnyTokenizer,
        *,
        window: bool = False,
        documents: int | npt.ArrayLike | None = None,
        literal: bool = False,
        tuning: Tuning = DEFAULT,
    ) -> None:
        if not isinstance(tokenizer, AnyTokenizer):
            raise wrong_argument(tokenizer, "a tokenizer", "tokdfa.validate(tokenizer, ids)")
        # A stream that one walk shows to be canonical needs none of the judges.
        from tokdfa.validation.judges.choice import judge_of
        from tokdfa.validation.judges.documents import DocumentsJudge, checked_separator, document_starts

        self._tokenizer = tokenizer
        self._decoder = tokenizer.decoder
        self._window = window
        self._separator: int | None = None
        self._starts: Int64Array = np.empty(0, dtype=np.int64)
        self.tokens = 0
        begin = judge_of(tokenizer, window=window, documents=documents is not None, literal=literal, tuning=tuning)
        walk = None if window or literal or documents is None or not tuning.walks else documents_walk(tokenizer)
        self._judges = partial(DocumentsJudge, begin)
        if documents is None:
            self._judge = self._judges()
        elif isinstance(documents, (int, np.integer, np.bool_)):
            self._separator = separator = checked_separator(documents)
            size = len(tokenizer.decode_bytes([separator])) if self._decoder.is_id(separator) else 0
            self._judge = self._judges(separator_size=size, walk=walk)
        else:
            self._starts = document_starts(documents)
            self._judge = self._judges(self._starts, walk=walk)

    def _skip_to(self, first: int, byte: int) -> None:
        """Begin with the id `first` of the stream, where its text is certainly cut, at an offset in bytes.

        Only for a stream that is one document, before anything of it is fed, if the ids before are canonical.
        """
        self._judge = self._judges(first=first, byte=byte)
        self.tokens = first

    def feed(
        self, ids: npt.ArrayLike, starts: Int64Array | None = None, separators: Int64Array | None = None
    ) -> list[Violation]:
        """Take more ids, and return the violations that they make certain.

        Parameters
        ----------
        ids : array_like of int
        starts : int64 array, optional
            The places among them at which documents begin, ascending, in place of those given at first. Only for a
            validator with `documents`, which may be ``()``.
        separators : int64 array, optional
            The places among them of ids in no document, ascending; what these ids are does not matter. Only for a
            validator with `documents`.

        Raises
        ------
        TokenStreamError
            If they are not integers.
        """
        return [*self.iter_feed(ids, starts, separators)]

    def iter_feed(
        self, ids: npt.ArrayLike, starts: Int64Array | None = None, separators: Int64Array | None = None
    ) -> Iterator[Violation]:
        """Yield what :meth:`feed` returns; only as many ids are judged as the violations that are taken need.

        After a violation that is not taken, the stream cannot be continued.
        """
        first, array = self.tokens, id_array(ids)
        if self._separator is not None:
            separators = np.flatnonzero(array == self._separator)
        if separators is not None and not (self._separator is not None and self._decoder.is_id(self._separator)):
            array = array.copy()
            array[separators] = self._decoder.placeholder_id
        checked, unknown = self._decoder.check_known(array)
        self.tokens += len(checked)
        if not len(unknown):
            yield from self._judge.feed(checked, separators, starts)
            return
        from tokdfa.validation.violation import out_of_range

        at = 0
        for index in unknown.tolist():
            yield from self._judge.feed(checked[at:index], _within(separators, at, index), _within(starts, at, index))
            byte = yield from self._judge.skip_one()
            yield out_of_range(int(array[index]), first + index, byte)
            at = index + 1
        end = len(checked)
        yield from self._judge.feed(checked[at:], _within(separators, at, end), _within(starts, at, end))

    def iter_checked(
        self, ids: Int32Array, starts: Int64Array | None = None, separators: Int64Array | None = None
    ) -> Iterator[Violation]:
        """Yield what :meth:`feed` returns for ids that are checked, and that nobody else can change."""
        self.tokens += len(ids)
        yield from self._judge.feed(ids, separators, starts)

    @property
    def n_kept(self) -> int:
        """The number of ids kept because they may belong to a violation still to come."""
        return self._judge.n_kept

    def skip(self, ids: npt.ArrayLike) -> None:
        """Count more ids without judging them."""
        self.tokens += len(id_array(ids))

    def check_end(self) -> None:
        """Check, once all ids have been fed, that no document begins after the last of them.

        Raises
        ------
        TokenStreamError
            If one does; the error says which.
        """
        if len(self._starts) and self._starts[-1] > self.tokens:
            place = int(np.argmax(self._starts > self.tokens))
            raise TokenStreamError(
                "a document begins after the end of the stream",
                value=int(self._starts[place]),
                where=f"document {place}",
                hint=f"the stream has {self.tokens} tokens",
            )

    def finish(self) -> list[Violation]:
        """End the stream, and return the remaining violations.

        Raises
        ------
        TokenStreamError
            As :meth:`check_end` does.
        """
        return [*self.iter_finish()]

    def iter_finish(self) -> Iterator[Violation]:
        """Yield what :meth:`finish` returns."""
        self.check_end()
        yield from self._judge.finish_open() if self._window else self._judge.finish()


def _chunks(arrays: Iterable[npt.ArrayLike], size: int) -> Iterator[IntegerArray]:
    for array in map(id_array, arrays):
        for begin in range(0, len(array), size):
            yield array[begin : begin + size]


def _violations(validator: Validator, chunks: Iterable[IntegerArray]) -> Iterator[Violation]:
    for chunk in chunks:
        yield from validator.iter_feed(chunk)
    yield from validator.iter_finish()


def _within(indices: Int64Array | None, begin: int, end: int) -> Int64Array | None:
    """Return those of some ascending indices from `begin` to before `end`, counted from `begin`."""
    return None if indices is None else indices[slice(*np.searchsorted(indices, [begin, end]))] - begin


def n_accepted(tokenizer: AnyTokenizer, ids: object, tuning: Tuning = DEFAULT) -> int | None:
    """Return the number of ids if they are in an array and one walk shows that they are canonical; None otherwise."""
    walked = _walked(tokenizer, ids, tuning)
    return None if walked is None or walked[1] is not None else len(walked[0])


def _walked(tokenizer: AnyTokenizer, ids: object, tuning: Tuning) -> tuple[IntegerArray, Rest | None] | None:
    """Walk over ids if they are in an array; return them, and the part of them that this shows not to be canonical.

    The walk keeps no ids and has no other state, so for streams that are canonical nothing else is needed.
    """
    if not tuning.walks or not isinstance(tokenizer, AnyTokenizer):
        return None
    try:
        array = id_array(ids) if type(ids) is list else ids
    except TokenStreamError:
        return None
    if type(array) is not np.ndarray or array.ndim != 1 or array.dtype not in _WALKED:
        return None
    if not (array.flags.c_contiguous and array.flags.aligned):
        return None
    walk = tokenizer.derived(whole_walk)
    return None if walk is None else (array, walk.unjudged(array))

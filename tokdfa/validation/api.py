"""Deciding whether a stream of ids is canonical: the ids that its tokenizer gives for its text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tokdfa.arrays import Int32Array, Int64Array, IntegerArray, id_array
from tokdfa.errors import TokenStreamError, UnsupportedFeatureError
from tokdfa.tokenizers.closed import is_closed
from tokdfa.tokenizers.formats.contents import LEFTMOST_FORMATS
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.rewriting import RewritingTokenizer
from tokdfa.tokenizers.tokenizer import Tokenizer
from tokdfa.tokenizers.wordpiece import WordPieceTokenizer
from tokdfa.validation.judges.documents import DocumentsJudge, Judge, checked_separator, document_starts
from tokdfa.validation.judges.literal import LiteralJudge
from tokdfa.validation.judges.open import OpenJudge
from tokdfa.validation.judges.rewriting import RewritingJudge
from tokdfa.validation.judges.walk import WalkJudge, WholeWalk
from tokdfa.validation.judges.whole import WholeJudge
from tokdfa.validation.model import Model
from tokdfa.validation.violation import Violation
from tokdfa.verdict import Verdict

if TYPE_CHECKING:
    from tokdfa.validation.judges.wordpiece import WordPieceJudge

__all__ = ["Validation", "Validator", "Violation", "iter_violations", "validate"]


CHUNK = 1 << 18
_CANONICAL = "the ids are those that their text is encoded as"
_WALKED = (np.dtype(np.int32), np.dtype(np.uint32), np.dtype(np.int64))


@dataclass(frozen=True, slots=True)
class Validation(Verdict[Violation]):
    """Whether a stream is canonical; truthy when it is.

    Attributes
    ----------
    holds, reason
        See :class:`Verdict`.
    witness : Violation or None
        The first violation.
    tokens : int
        The number of ids in the stream.
    violations : tuple of Violation
        All of them if they were asked for, otherwise the first one; empty when there is none.

    Examples
    --------
    >>> verdict = tokdfa.validate(tokdfa.default_tokenizer(), [64, 261, 1193])
    >>> bool(verdict), verdict.tokens, verdict.index, verdict.canonical_ids
    (False, 3, 1, (2513,))
    """

    tokens: int = 0
    violations: tuple[Violation, ...] = ()

    @property
    def index(self) -> int | None:
        """The first token that the tokenizer would not have given; see :class:`Violation`."""
        return None if self.witness is None else self.witness.index

    @property
    def detected_at(self) -> int | None:
        """The token with which this became certain."""
        return None if self.witness is None else self.witness.detected_at

    @property
    def byte_offset(self) -> int | None:
        """Where that token begins in the bytes of the stream."""
        return None if self.witness is None else self.witness.byte_offset

    @property
    def ids(self) -> tuple[int, ...] | None:
        """The piece concerned, as it is in the stream."""
        return None if self.witness is None else self.witness.ids

    @property
    def canonical_ids(self) -> tuple[int, ...] | None:
        """What should stand in its place; None where no text has these bytes, too."""
        return None if self.witness is None else self.witness.canonical_ids


class Validator:
    """Judges a stream that comes in chunks, in memory that does not grow with it.

    The answer does not depend on how the stream is cut into chunks. What is kept is the end of the stream back to the
    last place where its text is certainly cut into pieces; an endless piece is kept as a whole.

    Parameters
    ----------
    tokenizer : AnyTokenizer
    window : bool
        Whether the stream was cut out of a longer one: then only that is judged which no context can excuse.
    documents : int or array_like of int, optional
        The id between documents, or for each document its first token: each document is judged for itself.
    literal : bool
        Whether ids of special tokens that `encode` never gives, such as SentencePiece's control pieces, are what
        `decode` makes of them, and so never canonical. By default they cut the stream, and what is between them is
        judged by itself.

    Attributes
    ----------
    tokens : int
        How many ids have come.

    Raises
    ------
    ImproperDictionaryError
        If the dictionary is not proper and comes without the library that tells what it means all the same.
    UnsupportedFeatureError
        If windows or documents of such a tokenizer cannot be judged.
    TokenStreamError
        If the documents do not begin in order, or are given by what is no id.

    Notes
    -----
    A stream is canonical iff ``encode(decode(ids)) == ids``. By *Constructing a BPE Tokenization DFA*, Observation 2,
    that hangs on pairs of neighbours within each piece, so nothing is encoded again but what is wrong. Tokenizers that
    drop text or put spaces in are the exception: their streams are decoded and encoded as a whole.

    Examples
    --------
    >>> validator = tokdfa.Validator(tokdfa.default_tokenizer())
    >>> found = [*validator.feed([64, 261]), *validator.feed([1193]), *validator.finish()]
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
    ) -> None:
        self._model: Model | WordPieceJudge | RewritingJudge
        self._judge: Judge | DocumentsJudge
        self._window = window
        self._separator: int | None = None
        self._starts: Int64Array = np.empty(0, dtype=np.int64)
        self.tokens = 0
        if isinstance(tokenizer, WordPieceTokenizer):
            from tokdfa.validation.judges.wordpiece import WordPieceJudge

            if window or documents is not None:
                raise UnsupportedFeatureError("windows and documents of a WordPiece tokenizer are not judged")
            self._model = self._judge = WordPieceJudge(tokenizer)
            return
        make: Callable[[int, int], Judge]
        lengths: Int64Array | None = None
        if isinstance(tokenizer, RewritingTokenizer):
            if window:
                raise UnsupportedFeatureError("windows are not judged where decoding changes the text")
            make = partial(RewritingJudge, tokenizer, literal=literal)
            self._model = RewritingJudge(tokenizer)
        else:
            self._model = model = _model(tokenizer)
            lengths, inner = model.lengths, _judges(model, literal)

            def make(first: int, byte: int) -> Judge:
                return OpenJudge(model, first, byte) if window and first == 0 else inner(first, byte)

            if window and literal and not tokenizer.finds_specials:
                raise UnsupportedFeatureError("a window is not judged with special tokens as they are decoded")

        if documents is None:
            self._judge = make(0, 0)
        elif isinstance(documents, (int, np.integer, np.bool_)):
            self._separator = separator = checked_separator(documents)
            size = len(tokenizer.decode_bytes([separator])) if self._model.is_id(separator) else 0
            self._judge = DocumentsJudge(make, lengths, separator_size=size)
        else:
            self._starts = document_starts(documents)
            self._judge = DocumentsJudge(make, lengths, self._starts)

    def feed(self, ids: npt.ArrayLike) -> Iterator[Violation]:
        """Take more ids; yield the violations that are certain with them.

        Raises
        ------
        TokenStreamError
            If they are not ids of the tokenizer; says which.
        """
        checked, separators = self._checked(ids)
        self.tokens += len(checked)
        if separators is None:
            yield from self._judge.feed(checked)
        elif isinstance(self._judge, DocumentsJudge):
            yield from self._judge.feed(checked, separators)

    def _checked(self, ids: npt.ArrayLike) -> tuple[Int32Array, Int64Array | None]:
        """Return checked ids, and where the separators are that they have; a separator need not be an id."""
        if self._separator is None:
            return self._model.checked(ids, self.tokens), None
        array = id_array(ids)
        places = np.flatnonzero(array == self._separator)
        assert isinstance(self._model, (Model, RewritingJudge))
        if len(places) and not self._model.is_id(self._separator):
            array = array.copy()
            array[places] = self._model.nothing
        return self._model.checked(array, self.tokens), places

    @property
    def n_kept(self) -> int:
        """How many of the ids are kept, for they may belong to a violation still to come."""
        return self._judge.n_kept

    def skip(self, ids: npt.ArrayLike) -> None:
        """Count more ids and make sure that they are ids, but do not judge them."""
        self.tokens += len(self._checked(ids)[0])

    def check_end(self) -> None:
        """Make sure, when all ids have come, that no document begins after the last of them.

        Raises
        ------
        TokenStreamError
            If one does; says which.
        """
        if len(self._starts) and self._starts[-1] > self.tokens:
            place = int(np.argmax(self._starts > self.tokens))
            raise TokenStreamError(
                "a document begins after the end of the stream",
                value=int(self._starts[place]),
                where=f"document {place}",
                hint=f"there are {self.tokens} tokens",
            )

    def finish(self) -> Iterator[Violation]:
        """Take the end of the stream; yield the remaining violations.

        Raises
        ------
        TokenStreamError
            As :meth:`check_end` does.
        """
        self.check_end()
        yield from self._judge.finish_open() if self._window else self._judge.finish()


def validate(
    tokenizer: AnyTokenizer,
    ids: npt.ArrayLike | Iterator[IntegerArray],
    *,
    every: bool = False,
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
    every : bool
        Whether to go on behind the first violation, from where ids and pieces meet again.
    window : bool
        Whether the stream was cut out of a longer one: then only that is judged which no context can excuse.
    documents : int or array_like of int, optional
        The id between documents, or for each document its first token: each document is judged for itself, and the ids
        between them are not judged.
    literal : bool
        Whether ids of special tokens that `encode` never gives, such as SentencePiece's control pieces, are what
        `decode` makes of them, and so never canonical: the answer to ``encode(decode(ids)) == ids``. By default they
        cut the stream, and what is between them is judged by itself.

    Returns
    -------
    Validation
        Truthy if they are. No ids at all are canonical.

    Raises
    ------
    TokenStreamError
        If they are not ids of the tokenizer; says which. If documents do not begin in order or begin after the end.
    ImproperDictionaryError
        If the dictionary is not proper and comes without the library that tells what it means all the same.
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
    n_accepted = None if window or literal or documents is not None else _n_accepted(tokenizer, ids)
    if n_accepted is not None:
        return Validation(True, None, _CANONICAL, n_accepted)
    validator = Validator(tokenizer, window=window, documents=documents, literal=literal)
    chunks = _chunks(ids if isinstance(ids, Iterator) else [ids])
    violations = _violations(validator, chunks)
    found = tuple(violations if every else islice(violations, 1))
    for chunk in chunks:
        validator.skip(chunk)
    validator.check_end()
    if not found:
        return Validation(True, None, _CANONICAL, validator.tokens)
    return Validation(False, found[0], found[0].reason, validator.tokens, found)


def iter_violations(tokenizer: AnyTokenizer, chunks: Iterable[npt.ArrayLike]) -> Iterator[Violation]:
    """Yield every place where a stream is not canonical, in order; see :func:`validate`."""
    return _violations(Validator(tokenizer), _chunks(chunks))


def _chunks(arrays: Iterable[npt.ArrayLike]) -> Iterator[IntegerArray]:
    for array in map(id_array, arrays):
        for begin in range(0, len(array), CHUNK):
            yield array[begin : begin + CHUNK]


def _violations(validator: Validator, chunks: Iterable[IntegerArray]) -> Iterator[Violation]:
    for chunk in chunks:
        yield from validator.feed(chunk)
    yield from validator.finish()


def _n_accepted(tokenizer: AnyTokenizer, ids: object) -> int | None:
    """Return the number of ids if one walk over few of them shows that they are canonical; None if that is not known.

    It has no state but that of the walk, and does not keep ids, so for short streams it is the whole of judging.
    """
    try:
        array = np.array(ids) if type(ids) is list else ids
    except (ValueError, OverflowError):
        return None
    if type(array) is not np.ndarray or array.ndim != 1 or array.dtype not in _WALKED or len(array) > CHUNK:
        return None
    if not (array.flags.c_contiguous and array.flags.aligned):
        return None
    walk = _walk(tokenizer)
    return len(array) if walk is not None and walk.accepts(array) else None


@lru_cache(maxsize=4)
def _walk(tokenizer: AnyTokenizer) -> WholeWalk | None:
    """Return what walks over the streams of a tokenizer; None if they take more than a walk."""
    if not isinstance(tokenizer, Tokenizer) or isinstance(tokenizer, RewritingTokenizer):
        return None
    model = _model(tokenizer)
    judges = _judges(model, literal=False)
    is_walked = isinstance(judges, partial) and judges.func is WalkJudge and model.table is not None
    return WholeWalk(model) if is_walked else None


@lru_cache(maxsize=4)
def _model(tokenizer: Tokenizer) -> Model:
    return Model(tokenizer)


def _judges(model: Model, literal: bool) -> Callable[[int, int], Judge]:
    """Return what makes judges that begin with some token of the stream, and where its bytes begin."""
    tokenizer = model.tokenizer
    if not model.by_pairs and tokenizer.format not in LEFTMOST_FORMATS:
        tokenizer.dictionary.require_proper()
    split = tokenizer.pretokenizer
    if literal and len(tokenizer.special_ids) and not tokenizer.finds_specials:
        return partial(LiteralJudge, model, cuts=False)
    if tokenizer.suffix is not None or not is_closed(tokenizer):
        return partial(LiteralJudge, model)
    if split is not None:
        splitting = split.splitting
        keeps_text = (
            splitting.prefix_space is None
            and splitting.metaspace is None
            and all(step.behavior != "removed" for step in splitting.steps)
        )
        return partial(WalkJudge if keeps_text else LiteralJudge, model)
    return partial(WholeJudge if model.by_pairs and not model.alone.any() else LiteralJudge, model)

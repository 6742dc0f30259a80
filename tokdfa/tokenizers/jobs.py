"""Methods of tokenizers that others carry out: packages above this one, or all parts of a tokenizer together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from tokdfa.base.arrays import Int32Array, Int64Array, IntegerArray
from tokdfa.base.budget import DEFAULT_MAX_SECONDS
from tokdfa.base.errors import TokenStreamError, UnsupportedFeatureError

if TYPE_CHECKING:
    from tokdfa.automata.token_dfa import TokenDFA
    from tokdfa.jobs.guiding.api import Guide
    from tokdfa.jobs.guiding.bans import Ban
    from tokdfa.jobs.searching.stream import Matches
    from tokdfa.jobs.validation.violations import Validation
    from tokdfa.regex.finder import Wanted
    from tokdfa.tokenizers.boundaries.protocol import Boundaries
    from tokdfa.tokenizers.pieces import Pieces
    from tokdfa.tokenizers.protocol import AnyTokenizer

# Jobs are above tokenizers, so they are imported when they are asked for. Even an import that is done takes a
# microsecond or two, of the few that a short stream takes; so these two functions are kept.


@cache
def _validate() -> Callable[..., Validation]:
    from tokdfa.jobs.validation.api import validate

    return validate


@cache
def _search() -> Callable[..., Matches]:
    from tokdfa.jobs.searching.api import search

    return search


class Jobs:
    """The methods of tokenizers that need only the interface of every tokenizer; `self` is an AnyTokenizer."""

    def validate(
        self: Any,
        ids: npt.ArrayLike | Iterator[IntegerArray],
        *,
        all: bool = False,
        window: bool = False,
        documents: int | npt.ArrayLike | None = None,
        literal: bool = False,
    ) -> Validation:
        """Call :func:`tokdfa.validate`, which says all: are ids those that `encode` gives for the text they spell.

        Parameters
        ----------
        ids : array_like of int, or iterator of arrays
        all : bool
        window : bool
        documents : int or array_like of int, optional
        literal : bool
            All as in that function.

        Examples
        --------
        >>> verdict = tokdfa.default_tokenizer().validate([64, 261, 1193])  # a≀ s≀ingle
        >>> bool(verdict), verdict.index, verdict.canonical_ids
        (False, 1, (2513,))
        """
        return _validate()(self, ids, all=all, window=window, documents=documents, literal=literal)

    def append(self: Any, ids: npt.ArrayLike, text: str | bytes, *, repair: bool = False) -> tuple[int, Int32Array]:
        """Return how many ids stay when text is put after the text of ids, and the ids that follow them.

        ``[*ids[:kept], *new_ids]`` are the ids of ``decode(ids) + text``. An :class:`~tokdfa.Encoding` remembers its
        text and ids: it need not look at all of them each time.

        Parameters
        ----------
        ids : array_like of int
            Canonical ids; special tokens that `encode` does not find separate texts of their own.
        text : str or bytes
            A text, or its UTF-8, that ends with a whole character.
        repair : bool
            Whether to replace ids that are not canonical, from the first wrong one on, instead of refusing them.

        Returns
        -------
        kept : int
            As many as possible.
        new_ids : int32 array

        Raises
        ------
        TokenStreamError
            If they are not ids of the tokenizer; if they are not canonical, saying where, unless they are repaired; if
            ids to be repaired are not UTF-8.
        AlphabetError
            If the text is not UTF-8, or has a symbol for which the tokenizer has no token.

        Examples
        --------
        >>> tokenizer = tokdfa.default_tokenizer()
        >>> tokenizer.append([64, 2513], "e man")  # a≀ single
        (2, array([ 68, 462], dtype=int32))
        """
        from tokdfa.tokenizers.encoding.appending import append

        return append(self, ids, text, repair=repair)

    def search(
        self: Any,
        pattern: str | Iterable[str | bytes] | Mapping[str, str],
        ids: npt.ArrayLike,
        *,
        wanted: Wanted | None = None,
        aligned: bool = False,
        table: str = "regex",
        max_seconds: float = DEFAULT_MAX_SECONDS,
    ) -> Matches:
        """Call :func:`tokdfa.search`, which says all: where a pattern matches in the text that ids spell.

        Parameters
        ----------
        pattern : str, iterable of str or bytes, or mapping of str to str
        ids : array_like of int
        wanted : {"first", "longest", "all"}, optional
        aligned : bool
        table : {"regex", "tokenizers", "tiktoken"}, or such a name with a version
        max_seconds : float
            All as in that function.

        Examples
        --------
        >>> tokenizer = tokdfa.default_tokenizer()
        >>> [tuple(match) for match in tokenizer.search("[a-z]+n", tokenizer.encode("a man wants tea"))]
        [(2, 5, 1, 2), (6, 9, 2, 3)]
        """
        return _search()(self, pattern, ids, wanted=wanted, aligned=aligned, table=table, max_seconds=max_seconds)

    def guide(
        self: Any,
        language: str | TokenDFA | None = None,
        *,
        schema: str | Mapping[str, Any] | None = None,
        end: int | Iterable[int] | None = None,
        vocab_size: int | None = None,
        ban: Ban | None = None,
        prompt: npt.ArrayLike | None = None,
        heal: bool = False,
    ) -> Guide:
        """Call :func:`tokdfa.guide`, which says all: which ids can come next so that some canonical stream continues.

        Parameters
        ----------
        language, schema, end, vocab_size, ban, prompt, heal
            As in that function.

        Examples
        --------
        >>> tokenizer = tokdfa.default_tokenizer()
        >>> guide = tokenizer.guide("a single man")
        >>> guide.forced(guide.initial).tolist() == tokenizer.encode("a single man").tolist()
        True
        """
        from tokdfa.jobs.guiding.api import guide

        return guide(self, language, schema=schema, end=end, vocab_size=vocab_size, ban=ban, prompt=prompt, heal=heal)

    def split(self: Any, text: str, *, explain: bool = True) -> Pieces:
        r"""Return the pieces of a text, which the pre-tokenizer cuts before anything is merged.

        Parameters
        ----------
        text : str
        explain : bool
            Whether to find out as well which alternative of which pattern made each piece, how far the machine had to
            look, and the effect of each step. That takes some ten microseconds a character and step.

        Raises
        ------
        AlphabetError
            If the text has a lone surrogate; the error says where.
        LimitExceededError
            If the text is to be explained, and matching a pattern backtracks for more than some seconds.

        Examples
        --------
        >>> pieces = tokdfa.default_tokenizer().split("it's  2")
        >>> [(piece.text, piece.alternative, piece.looked_ahead) for piece in pieces]
        [('it', 7, 1), ("'s", 0, 1), (' ', 10, 2), (' 2', 8, 0)]
        >>> pieces.steps[0].alternatives[7]
        ' ?\\p{L}+'
        """
        from tokdfa.tokenizers.pieces import split_text

        return split_text(self, text, explained=explain)

    def safe_cuts(self: Any, ids: npt.ArrayLike | str, *, begins: bool = True, ends: bool = False) -> Int64Array:
        """Return the positions at which ids, or a text, may be cut and the parts encoded separately.

        For every continuation of the text, its ids are the ids of the part before such a position, followed by the ids
        of the part after it, encoded as a text that does not begin there.

        Parameters
        ----------
        ids : array_like of int, or str
            Ids, or a text.
        begins : bool
            Whether the text begins with them; otherwise anything may precede them.
        ends : bool
            Whether the text ends with them; otherwise anything may follow them.

        Returns
        -------
        int64 array of shape (positions,)
            The ids, or the characters of the text, before which it may be cut, ascending; 0 and the end are left out.

        Raises
        ------
        TokenStreamError
            If they are not ids of the tokenizer.
        UnsupportedFeatureError
            If the tokenizer is Unigram: its sums of scores, which decide between segmentations, extend across any
            position.

        Notes
        -----
        A position is safe if the pieces of every such text are the pieces of its two parts, and the text of no special
        token spans the position: decided exactly, as :class:`~tokdfa.tokenizers.boundaries.texts.TextBoundaries` says.
        Positions within a piece are left out, although merging may leave two tokens there side by side. For tokenizers
        that change texts in other ways than by a normalization form, or do not merge, only positions between two
        characters that every text is cut between are returned. The cost is about 2 µs an id, and about 1 ms for
        `last_safe_cut` in ordinary text.

        Examples
        --------
        >>> tokenizer = tokdfa.default_tokenizer()
        >>> tokenizer.safe_cuts(tokenizer.encode("a single man wants"))
        array([1, 2, 3])
        >>> tokenizer.safe_cuts("a single man")
        array([1, 8])
        """
        boundaries, checked = _cut_exactly(self, ids)
        if isinstance(checked, str):
            return boundaries.in_text(checked, begins=begins, ends=ends)
        return boundaries.in_ids(checked, begins=begins, ends=ends)

    def last_safe_cut(
        self: Any, ids: npt.ArrayLike | str, before: int, *, begins: bool = True, ends: bool = False
    ) -> int:
        """Return the last position of `safe_cuts` up to `before`; 0 if there is none.

        It reads only the ids near that position, so it may be asked about long streams.

        Raises
        ------
        TokenStreamError
            If they are not ids of the tokenizer, or there are fewer than `before`.
        UnsupportedFeatureError
            As `safe_cuts` does.

        Examples
        --------
        >>> tokenizer = tokdfa.default_tokenizer()
        >>> tokenizer.last_safe_cut("a single man", 5)
        1
        """
        boundaries, checked = _cut_exactly(self, ids)
        if not 0 <= before <= len(checked):
            raise TokenStreamError("no such place", value=before, where="before")
        if isinstance(checked, str):
            positions = boundaries.in_text(checked, begins=begins, ends=ends)
            return int(positions[positions <= before].max(initial=0))
        return boundaries.last_in_ids(checked, before, begins=begins, ends=ends)

    @cached_property
    def fingerprint(self: Any) -> str:
        """A SHA-256, in hexadecimal, of the behaviour of the tokenizer.

        Tokenizers with equal fingerprints give every text the same ids, and ids the same text. This is the value of
        :func:`tokdfa.fingerprint`, which has one hash for each part.
        """
        from tokdfa.tokenizers.fingerprint import fingerprint

        return fingerprint(self).value


def _cut_exactly(tokenizer: AnyTokenizer, ids: npt.ArrayLike | str) -> tuple[Boundaries, Int32Array | str]:
    """Return the boundaries and the checked ids; refuse a tokenizer that sums scores across positions."""
    if tokenizer.segmenter is not None:
        what = "safe cuts are not known: sums of scores go on across them"
        raise UnsupportedFeatureError(what, value=tokenizer.algorithm)
    return tokenizer.boundaries, ids if isinstance(ids, str) else tokenizer.decoder.check(ids)

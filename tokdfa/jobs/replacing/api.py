"""Replacing the matches of a pattern in the text of streams of ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace as replaced
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tokdfa.base.arrays import Int32Array, Int64Array, IntegerArray, id_array
from tokdfa.base.budget import DEFAULT_MAX_SECONDS, DEFAULT_MAX_STATES, Budget
from tokdfa.base.errors import PatternError, TokdfaError, TokenStreamError, WrongTypeError
from tokdfa.base.suggestions import SuggestsNames, is_tokenizer, wrong_argument
from tokdfa.jobs.replacing.alternatives import alternatives, installed_table
from tokdfa.jobs.replacing.regions import cuts_of
from tokdfa.jobs.replacing.result import Change, Changes, Output, Replacement, apart, unchanged
from tokdfa.jobs.replacing.rewriting import Template, Tuning, check_replacement
from tokdfa.jobs.replacing.text_run import Job, TextRun
from tokdfa.jobs.searching.api import DEFAULT_MAX_PENDING, Searcher
from tokdfa.jobs.validation.validator import Validator, checked_separator, document_starts
from tokdfa.regex.syntax import is_nullable, parse
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["Change", "Changes", "Replacement", "Replacer", "replace"]


def replace(
    tokenizer: AnyTokenizer,
    pattern: str | Iterable[str | bytes] | Mapping[str, str],
    replacement: str | None,
    ids: npt.ArrayLike,
    *,
    limit: int | None = None,
    check: bool = False,
    documents: int | npt.ArrayLike | None = None,
    max_seconds: float = DEFAULT_MAX_SECONDS,
) -> Replacement:
    r"""Replace the matches of a pattern in the text of ids, and return the new ids.

    For parameters and errors see :class:`Replacer` and :meth:`Replacer.replace`.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> replaced = tokdfa.replace(tokenizer, "(s)(ing)le", r"\2\1", tokenizer.encode("a single man"))
    >>> tokenizer.decode(replaced.ids), replaced.count
    ('a ings man', 1)
    """
    if is_tokenizer(pattern) or is_tokenizer(ids):
        call = "tokdfa.replace(tokenizer, pattern, replacement, ids)"
        raise wrong_argument(tokenizer, "a tokenizer", call, swapped=True)
    replacer = Replacer(tokenizer, pattern, replacement, limit=limit, check=check, max_seconds=max_seconds)
    return replacer.replace(ids, documents=documents)


class Replacer(SuggestsNames):
    r"""A pattern and the replacement of its matches, to be applied to streams of a tokenizer's ids.

    For canonical ids, the new ids encode the new text: ``encode(regex.sub(pattern, replacement, decode(ids)))``.
    Only the ids around the matches are decoded and encoded again, up to the nearest boundaries where the pre-tokenizer
    always cuts both the old and the new text. In other streams, ids that are not around a match stay as they are.

    Parameters
    ----------
    tokenizer : AnyTokenizer
        The tokenizer of the ids. Control tokens cut the text: nothing matches across or inside one. Added tokens that
        are text are matched, and replaced, like other text. If the tokenizer finds special tokens in texts, it finds
        those that a replacement spells, too.
    pattern : str, iterable of str or bytes, or mapping of str to str
        A regular expression, as `regex` reads it; or words, each searched for literally; or several expressions, each
        with its own replacement. Matches are the leftmost ones that a backtracking engine finds first, none overlapping
        another; an earlier word or expression is preferred.
    replacement : str or None
        None for several expressions; otherwise a template as `re.sub` reads it: ``\1`` and ``\g<name>`` are groups of
        the pattern, ``\g<0>`` is the match, and a backslash is written ``\\``.
    limit : int, optional
        The number of matches of a stream that are replaced at most, the first ones; by default all.
    check : bool
        Whether to validate the ids and raise an error where they are not canonical. Otherwise that is not looked at.
    max_states, max_seconds : int, float
        The budget of the pattern, as for :class:`tokdfa.Searcher`.
    max_pending : int
        The number of ids that :meth:`iter_replaced` may hold while their replacement is undecided.

    Raises
    ------
    WrongTypeError
        If the replacement is not a string.
    PatternError
        If the pattern cannot be read or expressed by an automaton, or the replacement is not a template or refers to a
        group that the pattern lacks.
    LimitExceededError
        If the pattern exceeds its budget; the error says which, and what to do.
    UnsupportedFeatureError
        If the text of an id depends on its neighbours.

    Notes
    -----
    Matches are found on the ids, as by :class:`tokdfa.Searcher`. Two kinds of patterns need the decoded text, and
    :meth:`iter_replaced` holds all of it: patterns that may match the empty text, and patterns with an atomic group, a
    possessive repetition or a look-around of more than one symbol if the replacement refers to a group.

    That only the ids between two cuts change is Observation 2 of *Constructing a BPE Tokenization DFA* for pieces: a
    piece is encoded by itself, and at a cut the pieces on both sides do not depend on the other side.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> replacer = tokdfa.Replacer(tokenizer, ["man", "woman"], "person")
    >>> parts = replacer.iter_replaced([tokenizer.encode("a single "), tokenizer.encode("man")])
    >>> "".join(tokenizer.decode(part.ids) for part in parts)
    'a single person'
    """

    _tuning: ClassVar[Tuning] = Tuning()

    def __init__(
        self,
        tokenizer: AnyTokenizer,
        pattern: str | Iterable[str | bytes] | Mapping[str, str],
        replacement: str | None,
        *,
        limit: int | None = None,
        check: bool = False,
        max_states: int = DEFAULT_MAX_STATES,
        max_seconds: float = DEFAULT_MAX_SECONDS,
        max_pending: int = DEFAULT_MAX_PENDING,
    ) -> None:
        if not is_tokenizer(tokenizer):
            call = "tokdfa.Replacer(tokenizer, pattern, replacement)"
            raise wrong_argument(tokenizer, "a tokenizer", call, swapped=is_tokenizer(pattern))
        if limit is not None and (not isinstance(limit, (int, np.integer)) or isinstance(limit, bool) or limit < 0):
            raise WrongTypeError("the number of matches to replace must be an integer, 0 or more", value=limit)
        replacements: Mapping[str, str] | None = pattern if isinstance(pattern, Mapping) else None
        if replacements is not None and replacement is not None:
            raise WrongTypeError("each of several patterns has its own replacement, and no other", value=replacement)
        if replacements is None:
            check_replacement(replacement)
        else:
            for each in replacements.values():
                check_replacement(each)
            pattern = alternatives(replacements)
        self.tokenizer = tokenizer
        self._limit = None if limit is None else int(limit)
        self._check = check
        if not isinstance(pattern, str) and isinstance(pattern, Iterable):
            pattern = list(pattern)
        table = installed_table()
        limits: dict[str, Any] = {"max_states": max_states, "max_seconds": max_seconds, "max_pending": max_pending}
        searcher = Searcher(tokenizer, pattern, wanted="first", table=table, **limits)
        for word in () if isinstance(pattern, str) else pattern:
            # It may begin or end within a symbol.
            if isinstance(word, bytes) and word != word.decode("utf-8", "ignore").encode("utf-8"):
                raise PatternError("a word that is not UTF-8 cannot be replaced", value=word)
        if replacements is None:
            assert replacement is not None
            replacements = {pattern if isinstance(pattern, str) else "(?s:.*)": replacement}
        template = Template(pattern, replacements)
        budget = Budget(max_states, max_seconds)
        in_text = isinstance(pattern, str) and (template.looks_far or is_nullable(parse(pattern, table, budget)))
        cuts = cuts_of(tokenizer)
        if template.captures and not cuts.spells_alone and isinstance(pattern, str):
            in_text = True
        is_control = np.zeros(tokenizer.n_ids, dtype=np.bool_)
        is_control[tokenizer.control_ids] = True
        plan = None if in_text else searcher._plan
        self._job = Job(plan, cuts, is_control, template, tokenizer.decoder, max_pending, max_seconds, self._tuning)

    def replace(self, ids: npt.ArrayLike, *, documents: int | npt.ArrayLike | None = None) -> Replacement:
        """Return the new ids of a stream.

        Parameters
        ----------
        ids : array_like of int
            All ids, in one dimension.
        documents : int or array_like of int, optional
            The id that separates documents, or the index of the first token of each document. Each document is a text
            of its own. A separator stays as it is.

        Raises
        ------
        TokenStreamError
            If they are not ids of the tokenizer; if `check` was asked for and they are not canonical; if a match shares
            a token with bytes that are not UTF-8; the error says where. If documents do not begin in order.
        AlphabetError
            If the tokenizer lacks a symbol of the new text; the error says around which tokens.
        """
        return _Run(self, documents).replace_all(id_array(ids))

    def iter_replaced(
        self, chunks: Iterable[npt.ArrayLike], *, documents: int | npt.ArrayLike | None = None
    ) -> Iterator[Replacement]:
        """Yield the new ids of a stream that comes in chunks, as soon as they are settled.

        The parts do not depend on how the stream is cut into chunks, except for where one ends and the next begins.
        Their indices count from the beginning of the stream.

        Parameters
        ----------
        chunks : iterable of array_like of int
        documents : int or array_like of int, optional
            As in :meth:`replace`.

        Raises
        ------
        TokenStreamError, AlphabetError
            As :meth:`replace` does.
        LimitExceededError
            If more than `max_pending` ids would have to be held.
        """
        run = _Run(self, documents)
        for chunk in chunks:
            yield run.feed(id_array(chunk))
        yield run.finish()


_CHECKED = "without check, ids that are not around a match stay as they are"


class _Run:
    """Replacing in one stream: it is cut into texts, and each of them is a run of its own."""

    def __init__(self, replacer: Replacer, documents: int | npt.ArrayLike | None) -> None:
        self._job = replacer._job
        self._decoder = replacer.tokenizer.decoder
        self._output = Output(replacer._limit)
        self._validator = Validator(replacer.tokenizer, documents=documents) if replacer._check else None
        self._separator: int | None = None
        self._starts: Int64Array | None = None
        self._n_read = 0
        self._text: TextRun | None = None
        self._is_open = True  # whether a text has begun, if only an empty one
        if isinstance(documents, (int, np.integer, np.bool_)):
            self._separator = checked_separator(documents)
        elif documents is not None:
            self._starts = document_starts(documents)
            self._is_open = False

    def replace_all(self, ids: IntegerArray) -> Replacement:
        """Take all ids, and return the new ones."""
        job = self._job
        # Ids of one text are searched where they are, and copied only if something is to be replaced.
        is_text = self._separator is None and self._starts is None and not job.cuts.ends_text.any()
        if is_text and job.plan is not None and len(ids):
            self._validate(ids)
            text = self._text = TextRun(job, self._output)
            own = text.find_all(ids)
            if own is not None:
                text.replace_all(*own)
            else:
                self._output.give(unchanged(ids))
                self._text, self._is_open = None, False
        elif (joined := self._replace_joined(ids)) is not None:
            return joined
        else:
            self._read(ids, is_all=True)
        found = self.finish()
        if len(found.changes):
            return found
        return replaced(found, ids=unchanged(ids))

    def _replace_joined(self, ids: IntegerArray) -> Replacement | None:
        """Return the new ids of documents, taken as one text with a control token between each two; None if it is not.

        PERF: 10x faster for documents of 500 ids: most of them have no match. Errors are left to the slow way, which
        has the indices of the stream.
        """
        job, starts = self._job, self._starts
        if starts is None or job.separator is None or not len(ids) or (len(starts) and starts[-1] > len(ids)):
            return None
        output = Output(self._output.limit)
        try:
            joined = np.insert(self._decoder.check(ids), starts, np.int32(job.separator))
            text = TextRun(job, output)
            own = text.find_all(joined)
            if own is not None:
                text.replace_all(*own)
        except TokdfaError:
            return None
        self._validate(ids)
        self._validate(None)
        if own is None:
            return Replacement(unchanged(ids), 0, output.take(documents=False).changes, starts)
        found = apart(output.take(documents=False), starts)
        return found if len(found.changes) else replaced(found, ids=unchanged(ids))

    def feed(self, ids: IntegerArray) -> Replacement:
        """Take more ids, and return the new ids that are settled."""
        self._read(ids, is_all=False)
        return self._output.take(documents=self._starts is not None)

    def _validate(self, ids: IntegerArray | None) -> None:
        """Refuse ids that are not canonical, or the end of the stream if it shows such."""
        if self._validator is not None:
            found = self._validator.iter_finish() if ids is None else self._validator.iter_feed(ids)
            for violation in found:
                what = f"the ids are not canonical: {violation.reason}"
                raise TokenStreamError(what, where=f"token {violation.index}", hint=_CHECKED)

    def _read(self, ids: IntegerArray, *, is_all: bool) -> None:
        self._validate(ids)
        checked, alone = self._checked(ids)
        at = 0
        for index, is_alone in self._boundaries(len(ids), alone):
            self._feed(checked[at:index], is_all=is_all)
            self._end_text()
            at = index
            if is_alone:
                self._output.give(ids[index : index + 1].astype(np.int32))
                at += 1
            else:
                self._output.begin_document()
            self._is_open = True
        self._feed(checked[at:], is_all=is_all)
        self._n_read += len(checked)

    def finish(self) -> Replacement:
        """End the stream, and return the rest of it."""
        self._validate(None)
        self._end_text()
        for start in () if self._starts is None else self._starts[self._starts >= self._n_read].tolist():
            if start > self._n_read:
                what = "a document begins after the end of the stream"
                raise TokenStreamError(what, value=start, hint=f"the stream has {self._n_read} tokens")
            self._output.begin_document()
            self._is_open = True
            self._end_text()
        return self._output.take(documents=self._starts is not None)

    def _checked(self, ids: IntegerArray) -> tuple[Int32Array, Int64Array]:
        """Return checked ids, and the indices of the ids that are in no text."""
        separators: Int64Array = np.empty(0, dtype=np.int64)
        if self._separator is not None:
            is_id = self._decoder.is_id(self._separator)
            # A special token cuts the text either way.
            if not is_id or not self._job.cuts.parts[self._separator]:
                separators = np.flatnonzero(ids == self._separator)
            if len(separators) and not is_id:
                ids = ids.copy()
                ids[separators] = self._decoder.placeholder_id
        checked = self._decoder.check(ids, self._n_read)
        ends_text = self._job.cuts.ends_text
        if ends_text.any():
            separators = np.union1d(separators, np.flatnonzero(ends_text[checked]))
        return checked, separators

    def _boundaries(self, n: int, alone: Int64Array) -> list[tuple[int, bool]]:
        """Return the indices where texts end, each with whether the id there is in no text, or a document begins."""
        found = [(index, True) for index in alone.tolist()]
        if self._starts is not None:
            low, high = np.searchsorted(self._starts, [self._n_read, self._n_read + n])
            found += [(start - self._n_read, False) for start in self._starts[low:high].tolist()]
        return sorted(found)

    def _feed(self, ids: Int32Array, *, is_all: bool) -> None:
        if not len(ids):
            return
        if self._text is None:
            self._text = TextRun(self._job, self._output)
        if is_all:
            self._text.feed_all(ids)
        else:
            self._text.feed(ids)

    def _end_text(self) -> None:
        if self._text is None and self._is_open:
            self._text = TextRun(self._job, self._output)
        if self._text is not None:
            self._text.finish()
        self._text = None
        self._is_open = False

"""Decoding a stream of ids: the text that no later id can change, at once, up to the first stop string."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from tokdfa.base.arrays import BoolArray, Int32Array
from tokdfa.base.errors import Argument, Hint, TokenStreamError, WrongTypeError
from tokdfa.base.suggestions import SuggestsNames, expect
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.stop_strings import StopStrings
from tokdfa.tokenizers.stream_rows import Entry, Rows

__all__ = ["Stop", "StreamDecoder"]


class Tuning(NamedTuple):
    """The sizes that change speed and memory, but no text.

    So few ids are `noted` before some of them are forgotten. Chunks are read in blocks of `block` ids.
    """

    noted: int = 512
    block: int = 1 << 16


DEFAULT = Tuning()


class Stop(NamedTuple):
    """The stop string that ended a stream.

    Attributes
    ----------
    text : str
        The stop string.
    stop_index : int
        Its index among the stop strings.
    n_ids : int
        The number of ids that are wholly before it: the text of ``ids[:n_ids]`` is given out.
    n_bytes : int
        The number of bytes of the text of the next id that are before it as well.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> stream = tokdfa.StreamDecoder(tokenizer, stop="gle")
    >>> stream.feed(tokenizer.encode("a single man")), stream.stopped
    ('a sin', Stop(text='gle', stop_index=0, n_ids=1, n_bytes=4))
    """

    text: str
    stop_index: int
    n_ids: int
    n_bytes: int


class StreamDecoder(SuggestsNames):
    r"""A decoder of ids that come one by one or in chunks.

    Each id gives the text that no later id can change, at once. The texts that :meth:`feed` and :meth:`finish` return
    are together the text that the library decodes all ids to, U+FFFD for bytes that are not UTF-8 included; or, if a
    stop string occurs in it, the text before the first one to end. No part of a stop string is ever given out, wherever
    it begins and ends within ids. Of two stop strings that end together, the longer one counts.

    Parameters
    ----------
    tokenizer : AnyTokenizer
    stop : str or sequence of str, optional
        The stop strings.
    special : {"keep", "drop"}, default "keep"
        Whether special tokens are part of the text, or left out as if their ids were not there. Added tokens that are
        text are kept either way.

    Raises
    ------
    UnsupportedFeatureError
        If ids have no text, or a later id may change all of it.
    WrongTypeError
        If a stop string is empty, not a string or not text, or has a special token in it that is dropped.

    Notes
    -----
    Two parts of the text are held: the longest end with which a stop string begins, and the undecided part, of at most
    three bytes of a character, or an open run of byte tokens where the library reads these together. An id costs one
    look-up in a table of the effects of ids by state. It is built where streams go and shared by all streams of a
    tokenizer with the same stop strings; it keeps at most 262,144 entries of some 200 bytes.

    Examples
    --------
    >>> tokenizer = tokdfa.default_tokenizer()
    >>> stream = tokdfa.StreamDecoder(tokenizer, stop=["\nUser:"])
    >>> ids = tokenizer.encode("a single man\nUser: who?").tolist()
    >>> [stream.feed(id) for id in ids[:4]], stream.feed(ids[4:])
    (['a', ' single', ' man', ''], '')
    >>> stream.stopped
    Stop(text='\nUser:', stop_index=0, n_ids=3, n_bytes=0)
    """

    def __init__(
        self, tokenizer: AnyTokenizer, stop: str | Sequence[str] = (), special: Literal["keep", "drop"] = "keep"
    ) -> None:
        expect(tokenizer, AnyTokenizer, "a tokenizer", "tokdfa.StreamDecoder(tokenizer)")
        if special not in ("keep", "drop"):
            raise WrongTypeError("special tokens are kept or dropped", value=special, where="special")
        stops = (stop,) if isinstance(stop, str) else tuple(stop)
        if {*map(type, stops)} - {str}:
            # Perhaps not a key of tables.
            _check(tokenizer, stops, special)
        self._tuning = DEFAULT
        self._decoder = tokenizer.decoder
        self._rows: Rows = tokenizer.derived(_rows, stops, special)
        self.reset()

    def reset(self) -> None:
        """Begin another stream."""
        self._row = self._first = self._rows.initial
        # Ids with text that is not all given out, or was given out only now; `_n_before` come before them.
        self._noted: list[Entry] = []
        self._most_noted = self._tuning.noted
        self._n_before = 0

    def feed(self, ids: int | npt.ArrayLike) -> str:
        """Return the text that is decided with one more id, or with more ids, and was not returned before.

        If a stop string ends in it, the text before the stop string; ids of a chunk after it are ignored.

        Parameters
        ----------
        ids : int or array_like of int
            Canonical or not.

        Raises
        ------
        TokenStreamError
            If one of them is not an id, and the stream is as before; or if it has stopped, or is finished.
        """
        if type(ids) is not int:
            return self._feed_chunk(ids)
        row = self._row
        try:
            entry = row.base[ids]
        except KeyError:
            raise self._refused(ids) from None
        # PERF: as `Row.given`, but without a call, which takes a fifth of the time.
        given = entry[0]
        if row.node:
            if entry[3] in row.continues:
                entry = row[ids]
                given = entry[0]
            else:
                given = row.held + given
        self._row = entry[1]
        noted = self._noted
        noted.append(entry)
        if len(noted) > self._most_noted:
            self._forget()
        return given

    def finish(self) -> str:
        """Return the rest of the text: no more ids come. It may still end a stop string; see `stopped`."""
        if self._row.end:
            return ""
        text, self._row = self._rows.finish(self._row)
        self._noted.append(Entry(text, self._row, _NO_IDS))
        return text

    @property
    def stopped(self) -> Stop | None:
        """The stop string that was found; None while there is none."""
        if self._row.stop < 0:
            return None
        rows, first = self._rows, self._first
        ids = np.concatenate([np.atleast_1d(np.asarray(entry.ids, dtype=np.int32)) for entry in self._noted])
        kept = np.arange(len(ids)) if rows.dropped is None else np.flatnonzero(~rows.dropped[ids])
        given, row = "", first
        for entry in self._noted:
            given += row.given(entry)
            row = entry.after
        # In the text that was undecided where these ids begin.
        at = len(given[rows.stops.size(first.node) :].encode("utf-8"))
        before, ends = rows.states.ends(first.state, ids[kept])
        n = int(np.searchsorted(ends, at, side="right"))
        n_ids = int(kept[n]) if n < len(kept) else len(ids)
        text = rows.stops.strings[self._row.stop]
        return Stop(text, self._row.stop, self._n_before + n_ids, at - (int(ends[n - 1]) if n else before))

    def _feed_chunk(self, ids: Any) -> str:
        is_one = np.ndim(ids) == 0
        ids = [ids] if is_one else ids
        try:
            checked = self._decoder.check(ids)
        except TokenStreamError:
            # Its place in the stream is counted only now.
            checked = self._decoder.check(ids, self._n_read)
        if self._is_over():
            raise self._refused(None)
        texts = []
        for begin in range(0, len(checked), self._tuning.block):
            block = checked[begin : begin + self._tuning.block]
            whole = self._rows.states.reads_many(len(block))
            texts.append(self._feed_block(block) if whole else self._feed_each(block.tolist()))
            if self._is_over():
                break
        return "".join(texts)

    def _is_over(self) -> bool:
        return bool(self._row.end)

    def _feed_each(self, ids: list[int]) -> str:
        """Read ids that were checked one by one, up to a stop string."""
        row, noted, texts = self._row, self._noted, list[str]()
        for id in ids:
            entry = row.base[id]
            if row.node and entry.first in row.continues:
                entry = row[id]
            texts.append(row.given(entry))
            noted.append(entry)
            row = entry.after
            if row.end:
                break
        self._row = row
        if len(noted) > self._most_noted:
            self._forget()
        return "".join(texts)

    def _feed_block(self, ids: Int32Array) -> str:
        rows, row = self._rows, self._row
        kept = ids if rows.dropped is None else ids[~rows.dropped[ids]]
        before = rows.stops.held(row.node)
        data, state = rows.states.spell_many(row.state, kept, before.encode("utf-8"))
        try:
            given, node, found = rows.stops.cut(data)
        except UnicodeDecodeError:
            text, state = rows.states.read_many(row.state, kept)
            given, node, found = rows.stops.cut((before + text).encode("utf-8"))
        self._row = rows.row(state, node) if found is None else rows.stopped(state, node, found)
        self._noted.append(Entry(given, self._row, ids))
        if found is None:
            self._forget()
        return given

    @property
    def _n_read(self) -> int:
        """The number of ids that were read."""
        return self._n_before + _n_ids(self._noted)

    def _refused(self, id: int | None) -> TokenStreamError:
        """Return the error for an id that is none, or that cannot follow."""
        where = f"token {self._n_read}"
        if self._row.end:
            hint = "begin another stream: reset()"
            return TokenStreamError(self._row.end, value=id, where=where, hint=hint)
        return TokenStreamError("no token has this id", value=id, where=where)

    def _forget(self) -> None:
        """Forget the first of the ids that are noted, if all of their text is given out."""
        rows, noted, n_given = self._rows, self._noted, 0
        for at in range(len(noted) - 1, -1, -1):
            row = noted[at].after
            n_undecided = rows.states.n_undecided(row.state)
            if n_undecided is not None and n_given >= n_undecided + rows.stops.size(row.node):
                self._n_before += _n_ids(noted[: at + 1])
                self._first = row
                del noted[: at + 1]
                break
            n_given += len((noted[at - 1].after if at else self._first).given(noted[at]))
        self._most_noted = max(self._tuning.noted, 2 * len(noted))


_NO_IDS: Int32Array = np.empty(0, dtype=np.int32)


def _n_ids(entries: Sequence[Entry]) -> int:
    return sum([1 if isinstance(ids, int) else len(ids) for _, _, ids, _, _ in entries])


def _check(tokenizer: AnyTokenizer, stops: tuple[object, ...], special: str) -> None:
    """Refuse stop strings that are not text, or that are never found."""
    dropped = [each for each in tokenizer.specials if not each.is_text and each.text] if special == "drop" else []
    for number, stop in enumerate(stops):
        where = f"stop string {number}"
        if not isinstance(stop, str) or not stop:
            raise WrongTypeError("a stop string is a text that is not empty", value=stop, where=where)
        try:
            stop.encode("utf-8")
        except UnicodeEncodeError:
            raise WrongTypeError("a stop string with half of a surrogate pair", value=stop, where=where) from None
        within = next((each for each in dropped if each.text in stop), None)
        if within is not None:
            what = "a stop string with a special token in it, which is dropped from the text"
            hint = Hint("keep special tokens (", Argument("special", "keep"), f"), or stop at the id {within.id}")
            raise WrongTypeError(what, value=stop, where=where, hint=hint)


def _rows(tokenizer: AnyTokenizer, stops: tuple[str, ...], special: str) -> Rows:
    _check(tokenizer, stops, special)
    dropped: BoolArray | None = None
    if special == "drop" and len(tokenizer.control_ids):
        dropped = np.zeros(tokenizer.n_ids, dtype=np.bool_)
        dropped[tokenizer.control_ids] = True
    return Rows(tokenizer.decoder.states, StopStrings(stops), tokenizer.means_something, dropped)

"""A text that changes, and its ids: parts are appended and edited, and only the ids around a change are found again.

Two characters decide that a text is always cut between them, so a cut survives every change but one of these two
characters. In "a man wants" GPT-2 always cuts before the spaces, at bytes 1 and 5. When "man" becomes "woman", only
" woman" between the cuts is encoded. When "tea" is appended, " wantstea" is encoded, from the last cut on.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from operator import attrgetter
from sys import getrefcount
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from tokdfa.base.arrays import Int32Array
from tokdfa.base.errors import AlphabetError, WrongTypeError
from tokdfa.base.suggestions import SuggestsNames
from tokdfa.tokenizers.encoding.stream import encode_from
from tokdfa.tokenizers.encoding.texts import check_bytes_or_text

if TYPE_CHECKING:
    from tokdfa.tokenizers.models.unigram.segmenter import Before
    from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["Encoding", "Update"]

# The most cuts that an edit remembers within the text that it encodes, and the pairs of characters tried for each.
_MOST_AT_ONCE, _TRIED = 32, 16
# The references to an array that is an attribute and the argument of a call.
_OWN_REFERENCES = 2
_NOTHING: Int32Array = np.empty(0, dtype=np.int32)


class Update(NamedTuple):
    """The ids of a text after a change: the first `kept` ones stay, `new_ids` replace the next `n_removed`.

    All ids after those stay as well. `new_ids` is an int32 array of its own.

    Examples
    --------
    >>> encoding = tokdfa.default_tokenizer().encoding("a single man")
    >>> encoding.append("kind wants")
    Update(kept=3, new_ids=array([3425,  978,   82], dtype=int32), n_removed=0)
    """

    kept: int
    new_ids: Int32Array
    n_removed: int


class _Cut(NamedTuple):
    """A byte of the text where it is always cut, or its beginning; the number of ids before it.

    `before` is the state of the sums of a Unigram model; None for other models.
    """

    byte: int
    n_ids: int
    before: Before | None


class Encoding(SuggestsNames):
    """A text and its ids, which are at any time those that the tokenizer gives for the whole text.

    Made by :meth:`tokdfa.AnyTokenizer.encoding`. A change encodes only the text between the cuts around it. If no cut
    is known, it encodes all of the text again; ``tokenizer.why_not("cuts")`` says why no text of a tokenizer has any.
    A change that is refused changes nothing. Not to be used by two threads at a time.

    Parameters
    ----------
    tokenizer : AnyTokenizer
    text : str or bytes
        The text, or its UTF-8.

    Attributes
    ----------
    tokenizer : AnyTokenizer

    Examples
    --------
    >>> encoding = tokdfa.default_tokenizer().encoding("a single man")
    >>> mark = encoding.mark()
    >>> encoding.append(" wants tea").kept
    3
    >>> encoding.edit((2, 8), "kind").kept
    1
    >>> encoding.text, encoding.ids.tolist() == tokdfa.default_tokenizer().encode(encoding.text).tolist()
    ('a kind man wants tea', True)
    >>> encoding.rollback(mark).kept, encoding.text
    (1, 'a single man')
    """

    # A cut is remembered in about so many characters.
    _spacing: ClassVar[int] = 1 << 11

    def __init__(self, tokenizer: AnyTokenizer, text: str | bytes = "") -> None:
        self.tokenizer = tokenizer
        self._data = bytearray()
        self._buffer: Int32Array = np.empty(1 << 6, dtype=np.int32)
        # Of the ids in the buffer, a view may show as many, even if the text has become shorter.
        self._n_ids = self._n_shown = 0
        # Ascending; the first one is the beginning of the text.
        self._cuts = [_Cut(0, 0, None)]
        self._undo = _Undo()
        self.append(text)

    @property
    def ids(self) -> Int32Array:
        """The ids of the text, as a read-only array: a view, not a copy, which later changes leave as it is."""
        self._n_shown = max(self._n_shown, self._n_ids)
        ids = self._buffer[: self._n_ids]
        ids.setflags(write=False)
        return ids

    @property
    def text(self) -> str:
        """The text."""
        return self._data.decode()

    @property
    def n_bytes(self) -> int:
        """The number of bytes of the text."""
        return len(self._data)

    def __len__(self) -> int:
        """Return the number of ids."""
        return self._n_ids

    def __repr__(self) -> str:
        return f"<Encoding: {self.n_bytes} bytes, {self._n_ids} ids>"

    def copy(self) -> Self:
        """Return an encoding of the same text, with the same marks, that changes independently."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._data, twin._buffer = self._data.copy(), self._buffer.copy()
        twin._cuts, twin._undo, twin._n_shown = self._cuts.copy(), self._undo.copy(), 0
        return twin

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy()

    def append(self, text: str | bytes) -> Update:
        """Put more text after the text.

        Parameters
        ----------
        text : str or bytes
            Whole characters: bytes that end within one are refused.

        Returns
        -------
        Update
            The number of ids that stay, as many as possible, and those that follow them: `n_removed` old ids, at the
            end, are gone.

        Raises
        ------
        AlphabetError
            If the text is not UTF-8, has half of a surrogate pair, or a symbol for which the tokenizer has no token.
        WrongTypeError
            If it is neither a string nor bytes.
        """
        n = len(self._data)
        return self._change(n, n, utf8_of(text))

    def edit(self, byte_range: tuple[int, int], text: str | bytes) -> Update:
        """Replace a part of the text.

        Parameters
        ----------
        byte_range : tuple of int
            The byte of the text at which the part begins, and the one before which it ends. Neither is within a
            character. ``(n, encoding.n_bytes)`` with the text ``""`` leaves the first n bytes.
        text : str or bytes
            The text that replaces it, as in `append`.

        Returns
        -------
        Update

        Raises
        ------
        AlphabetError
            As `append` does, and if the text has no such bytes, or a bound is within a character.
        WrongTypeError
            If the range is not a pair of integers, or the text neither a string nor bytes.
        """
        start, stop = self._checked(byte_range)
        return self._change(start, stop, utf8_of(text))

    def mark(self) -> int:
        """Return a mark of the text as it is, for :meth:`rollback`.

        From the first mark on, the text that edits replace is kept.
        """
        return self._undo.mark()

    def rollback(self, mark: int) -> Update:
        """Undo all changes since a mark, which remains one; marks that were made after it are forgotten.

        Parameters
        ----------
        mark : int

        Returns
        -------
        Update
            All of it as one change.

        Raises
        ------
        AlphabetError
            If there is no such mark, or it has been forgotten.
        """
        n_before = prefix = suffix = self._n_ids
        for start, stop, replaced in self._undo.back_to(mark):
            n = self._n_ids
            update = self._replace(start, stop, replaced)
            prefix, suffix = min(prefix, update.kept), min(suffix, n - update.kept - update.n_removed)
        suffix = min(suffix, n_before - prefix)
        new_ids = self._buffer[prefix : self._n_ids - suffix].copy()
        return Update(prefix, new_ids, n_before - prefix - suffix)

    def _checked(self, byte_range: tuple[int, int]) -> tuple[int, int]:
        try:
            start, stop = (bound.__index__() for bound in byte_range)
        except (TypeError, ValueError, AttributeError):
            what = "a byte range must be a pair of integers"
            raise WrongTypeError(what, value=byte_range, hint="(start, stop)") from None
        if not 0 <= start <= stop <= len(self._data):
            hint = f"the text has {len(self._data)} bytes"
            raise AlphabetError("no such range of bytes", value=(start, stop), hint=hint)
        for byte in (start, stop):
            if self._data[byte : byte + 1] and self._data[byte] & 0xC0 == 0x80:
                begin = next(at for at in range(byte, -1, -1) if self._data[at] & 0xC0 != 0x80)
                what, hint = "a range of bytes has a bound within a character", f"the character begins at byte {begin}"
                raise AlphabetError(what, value=(start, stop), where=f"byte {byte}", hint=hint)
        return start, stop

    # Encoding between cuts

    def _change(self, start: int, stop: int, data: bytes) -> Update:
        """Replace bytes of the text by others, so that it can be undone."""
        replaced = bytes(self._data[start:stop])
        update = self._replace(start, stop, data)
        self._undo.note(start, start + len(data), replaced)
        return update

    def _replace(self, start: int, stop: int, data: bytes) -> Update:
        """Replace bytes of the text by others."""
        cuts, n_bytes = self._cuts, len(self._data)
        # The two characters at a cut that remains are outside of the part that changes.
        first = max(bisect_left(cuts, start, key=_byte_of) - 1, 0)
        after = len(cuts) if self._carries_sums else bisect_right(cuts, stop, key=_byte_of)
        begin = cuts[first]
        end_byte, end_index, _ = cuts[after] if after < len(cuts) else (n_bytes, self._n_ids, None)
        before, new = self._data[begin.byte : start].decode(), data.decode()
        text = before + new + self._data[stop:end_byte].decode()
        offsets = [] if start == n_bytes else self._spaced(text)
        if after == len(cuts):
            # There is no cut in the text before, or another one is closer to the end; nor in the text after, if the
            # last cut of all is the one before.
            known = max(len(before), *offsets, 1)
            last = len(before) + len(new) + 1 if first == len(cuts) - 1 else len(text)
            at = self.tokenizer.boundaries.last_cut(text[known - 1 : known], text[known:last])
            offsets += [known + at] if at >= 0 else []
        found, ids = self._encoded(text, offsets, begin)
        update = self._write(begin.n_ids, end_index, ids, is_end=stop == n_bytes)
        self._data[start:stop] = data
        self._remember(first, after, found, len(self._data) - n_bytes, len(update.new_ids) - update.n_removed)
        return update

    def _spaced(self, text: str) -> list[int]:
        """Return some characters before which a long text is always cut, ascending, not close to each other."""
        found: list[int] = []
        spacing, boundaries = max(self._spacing, len(text) // _MOST_AT_ONCE), self.tokenizer.boundaries
        for last in range(spacing, len(text) - spacing, spacing) if boundaries.why_none is None else ():
            for at in range(last, max(last - _TRIED, *found[-1:], 0), -1):
                if boundaries.is_cut(text[at - 1], text[at]):
                    found.append(at)
                    break
        return found

    def _encoded(self, text: str, offsets: list[int], at: _Cut) -> tuple[list[_Cut], Int32Array]:
        """Return the cuts at characters of a text that begins at a cut, and the ids of the text."""
        cuts: list[_Cut] = []
        parts: list[Int32Array] = []
        for low, high in pairwise((0, *offsets, len(text))):
            part = text[low:high]
            cuts.append(at)
            ids, before = self._encode(part, at)
            parts.append(ids)
            at = _Cut(at.byte + len(part.encode()), at.n_ids + len(ids), before)
        return cuts[1:], parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _encode(self, part: str, at: _Cut) -> tuple[Int32Array, Before | None]:
        """Return the ids of the text from a cut up to another one, and the state of the sums there."""
        tokenizer, byte = self.tokenizer, at.byte
        if tokenizer.segmenter is None:
            return encode_from((tokenizer.later if byte else tokenizer).encode, part, byte), None
        found: list[Before | None] = []

        def encode(text: str) -> Int32Array:
            ids, after = tokenizer.model.encode_on(tokenizer, text, at.before, begins=not byte)
            found.append(after)
            return ids

        return encode_from(encode, part, byte), found[0]

    @cached_property
    def _carries_sums(self) -> bool:
        """Whether a change of the text may change any later id, by the rounding of sums of scores."""
        segmenter = self.tokenizer.segmenter
        return segmenter is not None and segmenter.model.is_single

    def _write(self, start: int, stop: int, ids: Int32Array, *, is_end: bool) -> Update:
        """Replace the ids from one index to another; those that stay at the end are not told if the text ends there."""
        old, n = self._buffer[start:stop], self._n_ids
        low = n_alike(old, ids)
        at_end = 0 if is_end else n_alike(old[low:][::-1], ids[low:][::-1])
        del old
        new_ids = ids[low : len(ids) - at_end].copy()
        low, high = start + low, stop - at_end
        larger = n + len(new_ids) - (high - low)
        is_moved = larger > len(self._buffer) or self._is_shown(low)
        source = self._buffer
        if is_moved:
            self._buffer, self._n_shown = np.empty(larger + (larger >> 1), dtype=np.int32), 0
            self._buffer[:low] = source[:low]
        if larger != n or is_moved:
            self._buffer[low + len(new_ids) : larger] = source[high:n]
        self._buffer[low : low + len(new_ids)] = new_ids
        self._n_ids = larger
        return Update(low, new_ids, high - low)

    def _is_shown(self, low: int) -> bool:
        """Return whether a view shows ids from an index on; every view refers to the buffer."""
        return low < self._n_shown and getrefcount(self._buffer) > _OWN_REFERENCES

    def _remember(self, first: int, after: int, found: list[_Cut], bytes_more: int, ids_more: int) -> None:
        """Remember the cuts that were found between two others, and move those after them."""
        cuts = self._cuts
        later = cuts[after:]
        if later and (bytes_more or ids_more):
            later = [_Cut(byte + bytes_more, n_ids + ids_more, before) for byte, n_ids, before in later]
        if found and first and cuts[first].byte - cuts[first - 1].byte < self._spacing:
            # It is so close to the one before that it is not needed any more.
            first -= 1
        cuts[first + 1 :] = [*found, *later]


class _Undo:
    """The changes since the first mark: where the text differs now, and the text that was there before."""

    def __init__(self) -> None:
        self._changes: list[tuple[int, int, bytes]] = []
        # The number of changes before each mark, the oldest mark first.
        self._marks: dict[int, int] = {}
        self._next = 0

    def copy(self) -> _Undo:
        twin = _Undo()
        twin._changes, twin._marks, twin._next = self._changes.copy(), self._marks.copy(), self._next
        return twin

    def mark(self) -> int:
        """Return a new mark."""
        self._marks[self._next] = len(self._changes)
        self._next += 1
        return self._next - 1

    def note(self, start: int, stop: int, replaced: bytes) -> None:
        """Note that the text between two bytes has replaced another one."""
        if not self._marks or (start == stop and not replaced):
            return
        marked = next(reversed(self._marks.values()))
        if len(self._changes) > marked and not replaced and self._changes[-1][1] == start:
            # Text that was appended to text of the same change.
            start, _, replaced = self._changes.pop()
        self._changes.append((start, stop, replaced))

    def back_to(self, mark: int) -> Iterator[tuple[int, int, bytes]]:
        """Yield the changes since a mark, the last one first, and forget each when the next one is asked for."""
        if mark not in self._marks:
            raise AlphabetError("no such mark of this encoding", value=mark, hint="encoding.mark() makes one")
        while next(reversed(self._marks)) != mark:
            self._marks.popitem()
        while len(self._changes) > self._marks[mark]:
            yield self._changes[-1]
            self._changes.pop()


_byte_of = attrgetter("byte")


def utf8_of(text: str | bytes) -> bytes:
    """Return a text as UTF-8."""
    check_bytes_or_text(text)
    try:
        if isinstance(text, str):
            return text.encode()
        text.decode()
    except UnicodeEncodeError as error:
        where = f"character {error.start}"
        raise AlphabetError("half of a surrogate pair", value=error.object[error.start], where=where) from None
    except UnicodeDecodeError as error:
        is_short = error.end == len(text) and "end of data" in error.reason
        what = "the text ends within a symbol" if is_short else "not UTF-8"
        raise AlphabetError(what, value=text[error.start : error.start + 4], where=f"byte {error.start}") from None
    return text


def n_alike(one: Int32Array, other: Int32Array) -> int:
    """Return the number of ids that two arrays begin with alike."""
    n = min(len(one), len(other))
    differ = one[:n] != other[:n]
    return int(differ.argmax()) if differ.any() else n

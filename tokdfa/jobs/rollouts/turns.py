r"""The turns of a conversation in ids: where the assistant's replies begin and end, and who wrote the rest.

Example, with the markers of ChatML (ids, and under them their parts)::

    <|im_start|> user \n Hi <|im_end|> \n <|im_start|> assistant \n Hello <|im_end|> \n
    HEADER       ...     TEXT OTHER_STOP BREAK OPENING  ...          REPLY STOP       BREAK
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array, ranges, running_sum
from tokdfa.tokenizers.protocol import AnyTokenizer

_SPECIAL = 0x10000
"""Added to the id of a special token, as a symbol; the other symbols are bytes."""


class Part(IntEnum):
    """The part of a conversation that an id belongs to."""

    TEXT = 0  # A text that the model did not write, of a user, a system prompt or a tool
    REPLY = 1
    STOP = 2  # The special token that ends a reply
    OPENING = 3  # The text of the template before a reply
    HEADER = 4  # The text of the template before other texts
    BREAK = 5  # White space between turns
    OTHER_STOP = 6  # The special token that ends a text which is not a reply
    CONTROL = 7  # Another special token between turns, such as padding
    EITHER = 8  # Of two parts, or of a part that a template writes and a model may write


class Markers(NamedTuple):
    """The texts by which a chat template marks turns."""

    openings: tuple[str, ...]  # Before a reply
    skipped: tuple[str, ...] = ()  # Between an opening and a reply, where the template may write it
    headers: tuple[str, ...] = ()  # Before texts of other roles
    stops: tuple[str, ...] = ()  # The special tokens that end a reply


class Turn(NamedTuple):
    """A reply in ids."""

    begins: frozenset[int]  # The indices at which it may begin; a token across the boundary leaves a choice
    first: int  # The first id that is wholly in the reply
    end: int  # The index after its stop token, or after its last id if it has none
    has_stop: bool


class Turns(NamedTuple):
    """The turns of a rollout, and its text as symbols: bytes, and special tokens."""

    parts: Int64Array  # The part of each id
    replies: list[Turn]
    points: Int64Array  # The symbols
    starts: Int64Array  # The first symbol of each id, and the number of symbols


class TurnFinder:
    """A finder of the turns of rollouts, by the markers of a template; without markers it finds none."""

    def __init__(self, tokenizer: AnyTokenizer, markers: Markers | None) -> None:
        self._points, self._offsets = tokenizer.derived(_symbols)
        self._openings: frozenset[str] = frozenset()
        self._skipped: tuple[str, ...] = ()
        self._stops: list[int] = []
        self._pattern: re.Pattern[str] | None = None
        if markers is None:
            return
        of = {text: self._text_of(tokenizer.encode(text), text) for row in markers for text in row}
        self._openings = frozenset(of[text] for text in markers.openings)
        self._skipped = tuple(of[text] for text in markers.skipped)
        self._stops = [ord(of[text]) for text in markers.stops]
        # The longest comes first.
        every = sorted({*self._openings, *(of[text] for text in markers.headers)} - {""}, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, every))) if every else None

    def _text_of(self, ids: Int32Array, written: str) -> str:
        """Return ids as a string of symbols, without the space that some tokenizers put before a text."""
        text = _string(self._spelled(ids)[0])
        return text[1:] if text.startswith(" ") and not written.startswith(" ") else text

    def _spelled(self, ids: Int32Array) -> tuple[Int64Array, Int64Array]:
        """Return the symbols of ids, and the first one of each."""
        numbers, starts = ranges(self._offsets[ids], self._offsets[ids + 1])
        return self._points[numbers], starts

    def of(self, ids: Int32Array) -> Turns:
        """Return the turns of a rollout."""
        points, starts = self._spelled(ids)
        if self._pattern is None:
            return Turns(np.full(len(ids), Part.TEXT), [], points, starts)
        text = _string(points)
        found = [(match.start(), match.end(), match[0]) for match in self._pattern.finditer(text)]
        parts = np.full(len(points), Part.TEXT, dtype=np.int8)
        before = points[: found[0][0]] if found else points
        parts[: len(before)][before >= _SPECIAL] = Part.CONTROL
        if len(before) and before[0] < _SPECIAL:
            # A rollout without its prompt begins with the reply.
            found.insert(0, (0, 0, next(iter(self._openings))))
        replies: list[Turn] = []
        ends = [start for start, _, _ in found[1:]] + [len(points)]
        for (start, end, marker), limit in zip(found, ends, strict=False):
            is_reply = marker in self._openings
            parts[start:end] = Part.OPENING if is_reply else Part.HEADER
            if replies and not self._stops and start < end and points[start] >= _SPECIAL:
                # Nothing else stops the model.
                parts[start] = Part.EITHER
            stop = self._fill(points, parts, end, limit, is_reply=is_reply)
            if is_reply:
                begins = [end, *sorted(end + len(each) for each in self._skipped if text.startswith(each, end))]
                parts[end : begins[-1]] = Part.EITHER
                replies.append(_turn(starts, begins, stop, limit))
        return Turns(_of_ids(parts, starts), replies, points, starts)

    def _fill(self, points: Int64Array, parts: np.ndarray, begin: int, limit: int, *, is_reply: bool) -> int:
        """Set the parts of a turn's content and the text after it; return the index of its stop token, or -1."""
        stops = np.flatnonzero(np.isin(points[begin:limit], self._stops))
        stop = begin + int(stops[0]) if len(stops) else -1
        content = slice(begin, limit if stop < 0 else stop)
        parts[content] = Part.REPLY if is_reply else Part.TEXT
        if stop < 0:
            return stop
        parts[stop] = Part.STOP if is_reply else Part.OTHER_STOP
        rest = points[stop + 1 : limit]
        is_blank = (rest == ord(" ")) | ((rest >= ord("\t")) & (rest <= ord("\r")))
        after = np.where(rest >= _SPECIAL, Part.CONTROL, np.where(is_blank, Part.BREAK, Part.TEXT))
        parts[stop + 1 : limit] = after
        return stop


def _turn(starts: Int64Array, begins: list[int], stop: int, limit: int) -> Turn:
    """Return a turn in ids, given the symbols at which it may begin, of its stop token, and after it."""
    at = [int(np.searchsorted(starts, begin)) for begin in begins]
    across = [index - 1 for index, begin in zip(at, begins, strict=True) if index and starts[index] != begin]
    end = int(np.searchsorted(starts, limit if stop < 0 else stop + 1))
    return Turn(frozenset((*at, *across)), at[-1], end, stop >= 0)


def _of_ids(parts: np.ndarray, starts: Int64Array) -> Int64Array:
    """Return the part of each id by the parts of its symbols; a special token that stops is one symbol."""
    if len(starts) < 2:
        return np.zeros(0, dtype=np.int64)
    least, most = (which.reduceat(parts, starts[:-1]) for which in (np.minimum, np.maximum))
    found: Int64Array = np.where(least == most, least, Part.EITHER).astype(np.int64)
    return found


def _string(points: Int64Array) -> str:
    return points.astype("<u4").tobytes().decode("utf-32-le")


def _symbols(tokenizer: AnyTokenizer) -> tuple[Int64Array, Int64Array]:
    """Return the symbols of all ids, one id after the other, and where each begins."""
    text, offsets = tokenizer.id_spellings
    lengths = np.diff(offsets)
    is_one = lengths == 0
    # A line break that is an added token may go across the end of an opening, as Gemma's do.
    is_one[[special.id for special in tokenizer.specials if special.content.strip()]] = True
    sizes = np.where(is_one, 1, lengths)
    starts = running_sum(sizes)
    within = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes)
    at = np.minimum(np.repeat(offsets[:-1], sizes) + within, max(len(text) - 1, 0))
    ids = np.repeat(np.arange(len(sizes)), sizes)
    points: Int64Array = np.where(is_one[ids], _SPECIAL + ids, text[at] if len(text) else 0).astype(np.int64)
    return points, starts

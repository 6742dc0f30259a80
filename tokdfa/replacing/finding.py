"""The matches to be replaced in a text: found on its ids or, where that is not enough, in the decoded text."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array, Int64Array, IntegerArray
from tokdfa.errors import LimitExceededError, TokenStreamError
from tokdfa.replacing.cuts import Cuts
from tokdfa.replacing.template import Template
from tokdfa.searching.matches import Matches
from tokdfa.searching.plan import SearchPlan
from tokdfa.searching.stream import Stream

__all__ = ["Found", "OnIds", "in_text"]

_NO_ROWS: Int64Array = np.empty((0, 4), dtype=np.int64)


class Found:
    """Matches in ids.

    Parameters
    ----------
    rows : int64 array of shape (n, 4)
        The first id of each match, the one after its last, the number of bytes of the first id before the match, and
        the number of bytes of the match. An empty match between two ids is before the second and has no ids.
    replacements : list of bytes, or None
        What comes in their place; None if that is not known yet.
    """

    def __init__(self, rows: Int64Array, replacements: list[bytes] | None = None) -> None:
        self.rows = rows
        self.replacements = replacements


class OnIds:
    """A search for matches on the ids of a text, chunk by chunk; it finds those that are not empty.

    Parameters
    ----------
    plan : SearchPlan
    max_pending : int
        The number of ids for which a match may stay undecided.
    n_expected : int
        The number of ids of the text, if that is known.
    """

    def __init__(self, plan: SearchPlan, max_pending: int, n_expected: int = 0) -> None:
        self._stream = Stream(plan, max_pending, n_expected)

    @property
    def settled(self) -> int:
        """The id, counted from the first one of the text, before which no further match begins."""
        return self._stream.settled

    def feed(self, ids: IntegerArray) -> Int64Array:
        """Return the rows of the matches found with further ids; tokens count from the first one.

        Raises
        ------
        TokenStreamError
            If they are not ids; the error says which.
        """
        return self._rows(self._stream.read(ids))

    def finish(self) -> Int64Array:
        """Return the rows of the remaining matches."""
        return self._rows(self._stream.finish())

    def finish_in_copy(self, ids: Int32Array, own: Int32Array) -> Int64Array:
        """Return the rows of the remaining matches, while all ids of the text are copied to `own` and checked.

        Raises
        ------
        TokenStreamError
            If they are not ids; the error says which.
        """
        return self._rows(self._stream.finish_in_copy(ids, own))

    def _rows(self, found: Iterator[Matches]) -> Int64Array:
        parts = []
        for matches in found:
            start, end, first, stop = matches.rows.T
            parts.append(np.column_stack((first, stop, self._stream.offsets, end - start)))
        return parts[0] if len(parts) == 1 else np.concatenate((_NO_ROWS, *parts))


def in_text(cuts: Cuts, ids: Int32Array, is_control: BoolArray, template: Template, max_seconds: float) -> Found:
    """Return all matches in the decoded text of ids, the empty ones as well, as `regex` finds them.

    Raises
    ------
    TokenStreamError
        If the bytes of the ids are not UTF-8.
    LimitExceededError
        If it takes too long.
    """
    data, ends = cuts.spelled(ids, begins=True)
    bounds = np.flatnonzero(is_control[ids])
    rows: list[tuple[int, int, int, int]] = []
    replacements: list[bytes] = []
    first = 0
    for stop in [*bounds.tolist(), len(ids)]:
        begin = int(ends[first - 1]) if first else 0
        end = int(ends[stop - 1]) if stop else 0
        text = _text_of(data[begin:end], first, stop)
        at, byte = 0, begin
        try:
            for match in template.pattern.finditer(text, timeout=max_seconds):
                byte += len(text[at : match.start()].encode("utf-8"))
                at = match.start()
                rows.append(_row(ends, first, stop, byte, len(match.group().encode("utf-8"))))
                replacements.append(template.text if template.text is not None else template.of_match(match))
        except TimeoutError:
            raise LimitExceededError("matching the pattern takes too long", value=template.pattern.pattern) from None
        first = stop + 1
    return Found(np.array(rows, dtype=np.int64).reshape(-1, 4), replacements)


def _text_of(data: bytes, first: int, stop: int) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        value = data[error.start : error.end]
        where = f"byte {error.start} of the text of tokens {first} to {stop}"
        raise TokenStreamError("not UTF-8, so this pattern cannot be searched for", value=value, where=where) from None


def _row(ends: Int64Array, first: int, stop: int, start: int, length: int) -> tuple[int, int, int, int]:
    """Return the row of a match of some bytes from `start` on, within the ids from `first` to `stop`."""
    token = first + int(np.searchsorted(ends[first:stop], start, side="right"))
    offset = start - (int(ends[token - 1]) if token else 0)
    if not length and not offset:
        return token, token, 0, 0
    last = first + int(np.searchsorted(ends[first:stop], start + max(length, 1) - 1, side="right"))
    return token, last + 1, offset, length

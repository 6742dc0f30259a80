"""Replacing under way in one text: the ids that are held, the matches in them, and the output."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, IntegerArray
from tokdfa.base.errors import LimitExceededError, TokenStreamError
from tokdfa.jobs.replacing.regions import Cuts, last_cut, regions
from tokdfa.jobs.replacing.result import Output, OwnIds
from tokdfa.jobs.replacing.rewriting import Found, Rewriter, Template, Tuning
from tokdfa.jobs.searching.plan import SearchPlan
from tokdfa.jobs.searching.stream import Matches, Stream
from tokdfa.kernels.replacing.regions import OPEN
from tokdfa.tokenizers.decoder import Decoder

_NO_ROWS: Int64Array = np.empty((0, 4), dtype=np.int64)
_NO_IDS: Int32Array = np.empty(0, dtype=np.int32)
_HELD = (
    "from there on nothing certainly cuts the text, or the pattern is matched in the decoded text; "
    "raise max_pending, or replace in parts"
)


@dataclass(frozen=True, eq=False)
class Job:
    """The pattern, the template and the tables of one replacement."""

    # The machine of the search; None if matches are found in the decoded text.
    plan: SearchPlan | None
    cuts: Cuts
    # For each id whether no match goes across it.
    is_control: BoolArray
    template: Template
    decoder: Decoder
    # Ids that are held while something is not decided, and seconds that matching a decoded text may take.
    max_pending: int
    max_seconds: float
    tuning: Tuning

    @cached_property
    def separator(self) -> int | None:
        """The control token that can be put between texts, to take them as one; None if that changes anything."""
        found = np.flatnonzero(self.is_control & self.cuts.parts)
        return None if self.plan is None or self.cuts.ends_text.any() or not len(found) else int(found[0])

    @cached_property
    def rewriter(self) -> Rewriter:
        """The rewriter of regions, which remembers the last ones of all streams."""
        return Rewriter(self.cuts, self.is_control, self.template, self.tuning)


class TextRun:
    """Replacing in one text, chunk by chunk."""

    def __init__(self, job: Job, output: Output) -> None:
        self._job = job
        self._output = output
        self._search = None if job.plan is None else Stream(job.plan, job.max_pending)
        self._waiting: list[Int32Array] = []
        self._n_waiting = 0
        self._first = 0  # the index of the first of them in the text
        self._begins = True  # whether the text begins with them, or the part after a special token
        self._rows = _NO_ROWS
        self._is_done = False
        self._wait = 1  # look for decided ids only from this number of ids on

    def feed(self, ids: Int32Array) -> None:
        """Take more ids, which are not copied, and give out the decided ones."""
        if self._search is not None:
            self._add(self._search.read(ids))
        self._waiting.append(ids)
        self._n_waiting += len(ids)
        if self._search is not None and self._n_waiting >= self._wait:
            self._proceed(final=False)
        if self._n_waiting > self._job.max_pending:
            what = f"more than {self._job.max_pending} tokens would have to be held"
            raise LimitExceededError(what, where=f"token {self._output.n_in}", hint=_HELD)

    def finish(self) -> None:
        """End the text, and give out the remaining ids."""
        if self._is_done:
            return
        if self._search is not None:
            self._add(self._search.finish())
        self._proceed(final=True)

    def find_all(self, ids: IntegerArray) -> OwnIds | None:
        """Take all ids of the text, which the search checks; return a copy of them if something is to be replaced.

        They are copied from where the first match is found, so that ids without one are only read.
        """
        assert self._job.plan is not None
        # The search can copy ids if they are in the form that it takes, and spell the same anywhere.
        flags, varies = ids.flags, self._job.plan.words.varies
        can_copy = ids.dtype == np.int32 and flags.c_contiguous and flags.aligned and not varies
        size, n = self._job.tuning.first_block, len(ids)
        search = self._search = Stream(self._job.plan, self._job.max_pending, n)
        at = 0
        while at < n:
            self._add(search.read(ids[at : at + size]))
            at += size
            size = min(2 * size, self._job.tuning.block)
            if len(self._rows) and at < n and can_copy:
                own = OwnIds.buffer_for(n)
                self._add(search.finish_in_copy(ids.view(np.int32), own.ids))
                return own
        self._add(search.finish())
        return OwnIds.checked(self._job.decoder, ids) if len(self._rows) else None

    def replace_all(self, ids: Int32Array, n_free: int = 0) -> None:
        """Give out all ids of the text, which are checked, and where there is a search, have been searched.

        If there are positions before them in their memory that may be overwritten, they may be overwritten themselves.
        """
        self._waiting, self._n_waiting = [ids], len(ids)
        self._proceed(final=True, n_free=n_free)
        self._is_done = True

    def feed_all(self, ids: Int32Array) -> None:
        """Take all ids of the text, which are checked, and give them out."""
        if self._search is not None:
            size = self._job.tuning.block
            for start in range(0, len(ids), size):
                self._add(self._search.read(ids[start : start + size]))
            self._add(self._search.finish())
        self.replace_all(ids)

    def _add(self, found: Iterator[Matches]) -> None:
        """Keep the rows of the matches found next that are to be replaced; tokens count from the first of the text."""
        assert self._search is not None
        parts = [self._rows]
        for matches in found:
            start, end, first, stop = matches.rows[: self._output.allowed(len(matches))].T
            parts.append(np.column_stack((first, stop, self._search.offsets[: len(start)], end - start)))
        parts = [rows for rows in parts if len(rows)]
        self._rows = parts[0] if len(parts) == 1 else np.concatenate((_NO_ROWS, *parts))

    def _proceed(self, *, final: bool, n_free: int = 0) -> None:
        """Give out the ids up to the last position that nothing undecided concerns."""
        job = self._job
        waiting = self._waiting
        ids = waiting[0] if len(waiting) == 1 else np.concatenate((_NO_IDS, *waiting))
        if self._search is None:
            found = _in_text(job.cuts, ids, job.is_control, job.template, job.max_seconds)
            n = self._output.allowed(len(found.rows))
            found = Found(found.rows[:n], (found.replacements or [])[:n])
        else:
            rows = self._rows.copy()
            rows[:, :2] -= self._first
            found = Found(rows)
        settled = len(ids) if self._search is None else self._search.settled - self._first
        bound = len(ids) if final else last_cut(job.cuts, ids, min(settled, len(ids) - 1))
        ends = {"begins": self._begins, "final": final}
        around = regions(job.cuts, ids, found.rows, job.template.text, **ends, near=job.tuning.near)
        is_open = (around[:, 1] == OPEN) | (around[:, 1] > bound)
        n_closed = int(is_open.argmax()) if is_open.any() else len(around)
        edits = job.rewriter.rewrite(ids, around[:n_closed], found, first=self._output.n_in, **ends)
        n_edits = len(edits.kind)
        n_done = int(around[n_edits - 1, 3]) if n_edits else 0
        if n_edits < len(around):
            bound = min(bound, int(around[n_edits, 0]))
        at = max(bound, int(edits.bounds[-1, 1]) if n_edits else 0)
        # Whether a text begins after them, before they are overwritten.
        begins = bool(job.cuts.parts[ids[at - 1]]) if at else self._begins
        self._output.give(ids[:at], edits, n_done, n_free=n_free)
        self._rows = self._rows[n_done:]
        self._begins = begins
        self._first += at
        rest = ids[at:]
        self._waiting, self._n_waiting = [rest], len(rest)
        self._wait = 2 * len(rest)


def _in_text(cuts: Cuts, ids: Int32Array, is_control: BoolArray, template: Template, max_seconds: float) -> Found:
    """Return all matches in the decoded text of ids, the empty ones as well, as `regex` finds them."""
    data, ends = cuts.spelled(ids, begins=True)
    bounds = np.flatnonzero(is_control[ids])
    rows: list[tuple[int, int, int, int]] = []
    replacements: list[bytes] = []
    first = 0
    for stop in [*bounds.tolist(), len(ids)]:
        begin = int(ends[first - 1]) if first else 0
        end = int(ends[stop - 1]) if stop else 0
        at, byte = 0, begin
        try:
            text = data[begin:end].decode("utf-8")
            for match in template.pattern.finditer(text, timeout=max_seconds):
                byte += len(text[at : match.start()].encode("utf-8"))
                at = match.start()
                rows.append(_row(ends, first, stop, byte, len(match.group().encode("utf-8"))))
                replacements.append(template.text if template.text is not None else template.of_match(match))
        except UnicodeDecodeError as error:
            what, value = "not UTF-8, so this pattern cannot be searched for", error.object[error.start : error.end]
            where = f"byte {error.start} of the text of tokens {first} to {stop}"
            raise TokenStreamError(what, value=value, where=where) from None
        except TimeoutError:
            raise LimitExceededError("matching the pattern takes too long", value=template.pattern.pattern) from None
        first = stop + 1
    return Found(np.array(rows, dtype=np.int64).reshape(-1, 4), replacements)


def _row(ends: Int64Array, first: int, stop: int, start: int, length: int) -> tuple[int, int, int, int]:
    """Return the row of a match of some bytes from `start` on, within the ids from `first` to `stop`."""
    token = first + int(np.searchsorted(ends[first:stop], start, side="right"))
    offset = start - (int(ends[token - 1]) if token else 0)
    if not length and not offset:
        return token, token, 0, 0
    last = first + int(np.searchsorted(ends[first:stop], start + max(length, 1) - 1, side="right"))
    return token, last + 1, offset, length

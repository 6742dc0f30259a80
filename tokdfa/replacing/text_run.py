"""Replacing under way in one text: the ids that are held, the matches in them, and what is given out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array, Int64Array, IntegerArray
from tokdfa.errors import LimitExceededError
from tokdfa.replacing.cuts import Cuts
from tokdfa.replacing.finding import Found, OnIds, in_text
from tokdfa.replacing.output import Edit, Output
from tokdfa.replacing.regions import OPEN, Region, last_cut, regions
from tokdfa.replacing.rewriting import Rewriter, Rewritten
from tokdfa.replacing.template import Template
from tokdfa.replacing.tuning import Tuning

if TYPE_CHECKING:
    from tokdfa.searching.plan import SearchPlan

__all__ = ["Job", "TextRun"]

_NO_ROWS: Int64Array = np.empty((0, 4), dtype=np.int64)
_NO_IDS: Int32Array = np.empty(0, dtype=np.int32)


class Job:
    """What is replaced by what, in the streams of which tokenizer.

    Parameters
    ----------
    plan : SearchPlan or None
        The machine of the search; None if matches are found in the decoded text.
    cuts : Cuts
    is_special : bool array, one entry an id
        Whether no match goes across the id.
    template : Template
    max_pending : int
        The number of ids that are held while something is not decided.
    max_seconds : float
        The time that matching a decoded text may take.
    tuning : Tuning
    """

    def __init__(
        self,
        plan: SearchPlan | None,
        cuts: Cuts,
        is_special: BoolArray,
        template: Template,
        *,
        max_pending: int,
        max_seconds: float,
        tuning: Tuning,
    ) -> None:
        self.plan = plan
        self.cuts = cuts
        self.is_special = is_special
        self.template = template
        self.max_pending = max_pending
        self.max_seconds = max_seconds
        self.tuning = tuning
        self.rewriter = Rewriter(cuts, is_special, template, tuning=tuning)


class TextRun:
    """Replacing in one text, chunk by chunk.

    Parameters
    ----------
    job : Job
    output : Output
    """

    def __init__(self, job: Job, output: Output) -> None:
        self._job = job
        self._output = output
        self._search = None if job.plan is None else OnIds(job.plan, job.max_pending)
        self._waiting: list[Int32Array] = []
        self._n_waiting = 0
        self._first = 0  # the index of the first of them in the text
        self._begins = True  # whether the text begins with them, or what follows a special token
        self._rows = _NO_ROWS
        self._is_done = False
        self._wait = 1  # the number of ids from which on it is worth to look for what is decided

    def feed(self, ids: Int32Array) -> None:
        """Take more ids, which are not copied, and give out those that are decided."""
        if self._search is not None:
            self._add(self._search.feed(ids))
        self._waiting.append(ids)
        self._n_waiting += len(ids)
        if self._search is not None and self._n_waiting >= self._wait:
            self._proceed(final=False)
        if self._n_waiting > self._job.max_pending:
            raise LimitExceededError(
                f"more than {self._job.max_pending} tokens would have to be held",
                where=f"token {self._output.n_in}",
                hint="from there on nothing certainly cuts the text, or the pattern is matched in the decoded text; "
                "raise max_pending, or replace in parts",
            )

    def finish(self) -> None:
        """End the text, and give out the remaining ids."""
        if self._is_done:
            return
        if self._search is not None:
            self._add(self._search.finish())
        self._proceed(final=True)

    def find_all(self, ids: IntegerArray) -> bool:
        """Take all ids of the text, and return whether there are matches to be replaced; the search checks the ids."""
        assert self._search is not None
        size = self._job.tuning.block
        for start in range(0, len(ids), size):
            self._add(self._search.feed(ids[start : start + size]))
        self._add(self._search.finish())
        return len(self._rows) > 0

    def replace_all(self, ids: Int32Array, n_free: int = 0) -> None:
        """Give out all ids of the text, which are checked, and where there is a search, have been searched.

        If there are places before them in their memory that may be overwritten, they may be overwritten themselves.
        """
        self._waiting, self._n_waiting = [ids], len(ids)
        self._proceed(final=True, n_free=n_free)
        self._is_done = True

    def feed_all(self, ids: Int32Array) -> None:
        """Take all ids of the text, and give them out."""
        if self._search is not None:
            self.find_all(ids)
        self.replace_all(ids)

    def _add(self, rows: Int64Array) -> None:
        rows = rows[: self._output.allowed(len(rows))]
        if len(rows):
            self._rows = np.concatenate((self._rows, rows)) if len(self._rows) else rows

    def _proceed(self, *, final: bool, n_free: int = 0) -> None:
        """Give out the ids up to the last place with which nothing that is not decided has to do."""
        job = self._job
        waiting = self._waiting
        ids = waiting[0] if len(waiting) == 1 else np.concatenate((_NO_IDS, *waiting))
        if self._search is None:
            found = in_text(job.cuts, ids, job.is_special, job.template, job.max_seconds)
            n = self._output.allowed(len(found.rows))
            found = Found(found.rows[:n], (found.replacements or [])[:n])
        else:
            rows = self._rows.copy()
            rows[:, :2] -= self._first
            found = Found(rows)
        settled = len(ids) if self._search is None else self._search.settled - self._first
        bound = len(ids) if final else last_cut(job.cuts, ids, min(settled, len(ids) - 1))
        at = n_done = 0
        edits: list[Edit] = []
        for region, new in self._rewritten(ids, found, bound, final=final):
            if new is None:
                bound = min(bound, region.start)
                break
            edits.append(Edit(region.start, region.stop, new))
            at, n_done = region.stop, region.end
        at = max(at, bound)
        # Whether a text begins after them, before they are overwritten.
        begins = bool(job.cuts.parts[ids[at - 1]]) if at else self._begins
        self._output.give(ids[:at], edits, n_done, n_free=n_free)
        self._rows = self._rows[n_done:]
        self._begins = begins
        self._first += at
        rest = ids[at:]
        self._waiting, self._n_waiting = [rest], len(rest)
        self._wait = 2 * len(rest)

    def _rewritten(
        self, ids: Int32Array, found: Found, bound: int, *, final: bool
    ) -> Iterator[tuple[Region, Rewritten | None]]:
        """Yield regions with their new ids; None for the first one that is not decided, which is the last."""
        job, rows = self._job, found.rows
        first = self._output.n_in
        text = job.template.text
        if text is None:
            stays = (np.zeros(len(rows), dtype=np.bool_),) * 2
        else:
            stays = job.cuts.stays_before(ids, rows, text), job.cuts.stays_after(ids, rows, text)
        near = job.tuning.near
        for region in regions(
            job.cuts, ids, rows[:, 0], rows[:, 1], stays, begins=self._begins, final=final, near=near
        ):
            new = None
            if region.stop != OPEN and region.stop <= bound:
                new = job.rewriter.rewrite(ids, region, found, first=first, begins=self._begins, final=final)
            yield region, new
            if new is None:
                return

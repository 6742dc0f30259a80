"""Replacing under way in one text: the ids that are held, the matches in them, and what is given out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array, Int64Array, IntegerArray
from tokdfa.errors import LimitExceededError
from tokdfa.replacing.cuts import Cuts
from tokdfa.replacing.finding import Found, OnIds, in_text
from tokdfa.replacing.output import Output, OwnIds
from tokdfa.replacing.regions import OPEN, last_cut, regions
from tokdfa.replacing.rewriting import Rewriter
from tokdfa.replacing.template import Template
from tokdfa.replacing.tuning import Tuning
from tokdfa.tokenizers.decoder import Decoder

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
    is_control : bool array, one entry an id
        Whether no match goes across the id.
    template : Template
    decoder : Decoder
        That of the tokenizer, which checks ids.
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
        is_control: BoolArray,
        template: Template,
        decoder: Decoder,
        *,
        max_pending: int,
        max_seconds: float,
        tuning: Tuning,
    ) -> None:
        self.plan = plan
        self.cuts = cuts
        self.is_control = is_control
        self.template = template
        self.decoder = decoder
        self.max_pending = max_pending
        self.max_seconds = max_seconds
        self.tuning = tuning
        self.rewriter = Rewriter(cuts, is_control, template, tuning=tuning)

    def can_copy(self, ids: IntegerArray) -> bool:
        """Return whether the search can copy ids: they are in the form that it takes, and spell the same anywhere."""
        flags = ids.flags
        assert self.plan is not None
        return ids.dtype == np.int32 and flags.c_contiguous and flags.aligned and not self.plan.words.varies


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

    def find_all(self, ids: IntegerArray) -> OwnIds | None:
        """Take all ids of the text, which the search checks; return a copy of them if something is to be replaced.

        They are copied from where the first match is found, so that ids without one are only read.
        """
        assert self._job.plan is not None
        size, n = self._job.tuning.first_block, len(ids)
        search = self._search = OnIds(self._job.plan, self._job.max_pending, n)
        at = 0
        while at < n:
            self._add(search.feed(ids[at : at + size]))
            at += size
            size = min(2 * size, self._job.tuning.block)
            if len(self._rows) and at < n and self._job.can_copy(ids):
                own = OwnIds.room_for(n)
                self._add(search.finish_in_copy(ids.view(np.int32), own.ids))
                return own
        self._add(search.finish())
        return OwnIds.checked(self._job.decoder, ids) if len(self._rows) else None

    def replace_all(self, ids: Int32Array, n_free: int = 0) -> None:
        """Give out all ids of the text, which are checked, and where there is a search, have been searched.

        If there are places before them in their memory that may be overwritten, they may be overwritten themselves.
        """
        self._waiting, self._n_waiting = [ids], len(ids)
        self._proceed(final=True, n_free=n_free)
        self._is_done = True

    def feed_all(self, ids: Int32Array) -> None:
        """Take all ids of the text, which are checked, and give them out."""
        if self._search is not None:
            size = self._job.tuning.block
            for start in range(0, len(ids), size):
                self._add(self._search.feed(ids[start : start + size]))
            self._add(self._search.finish())
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
            found = in_text(job.cuts, ids, job.is_control, job.template, job.max_seconds)
            n = self._output.allowed(len(found.rows))
            found = Found(found.rows[:n], (found.replacements or [])[:n])
        else:
            rows = self._rows.copy()
            rows[:, :2] -= self._first
            found = Found(rows)
        settled = len(ids) if self._search is None else self._search.settled - self._first
        bound = len(ids) if final else last_cut(job.cuts, ids, min(settled, len(ids) - 1))
        around = regions(
            job.cuts, ids, found.rows, job.template.text, begins=self._begins, final=final, near=job.tuning.near
        )
        is_open = (around[:, 1] == OPEN) | (around[:, 1] > bound)
        n_closed = int(is_open.argmax()) if is_open.any() else len(around)
        edits = job.rewriter.rewrite(
            ids, around[:n_closed], found, first=self._output.n_in, begins=self._begins, final=final
        )
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

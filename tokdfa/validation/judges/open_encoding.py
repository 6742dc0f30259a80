"""Judging parts cut out of a stream of a tokenizer that rewrites texts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tokdfa.arrays import Int32Array
from tokdfa.tokenizers.round_trip import RoundTrip
from tokdfa.validation.judges.encoding import EncodingJudge
from tokdfa.validation.kind import ViolationKind
from tokdfa.validation.tuning import DEFAULT, Tuning
from tokdfa.validation.violation import Cause, Violation, spelled

__all__ = ["OpenEncodingJudge"]


class OpenEncodingJudge:
    """A judge that finds what is not canonical whatever comes before the ids and, unless the text ends, after them.

    Up to the first place where the text is certainly cut, only neighbours that no canonical ids have side by side are
    reported. From there on nothing depends on what came before, and :class:`EncodingJudge` judges.

    Parameters
    ----------
    trip : RoundTrip
        One that cuts texts.
    first, byte : int
        The index of the first token fed in the stream, and the offset of its first byte.
    tuning : Tuning, optional
        That of the judge of the rest.

    Notes
    -----
    What is found is not canonical in any context. The reverse is not promised for the ids before the first such place
    and after the last.
    """

    def __init__(self, trip: RoundTrip, first: int = 0, byte: int = 0, *, tuning: Tuning = DEFAULT) -> None:
        self._trip = trip
        self._tuning = tuning
        self._judge: EncodingJudge | None = None
        self._first, self._byte = first, byte
        self._before: Int32Array = np.zeros(0, dtype=np.int32)

    @property
    def n_kept(self) -> int:
        """The number of ids kept."""
        return len(self._before) if self._judge is None else self._judge.n_kept

    @property
    def byte(self) -> int:
        """The byte offset of the next token to be judged."""
        return self._byte if self._judge is None else self._judge.byte

    def feed(self, ids: Int32Array) -> Iterator[Violation]:
        """Take more ids, and yield the violations that they make certain."""
        if self._judge is None and len(ids):
            # The id before shows whether something is left of the text of the first of these.
            known = len(self._before)
            ids = np.concatenate((self._before, ids))
            cut = self._trip.boundaries.always_cut(ids) | self._trip.cuts[ids[:-1]]
            places = np.flatnonzero(cut[max(known - 1, 0) :]) + max(known - 1, 0) + 1
            head = int(places[0]) if len(places) else len(ids)
            yield from self._neighbours(ids[:head], known)
            if not len(places):
                self._skip(ids[known:])
                self._before = ids[-2:]
                return
            self._skip(ids[known:head])
            self._judge = EncodingJudge(self._trip, self._first, self._byte, tuning=self._tuning, begins=False)
            if self._trip.cuts[ids[head - 1]]:
                self._judge = EncodingJudge(self._trip, self._first, self._byte, tuning=self._tuning)
            ids = ids[head:]
        if self._judge is not None:
            yield from self._judge.feed(ids)

    def finish(self) -> Iterator[Violation]:
        """End the text, and yield the remaining violations."""
        if self._judge is not None:
            yield from self._judge.finish()

    def finish_open(self) -> Iterator[Violation]:
        """End a stream that may go on, and yield what is not canonical however it goes on."""
        if self._judge is not None:
            yield from self._judge.finish_open()

    def _skip(self, ids: Int32Array) -> None:
        """Count ids as judged."""
        self._first += len(ids)
        if len(ids):
            self._byte += int(self._trip.decode(ids, begins=False).ends[-1])

    def _neighbours(self, ids: Int32Array, known: int) -> Iterator[Violation]:
        """Yield the pairs of neighbours, from the one with id `known` on, that no canonical ids have."""
        begin = max(known - 1, 0)
        for place in (np.flatnonzero(self._trip.boundaries.never_beside(ids[begin:])) + begin + 1).tolist():
            left, right = int(ids[place - 1]), int(ids[place])
            index = self._first + place - known
            sizes = self._trip.decode(ids[known:place], begins=False).ends[-1:]
            cause = Cause(
                kind=ViolationKind.IN_NO_TEXT,
                token=right,
                pair=(left, right),
                spellings=spelled((right, left, right), self._trip.spelling),
            )
            yield cause.at(
                index=index,
                detected_at=index,
                byte_offset=self._byte + int(sizes.sum()),
                start=index - 1,
                ids=ids[place - 1 : place + 1],
                canonical_ids=None,
            )

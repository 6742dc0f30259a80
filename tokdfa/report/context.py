"""The last ids of a stream."""

from __future__ import annotations

from collections import deque

from tokdfa.automata.ids import IntegerArray

__all__ = ["Recent"]

KEPT = 1 << 22


class Recent:
    """The last ids of a stream, in memory that does not grow with it.

    Parameters
    ----------
    kept : int
        How many ids to keep at least.

    Attributes
    ----------
    first, end : int
        Those kept are the tokens of the stream from `first` to before `end`.
    """

    def __init__(self, kept: int = KEPT) -> None:
        self.first = self.end = 0
        self._kept = kept
        self._chunks: deque[IntegerArray] = deque()

    def append(self, ids: IntegerArray) -> None:
        """Take the next ids."""
        self._chunks.append(ids)
        self.end += len(ids)
        while self.end - self.first - len(self._chunks[0]) >= self._kept:
            self.first += len(self._chunks.popleft())

    def between(self, start: int, stop: int) -> list[int]:
        """Return the tokens from `start` to before `stop`, as far as they are kept."""
        # What is asked for is near the end.
        found: list[int] = []
        end = self.end
        for chunk in reversed(self._chunks):
            begin = end - len(chunk)
            if begin < stop and end > start:
                found[:0] = chunk[max(start - begin, 0) : max(stop - begin, 0)].tolist()
            if begin <= start:
                break
            end = begin
        return found

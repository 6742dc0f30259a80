"""The last ids of a stream."""

from __future__ import annotations

from collections import deque

from tokdfa.arrays import IntegerArray

__all__ = ["LastIds"]


class LastIds:
    """The last ids of a stream.

    Attributes
    ----------
    first, end : int
        The kept ids are the tokens of the stream from `first` to before `end`.
    """

    def __init__(self) -> None:
        self.first = self.end = 0
        self._chunks: deque[IntegerArray] = deque()

    def append(self, ids: IntegerArray) -> None:
        """Take the next ids."""
        self._chunks.append(ids)
        self.end += len(ids)

    def keep(self, count: int) -> None:
        """Keep only the last `count` ids."""
        while self._chunks and self.end - self.first - len(self._chunks[0]) >= count:
            self.first += len(self._chunks.popleft())

    def between(self, start: int, stop: int) -> list[int]:
        """Return the tokens from `start` to before `stop`, as far as they are kept."""
        # The tokens asked for are near the end.
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

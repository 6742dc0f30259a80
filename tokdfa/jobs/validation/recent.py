"""The last ids of a stream that comes in chunks, for the text around a violation."""

from __future__ import annotations

from collections import deque

from tokdfa.base.arrays import IntegerArray


class LastIds:
    """The last ids of a stream: its tokens from `first` to before `end`."""

    def __init__(self, first: int = 0) -> None:
        self.first = self.end = first
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

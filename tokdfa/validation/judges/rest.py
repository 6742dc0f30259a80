"""What is left to judge of a stream."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["WHOLE", "Rest"]


class Rest(NamedTuple):
    """The part of a stream that is left to judge: it begins with the id `first`, at the offset `byte`.

    Its text is certainly cut there, if it is not the whole stream.
    """

    first: int
    byte: int


WHOLE = Rest(0, 0)

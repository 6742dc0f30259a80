"""How much of a store is read at a time."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DEFAULT", "Tuning"]


@dataclass(frozen=True, slots=True)
class Tuning:
    """The thresholds of reading ids. They change what reading costs, never its result.

    Parameters
    ----------
    block : int
        Number of bytes of text and JSON that are read at once. Larger blocks take more memory, smaller
        ones more calls.
    chunk : int
        Number of ids of a .npy or .bin file, and of bytes of a binary stream, that are read at once. The ids of
        a chunk should still be in the processor's cache when they are judged.
    """

    block: int = 1 << 20
    chunk: int = 1 << 18


DEFAULT = Tuning()

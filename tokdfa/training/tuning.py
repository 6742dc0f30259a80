"""The amounts of a corpus that are read and split at a time."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DEFAULT", "Tuning"]


@dataclass(frozen=True, slots=True)
class Tuning:
    """The thresholds of reading a corpus. They change the cost of counting its pieces, never the counts.

    Parameters
    ----------
    block : int
        The number of bytes (unpacked) that are read at once. One thread counts a block while another block is read.
        Larger blocks take more memory for every thread; smaller ones need more merging of counts.
    stretch : int
        The number of bytes of a block that are split at once. Their pieces stay in the caches until they are counted.
    """

    block: int = 1 << 20
    stretch: int = 1 << 16


DEFAULT = Tuning()

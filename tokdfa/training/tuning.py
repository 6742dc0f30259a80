"""How much of a corpus is read at a time."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DEFAULT", "Tuning"]


@dataclass(frozen=True, slots=True)
class Tuning:
    """The thresholds of reading a corpus. They change what counting its pieces costs, never the counts.

    Parameters
    ----------
    block : int
        Number of bytes (unpacked) that are read at once. One thread counts a block while another is read: larger blocks
        take more memory for every thread, smaller ones more merging of counts.
    """

    block: int = 1 << 20


DEFAULT = Tuning()

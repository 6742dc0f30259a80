"""How shards are divided among threads."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DEFAULT", "Tuning"]


@dataclass(frozen=True, slots=True)
class Tuning:
    """The thresholds of checking shards. They change what it costs, never the report.

    Parameters
    ----------
    stretch : int
        The least number of ids of a part of a shard that a thread judges by itself.
    """

    stretch: int = 1 << 20


DEFAULT = Tuning()

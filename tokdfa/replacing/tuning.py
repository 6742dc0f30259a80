"""The numbers of ids that replacing takes at a time and remembers."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DEFAULT", "Tuning"]


@dataclass(frozen=True, slots=True)
class Tuning:
    """The thresholds of replacing. They change its cost, never its result.

    Parameters
    ----------
    block : int
        Number of ids that are searched at once.
    first_block : int
        Number of ids that are searched at first, if all are there. From the first match on they are copied.
    near : int
        Number of ids on each side of a match among which a cut is looked for at first.
    context : int
        Number of ids after a region that captures are read with at first.
    max_known : int
        Number of regions whose new ids are remembered.
    max_key : int
        Number of ids of the longest region that is remembered.
    """

    block: int = 1 << 18
    first_block: int = 1 << 15
    near: int = 12
    context: int = 4
    max_known: int = 1 << 14
    max_key: int = 64


DEFAULT = Tuning()

"""The numbers of ids of a stream that are judged at once, kept, and looked at again."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tuning:
    """The thresholds of validation. They change its cost and the inputs that it refuses, never its findings.

    Parameters
    ----------
    chunk : int
        Number of ids that are taken from an array at once: few enough for them to stay in the second-level cache.
    window : int
        Number of ids that are decoded and judged at once where pairs of ids do not decide at once. Smaller windows take
        less memory, larger ones fewer steps; a window grows until it has a boundary where its text is always cut.
    close_window : int
        The same after a walk has found that something is wrong, which is mostly within a few ids.
    patience : int
        Number of ids walked over before the ids with which no violation can begin are dropped.
    head : int
        Number of ids of a chunk that are walked over together with the ids before it, which may be looked at again.
    history : int
        Number of judged ids that are kept if nothing cuts the text, because a violation found later may begin with
        them. If it begins even earlier, the stream is refused.
    max_ids : int
        Number of ids that are kept, of 4 bytes each, where the text has no boundary at which it is always cut. Longer
        streams are refused.
    walks : bool
        Whether streams are walked over where a table allows it, and not only judged window by window, which is slower
        and finds the same.
    at_once : int, optional
        Number of ids, or more, that are judged at once if they come at once, and not one by one, which is slower and
        finds the same; by default none are.
    """

    chunk: int = 1 << 18
    window: int = 1 << 15
    close_window: int = 1 << 8
    patience: int = 1 << 10
    head: int = 1 << 10
    history: int = 1 << 12
    max_ids: int = 1 << 26
    walks: bool = True
    at_once: int | None = None


DEFAULT = Tuning(at_once=1 << 10)

"""Limits on the time and the memory that something may take."""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["bounded"]


@contextmanager
def bounded(seconds: float, megabytes: float = 0) -> Iterator[None]:
    """Fail after so many seconds of work, or at 100 MB more than the process ever had, if that is above `megabytes`.

    Time in which a busy machine does something else does not count.
    """

    def stop(*_: object) -> None:
        raise TimeoutError(f"more than {seconds} seconds")

    # The most memory the process has ever taken, earlier tests included.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < max(peak + 100 * 1024, megabytes * 1024)

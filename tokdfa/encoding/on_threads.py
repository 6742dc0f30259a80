"""One function on several threads at the same time."""

from __future__ import annotations

from _thread import LockType, allocate_lock, start_new_thread
from collections.abc import Callable
from typing import TypeVar

__all__ = ["on_threads"]

Result = TypeVar("Result")


def on_threads(function: Callable[[], Result], n_threads: int) -> list[Result]:
    """Call a function on several threads, of which the calling one is one, and return the results in any order.

    It returns when all threads are done. An error of the calling thread is raised, or else one of the others.

    Examples
    --------
    >>> on_threads(lambda: "done", 2)
    ['done', 'done']

    Notes
    -----
    A `threading.Thread` is waited for when it starts, which takes as long as encoding ten kilobytes.
    """
    results: list[Result] = []
    errors: list[BaseException] = []

    def work(done: LockType) -> None:
        try:
            results.append(function())
        except BaseException as error:
            errors.append(error)
        finally:
            done.release()

    started: list[LockType] = []
    try:
        for _ in range(n_threads - 1):
            done = allocate_lock()
            done.acquire()
            start_new_thread(work, (done,))
            started.append(done)
        results.append(function())
    finally:
        for done in started:
            done.acquire()
    try:
        if errors:
            raise errors[0]
    finally:
        # Its traceback has this frame, which would keep what the function refers to alive.
        errors.clear()
    return results

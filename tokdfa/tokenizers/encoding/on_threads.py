"""Starting threads, and one function on several of them at the same time."""

from __future__ import annotations

from _thread import LockType, allocate_lock, start_new_thread
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


def start(work: Callable[[], None]) -> LockType:
    """Call a function on a thread of its own, and return a lock that is held until it is done.

    Notes
    -----
    A `threading.Thread` is waited for when it starts, which takes as long as encoding ten kilobytes.
    """
    works = allocate_lock()
    works.acquire()

    def run() -> None:
        try:
            work()
        finally:
            works.release()

    start_new_thread(run, ())
    return works


def on_threads(function: Callable[[], Result], n_threads: int) -> list[Result]:
    """Call a function on several threads, one of them the caller's, and return the results in any order.

    It returns when all threads are done. An error of the calling thread is raised, or else one of the others.

    Examples
    --------
    >>> on_threads(lambda: "done", 2)
    ['done', 'done']
    """
    results: list[Result] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            results.append(function())
        except BaseException as error:
            errors.append(error)

    started: list[LockType] = []
    try:
        started.extend(start(work) for _ in range(n_threads - 1))
        results.append(function())
    finally:
        for works in started:
            works.acquire()
    try:
        if errors:
            raise errors[0]
    finally:
        # Its traceback has this frame, which would keep the objects that the function refers to alive.
        errors.clear()
    return results

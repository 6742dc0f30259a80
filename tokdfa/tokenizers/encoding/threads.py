"""Calls of a function on several threads: one call on each, or one for each of many items, the results in order."""

from __future__ import annotations

from _thread import LockType, allocate_lock, start_new_thread
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from queue import Empty, SimpleQueue
from threading import Lock
from typing import Generic, TypeVar

Item = TypeVar("Item")
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


class _Job(Generic[Item, Result]):
    """A call of a function, done once, by any thread."""

    def __init__(self, function: Callable[[Item], Result], item: Item) -> None:
        self._function = function
        self._item = item
        self._error: BaseException | None = None
        self._found: list[Result] = []
        self._under_way = Lock()
        self._under_way.acquire()

    @property
    def is_done(self) -> bool:
        return not self._under_way.locked()

    def run(self) -> None:
        try:
            self._found.append(self._function(self._item))
        except BaseException as error:
            self._error = error
            if not isinstance(error, Exception):
                # After an interrupt, the calling thread does not wait for the others.
                raise
        finally:
            self._under_way.release()

    def result(self) -> Result:
        """Wait for the result, and return it or raise the error."""
        self._under_way.acquire()
        if self._error is not None:
            try:
                raise self._error
            finally:
                # Its traceback has this job, which would keep the tokenizer alive with it.
                self._error = None
        return self._found[0]


def in_order(function: Callable[[Item], Result], items: Iterable[Item], n_threads: int) -> Iterator[Result]:
    """Yield the function's result for each item, in the order of the items, holding only a few at a time.

    The calling thread asks for the items, and works as well, so that one thread fewer is started; none for a single
    item. An error of the function is raised in place of its result.

    Examples
    --------
    >>> list(in_order(abs, [-1, 2, -3], 2))
    [1, 2, 3]
    """
    jobs = (_Job(function, item) for item in items)
    to_do: SimpleQueue[_Job[Item, Result] | None] = SimpleQueue()
    waiting: deque[_Job[Item, Result]] = deque()
    # Held while a thread works.
    threads: list[LockType] = []
    try:
        while True:
            for job in islice(jobs, max(2 * n_threads - len(waiting), 0)):
                waiting.append(job)
                to_do.put(job)
                if 1 + len(threads) < min(len(waiting), n_threads):
                    threads.append(start(partial(_work_on, to_do)))
            if not waiting:
                return
            while not waiting[0].is_done:
                job_or_none = _next(to_do)
                if job_or_none is None:
                    break
                job_or_none.run()
            yield waiting.popleft().result()
    finally:
        while _next(to_do) is not None:
            pass
        for _ in threads:
            to_do.put(None)
        for thread in threads:
            thread.acquire()


def _work_on(to_do: SimpleQueue[_Job[Item, Result] | None]) -> None:
    """Run jobs until one is None."""
    while (job := to_do.get()) is not None:
        job.run()


def _next(to_do: SimpleQueue[_Job[Item, Result] | None]) -> _Job[Item, Result] | None:
    """Return the next job; None if there is none."""
    try:
        return to_do.get_nowait()
    except Empty:
        return None

"""The budget for the automata of a pattern: time, states and memory."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import get_ident

from tokdfa.base.errors import Argument, Hint, LimitExceededError

DEFAULT_MAX_STATES = 20_000
DEFAULT_MAX_SECONDS = 20.0
DEFAULT_MAX_ENTRIES = 1 << 25
TIME_IS_UP = "time is up"

_TOTAL: ContextVar[Budget | None] = ContextVar("total", default=None)


class Budget:
    """One budget for everything that is built from a pattern, from reading it to the last table.

    The clock starts when the budget is made, and counts the processor time of the thread that made it: time in which
    the machine does something else does not count. In another thread, all time counts. Every construction uses the
    budget of its caller, so the limits apply to all of them together. Each checks it often enough to stop soon after
    the time is up. The methods raise a LimitExceededError when the budget is spent; it says which limit it is, and
    names the automaton or table `what`.

    `max_states` limits any automaton over classes of code points, and over bytes ten times as many; `max_seconds` is
    total processor time; `max_entries` counts the entries in all tables and sets of threads, of some tens of bytes
    each.
    """

    def __init__(
        self,
        max_states: int = DEFAULT_MAX_STATES,
        max_seconds: float = DEFAULT_MAX_SECONDS,
        *,
        max_entries: int = DEFAULT_MAX_ENTRIES,
        what: str = "the automaton of the pattern",
    ) -> None:
        self.max_states = max_states
        self.max_seconds = max_seconds
        self.max_entries = max_entries
        self.what = what
        self._left = max_entries
        self._thread, self._begun = get_ident(), time.thread_time()
        self._deadline = time.monotonic() + max_seconds

    @property
    def max_byte_states(self) -> int:
        """The maximum number of states of an automaton over bytes."""
        return 10 * self.max_states

    @property
    def seconds_left(self) -> float:
        """The processor time that is left, not below 0."""
        if get_ident() != self._thread:
            return max(self._deadline - time.monotonic(), 0.0)
        return max(self.max_seconds - (time.thread_time() - self._begun), 0.0)

    def _is_over(self) -> bool:
        # Asking for processor time takes longer, and it is never more than the time that has passed.
        now = time.monotonic()
        if now <= self._deadline:
            return False
        left = self.seconds_left
        self._deadline = now + left
        return not left

    def check_time(self) -> None:
        """Raise an error if the time is up, or the time of all budgets together."""
        total = _TOTAL.get()
        if total is not None and total is not self and total._is_over():
            raise LimitExceededError(TIME_IS_UP, hint=Hint("raise ", Argument("max_seconds")))
        if self._is_over():
            what = f"{self.what} takes more than {self.max_seconds:g} seconds to build"
            raise LimitExceededError(what, hint=Hint("narrow it, or raise ", Argument("max_seconds")))

    def check_states(self, count: int) -> None:
        """Raise an error if there are more than `max_states` states or the time is up."""
        if count > self.max_states:
            what = f"{self.what} has more than {self.max_states} states"
            raise LimitExceededError(what, hint=Hint("narrow it, or raise ", Argument("max_states")))
        self.check_time()

    def check_byte_states(self, count: int) -> None:
        """Raise an error if there are more than `max_byte_states` states or the time is up."""
        if count > self.max_byte_states:
            what = f"{self.what} has more than {self.max_byte_states} states over bytes"
            raise LimitExceededError(what, hint=Hint("narrow it, or raise ", Argument("max_states")))
        self.check_time()

    def check_size(self, entries: int, what: str) -> None:
        """Raise an error if a single table has more entries than all together may have."""
        if entries > self.max_entries:
            raise LimitExceededError(f"{self.what} needs too large a table of {what}", value=entries, hint="narrow it")

    def spend(self, entries: int) -> None:
        """Subtract entries from the remaining ones; raise an error if too few are left or the time is up."""
        self._left -= entries
        if self._left < 0:
            what = f"{self.what} takes more than {self.max_entries} entries of tables and sets"
            raise LimitExceededError(what, hint="narrow it")
        self.check_time()


@contextmanager
def total_of(max_seconds: float) -> Iterator[Budget]:
    """Limit the processor time of all budgets that are checked in a block together: ``with total_of(5) as total``."""
    total = Budget(max_seconds=max_seconds)
    token = _TOTAL.set(total)
    try:
        yield total
    finally:
        _TOTAL.reset(token)

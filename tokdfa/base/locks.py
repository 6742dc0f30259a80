"""The lock of the tables that threads share, which a fork waits for.

A table that several threads may extend, such as the table of a walk, is extended under `SHARED`. A thread that holds
the lock only inserts finished entries, or calls a kernel: a table may be built by a thread that waits for the lock, so
no thread waits for a table meanwhile. An entry that two threads compute at the same time is inserted once. A process
forks only while no thread is at it: the copy would otherwise have half of an entry, and a lock that nobody opens. C
reads such tables without the lock; an entry is a machine word that leads to a row that is already there.
"""

from __future__ import annotations

import os
import sys
from functools import cached_property
from threading import RLock

SHARED = RLock()


def _renew() -> None:
    """Release the lock in a forked process; renew the locks of cached properties, which Python 3.11 locks by class."""
    SHARED.release()
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] != "tokdfa":
            continue
        for kind in vars(module).values():
            for value in vars(kind).values() if isinstance(kind, type) and kind.__module__ == name else ():
                if isinstance(value, cached_property) and hasattr(value, "lock"):
                    value.lock = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=SHARED.acquire, after_in_parent=SHARED.release, after_in_child=_renew)

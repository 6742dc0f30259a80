"""A bar for long work over files, on a terminal only: how much is done, how fast, and what time is left."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

__all__ = ["Advance", "progress"]

Advance = Callable[[int], object]
"""Takes the number of ids that are done, again and again."""


@contextmanager
def progress(paths: Sequence[Path]) -> Iterator[tuple[Advance | None, Callable[[str], object] | None]]:
    """Show a bar over the bytes of files on stderr, if that is a terminal.

    Yields
    ------
    pair of callables, or of None
        The first takes numbers of ids that are done, the second the path of a file that is done; for other programs
        than terminals there is neither.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield None, None
        return
    from threading import Lock
    from time import monotonic

    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    sizes = {str(path): path.stat().st_size if path.is_file() else 0 for path in paths}
    columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=max(sum(sizes.values()), 1))
        began, lock, ids, done = monotonic(), Lock(), 0, 0

        def advance(n: int) -> None:
            nonlocal ids
            with lock:
                ids += n
                rate = ids / max(monotonic() - began, 1e-9) / 1e6
                bar.update(task, description=f"{done:,} of {len(sizes):,} files, {rate:.1f} M ids/s")

        def finished(path: str) -> None:
            nonlocal done
            with lock:
                done += 1
                bar.update(task, advance=sizes.get(path, 0))

        yield advance, finished

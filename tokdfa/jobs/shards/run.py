"""All shards of a corpus on one machine: threads, and a report that survives being killed.

Notes
-----
While the run lasts, each finished shard is a line of ``FILE.partial``; a process that is killed loses at most the
shards that it was reading, and a line that is cut short is ignored. At the end the report is written to ``FILE``
atomically, and depends on nothing but the shards.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import Any, TypeAlias

from tokdfa.base.atomic import check_writable, write_atomically
from tokdfa.jobs.shards.check import Options, check_shard
from tokdfa.jobs.shards.report import Report, total
from tokdfa.tokenizers.protocol import AnyTokenizer

_VERSION = 2

Work: TypeAlias = "Callable[[list[str]], Iterable[tuple[str, Report]]]"
"""Checks shards, and yields the path of each with its report, in any order."""


def check_shards(
    tokenizer: AnyTokenizer,
    paths: Iterable[str | Path],
    options: Options | None = None,
    *,
    threads: int = 1,
    report_path: str | Path | None = None,
    advance: Callable[[int], object] | None = None,
    finished: Callable[[str, Report], object] | None = None,
    work: Work | None = None,
) -> Report:
    """Check many shards, each once, and return the sum of their reports.

    The threads are over shards, or over parts of each if there are fewer shards. While a report of JSON is made at
    `report_path`, intermediate results are in a file next to it that ends in ``.partial``; a later run with the same
    tokenizer and options continues from there, with the shards that are left or have changed. `advance` is called with
    the number of ids that were judged, again and again, by all threads, and `finished` with the path of each shard that
    is done, and its report without its groups. `work` checks the shards that are left; by default threads of this
    process do.
    """
    options = Options() if options is None else options
    shards = [*dict.fromkeys(map(str, paths))]
    over_shards = threads if len(shards) >= threads else 1
    within = 1 if over_shards > 1 else threads
    facts = {path: _facts(path) for path in shards}

    def check(path: str) -> tuple[str, Report]:
        report = check_shard(tokenizer, path, **options._asdict(), threads=within, advance=advance)
        return path, report

    journal = None if report_path is None else _Journal(Path(report_path), tokenizer, options)
    reports: dict[str, Report] = {}

    def done(left: list[str]) -> Iterator[Report]:
        """Yield the reports of all shards; only their numbers are kept."""
        for path, report in chain(known.items(), _mapped(check, left, over_shards) if work is None else work(left)):
            reports[path] = numbers = replace(report, groups=())
            if journal is not None and path not in known:
                journal.add(path, facts[path], report)
            if finished is not None:
                finished(path, numbers)
            yield report

    try:
        known = {} if journal is None else journal.known(facts)
        found = total(done([path for path in shards if path not in known]))
        if journal is not None:
            journal.close(found, {path: reports[path] for path in sorted(shards)})
    finally:
        if journal is not None:
            journal.release()
    return found


def _mapped(check: Callable[[str], tuple[str, Report]], paths: list[str], threads: int) -> Iterator[tuple[str, Report]]:
    if threads == 1:
        yield from map(check, paths)
        return
    pool = ThreadPoolExecutor(threads)
    try:
        yield from pool.map(check, paths)
    finally:
        pool.shutdown(cancel_futures=True)


def _facts(path: str) -> list[int] | None:
    """Return facts about a file that change when it does."""
    try:
        facts = Path(path).stat()
    except OSError:
        return None
    return [facts.st_size, facts.st_mtime_ns]


class _Journal:
    """The shards that are done, in a file that grows."""

    def __init__(self, path: Path, tokenizer: AnyTokenizer, options: Options) -> None:
        self._path = path
        self._partial = path.with_name(f"{path.name}.partial")
        self._head = {"version": _VERSION, "tokenizer": tokenizer.fingerprint, "options": options._asdict()}
        self._lock = Lock()
        check_writable(path)
        self._rows = self._read()
        self._stream = self._partial.open("ab", buffering=0)
        if not self._rows and not self._partial.stat().st_size:
            self._write(self._head)

    def _read(self) -> dict[str, dict[str, Any]]:
        """Return the lines of a run before this one; incomplete lines, and runs of another kind, are dropped."""
        rows: dict[str, dict[str, Any]] = {}
        whole = 0
        with suppress(FileNotFoundError), self._partial.open("rb") as stream:
            for number, line in enumerate(stream):
                row = None
                with suppress(ValueError):
                    row = json.loads(line)
                if not line.endswith(b"\n") or not isinstance(row, dict) or (number == 0 and row != self._head):
                    break
                whole += len(line)
                if number:
                    rows[row["path"]] = row
            os.truncate(self._partial, whole)
        return rows

    def known(self, facts: dict[str, list[int] | None]) -> dict[str, Report]:
        """Return the reports of the shards that have not changed since."""
        same = (row for path, row in self._rows.items() if row["facts"] is not None and row["facts"] == facts.get(path))
        return {row["path"]: Report.from_dict(row["report"]) for row in same}

    def add(self, path: str, facts: list[int] | None, report: Report) -> None:
        """Record that a shard is done."""
        self._write({"path": path, "facts": facts, "report": report.to_dict()})

    def _write(self, row: dict[str, Any]) -> None:
        data = memoryview(json.dumps(row).encode() + b"\n")
        with self._lock:
            try:
                while data:
                    data = data[self._stream.write(data) :]
            except OSError as error:
                raise OSError(error.errno, error.strerror, str(self._partial)) from None

    def close(self, total: Report, reports: dict[str, Report]) -> None:
        """Write the report, and remove the intermediate file."""
        rows = [{"path": path, **_row(report)} for path, report in reports.items()]
        content = {**self._head, "report": total.to_dict(), "shards": rows}
        write_atomically(self._path, json.dumps(content, indent=1).encode() + b"\n")
        self._partial.unlink(missing_ok=True)

    def release(self) -> None:
        """Close the file."""
        self._stream.close()


def _row(report: Report) -> dict[str, Any]:
    """Return the entry of a shard in the report of a corpus."""
    return {
        "ids": report.ids,
        "documents": report.documents,
        "violations": report.violations,
        "broken": [f"{broken.where}: {broken.what}" for broken in report.broken],
    }

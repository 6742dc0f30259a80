"""All shards of a corpus on one machine: threads, and a report that survives being killed.

Notes
-----
While the run lasts, each finished shard is a line of ``FILE.partial``; a process that is killed loses at most the
shards that it was reading, and a line that is cut short is ignored. At the end the report is written to ``FILE``
atomically, and depends on nothing but the shards.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from tokdfa.base.atomic import check_writable, write_atomically
from tokdfa.base.journal import Journal, facts_of
from tokdfa.jobs.shards.check import Options, check_shard
from tokdfa.jobs.shards.report import Report, total
from tokdfa.kernels.pages import give_back
from tokdfa.tokenizers.protocol import AnyTokenizer

_VERSION = 2

Work: TypeAlias = "Callable[[list[str]], Iterable[tuple[str, Report]]]"
"""Checks shards, and yields the path of each with its report, in any order."""


class UnwrittenReportError(OSError):
    """The file of a report could not be written, for the disk is full, say; `report` has the findings all the same."""

    def __init__(self, error: OSError, report: Report) -> None:
        super().__init__(error.errno, error.strerror, error.filename)
        self.report = report


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
    process do. If the disk is full, all shards are checked all the same, and then an `UnwrittenReportError` has the
    answer.
    """
    options = Options() if options is None else options
    shards = [*dict.fromkeys(map(str, paths))]
    over_shards = threads if len(shards) >= threads else 1
    within = 1 if over_shards > 1 else threads
    facts = {path: facts_of(path) for path in shards}

    def check(path: str) -> tuple[str, Report]:
        report = check_shard(tokenizer, path, **options._asdict(), threads=within, advance=advance)
        return path, report

    head = {"version": _VERSION, "tokenizer": tokenizer.fingerprint, "options": options._asdict()}
    # Loading and hashing have freed some hundred megabytes.
    give_back()
    journal = None
    if report_path is not None:
        check_writable(report_path)
        journal = Journal(Path(report_path).with_name(f"{Path(report_path).name}.partial"), head)
    reports: dict[str, Report] = {}

    def done(left: list[str]) -> Iterator[Report]:
        """Yield the reports of all shards; only their numbers are kept."""
        for path, report in chain(known.items(), _mapped(check, left, over_shards) if work is None else work(left)):
            reports[path] = numbers = replace(report, groups=())
            if journal is not None and path not in known:
                # On a full disk it ends here, and is continued from here.
                with suppress(OSError):
                    journal.add({"path": path, "facts": facts[path], "report": report.to_dict()})
            if finished is not None:
                finished(path, numbers)
            yield report

    try:
        known = {} if journal is None else _known(journal, facts)
        found = total(done([path for path in shards if path not in known]))
        if journal is not None and report_path is not None:
            rows = [{"path": path, **_row(reports[path])} for path in sorted(shards)]
            content = {**head, "report": found.to_dict(), "shards": rows}
            try:
                write_atomically(report_path, json.dumps(content, indent=1).encode() + b"\n")
            except OSError as error:
                raise UnwrittenReportError(error, found) from None
            journal.path.unlink(missing_ok=True)
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


def _known(journal: Journal, facts: dict[str, list[int] | None]) -> dict[str, Report]:
    """Return the reports of the shards that were read to their end, and have not changed since."""
    reports = {row["path"]: Report.from_dict(row["report"]) for row in journal.rows}
    read_at = {row["path"]: row["facts"] for row in journal.rows}
    known = {path: report for path, report in reports.items() if not report.broken}
    return {path: report for path, report in known.items() if None is not read_at[path] == facts.get(path)}


def _row(report: Report) -> dict[str, Any]:
    """Return the entry of a shard in the report of a corpus."""
    return {
        "ids": report.ids,
        "documents": report.documents,
        "violations": report.violations,
        "broken": [f"{broken.where}: {broken.what}" for broken in report.broken],
    }

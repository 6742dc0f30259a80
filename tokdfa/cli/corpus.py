"""``tokdfa validate`` and ``tokdfa search --count`` over many files."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import click

from tokdfa.base.errors import TokdfaError
from tokdfa.base.verdict import cut_short
from tokdfa.cli.ids import Records, of_file
from tokdfa.cli.output import counted, print_json, remark, say, shown_ids
from tokdfa.stores.store import Problem

if TYPE_CHECKING:
    from tokdfa.cli.lattices import Lattices
    from tokdfa.jobs.shards.check import Options
    from tokdfa.jobs.shards.report import Finding, Group, Report
    from tokdfa.jobs.validation.violation import Violation
    from tokdfa.stores.store import Location
    from tokdfa.tokenizers.protocol import AnyTokenizer

_MOST_LINES = 10
_MOST_GROUPS = 100

T = TypeVar("T")
Found: TypeAlias = "tuple[Location, Violation]"
Advance = Callable[[int], object]
"""Takes the number of ids that are done, again and again."""


def is_of_files(path: str) -> bool:
    """Return whether a path stands for several files: a folder, or a pattern."""
    return Path(path).is_dir() or (bool(set("*?") & set(path)) and not Path(path).exists())


def corpus_options(dtype: str | None, field: str | None, documents: str | None, literal: bool, window: bool) -> Options:
    """Return the options of reading and judging several files."""
    from tokdfa.jobs.shards import check

    if documents not in (None, "none") and not (documents.isascii() and documents.isdecimal()):
        raise click.BadParameter(f"for several files it is an id or none, not {documents!r}", param_hint="--documents")
    separator = int(documents) if documents is not None and documents != "none" else documents
    return check.Options(dtype, field, separator, literal, window=window)


def validate_corpus(
    tokenizer: AnyTokenizer,
    paths: Sequence[str],
    options: Options,
    *,
    threads: int,
    report_path: str | None,
    cluster: str | None,
) -> tuple[Report, dict[str, Report], OSError | None]:
    """Validate all files, here or on a cluster; return the findings in all, in each, and why the report is missing."""
    from tokdfa.jobs.shards.run import UnwrittenReportError, check_shards
    from tokdfa.stores.opening import find_stores

    files = find_stores(paths, options.dtype, options.field)
    reports: dict[str, Report] = {}
    with progress(files) as (advance, done):

        def finished(path: str, report: Report) -> None:
            reports[path] = report
            if done is not None:
                done(path)

        if cluster is not None:
            from tokdfa.integrations.ray import check

            of_both = (advance, finished)
            check_all = partial(check, files, tokenizer, options, address=cluster, apart=True, progress=of_both)
        else:
            check_all = partial(check_shards, tokenizer, files, options, advance=advance, finished=finished)
        try:
            return check_all(threads=threads, report_path=report_path), reports, None
        except UnwrittenReportError as error:
            return error.report, reports, error


def violations_in(
    tokenizer: AnyTokenizer, path: str, options: Options, *, every: bool
) -> Iterator[tuple[Location, Violation]]:
    """Yield the first violation in a file, or every one, with where it is; none after damage."""
    from tokdfa.jobs.shards.stream import check_stream
    from tokdfa.jobs.validation.api import validate
    from tokdfa.stores.opening import open_shard

    with suppress(TokdfaError, OSError):
        store = open_shard(path, dtype=options.dtype, field=options.field)
        seen = Records(store)
        if every or store.has_documents or options.documents is not None:
            verdict, _ = check_stream(tokenizer, store, options, all=every, seen=seen.see)
        else:
            verdict = validate(tokenizer, seen.of(store.iter_chunks()), literal=options.literal, window=options.window)
        for violation in verdict.violations:
            yield seen.where(violation), violation


def _line(violation: Violation, where: Location, *, named: bool = False) -> str:
    """Return the line on a violation, with its file where that has records, or does not fit the tokenizer."""
    named = named or violation.kind.value == "id-out-of-range"
    is_in_record = where.unit not in ("token", "byte")
    place = f"{where}: " if is_in_record else f"{where.file}: " if named else ""
    canonical = "" if violation.canonical_ids is None else f", canonical {shown_ids(violation.canonical_ids)}"
    return (
        f"{place}token {violation.index}, byte {violation.byte_offset}: {violation.reason} "
        f"[from token {violation.start}: {shown_ids(violation.ids)}{canonical}]"
    )


def print_violations(found: Iterable[Found], lattices: Lattices | None, *, named: bool = False) -> None:
    """Print a line for each violation, `named` with its file, and the lattice around it, if that is asked for."""
    for where, violation in found:
        say(_line(violation, where, named=named))
        for line in () if lattices is None else lattices.lines(violation):
            say(line)


def print_answer(
    valid: bool | None, tokens: int, found: Iterable[Found], report: Report, lattices: Lattices | None
) -> None:
    """Print the answer as JSON."""
    violations = [
        where._asdict() | (violation.as_json() if lattices is None else lattices.as_json(violation))
        for where, violation in found
    ]
    # Of the groups, the largest.
    said = replace(report, groups=report.groups[:_MOST_GROUPS]).to_dict()
    print_json({"valid": valid, "tokens": tokens, "violations": violations, "report": said})


def print_findings(
    report: Report, found: Iterable[Found], lattices: Lattices | None, *, as_json: bool, every: bool
) -> int:
    """Print the findings in a corpus, with its first violation or every one, and return the exit status."""
    if as_json:
        valid = False if report.violations else None if report.broken else True
        print_answer(valid, report.ids, found, report, lattices)
    else:
        are_shown = every or lattices is not None
        print_violations(found if are_shown else (), lattices, named=True)
        _print(report, () if are_shown else report.first)
    if report.broken:
        remark(f"{counted(len(report.broken), 'file')} could not be read to the end")
        return 2
    return 0 if report else 1


def _print(report: Report, first: Sequence[Finding]) -> None:
    from tokdfa.jobs.validation.violation import ViolationKind

    for found in first:
        canonical = "" if found.canonical_ids is None else f", canonical {' '.join(map(str, found.canonical_ids))}"
        say(f"{found.file}, {_where(found)}: {found.reason} [{' '.join(map(str, found.ids))}{canonical}]")
    for broken in report.broken:
        say(f"broken: {broken.where}: {broken.what}")
    read = f"{counted(report.ids, 'id')} in {counted(report.documents, 'document')} of {counted(report.shards, 'file')}"
    print_causes(report)
    if not report.violations:
        say(f"{'canonical' if report else 'nothing else is wrong'}: {read}")
        return
    unknown = {ViolationKind.ID_OUT_OF_RANGE.value: report.out_of_range} if report.out_of_range else {}
    kinds = {**report.kinds, **unknown}
    rows = ", ".join(f"{kind} {count:,}" for kind, count in kinds.items())
    wrong = counted(report.wrong_documents, "wrong document")
    say(f"not canonical: {counted(report.violations, 'violation')} ({rows}), {wrong}")
    say(f"read: {read}")


def print_causes(report: Report) -> None:
    """Print the most frequent groups of equal violations, where in documents these are, and odd documents."""
    largest = [group for group in report.groups[:_MOST_LINES] if group.count > 1]
    for group in largest:
        say(_group_line(group))
    left = report.violations - sum(group.count for group in largest)
    if largest and left:
        say(f"{counted(left, 'other violation')}")
    if largest and report.groups_error:
        say(f"approximate: there were too many different violations; a count may be too low by {report.groups_error:,}")
    if report.violations > 1:
        say(f"by tenths of the documents: {' '.join(f'{count:,}' for count in report.tenths)}")
    odd = {
        "without a beginning": report.unbegun_documents,
        "without an end": report.unended_documents,
        "empty": report.empty_documents,
    }
    if report.documents > 1 and report.violations:
        found = ", ".join(f"{count:,} {what}" for what, count in odd.items() if count)
        say(f"documents: {report.documents:,}" + (f", of these {found}" if found else ""))


def _group_line(group: Group) -> str:
    """Return a line on equal violations: how many, which ids, the text around the first, the cause, and where it is."""
    canonical = "" if group.canonical_ids is None else f", canonical {shown_ids(group.canonical_ids)}"
    around = "|".join((group.before[-20:], cut_short(group.text, 40), group.after[:20]))
    cause = group.kind if group.merge is None else f"rule {group.rule} ({' + '.join(group.merge)})"
    ids = f"[{shown_ids(group.ids)}{canonical}]"
    return f"{group.count:,} times: {ids} in {around!r}, {cause}; first {group.file}, {_where(group)}"


def _where(found: Finding | Group) -> str:
    return f"token {found.token}" if found.unit == "token" else f"{found.unit} {found.number}, token {found.token}"


def count_in_files(files: Sequence[Path], threads: int, count: Callable[[Path, Advance], T]) -> tuple[list[T], bool]:
    """Return the counts of all files that could be read, and whether all could."""
    from concurrent.futures import ThreadPoolExecutor

    with progress(files) as (advance, finished), ThreadPoolExecutor(threads) as pool:

        def of(path: Path) -> tuple[T | None, str | None]:
            try:
                with of_file(path):
                    return count(path, advance or (lambda _: None)), None
            except TokdfaError as error:
                return None, str(error)
            except OSError as error:
                return None, str(Problem.of(error, path))
            finally:
                if finished is not None:
                    finished(str(path))

        found = [*pool.map(of, files)]
    for message in (message for _, message in found if message is not None):
        remark(message)
    sys.stderr.flush()
    return [each for each, _ in found if each is not None], all(message is None for _, message in found)


@contextmanager
def progress(
    paths: Sequence[Path], n_ids: int | None = None
) -> Iterator[tuple[Advance | None, Callable[[str], object] | None]]:
    """Show a bar over the bytes of files on stderr: how much is done, how fast, and the time left.

    The first function takes numbers of ids that are done, the second the path of a file that is done; there is neither
    for programs other than terminals. If the number of all ids is known, the bar is over ids.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield None, None
        return

    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    sizes = {str(path): path.stat().st_size if path.is_file() else 0 for path in paths}
    columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=n_ids or max(sum(sizes.values()), 1))
        began, lock, ids, done = monotonic(), Lock(), 0, 0

        def advance(n: int) -> None:
            nonlocal ids
            with lock:
                ids += n
                rate = ids / max(monotonic() - began, 1e-9) / 1e6
                said = f"{done:,} of {len(sizes):,} files, {rate:.1f} M ids/s, {ids:,} ids"
                bar.update(task, description=said, completed=ids if n_ids else None)

        def finished(path: str) -> None:
            nonlocal done
            with lock:
                done += 1
                bar.update(task, advance=0 if n_ids else sizes.get(path, 0))

        yield advance, finished

"""Replacing in many files: each is written in its own layout, whole or not at all; a stopped job is resumed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from tokdfa.base.arrays import Int32Array, Int64Array, IntegerArray
from tokdfa.base.atomic import Data, write_together
from tokdfa.base.errors import TokdfaError, TokenStreamError, UnsupportedFeatureError
from tokdfa.base.files import open_named
from tokdfa.base.journal import Journal, Row, head_of
from tokdfa.jobs.replacing.api import Replacer
from tokdfa.jobs.replacing.carrying import edited, located
from tokdfa.stores.opening import find_stores, open_shard
from tokdfa.stores.store import Problem, Store
from tokdfa.stores.writers import check_can_write, contents
from tokdfa.stores.writers.datasets import datasets_of, index_files, indices
from tokdfa.stores.writers.edit import Edited

JOURNAL = ".tokdfa-replace.partial"
"""The file in the output folder with the files that are done; it is removed when all are."""

_VERSION = 1


class Counts(NamedTuple):
    """Numbers of matches, documents and ids in a file, or in several."""

    matches: int = 0
    documents: int = 0  # Of streams without documents, none is counted
    changed_documents: int = 0
    tokens: int = 0
    new_tokens: int = 0

    def plus(self, other: Counts) -> Counts:
        """Return the sum."""
        return Counts(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


@dataclass(frozen=True)
class FilesReplaced:
    """The files that were written, by the path of the old one, and the errors of the others."""

    counts: dict[Path, Counts]
    errors: tuple[Problem, ...]

    @property
    def total(self) -> Counts:
        """The sums over all files."""
        total = Counts()
        for each in self.counts.values():
            total = total.plus(each)
        return total


class _Edit:
    """The replacing in one file, as its writer asks for it."""

    def __init__(self, replacer: Replacer, separator: int | None, advance: Callable[[int], object]) -> None:
        self._replacer = replacer
        self._separator = separator
        self._advance = advance
        self.counts = Counts()
        self.has_changes = False

    def documents(self, ids: IntegerArray, starts: Int64Array, where: str) -> Edited:
        """Return the new ids of whole documents."""
        with located(where):
            found = self._replacer.replace(ids, documents=starts)
        new = edited(ids, starts, found, where)
        self._add(Counts(found.count, len(starts), len(new.changed), len(ids), len(new.ids)), len(found.changes) > 0)
        return new

    def stream(self, chunks: Iterable[IntegerArray], where: str) -> Iterator[Int32Array]:
        """Yield the new ids of a stream."""
        with located(where):
            for part in self._replacer.iter_replaced(chunks, documents=self._separator):
                grown = part.changes.rows @ (1, -1, -1, 1)
                n_old = len(part.ids) - int(grown.sum())
                self._add(Counts(part.count, 0, 0, n_old, len(part.ids)), len(part.changes) > 0)
                yield part.ids

    def _add(self, counts: Counts, has_changes: bool) -> None:
        self.counts = self.counts.plus(counts)
        self.has_changes |= has_changes
        self._advance(counts.tokens)


class _Job:
    """The replacing in many files: where each is written, and how."""

    def __init__(
        self,
        replacer: Replacer,
        root: Path,
        output: Path,
        separator: int | None,
        advance: Callable[[int], object] | None,
    ) -> None:
        self._replacer = replacer
        self._root = root
        self._output = output
        self._separator = separator
        self._advance = advance or (lambda _: None)

    def target(self, path: Path) -> Path:
        """Return where a file, or a folder, is written."""
        return self._output / path.relative_to(self._root)

    def write(self, store: Store) -> Counts:
        """Write a store with other ids, or copy its files if there are none; refused if a file changes meanwhile."""
        folder = self.target(store.files[0]).parent
        folder.mkdir(parents=True, exist_ok=True)
        edit = _Edit(self._replacer, self._separator, self._advance)
        files: dict[str | Path, Data] = {}
        for number, (path, write) in enumerate(contents(store, edit, folder).items()):
            files[path] = partial(_write, write, store.files[number], edit, is_first=not number)
        last = [*files][-1]
        files[last] = partial(_write_and_check, files[last], store)
        write_together(files)
        return edit.counts


def _write(write: Any, old: Path, edit: _Edit, stream: BinaryIO, *, is_first: bool) -> None:
    # Whether there are changes is known after the first file, which has the ids.
    if is_first or edit.has_changes:
        write(stream)
    if not edit.has_changes:
        stream.seek(0)
        stream.truncate()
        with open_named(old) as source:
            shutil.copyfileobj(source, stream, 1 << 20)


def _write_and_check(write: Any, store: Store, stream: BinaryIO) -> None:
    write(stream)
    store.check_unchanged()


def replace_files(
    replacer: Replacer,
    paths: Sequence[str | Path],
    output: str | Path,
    *,
    description: Row,
    dtype: str | None = None,
    field: str | None = None,
    separator: int | None = None,
    threads: int = 1,
    resume: bool = False,
    advance: Callable[[int], object] | None = None,
    finished: Callable[[str], object] | None = None,
) -> FilesReplaced:
    """Replace in all stores under paths, and write each in its own layout to a folder.

    A file is there as a whole or not at all, whenever the process or the machine stops, and files without a change are
    copied. A file that cannot be read to its end, or changes meanwhile, is in the errors; the others are written. The
    index of a dataset is written when all its files are there.

    Parameters
    ----------
    replacer : Replacer
    paths : sequence of str or Path
        Files, folders and patterns, as :func:`tokdfa.stores.opening.find_stores` takes them.
    output : str or Path
        The folder. Files are at the same places in it as in the one folder that is given, or below the last folder that
        all files are in. Files of the same names are replaced.
    description : mapping
        The pattern and the options, for a later run that continues this one.
    dtype, field : str, optional
        See :func:`tokdfa.open_store`.
    separator : int, optional
        The id between the documents of stores that do not say where they begin.
    threads : int
        The number of files that are read at the same time.
    resume : bool
        Whether the folder has the files of a job that was stopped. Only files that are not there, or have changed
        since, are written.
    advance, finished : callable, optional
        Called with the number of ids that were read, again and again, and with the path of each file that is done.

    Raises
    ------
    UnsupportedFeatureError
        If a store cannot be written in its layout, before anything is written.
    TokenStreamError
        If the output is among the input; if only some files of a dataset are given; if there is nothing to resume.
    """
    files = find_stores(paths, dtype, field)
    root = _root(paths, files)
    output = Path(output)
    job = _Job(replacer, root, output, separator, advance)
    _check_apart(paths, files, job, output)
    stores, errors = _opened(files, dtype, field, separator)
    datasets = datasets_of(files, root)
    what = dict(description)
    reading = {"paths": [*map(str, paths)], "dtype": dtype, "field": field, "separator": separator}
    head = {"version": _VERSION, "tokenizer": replacer.tokenizer.fingerprint, "job": what, **reading}
    if resume and head_of(output / JOURNAL) != head:
        hint = "the same command resumes it; or write to another folder"
        raise TokenStreamError("there is no such job to resume", where=str(output), hint=hint)
    output.mkdir(parents=True, exist_ok=True)
    if not resume:
        # A dataset without its index is not read: old and new files may be mixed now.
        for old in (output / JOURNAL, *(job.target(index) for folder in datasets for index in index_files(folder))):
            old.unlink(missing_ok=True)
    journal = Journal(output / JOURNAL, head)
    try:
        done = _known(journal, job) if resume else {}

        def write(path: Path) -> tuple[Path, Counts | Problem]:
            store = stores[path]
            if path in done and done[path][0] == store.facts:
                return path, done[path][1]
            try:
                counts = job.write(store)
                journal.add({"path": str(path), "facts": store.facts, "counts": counts._asdict()})
            except (TokdfaError, OSError) as error:
                return path, Problem.of(error, path)
            finally:
                if finished is not None:
                    finished(str(path))
            return path, counts

        with ThreadPoolExecutor(threads) as pool:
            found = dict(pool.map(write, stores))
        counts = {path: each for path, each in found.items() if isinstance(each, Counts)}
        errors += [each for each in found.values() if isinstance(each, Problem)]
        errors += _finish(datasets, job, counts, repr(sorted(what.items())).encode())
    finally:
        journal.release()
    if not errors:
        journal.path.unlink()
    return FilesReplaced({path: counts[path] for path in files if path in counts}, tuple(errors))


def _root(paths: Sequence[str | Path], files: Sequence[Path]) -> Path:
    """Return the folder with the places that files keep in the output."""
    if len(paths) == 1 and Path(paths[0]).is_dir():
        return Path(paths[0])
    return Path(os.path.commonpath([file.parent for file in files]))


def _check_apart(paths: Sequence[str | Path], files: Sequence[Path], job: _Job, output: Path) -> None:
    """Refuse an output folder that is in one of the input, or would have the same files."""
    new = Path(os.path.realpath(output))
    inside = [
        path for path in map(os.path.realpath, paths) if Path(path).is_dir() and Path(path) in (new, *new.parents)
    ]
    if inside or any(os.path.realpath(job.target(file)) == os.path.realpath(file) for file in files):
        raise TokenStreamError("the output folder is among the input", where=str(output), hint="give another folder")


def _opened(
    files: Iterable[Path], dtype: str | None, field: str | None, separator: int | None
) -> tuple[dict[Path, Store], list[Problem]]:
    """Return the stores that can be written, and why others cannot be read."""
    found: dict[Path, Store] = {}
    errors: list[Problem] = []
    for path in files:
        try:
            store = open_shard(path, dtype=dtype, field=field)
        except (TokenStreamError, OSError) as error:
            errors.append(Problem.of(error, path))
            continue
        if store.problems:
            errors.append(store.problems[0])
            continue
        check_can_write(store)
        if separator is not None and store.has_documents:
            what = "the store says where documents begin, so no id that separates them is taken"
            raise UnsupportedFeatureError(what, value=separator, where=str(path))
        found[path] = store
    return found, errors


def _known(journal: Journal, job: _Job) -> dict[Path, tuple[Any, Counts]]:
    """Return the files that are done, with the facts about the old ones."""
    rows = ((Path(row["path"]), row) for row in journal.rows)
    return {path: (row["facts"], Counts(**row["counts"])) for path, row in rows if job.target(path).exists()}


def _finish(
    datasets: Mapping[Path, Sequence[Path]], job: _Job, done: Mapping[Path, Counts], what: bytes
) -> list[Problem]:
    """Write the indices of datasets, and return why some are not."""
    errors = []
    for folder, files in datasets.items():
        missing = [file for file in files if file not in done]
        if missing:
            why = f"the index of the dataset is not written: {len(missing)} of its {len(files)} files are missing"
            errors.append(Problem(str(folder), why))
            continue
        try:
            is_other = any(done[file].changed_documents for file in files)
            write_together(indices(folder, job.target(folder), what if is_other else None))
        except (TokdfaError, OSError) as error:
            errors.append(Problem.of(error, folder))
    return errors

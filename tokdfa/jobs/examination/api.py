"""The function `doctor`: reads the files, runs the groups of checks in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any

from tokdfa.base.budget import Budget
from tokdfa.jobs.examination.agreement import check_agreement
from tokdfa.jobs.examination.built import built_by_transformers
from tokdfa.jobs.examination.declared import Declared
from tokdfa.jobs.examination.decoding import check_clean_up, check_decoding
from tokdfa.jobs.examination.dictionary import check_dictionary
from tokdfa.jobs.examination.finding import Examination, Finding, Group, Severity, guarded
from tokdfa.jobs.examination.folder import Folder, Loaded, read_files, read_folder
from tokdfa.jobs.examination.ids import check_ids
from tokdfa.jobs.examination.special_tokens import check_special_tokens
from tokdfa.jobs.examination.tables import check_tables
from tokdfa.jobs.examination.template import check_templates
from tokdfa.tokenizers.formats.files import named
from tokdfa.tokenizers.loading import load
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["doctor"]

# The checks of the other files of a folder against its standard.
_OF_FOLDERS: dict[Group, Callable[[Loaded, Declared, Budget], Iterable[Finding]]] = {
    Group.IDS: lambda standard, declared, _: check_ids(standard, declared),
    Group.SPECIAL_TOKENS: lambda standard, declared, _: check_special_tokens(standard, declared),
    Group.DECODING: lambda standard, *_: check_decoding(standard),
    Group.UNICODE: lambda standard, _, budget: check_tables(standard, _time_left(budget)),
    Group.TEMPLATE: lambda standard, declared, budget: check_templates(standard, declared, _time_left(budget)),
}
# Seams, and tables of Unicode before them, are decided until this time after the beginning, and for the least time.
_SECONDS = 8.0
_LEAST_SECONDS = 0.5


def _time_left(budget: Budget) -> float:
    return max(budget.seconds_left, _LEAST_SECONDS)


def doctor(*sources: Any, progress: Callable[[str], object] | None = None) -> Examination:
    r"""Examine the files of a model: whether they agree with each other, and with what the tokenizer does.

    Parameters
    ----------
    *sources : str, Path or object
        Folders and files of one model; or tokenizers, as :func:`tokdfa.load` takes them.
    progress : callable, optional
        Called with the name of each group of checks.

    Returns
    -------
    Examination
        Truthy if there is no fault, and each check could be made.

    Raises
    ------
    OSError
        If a path does not exist, or a folder cannot be read.
    WrongTypeError
        If an object is not a tokenizer.

    Notes
    -----
    The files in a folder are read, not the files in its subfolders. The first tokenizer, ``tokenizer.json`` before
    all others, is the standard for the other files. Nothing is downloaded, and no code of the folder is run.

    Examples
    --------
    >>> import json, tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "merges.txt").write_text("#version: 0.2\nA k\ni t\nAk it\n")
    ...     _ = Path(folder, "config.json").write_text(json.dumps({"vocab_size": 250}))
    ...     found = tokdfa.doctor(folder)
    >>> [finding.sentence for finding in found.findings if finding.severity == "fault"]
    ["vocab_size is 250, but the tokenizer has 259 ids, the last is 'Akit'"]
    """
    budget = Budget(max_seconds=_SECONDS)
    folders = _folders(sources)
    tokenizers = [loaded for folder in folders for loaded in folder.tokenizers]
    findings: list[Finding] = [finding for folder in folders for finding in folder.findings]
    if tokenizers:
        where = tuple(loaded.name for loaded in tokenizers)
        findings.append(Finding(Group.FILES, "tokenizers read", Severity.OK, where, {"count": len(tokenizers)}))
    for group, make in _checks(folders, tokenizers, budget):
        if progress is not None:
            progress(str(group))
        findings += guarded(group, str(group), make)
    order = [str(group) for group in Group]
    findings.sort(key=lambda finding: order.index(finding.group))
    return Examination(tuple(findings), tuple(loaded.name for loaded in tokenizers))


def _checks(
    folders: list[Folder], tokenizers: list[Loaded], budget: Budget
) -> Iterator[tuple[Group, Callable[[], Iterable[Finding]]]]:
    """Yield the checks, first of all tokenizers, then of each folder."""
    yield Group.AGREEMENT, lambda: _agreement(folders, tokenizers)
    named = {text for folder in folders for text in folder.declared.special}
    yield Group.DICTIONARY, lambda: check_dictionary(tokenizers, named)
    for folder in folders:
        standard, declared = folder.standard, folder.declared
        if standard is None:
            continue
        for group, check in _OF_FOLDERS.items():
            yield group, lambda check=check, standard=standard, declared=declared: check(standard, declared, budget)  # type: ignore[misc]


def _agreement(folders: list[Folder], tokenizers: list[Loaded]) -> Iterator[Finding]:
    """Yield the findings about all tokenizers, and about the one that transformers builds of each folder."""
    yield from check_agreement(tokenizers)
    for folder in folders:
        built = None if folder.path is None else built_by_transformers(folder.path)
        found = built if isinstance(built, Loaded) else None
        if isinstance(built, Finding):
            yield built
        if folder.standard is None:
            continue
        if found is not None:
            yield from check_agreement([folder.standard, found])
        yield from check_clean_up(folder.standard, folder.declared, found)


def _folders(sources: tuple[Any, ...]) -> list[Folder]:
    """Return the folders, the files that are given as if they were a folder, and the tokenizers as another one."""
    paths = [Path(source) for source in sources if isinstance(source, (str, PathLike))]
    for path in paths:
        path.stat()  # An error names a path that does not exist.
    folders = [path for path in paths if path.is_dir()]
    root = folders[0] if len(folders) == len(paths) == 1 else None

    def label(path: Path) -> str:
        return path.name if path.parent == root else str(path)

    found = [read_folder(folder, label) for folder in folders]
    files = [path for path in paths if not path.is_dir()]
    if files:
        found.append(read_files(files, label))
    objects = [source for source in sources if not isinstance(source, (str, PathLike))]
    if objects:
        found.append(Folder(tokenizers=[_loaded(source) for source in objects]))
    return found


def _loaded(source: Any) -> Loaded:
    return Loaded(named(source), source if isinstance(source, AnyTokenizer) else load(source))

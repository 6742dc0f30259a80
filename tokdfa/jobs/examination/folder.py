"""The files of a folder, or some files: which are tokenizers, those loaded, and what the others declare."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, cast

from tokdfa.base.errors import FileFormatError, TokdfaError, UnsupportedFeatureError
from tokdfa.jobs.examination.declared import NAMES, Declared
from tokdfa.jobs.examination.finding import Finding, Group, Severity, reason_of
from tokdfa.jobs.templates.reading import JINJA, is_gguf
from tokdfa.tokenizers.formats.contents import Contents
from tokdfa.tokenizers.formats.reading import READ
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.tokenizer import Tokenizer, has_rules

# The names of tokenizers, the first ones are the standard for the other files; a pattern with a star is a suffix.
_TOKENIZERS: Final = (
    *("tokenizer.json", "tekken.json", "tokenizer.model", "tokenizer.model.v3", "*.model", "*.tiktoken"),
    *("merges.txt", "vocab.txt", "*.gguf"),
)
_MOST_FILES = 10_000
_MOST_SHARDS = 256


@dataclass(frozen=True, slots=True)
class Loaded:
    """A tokenizer, the name of its file, and the library that it follows.

    `borrows` is the name of the tokenizer whose treatment of texts it is given, because its file has only rules.
    `source` is the live object of another library that it was made of.
    """

    name: str
    tokenizer: AnyTokenizer
    path: Path | None = None
    borrows: str | None = None
    source: Any = None

    @property
    def library(self) -> str:
        """The library that defines what it does."""
        format = self.tokenizer.format
        return next((row.standard for row in READ if format in row.formats), format)


@dataclass(slots=True)
class Folder:
    """The files of a folder: its tokenizers, and what other files declare."""

    path: Path | None = None
    tokenizers: list[Loaded] = field(default_factory=list)
    declared: Declared = field(default_factory=Declared)
    findings: list[Finding] = field(default_factory=list)

    @property
    def standard(self) -> Loaded | None:
        """The tokenizer by which the other files are judged; None without one."""
        return self.tokenizers[0] if self.tokenizers else None

    def _try(self, kind: str, name: str, read: Callable[[], object]) -> bool:
        """Return whether a file was read; otherwise there is a finding: a fault if it is malformed."""
        try:
            read()
        except (TokdfaError, OSError) as error:
            is_refused = isinstance(error, UnsupportedFeatureError) or not isinstance(error, FileFormatError)
            severity = Severity.UNKNOWN if is_refused else Severity.FAULT
            values = {"reason": str(error) if isinstance(error, TokdfaError) else reason_of(error)}
            self.findings.append(Finding(Group.FILES, kind, severity, (name,), values))
            return False
        return True

    def load(self, paths: Iterable[tuple[str, Path]]) -> None:
        """Load tokenizers, the first ones first."""
        for name, path in paths:
            self._try("tokenizer not read", name, lambda name=name, path=path: self._load(name, path))  # type: ignore[misc]

    def _load(self, name: str, path: Path) -> None:
        from tokdfa.tokenizers.formats import read
        from tokdfa.tokenizers.loading import tokenizer_of

        contents: Any = read(path)
        standard = self.standard
        is_bare = isinstance(contents, Contents) and not contents.says_splitting
        if is_bare and standard is not None and has_rules(standard.tokenizer):
            self.tokenizers.append(Loaded(name, _borrowing(contents, standard.tokenizer), path, standard.name))
            return
        self.tokenizers.append(Loaded(name, tokenizer_of(contents, where=str(path)), path))

    def declare(self, files: Iterable[tuple[str, Path]]) -> None:
        """Read what other files declare."""
        for name, path in files:
            self._try("file not read", name, lambda name=name, path=path: self.declared.read(name, path))  # type: ignore[misc]


def _borrowing(contents: Contents, standard: Tokenizer) -> Tokenizer:
    """Return the tokenizer of rules that treats texts as another one does, special tokens included."""
    given = cast(Contents, standard.contents)
    borrowed = replace(
        contents,
        splitting=given.splitting,
        rewriting=given.rewriting,
        specials=given.specials,
        finds_specials=given.finds_specials,
        whole_piece=given.whole_piece,
        library=given.library,
    )
    return Tokenizer(borrowed, standard.pretokenizer)


def read_folder(path: Path, label: Callable[[Path], str]) -> Folder:
    """Read a folder, without its subfolders; `label` names its files."""
    files = {file: _why_unread(file) for file in _files(path)}
    folder = read_files([file for file, why in files.items() if why is None and file.is_file()], label, path)
    for file, why in files.items():
        if why is not None and _has_a_name(file):
            values = {"check": "this file", "reason": why}
            folder.findings.append(Finding(Group.FILES, "check not made", Severity.UNKNOWN, (label(file),), values))
    return folder


def read_files(files: list[Path], label: Callable[[Path], str], path: Path | None = None) -> Folder:
    """Read some files as if they were a folder."""
    folder = Folder(path)
    tokenizers = _tokenizers(files, is_folder=path is not None)
    folder.load((label(file), file) for file in tokenizers)
    weights = [file for file in files if file.suffix == ".safetensors"]
    others = [file for name in (*NAMES, JINJA) for file in files if file.name == name]
    ggufs = [file for file in tokenizers if file.suffix == ".gguf"]
    folder.declare((label(file), file) for file in [*others, *ggufs, *weights[:_MOST_SHARDS]])
    if not tokenizers:
        where = () if path is None else (label(path),)
        folder.findings.append(Finding(Group.FILES, "no tokenizer", Severity.UNKNOWN, where, {"files": len(files)}))
    if len(weights) > _MOST_SHARDS:
        values = {"check": "embedding rows", "reason": f"there are more than {_MOST_SHARDS} files of weights"}
        folder.findings.append(Finding(Group.FILES, "check not made", Severity.UNKNOWN, (), values))
    return folder


def _files(folder: Path) -> Iterator[Path]:
    found = []
    for number, file in enumerate(folder.iterdir()):
        if number >= _MOST_FILES:
            raise FileFormatError(f"more than {_MOST_FILES} files in this folder", where=str(folder))
        found.append(file)
    yield from sorted(found)


def _has_a_name(file: Path) -> bool:
    """Return whether a file has a name by which it would be read."""
    suffixes = (".safetensors", *(pattern[1:] for pattern in _TOKENIZERS if pattern[0] == "*"))
    return file.name in (*NAMES, JINJA, *_TOKENIZERS) or file.name.endswith(suffixes)


def _why_unread(file: Path) -> str | None:
    """Return why a file of a folder has nothing to read, as half a download leaves it; None if it may have."""
    if file.is_symlink() and not file.is_file() and not file.is_dir():
        return "the link leads to no file"
    is_empty = file.suffix == ".gguf" and file.is_file() and not file.stat().st_size
    return "the file is empty" if is_empty else None


def _tokenizers(files: list[Path], *, is_folder: bool) -> list[Path]:
    """Return the files that are tokenizers; of given files, all that are not known to be something else."""
    names = {file.name for file in files}
    found: dict[Path, None] = {}
    for pattern in _TOKENIZERS:
        for file in files:
            matches = file.name.endswith(pattern[1:]) if pattern[0] == "*" else file.name == pattern
            if matches and not _is_something_else(file, names):
                found[file] = None
    if not is_folder:
        known = (*NAMES, JINJA, "vocab.json")
        found |= dict.fromkeys(file for file in files if file.name not in known and file.suffix != ".safetensors")
    return [*found]


def _is_something_else(file: Path, names: set[str]) -> bool:
    """Return whether a file with the name of a tokenizer belongs to another one, or to the weights."""
    if file.name == "vocab.txt":
        return "merges.txt" in names
    if file.suffix != ".gguf":
        return False
    try:
        is_later_part = "-of-" in file.name and "-00001-of-" not in file.name
        return is_later_part or "mmproj" in file.name or not is_gguf(file)
    except OSError:
        return False  # Loading it says why.

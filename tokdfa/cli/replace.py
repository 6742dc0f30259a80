"""``tokdfa replace``: replace the matches of a pattern in the text of a stream of ids."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, TYPE_CHECKING, Any, TypedDict

import click

from tokdfa.base.files import read_named
from tokdfa.cli import options
from tokdfa.cli.corpus import is_of_files, progress
from tokdfa.cli.ids import check_ids_output, ids_and_documents, of_file, read_patterns, read_words
from tokdfa.cli.loading import Loading, load_tokenizer, tokenizer_options
from tokdfa.cli.output import counted, print_json, remark, say

if TYPE_CHECKING:
    from tokdfa.base.arrays import Int64Array
    from tokdfa.jobs.replacing.api import Replacer
    from tokdfa.jobs.replacing.files import Counts
    from tokdfa.jobs.replacing.result import Change, Replacement
    from tokdfa.tokenizers.protocol import AnyTokenizer


class Reading(TypedDict):
    """How several files are read."""

    dtype: str | None
    field: str | None
    separator: int | None
    resume: bool


# Bytes of new ids held in memory until all are known; any more waits on disk.
_MOST_IN_MEMORY = 1 << 26
_BLOCK = 1 << 22
_SHOWN = 60


def _new_file_or_folder(ctx: click.Context, parameter: click.Parameter, path: Any) -> Any:
    """Check a new file; a folder is checked when it is known that one is wanted."""
    return path if path is not None and _names_folder(path) else options.new_file(ctx, parameter, path)


@click.command("replace")
@click.argument("tok")
@click.argument("pattern_replacement_and_ids", nargs=-1, metavar="[PATTERN] [REPLACEMENT] IDS...")
@click.option(
    "-o",
    "--output",
    metavar="FILE|FOLDER",
    callback=_new_file_or_folder,
    help="Write the new ids to FILE, a .npy file, instead of showing the changes; or all files of IDS to FOLDER, each "
    "in its own format.",
)
@options.words
@click.option(
    "--patterns",
    metavar="FILE",
    help="Take the patterns and their replacements from FILE: a pattern, a tab and a replacement in each line.",
)
@click.option("--limit", type=options.AtLeast(0), metavar="N", help="Replace only the first N matches.")
@click.option("--check", is_flag=True, help="Stop with an error where IDS are not canonical.")
@options.documents
@click.option(
    "--starts",
    metavar="FILE",
    callback=options.new_file,
    help="Write the index of the first new token of each document to FILE, a .npy file.",
)
@options.force
@click.option("--resume", is_flag=True, help="Continue to write a FOLDER after the same command was stopped.")
@options.threads
@options.dtype
@options.field
@tokenizer_options
@options.max_seconds
@options.json
def command(
    tok: str,
    pattern_replacement_and_ids: tuple[str, ...],
    output: str | None,
    words: str | None,
    patterns: str | None,
    limit: int | None,
    check: bool,
    documents: str | None,
    starts: str | None,
    resume: bool,
    threads: int | None,
    dtype: str | None,
    field: str | None,
    loading: Loading,
    max_seconds: float,
    as_json: bool,
) -> int:
    r"""Replace a regular expression in ids: every match of PATTERN in the text of IDS becomes REPLACEMENT.

    If IDS are canonical, the new ids are what TOK gives for the new text. Only the surroundings of matches are encoded
    again.

    Matches are the leftmost ones that a backtracking engine finds first, cut at control tokens. In REPLACEMENT \1 and
    \g<name> are groups of PATTERN, \g<0> is the match, and a backslash is written \\.

    If IDS have documents, each is a text of its own.

    Without -o nothing is written, and each line shows one change: the
    old tokens and their text, the new tokens and their text.

    IDS may be several files, folders and patterns; then -o is a folder,
    and each line shows one file. Other columns stay, and masks are
    carried over.

    Exit status: 0 done, even without a match, 2 trouble.

    \b
    Examples:
      tokdfa replace tokenizer.json "colour" "color" ids.npy
      tokdfa replace tokenizer.json "[0-9]{16}" "<card>" shards/ -o new/
    """
    from tokdfa.jobs.replacing.api import Replacer

    if words is not None and patterns is not None:
        raise click.UsageError("give --words or --patterns, not both")
    n_before = 0 if patterns is not None else 1 if words is not None else 2
    if len(pattern_replacement_and_ids) <= n_before:
        raise click.UsageError(
            "give TOK, PATTERN, REPLACEMENT and IDS, in this order; or TOK, REPLACEMENT, IDS and --words FILE; "
            "or TOK, IDS and --patterns FILE"
        )
    given, paths = pattern_replacement_and_ids[:n_before], pattern_replacement_and_ids[n_before:]
    is_of_many = len(paths) > 1 or is_of_files(paths[0]) or (output is not None and _names_folder(output))
    if is_of_many:
        _check_many(output, limit, starts, documents, resume=resume)
    elif threads is not None or resume:
        raise click.UsageError("--threads and --resume are for several files")
    for option, path in (("-o", output), ("--starts", starts)):
        if path is not None and not is_of_many:
            check_ids_output(path, option)
    tokenizer = load_tokenizer(tok, loading)
    replacement: str | None = None
    searched: str | list[bytes] | dict[str, str]
    if patterns is not None:
        searched = read_patterns(patterns, "replacement")
    else:
        searched, replacement = given[0] if words is None else read_words(words), given[-1]
    replacer = Replacer(tokenizer, searched, replacement, limit=limit, check=check, max_seconds=max_seconds)
    if is_of_many:
        assert output is not None
        what: dict[str, object] = {
            "given": given,
            "words": _text_of(words),
            "patterns": _text_of(patterns),
            "check": check,
        }
        reading: Reading = {"dtype": dtype, "field": field, "separator": _separator(documents), "resume": resume}
        return _replace_files(replacer, paths, output, what, reading, threads or os.cpu_count() or 1, as_json)
    ids = paths[0]
    stream, where, _ = ids_and_documents(ids, dtype, field, documents)
    if starts is not None and (where is None or isinstance(where, int)):
        raise click.UsageError("--starts is for IDS whose documents are given by their first tokens")
    if output is not None and starts is None and where is not None and not isinstance(where, int) and len(where) > 1:
        remark(f"{output} is one stream of {len(where):,} documents; --starts FILE writes where each begins")
    with SpooledTemporaryFile(max_size=_MOST_IN_MEMORY, mode="w+b") as spool:
        answer = _Answer(tokenizer, spool if output is not None else None, shows=output is None and not as_json)
        with of_file(ids):
            for part in replacer.iter_replaced(stream, documents=where):
                answer.take(part)
        if output is not None:
            _write(output, spool, answer.n_new, starts, answer.starts)
        elif starts is not None:
            _write(None, spool, 0, starts, answer.starts)
    if as_json:
        fields: dict[str, object] = {"count": answer.count, "tokens": answer.n_old, "new_tokens": answer.n_new}
        if output is None:
            fields["changes"] = [change._asdict() for change in answer.changes]
        else:
            fields["path"] = output
        print_json(fields)
    else:
        target = "" if output is None else f": {output}"
        say(
            f"{answer.count:,} match{'es' * (answer.count != 1)} replaced, "
            f"{counted(answer.n_old, 'token')} became {answer.n_new:,}{target}"
        )
    return 0


def _text_of(path: str | None) -> str | None:
    return None if path is None else read_named(path).decode("latin-1")


def _names_folder(path: str) -> bool:
    return Path(path).is_dir() or path.endswith(os.sep)


def _separator(documents: str | None) -> int | None:
    if documents is not None and not (documents.isascii() and documents.isdecimal()):
        raise click.BadParameter(f"for several files it is an id, not {documents!r}", param_hint="--documents")
    return None if documents is None else int(documents)


def _check_many(
    output: str | None, limit: int | None, starts: str | None, documents: str | None, *, resume: bool
) -> None:
    """Refuse options that are for one file, and a folder that exists."""
    if output is None:
        raise click.UsageError("give -o FOLDER for several files; without -o the changes of one file are shown")
    for option, value in (("--limit", limit), ("--starts", starts)):
        if value is not None:
            raise click.UsageError(f"{option} is for one file")
    _separator(documents)
    folder = Path(output)
    if folder.exists() and not folder.is_dir():
        raise click.UsageError(f"-o {output}: it is a file, and several files are written to a folder")
    if folder.is_dir() and any(folder.iterdir()) and not resume and not options.is_forced():
        what = "the folder exists; --force replaces the files in it, --resume continues a job that was stopped"
        raise click.UsageError(f"-o {output}: {what}")


def _replace_files(
    replacer: Replacer,
    paths: tuple[str, ...],
    output: str,
    what: dict[str, object],
    reading: Reading,
    threads: int,
    as_json: bool,
) -> int:
    """Replace in all files, print the changes of each, and return the exit status."""
    from tokdfa.jobs.replacing.files import replace_files
    from tokdfa.stores.opening import find_stores

    description = {name: [*value] if isinstance(value, tuple) else value for name, value in what.items()}
    with progress(find_stores(paths)) as (advance, finished):
        done = replace_files(
            replacer,
            paths,
            output,
            description=description,
            threads=threads,
            advance=advance,
            finished=finished,
            dtype=reading["dtype"],
            field=reading["field"],
            separator=reading["separator"],
            resume=reading["resume"],
        )
    total = done.total
    if as_json:
        rows = [{"path": str(path), **_counts(counts)} for path, counts in done.counts.items()]
        errors = [{"path": error.where, "error": error.what} for error in done.errors]
        print_json({**_counts(total), "path": output, "files": rows, "errors": errors})
    else:
        for path, counts in done.counts.items():
            say(f"{path}: {_sentence(counts)}")
        say(f"{counted(len(done.counts), 'file')}: {_sentence(total)}: {output}")
    for error in done.errors:
        remark(str(error))
    if done.errors:
        remark(f"{counted(len(done.errors), 'file')} could not be written; --resume tries these again")
    return 2 if done.errors else 0


def _counts(counts: Counts) -> dict[str, object]:
    return {
        "count": counts.matches,
        "documents": counts.documents,
        "changed_documents": counts.changed_documents,
        "tokens": counts.tokens,
        "new_tokens": counts.new_tokens,
    }


def _sentence(counts: Counts) -> str:
    of = f"in {counts.changed_documents:,} of {counted(counts.documents, 'document')}" if counts.documents else ""
    matches = f"{counts.matches:,} match{'es' * (counts.matches != 1)} replaced"
    return f"{matches}{' ' * bool(of)}{of}, {counted(counts.tokens, 'token')} became {counts.new_tokens:,}"


class _Answer:
    """The answer so far: counts, changes and starts of documents; new ids go to the spool."""

    def __init__(self, tokenizer: AnyTokenizer, spool: IO[bytes] | None, *, shows: bool) -> None:
        self._tokenizer = tokenizer
        self._spool = spool
        self._shows = shows
        self.count = self.n_new = self.n_old = 0
        self.changes: list[Change] = []
        self.starts: list[int] = []

    def take(self, part: Replacement) -> None:
        """Take the next part of the new ids."""
        self.count += part.count
        self.n_new += len(part.ids)
        rows = part.changes.rows
        grown = int((rows[:, 3] - rows[:, 2] - rows[:, 1] + rows[:, 0]).sum())
        self.n_old += len(part.ids) - grown
        if part.starts is not None:
            self.starts += part.starts.tolist()
        if self._spool is not None:
            self._spool.write(part.ids.tobytes())
        elif self._shows:
            if len(part.changes):
                say("\n".join(map(self._line, part.changes)))
        else:
            self.changes += part.changes

    def _line(self, change: Change) -> str:
        old, new = self._text(change.ids), self._text(change.new_ids)
        where = f"tokens {change.start}-{change.stop}, new tokens {change.new_start}-{change.new_stop}"
        return f"{where}: {old} → {new}"

    def _text(self, ids: tuple[int, ...]) -> str:
        """Return the text of ids on one line, shortened."""
        shown = b"".join(map(self._tokenizer.name_of, ids)).decode("utf-8", "replace")
        return repr(shown) if len(shown) <= _SHOWN else f"{shown[:_SHOWN]!r} … ({len(ids):,} tokens)"


def _write(path: str | None, spool: IO[bytes], n_ids: int, starts_path: str | None, starts: list[int]) -> None:
    """Write the new ids, and where documents begin in them."""
    import numpy as np

    from tokdfa.base.atomic import Data, write_together
    from tokdfa.stores.raw import npy_file, npy_header

    def blocks() -> Iterator[bytes]:
        yield npy_header(np.dtype(np.int32), n_ids)
        spool.seek(0)
        while block := spool.read(_BLOCK):
            yield block

    contents: dict[str | Path, Data] = {}
    if path is not None:
        contents[path] = blocks()
    if starts_path is not None:
        known: Int64Array = np.array(starts, dtype=np.int64)
        contents[starts_path] = npy_file(known)
    write_together(contents)

"""``tokdfa replace``: replace the matches of a pattern in the text of a stream of ids."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, TYPE_CHECKING

import click

from tokdfa.cli import options
from tokdfa.cli.ids import check_ids_output, ids_and_documents, of_file, read_words
from tokdfa.cli.loading import Loading, load_tokenizer, tokenizer_options
from tokdfa.cli.output import counted, print_json, remark, say

if TYPE_CHECKING:
    from tokdfa.base.arrays import Int64Array
    from tokdfa.jobs.replacing.result import Change, Replacement
    from tokdfa.tokenizers.protocol import AnyTokenizer

# Bytes of new ids held in memory until all are known; any more waits on disk.
_MOST_IN_MEMORY = 1 << 26
_BLOCK = 1 << 22
_SHOWN = 60


@click.command("replace")
@click.argument("tok")
@click.argument("pattern_replacement_and_ids", nargs=-1, metavar="[PATTERN] REPLACEMENT IDS")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    callback=options.new_file,
    help="Write the new ids to FILE, a .npy file, instead of showing the changes.",
)
@options.words
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
    limit: int | None,
    check: bool,
    documents: str | None,
    starts: str | None,
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

    Exit status: 0 done, even without a match, 2 trouble.

    \b
    Examples:
      tokdfa replace tokenizer.json "colour" "color" ids.npy
      tokdfa replace tokenizer.json "[0-9]{16}" "<card>" ids.npy -o new.npy
    """
    n_given = 2 if words is not None else 3
    if len(pattern_replacement_and_ids) != n_given:
        raise click.UsageError(
            "give TOK, PATTERN, REPLACEMENT and IDS, in this order; or TOK, REPLACEMENT, IDS and --words FILE"
        )
    *pattern, replacement, ids = pattern_replacement_and_ids
    from tokdfa.jobs.replacing.api import Replacer

    for option, path in (("-o", output), ("--starts", starts)):
        if path is not None:
            check_ids_output(path, option)
    tokenizer = load_tokenizer(tok, loading)
    searched = pattern[0] if words is None else read_words(words)
    replacer = Replacer(tokenizer, searched, replacement, limit=limit, check=check, max_seconds=max_seconds)
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

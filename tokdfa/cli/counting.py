"""``tokdfa search`` with --count: tables of counts in many files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from tokdfa.cli.corpus import count_in_files
from tokdfa.cli.output import counted, print_json, print_table, say

if TYPE_CHECKING:
    from rich.table import Table

    from tokdfa.base.arrays import IntegerArray
    from tokdfa.cli.corpus import Advance
    from tokdfa.jobs.searching.api import Searcher
    from tokdfa.jobs.searching.counting import Counts
    from tokdfa.stores.store import Chunk, Store

T = TypeVar("T")


class Corpus:
    """The files to count in, or standard input, and how to read them."""

    def __init__(self, paths: Sequence[str], dtype: str | None, field: str | None, threads: int | None) -> None:
        self.paths = paths
        self._dtype, self._field = dtype, field
        self.threads = threads or os.cpu_count() or 1

    @cached_property
    def files(self) -> list[Path]:
        """The files; one named - is standard input."""
        if tuple(self.paths) == ("-",):
            return [Path("-")]
        from tokdfa.stores.opening import find_stores

        return find_stores(self.paths, self._dtype, self._field)

    def count(self, count: Callable[[Path, Advance], T], threads: int | None = None) -> tuple[list[T], bool]:
        """Return the counts of all files that could be read, and whether all could."""
        if str(self.files[0]) == "-":
            return [count(Path("-"), lambda _: None)], True
        return count_in_files(self.files, threads or self.threads, count)

    def store(self, path: Path) -> Store:
        """Return a file that is open, and without problems."""
        from tokdfa.stores import consistent
        from tokdfa.stores.opening import open_shard

        return consistent(open_shard(path, dtype=self._dtype, field=self._field))

    def chunks(self, path: Path) -> Iterator[Chunk]:
        """Yield the chunks of a file, with its documents."""
        from tokdfa.stores import iter_ids
        from tokdfa.stores.store import Chunk

        if str(path) == "-":
            return map(Chunk, iter_ids(path, dtype=self._dtype, field=self._field))
        return self.store(path).read()


def say_count(count: int, as_json: bool) -> None:
    """Print a number of matches."""
    say(f'{{"count": {count}}}' if as_json else f"{count:,}")


def print_count(searcher: Searcher, corpus: Corpus, as_json: bool) -> int:
    """Print the number of matches in all files, and return the exit status."""

    def matches(path: Path, advance: Advance) -> int:
        def chunks() -> Iterator[IntegerArray]:
            for chunk in corpus.chunks(path):
                if len(chunk.ids):
                    yield chunk.ids
                    advance(len(chunk.ids))

        return sum(map(len, searcher.iter_matches(chunks())))

    counts, is_whole = corpus.count(matches)
    say_count(sum(counts), as_json)
    return 2 if not is_whole else 0 if sum(counts) else 1


def print_words(
    searcher: Searcher, kind: Literal["word", "name"], words: list[bytes] | list[str], corpus: Corpus, as_json: bool
) -> int:
    """Print how often each word, or each name of patterns, occurs in all files, and return the exit status."""
    from rich.text import Text

    from tokdfa.jobs.searching.counting import add_counts, count_words

    def counts_of(path: Path, advance: Advance) -> Counts:
        return count_words(searcher, corpus.chunks(path), advance)

    counts, is_whole = corpus.count(counts_of)
    total: Counts = reduce(add_counts, counts, {})
    count = sum(row[0] for row in total.values())
    shown = {word: total.get(word, [0, 0, 0]) for word in words}
    if as_json:
        names = ("count", "documents", "files")
        rows = [{kind: printable(word), **dict(zip(names, row, strict=True))} for word, row in shown.items()]
        print_json({"total": count, f"{kind}s": rows})
    else:
        table = table_of(kind, "matches", "documents", "files")
        for word, row in sorted(shown.items(), key=lambda item: -item[1][0]):
            if row[0]:
                table.add_row(Text(printable(word)), *(f"{n:,}" for n in row))
        print_table(table)
        matches = f"{count:,} match{'es' * (count != 1)}"
        say(f"{matches} of {len(total):,} of {counted(len(shown), kind)}")
    return 2 if not is_whole else 0 if count else 1


def table_of(name: str, *numbers: str) -> Table:
    """Return a table of a name and numbers, and of a text if there is one."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column(name, overflow="fold")
    for title in numbers:
        table.add_column(title, justify="left" if title == "text" else "right")
    return table


def printable(word: bytes | str) -> str:
    r"""Return a text; bytes that are not UTF-8 as in ``\xff``."""
    if isinstance(word, str):
        word = word.encode("utf-8", "surrogateescape")
    return word.decode("utf-8", "backslashreplace")

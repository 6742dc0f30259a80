"""``tokdfa search`` with --count or --ngrams: tables of counts in many files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tokdfa.base.errors import TokenStreamError
from tokdfa.cli.corpus import count_in_files
from tokdfa.cli.ids import read_text
from tokdfa.cli.output import counted, print_json, print_table, remark, say

if TYPE_CHECKING:
    from rich.table import Table

    from tokdfa.base.arrays import IntegerArray
    from tokdfa.cli.corpus import Advance
    from tokdfa.jobs.searching.api import Searcher
    from tokdfa.jobs.searching.counting import Counts
    from tokdfa.jobs.searching.ngrams import WordRule
    from tokdfa.stores.store import Chunk
    from tokdfa.tokenizers.protocol import AnyTokenizer

T = TypeVar("T")
_SHOWN = 60


class Corpus:
    """The files to count in, or standard input, and how to read them."""

    def __init__(self, paths: Sequence[str], dtype: str | None, field: str | None, threads: int | None) -> None:
        self.paths = paths
        self._dtype, self._field = dtype, field
        self._threads = threads or os.cpu_count() or 1

    def count(self, count: Callable[[Path, Advance], T]) -> tuple[list[T], bool]:
        """Return the counts of all files that could be read, and whether all could."""
        if tuple(self.paths) == ("-",):
            return [count(Path("-"), lambda _: None)], True
        from tokdfa.stores.opening import find_stores

        return count_in_files(find_stores(self.paths, self._dtype, self._field), self._threads, count)

    def chunks(self, path: Path) -> Iterator[Chunk]:
        """Yield the chunks of a file, with its documents."""
        from tokdfa.stores import consistent, iter_ids
        from tokdfa.stores.opening import open_shard
        from tokdfa.stores.store import Chunk

        if str(path) == "-":
            return map(Chunk, iter_ids(path, dtype=self._dtype, field=self._field))
        return consistent(open_shard(path, dtype=self._dtype, field=self._field)).read()


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
    searcher: Searcher, words: list[bytes], name_of: Callable[[bytes], bytes] | None, corpus: Corpus, as_json: bool
) -> int:
    """Print how often each word, or each name of patterns, occurs in all files, and return the exit status."""
    from rich.text import Text

    from tokdfa.jobs.searching.counting import add_counts, count_words

    def counts_of(path: Path, advance: Advance) -> Counts:
        return count_words(searcher, corpus.chunks(path), advance, name_of or bytes)

    kind = "word" if name_of is None else "name"
    counts, is_whole = corpus.count(counts_of)
    total: Counts = reduce(add_counts, counts, {})
    count = sum(row[0] for row in total.values())
    shown = {word: total.get(word, [0, 0, 0]) for word in words}
    if as_json:
        names = ("count", "documents", "files")
        rows = [{kind: printable(word), **dict(zip(names, row, strict=True))} for word, row in shown.items()]
        print_json({"total": count, f"{kind}s": rows})
    else:
        table = _table(kind, "matches", "documents", "files")
        for word, row in sorted(shown.items(), key=lambda item: -item[1][0]):
            if row[0]:
                table.add_row(Text(printable(word)), *(f"{n:,}" for n in row))
        print_table(table)
        matches = f"{count:,} match{'es' * (count != 1)}"
        say(f"{matches} of {len(total):,} of {counted(len(shown), kind)}")
    return 2 if not is_whole else 0 if count else 1


def print_ngrams(
    tokenizer: AnyTokenizer,
    items_path: str,
    item_field: str | None,
    n: int,
    rule: WordRule,
    corpus: Corpus,
    as_json: bool,
) -> int:
    """Print which items of a file have n-grams in the files, and return the exit status."""
    from tokdfa.jobs.searching.ngrams import NgramCounter

    items = read_items(items_path, item_field)
    counter = NgramCounter(tokenizer, [*items.values()], n, rule)
    totals = counter.totals()

    def counts_of(path: Path, advance: Advance) -> None:
        counter.add(totals, counter.count(corpus.chunks(path), advance))

    _, is_whole = corpus.count(counts_of)
    found = dict(zip(items, counter.found_items(totals), strict=True))
    n_found = sum(item.found > 0 for item in found.values())
    short = sum(item.ngrams == 0 for item in found.values())
    if as_json:
        rows = [
            {"line": line, "contaminated": item.found > 0, "share": item.share, **asdict(item)}
            for line, item in found.items()
        ]
        ngrams = [asdict(each) for each in counter.found_ngrams(totals)]
        print_json({"n": n, "rule": rule, "contaminated": n_found, "items": rows, "ngrams": ngrams})
    else:
        table = _table("item", "n-grams found", "share", "documents", "files", "text")
        for line, item in sorted(found.items(), key=lambda row: -(row[1].share or 0)):
            if item.found:
                numbers = (
                    f"{item.found:,} of {item.ngrams:,}",
                    f"{item.share:.0%}",
                    f"{item.documents:,}",
                    f"{item.files:,}",
                )
                table.add_row(f"line {line:,}", *numbers, _shortened(items[line]))
        print_table(table)
        say(f"{n_found:,} of {counted(len(found), 'item')} contaminated, by {n}-grams of {rule} words")
    if short:
        remark(f"{counted(short, 'item')} with fewer than {n} words: not looked for")
    return 2 if not is_whole else 0 if n_found else 1


def read_items(path: str, field: str | None) -> dict[int, str]:
    """Return the items in a file by their lines: a field of each record of JSONL, or the lines; blank ones left out."""
    lines = {number: line for number, line in enumerate(read_text(None, path).split("\n"), start=1) if line.strip()}
    if field is None and Path(path).suffix.lower() not in (".jsonl", ".ndjson"):
        return lines
    return {number: _item_of(line, field, f"{path}, line {number}") for number, line in lines.items()}


def _item_of(line: str, field: str | None, where: str) -> str:
    """Return the item in a record: the field that is given, the field "text", or the only one with a text."""
    from tokdfa.stores.store import value_of

    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise TokenStreamError("a line is not JSON", value=line, where=where) from None
    texts = [name for name, value in record.items() if isinstance(value, str)] if isinstance(record, dict) else []
    if field is None:
        field = "text" if "text" in texts else texts[0] if len(texts) == 1 else None
    if field is None:
        hint = f"give --item-field; texts are {', '.join(texts)}" if texts else None
        raise TokenStreamError("it is not clear which field has the item", where=where, hint=hint)
    value = value_of(record, field, where)
    if not isinstance(value, str):
        raise TokenStreamError("the item is not a text", value=value, where=where)
    return value


def _table(name: str, *numbers: str) -> Table:
    """Return a table of a name and numbers, and of a text if there is one."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column(name, overflow="fold")
    for title in numbers:
        table.add_column(title, justify="left" if title == "text" else "right")
    return table


def printable(word: bytes) -> str:
    r"""Return a text; bytes that are not UTF-8 as in ``\xff``."""
    return word.decode("utf-8", "backslashreplace")


def _shortened(text: str) -> str:
    shown = " ".join(text.split())
    return shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 1]}…"

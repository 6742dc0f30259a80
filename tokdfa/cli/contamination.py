"""``tokdfa search --ngrams``: which items of an evaluation have n-grams in many files of ids."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from tokdfa.base.errors import TokenStreamError
from tokdfa.cli.counting import Corpus, table_of
from tokdfa.cli.ids import read_text
from tokdfa.cli.output import counted, print_json, print_table, remark, say

if TYPE_CHECKING:
    from tokdfa.cli.corpus import Advance
    from tokdfa.jobs.searching.ngrams import FoundItem, NgramCounter, Totals

_SHOWN = 60


def print_ngrams(counter: NgramCounter, items: dict[int, str], corpus: Corpus, as_json: bool) -> int:
    """Print which items, by their lines, have n-grams in the files, and return the exit status."""
    totals, is_whole = _count(counter, corpus)
    found = dict(zip(items, counter.found_items(totals), strict=True))
    n_found = sum(item.found > 0 for item in found.values())
    units = "ids" if counter.rule == "ids" else "words"
    if as_json:
        rows = [
            {"line": line, "contaminated": item.found > 0, "share": item.share, **asdict(item)}
            for line, item in found.items()
        ]
        ngrams = [
            {name: value for name, value in asdict(each).items() if value is not None}
            for each in counter.found_ngrams(totals)
        ]
        print_json({"n": counter.n, "rule": counter.rule, "contaminated": n_found, "items": rows, "ngrams": ngrams})
    else:
        _print_items(items, found)
        told = units if counter.rule == "ids" else f"{counter.rule} {units}"
        say(f"{n_found:,} of {counted(len(found), 'item')} contaminated, by {counter.n}-grams of {told}")
    if short := sum(item.ngrams == 0 for item in found.values()):
        remark(f"{counted(short, 'item')} with fewer than {counter.n} {units}: not looked for")
    if changed := [line for line, text in items.items() if counter.changes(text)]:
        others = f", as are {counted(len(changed) - 1, 'other')}" if len(changed) > 1 else ""
        remark(
            f"the words of the item in line {changed[0]} are changed by encoding and decoding{others}: ids seldom have "
            "such words (--rule ids looks for the ids of items)"
        )
    return 2 if not is_whole else 0 if n_found else 1


def _count(counter: NgramCounter, corpus: Corpus) -> tuple[Totals, bool]:
    """Return the totals of all files that could be read, and whether all could."""
    totals = counter.totals()
    # The threads are over files, or over parts of each if there are fewer files.
    within = corpus.threads if len(corpus.files) < corpus.threads else 1

    def count(path: Path, advance: Advance) -> None:
        if str(path) == "-":
            found = counter.count(corpus.chunks(path))
        else:
            found = counter.count_store(corpus.store(path), within, advance)
        counter.add(totals, found)

    return totals, corpus.count(count, corpus.threads // within)[1]


def _print_items(items: dict[int, str], found: dict[int, FoundItem]) -> None:
    """Print the table of the contaminated items."""
    table = table_of("item", "n-grams found", "share", "documents", "files", "text")
    for line, item in sorted(found.items(), key=lambda row: -(row[1].share or 0)):
        if item.found:
            shown = " ".join(items[line].split())
            table.add_row(
                f"line {line:,}",
                f"{item.found:,} of {item.ngrams:,}",
                f"{item.share:.0%}",
                f"{item.documents:,}",
                f"{item.files:,}",
                shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 1]}…",
            )
    print_table(table)


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

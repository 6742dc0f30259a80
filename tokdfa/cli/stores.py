"""``tokdfa stores``: facts about files of ids."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tokdfa.base.errors import TokdfaError
from tokdfa.cli import options
from tokdfa.cli.output import print_fields, print_json, print_table, say

if TYPE_CHECKING:
    from tokdfa.stores.store import Store


@click.command("stores")
@click.argument("paths", type=options.NamedPath(), nargs=-1, required=True, metavar="PATH...")
@options.dtype
@options.field
@options.json
def command(paths: tuple[str, ...], dtype: str | None, field: str | None, as_json: bool) -> int:
    r"""Describe files of ids: format, type, counts and inconsistencies.

    Of several files, a table has a line for each format and type; --json has each file. A file that does not record its
    number of ids is read to the end. The type of integers is guessed, by their bytes, where nothing records it.

    Exit status: 0 consistent, 1 something is inconsistent, 2 trouble.

    \b
    Examples:
      tokdfa stores ids.npy
      tokdfa stores 'shards/*.bin' --dtype uint16
    """
    return describe_stores(paths, dtype, field, as_json=as_json)


def is_store(path: str) -> bool:
    """Return whether a path is a store, or a folder of stores, that cannot be meant as a tokenizer."""
    from tokdfa.stores.opening import find_stores, names_another_format, open_store
    from tokdfa.tokenizers.formats.reading import find

    # These are the suffixes of tokenizers, too; and a file with a suffix that no store has is neither.
    suffix = Path(path).suffix.lower()
    if suffix in (".txt", ".json", ".model", ".gguf"):
        return False
    if Path(path).is_file() and suffix not in ("", ".npy") and not names_another_format(Path(path)):
        return False
    try:
        found = find_stores([path])
        if suffix == "" and Path(path).is_file():
            open_store(Path(path))
    except (TokdfaError, OSError):
        return False
    if suffix == "" or Path(path).is_dir():
        # A tokenizer that is refused may have no suffix, or other files next to it.
        with suppress(TokdfaError):
            find(Path(path), None)
            return False
    return bool(found) and not any(each.suffix.lower() == ".model" for each in found)


def describe_stores(paths: Sequence[str], dtype: str | None, field: str | None, *, as_json: bool) -> int:
    """Print a description of stores, and return the exit status."""
    from tokdfa.stores.opening import find_stores
    from tokdfa.stores.store import Problem

    only = paths[0] if len(paths) == 1 and not Path(paths[0]).is_dir() else None
    rows: list[dict[str, Any]] = []
    status = 0
    for path in find_stores(paths, dtype, field):
        try:
            store, is_recorded = _opened(path, dtype, field)
            row = _store_fields(store) | {"dtype_is_recorded": is_recorded}
        except (TokdfaError, OSError) as error:
            if only is not None and str(path) == only:
                raise
            empty = dict.fromkeys(("format", "dtype", "ids", "documents"))
            problems = [asdict(Problem.of(error, path))]
            row = {"path": str(path), **empty, "mask": False, "files": [], "problems": problems}
            row["dtype_is_recorded"] = False
            status = 2
        rows.append(row)
        if row["problems"]:
            status = max(status, 1)
    if as_json:
        print_json({"consistent": not status, "stores": rows})
    else:
        _print_stores(rows)
    return status


def _opened(path: Path, dtype: str | None, field: str | None) -> tuple[Store, bool]:
    """Return a store, and whether the type of its integers is known; otherwise the likely one is taken."""
    from tokdfa.stores.integer_types import likely_type_of
    from tokdfa.stores.opening import open_shard, open_store
    from tokdfa.stores.store import UnrecordedTypeError

    try:
        store = open_shard(path, dtype=dtype, field=field)
        return store, not store.is_guessed
    except UnrecordedTypeError:
        likely = likely_type_of(path)
        if likely is None:
            raise
        return open_store(path, dtype=likely), False


def _store_fields(store: Store) -> dict[str, Any]:
    from tokdfa.stores.integer_types import name_of
    from tokdfa.stores.store import Problem

    ids, documents = store.n_ids, store.n_documents
    problems = [*store.problems]
    dtype = store.dtype
    if not problems and (ids is None or (store.has_documents and documents is None)):
        ids, documents = 0, 0 if store.has_documents else None
        try:
            for chunk in store.read():
                dtype = chunk.ids.dtype if dtype is None and store.format.startswith("MDS") else dtype
                ids += len(chunk.ids)
                if documents is not None and chunk.starts is not None:
                    documents += len(chunk.starts)
        except (TokdfaError, OSError) as error:
            problems.append(Problem.of(error, store.path))
            ids = documents = None
    return {
        "path": str(store.path),
        "format": store.format,
        "dtype": None if dtype is None else name_of(dtype),
        "ids": ids,
        "documents": documents,
        "mask": store.has_mask,
        "files": [*map(str, store.files)],
        "problems": [*map(asdict, problems)],
    }


def _print_stores(rows: list[dict[str, Any]]) -> None:
    """Print what a store is; of several, a table with a row for each kind, and what is inconsistent."""
    if len(rows) > 1:
        _print_kinds(rows)
        for row in rows:
            for problem in row["problems"]:
                say(f"inconsistent: {problem['where']}: {problem['what']}")
        return
    for row in rows:
        facts = [
            ("path", row["path"]),
            ("format", row["format"] or "not readable"),
            ("dtype", _dtype(row)),
            ("ids", row["ids"]),
            ("documents", row["documents"]),
            ("loss mask", "yes" if row["mask"] else None),
            *((("files", ", ".join(row["files"])),) if len(row["files"]) > 1 else ()),
            *(("inconsistent", f"{problem['where']}: {problem['what']}") for problem in row["problems"]),
        ]
        print_fields((name, value) for name, value in facts if value is not None)


def _dtype(row: dict[str, Any]) -> str | None:
    """Return the type of the integers of a store as it is shown."""
    is_guessed = row["dtype"] is not None and not row["dtype_is_recorded"]
    return f"{row['dtype']}, guessed" if is_guessed else row["dtype"]


def _print_kinds(rows: list[dict[str, Any]]) -> None:
    """Print a table of stores by format and integer type, and of all of them."""
    from rich.table import Table
    from rich.text import Text

    kinds: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows:
        mask = "with a loss mask" if row["mask"] else ""
        kinds.setdefault((row["format"] or "not readable", _dtype(row) or "", mask), []).append(row)
    table = Table(box=None, pad_edge=False)
    for title in ("format", "dtype", ""):
        table.add_column(title)
    for title in ("stores", "ids", "documents", "inconsistent"):
        table.add_column(title, justify="right")
    table.add_column("first", overflow="fold")
    for kind, members in [*kinds.items(), *([(("all", "", ""), rows)] if len(kinds) > 1 else [])]:
        known = ([row[name] for row in members if row[name] is not None] for name in ("ids", "documents"))
        numbers = [f"{sum(found):,}" if found else "" for found in known]
        n_wrong = sum(bool(row["problems"]) for row in members)
        table.add_row(*kind, f"{len(members):,}", *numbers, f"{n_wrong:,}", Text(members[0]["path"]))
    print_table(table)

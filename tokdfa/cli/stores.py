"""``tokdfa stores``: the formats of files of ids, their counts, and their inconsistencies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tokdfa.base.errors import TokdfaError
from tokdfa.cli.ids import dtype_option, field_option
from tokdfa.cli.output import json_option, print_fields, print_json, say

if TYPE_CHECKING:
    from tokdfa.stores.store import Store


@click.command("stores")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@dtype_option
@field_option
@json_option
def command(paths: tuple[str, ...], dtype: str | None, field: str | None, as_json: bool) -> int:
    r"""Describe files of ids: format, type, counts and inconsistencies of each.

    A file that does not record its number of ids is read to the end.

    Exit status: 0 consistent, 1 something is inconsistent, 2 trouble.

    \b
    Examples:
      tokdfa stores ids.npy
      tokdfa stores 'shards/*.bin' --dtype uint16
    """
    return describe_stores(paths, dtype, field, as_json=as_json)


def is_store(path: str) -> bool:
    """Return whether a path is a store, or a folder of stores, that cannot be meant as a tokenizer."""
    from tokdfa.stores.opening import find_stores

    # These are the suffixes of tokenizers, too.
    if Path(path).suffix.lower() in (".txt", ".json", ".model", ".gguf"):
        return False
    try:
        found = find_stores([path])
    except (TokdfaError, OSError):
        return False
    return bool(found) and not any(each.suffix.lower() == ".model" for each in found)


def describe_stores(paths: Sequence[str], dtype: str | None, field: str | None, *, as_json: bool) -> int:
    """Print a description of stores, and return the exit status."""
    from tokdfa.stores.opening import find_stores, open_store
    from tokdfa.stores.store import Problem

    only = paths[0] if len(paths) == 1 and not Path(paths[0]).is_dir() else None
    rows: list[dict[str, Any]] = []
    status = 0
    for path in find_stores(paths):
        try:
            row = _described(open_store(path, dtype=dtype, field=field))
        except (TokdfaError, OSError) as error:
            if only is not None and str(path) == only:
                raise
            empty = dict.fromkeys(("format", "dtype", "ids", "documents"))
            problems = [asdict(Problem.of(error, path))]
            row = {"path": str(path), **empty, "mask": False, "files": [], "problems": problems}
            status = 2
        rows.append(row)
        if row["problems"]:
            status = max(status, 1)
    if as_json:
        print_json({"consistent": not status, "stores": rows})
    else:
        _print(rows)
    return status


def _described(store: Store) -> dict[str, Any]:
    from tokdfa.stores.store import Problem

    ids, documents = store.n_ids, store.n_documents
    problems = [*store.problems]
    dtype = store.dtype
    if not problems and (ids is None or (store.has_documents and documents is None)):
        ids, documents = 0, 0 if store.has_documents else None
        try:
            for chunk in store.iter_chunks():
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
        "dtype": None if dtype is None else dtype.name,
        "ids": ids,
        "documents": documents,
        "mask": store.has_mask,
        "files": [*map(str, store.files)],
        "problems": [*map(asdict, problems)],
    }


def _print(rows: list[dict[str, Any]]) -> None:
    for number, row in enumerate(rows):
        if number:
            say("")
        facts = [
            ("path", row["path"]),
            ("format", row["format"] or "not readable"),
            ("dtype", row["dtype"]),
            ("ids", row["ids"]),
            ("documents", row["documents"]),
            ("loss mask", "yes" if row["mask"] else None),
            *((("files", ", ".join(row["files"])),) if len(row["files"]) > 1 else ()),
            *(("inconsistent", f"{problem['where']}: {problem['what']}") for problem in row["problems"]),
        ]
        print_fields((name, value) for name, value in facts if value is not None)

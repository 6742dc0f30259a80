"""Tables as files: a row is a dict from column to text, whole number or fraction."""

from __future__ import annotations

import contextlib
import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

Row: TypeAlias = dict[str, Any]

# The tables that a benchmark keeps, by title: columns, rows, caption, machine, when it was measured.
Tables: TypeAlias = dict[str, dict[str, Any]]


def write_table(path: Path, rows: Sequence[Row]) -> None:
    """Write rows that have the same columns; fractions with four digits."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({key: f"{value:.4g}" if isinstance(value, float) else value for key, value in row.items()})


def read_table(path: Path) -> list[Row]:
    """Read rows as they were written; text that looks like a number is one."""
    with path.open(encoding="utf-8", newline="") as stream:
        return [{key: _value(text) for key, text in row.items()} for row in csv.DictReader(stream)]


def read_tables(path: Path) -> Tables:
    """Read the tables that a benchmark kept with ``--json``, their rows as dicts."""
    kept = json.loads(path.read_text(encoding="utf-8"))["tables"]
    return {
        table["title"]: {**table, "rows": [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]}
        for table in kept
    }


def _value(text: str) -> Any:
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return text

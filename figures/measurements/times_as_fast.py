"""All jobs compared with their fastest rival, over tokenizers and texts, wins and losses on one scale.

The tables are from `throughput_families`, `throughput_search` and `throughput_train`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from figures.bars import note, ratio_chart
from figures.table import Tables, read_tables

# gigatoken is 20 to 290 times slower on it.
_LEFT_OUT = "internlm2"


def draw() -> str:
    families, search, train = (_read(name) for name in ("families", "search", "train"))

    def times(title: str, **only: str) -> dict[str, float]:
        (table,) = (table for name, table in families.items() if name.startswith(title))
        rows = (row for row in table["rows"] if all(row[key] == value for key, value in only.items()))
        return {
            f"{row['file']}, {row['text']}": row["times"]
            for row in rows
            if isinstance(row["times"], float) and row["file"] != _LEFT_OUT
        }

    # Its columns are called the same for gigatoken and for the library of each file: the last one stays.
    of_library = times("encoding by family, at rest")
    (loading,) = (table for name, table in families.items() if name == "loading by family")
    one, words = (table for name, table in search.items() if name.startswith("Searching"))
    rows = {
        "encode, at rest; gigatoken": _against_gigatoken(families),
        "encode, documents of 500 characters; gigatoken": times("encoding by family, documents"),
        "encode, first text after loading; gigatoken": times("encoding by family, the first text"),
        "validate, canonical; gigatoken": times("judging by family", ids="canonical"),
        "validate, 1 % wrong; gigatoken": times("judging by family", ids="1% spoiled"),
        "encode, at rest; the file's library": of_library,
        "load; the file's library": {row["file"]: 1 / row["of it"] for row in loading["rows"]},
        "search a pattern; best of RE2, re, regex": {
            f"{row['pattern']}, {row['corpus']}": float(row["× best"]) for row in one["rows"]
        },
        "search words; best of four": {
            f"{row['corpus']}, {row['words']}": float(row["× best"]) for row in words["rows"]
        },
        "train; gigatoken, rustbpe": {
            title.partition(":")[0]: min(float(row["× tokdfa"]) for row in table["rows"] if row["trainer"] != "tokdfa")
            for title, table in train.items()
        },
    }
    title = "Mostly faster than the fastest rival; slower where many ids are wrong, and on some first texts"
    shown = {name: table for name, table in families.items() if name.startswith("encoding by family, at rest")}
    return ratio_chart(
        rows,
        title=title,
        label="times as fast; a tick is a tokenizer and a text; left of 1 tokdfa loses",
        note=[
            *note(shown),
            "Without InternLM-2, where gigatoken is 20 to 290 times slower. Searching, training: see their charts.",
        ],
    )


def _read(name: str) -> Tables:
    return read_tables(Path(__file__).with_name(f"throughput_{name}.json"))


def _against_gigatoken(families: Tables) -> dict[str, float]:
    (table,) = (table for name, table in families.items() if name.startswith("encoding by family, at rest"))
    rows: list[dict[str, Any]] = table["rows"]
    return {
        f"{row['file']}, {row['text']}": row["tokdfa, MB/s"] / row["gigatoken, MB/s"]
        for row in rows
        if isinstance(row["gigatoken, MB/s"], float) and row["file"] != _LEFT_OUT
    }

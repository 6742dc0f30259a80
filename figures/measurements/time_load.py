"""The time to load a tokenizer, compared with its own library and faster ones.

The tables are from ``python -m tests.benchmarks.bench_load files models objects NAME=FILE…
--json figures/measurements/time_load.json``.
"""

from __future__ import annotations

from figures.bars import bar_chart, note
from figures.table import Tables

OWN = "Loading a tokenizer.json, and its object"


def draw(tables: Tables) -> str:
    groups = {
        f"tokenizer.json of {row['file']}": {
            "tokenizers": row["tokenizers, ms"],
            "tokdfa": row["tokdfa, ms"],
            "tokdfa, object": row["tokdfa, object, ms"],
        }
        for row in tables[OWN]["rows"]
    }
    files = {
        title: table
        for title, table in tables.items()
        if "load, ms" in table["columns"] and title != "Loading tokenizer.json"
    }
    groups |= {
        title.removeprefix("Loading "): {row["library"].partition(",")[0]: row["load, ms"] for row in table["rows"]}
        for title, table in files.items()
    }
    measured = note({OWN: tables[OWN], **files})
    return bar_chart(
        groups, title="Loading a tokenizer, milliseconds of processor time; shorter is better", note=measured
    )

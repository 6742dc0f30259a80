"""The race of *Fast and meaningful tokenization*: its four stages, tokenizers and tokdfa.

The table is from ``python -m tests.benchmarks.bench_speedy --json figures/papers/speedy_race.json``: 20, 40 and 10,000
merges of English sentences. A run that would take hours is extrapolated, which is marked.
"""

from __future__ import annotations

from figures.bars import dot_chart, note
from figures.table import Tables

SIZES = ("20 merges, s", "40 merges, s", "10,000 merges, s")


def draw(tables: Tables) -> str:
    groups = {
        title: {
            row["trainer"] + (" *" if row["the last"] == "extrapolated" else ""): {
                size.removesuffix(", s"): row[size] for size in SIZES
            }
            for row in table["rows"]
        }
        for title, table in tables.items()
    }
    return dot_chart(
        groups,
        title="Training, seconds of one thread",
        label="seconds; *: 10,000 merges extrapolated from 20 and 40",
        note=note(tables),
    )

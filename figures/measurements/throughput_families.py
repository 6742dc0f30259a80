"""Encoding by tokenizers of every family, compared with gigatoken and the library of each file, wins and losses.

The tables are from ``python -m tests.benchmarks.bench_families --json figures/measurements/throughput_families.json``.
"""

from __future__ import annotations

from figures.bars import dot_chart, note
from figures.table import Tables


def draw(tables: Tables) -> str:
    shown = {title: table for title, table in tables.items() if title.startswith("encoding by family, at rest")}
    (table,) = shown.values()
    groups: dict[str, dict[str, dict[str, float]]] = {}
    for row in table["rows"]:
        speeds = {"tokdfa": row["tokdfa, MB/s"], "gigatoken": row["gigatoken, MB/s"], "own library": row["its MB/s"]}
        known = {name: speed for name, speed in speeds.items() if isinstance(speed, float)}
        groups.setdefault(row["file"], {})[row["text"]] = known
    title = "Encoding by family, one thread, at rest"
    return dot_chart(groups, title=title, label="MB a second, logarithmic; further right is better", note=note(shown))

"""Searching ids compared with decoding first.

The tables are from ``python -m tests.benchmarks.bench_search --json figures/measurements/throughput_search.json``.
The file has the tables of decoding and of many words as well, with ``decode`` and ``words``.
"""

from __future__ import annotations

from figures.bars import dot_chart, note
from figures.table import Tables

CORPORA = {"english": "English books", "python_code": "Python code", "multilingual": "many languages"}
WAYS = ("tokdfa", "RE2", "re", "regex")


def draw(tables: Tables) -> str:
    shown = {title: table for title, table in tables.items() if {"pattern", *WAYS} <= set(table["columns"])}
    groups: dict[str, dict[str, dict[str, float]]] = {}
    for table in shown.values():
        for row in table["rows"]:
            # `re` has no Unicode properties.
            speeds = {way: row[way] for way in WAYS if row[way] != "-"}
            groups.setdefault(CORPORA[row["corpus"]], {})[row["pattern"]] = speeds
    title = "Searching ids of GPT-2 for a pattern, one thread; the others decode first"
    return dot_chart(
        groups, title=title, label="MB of text a second, logarithmic; further right is better", note=note(shown)
    )

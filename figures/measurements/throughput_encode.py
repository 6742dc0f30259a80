"""Encoding compared with other encoders.

The tables are from ``python -m tests.benchmarks.bench_encode warm cold start documents short`` with ``--json
figures/measurements/throughput_encode.json``.
"""

from __future__ import annotations

from figures.bars import bar_chart, note
from figures.table import Tables


def draw(tables: Tables) -> str:
    shown = {title: table for title, table in tables.items() if "MB/s" in table["columns"]}
    groups = {
        title: {row["encoder"].partition("(")[0]: row["MB/s"] for row in table["rows"]}
        for title, table in shown.items()
    }
    return bar_chart(
        groups, title="Text to ids, MB a second, one text by one thread; longer is better", note=note(shown)
    )

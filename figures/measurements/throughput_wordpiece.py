"""WordPiece compared with other libraries.

The tables are from ``python -m tests.benchmarks.bench_wordpiece --json
figures/measurements/throughput_wordpiece.json``.
"""

from __future__ import annotations

from figures.bars import bar_chart, note
from figures.table import Tables


def draw(tables: Tables) -> str:
    shown = {title: table for title, table in tables.items() if "M words/s" in table["columns"]}
    groups = {title: {row[""]: row["M words/s"] for row in table["rows"]} for title, table in shown.items()}
    return bar_chart(groups, title="WordPiece, million words a second, one thread; longer is better", note=note(shown))

"""The time to compare two whole tokenizers, with a proof or a shortest text at the end.

The table is from ``python -m tests.benchmarks.bench_compare_tokenizers --json figures/measurements/time_compare.json``.
"""

from __future__ import annotations

from figures.bars import bar_chart, note
from figures.table import Tables


def draw(tables: Tables) -> str:
    (table,) = tables.values()
    shown = {f"tokdfa, {row['compared']}": float(row["s"]) for row in table["rows"]}
    return bar_chart({"seconds, loading not counted": shown}, title="Two whole tokenizers", note=note(tables))

"""Training compared with other trainers.

The tables are from ``python -m tests.benchmarks.bench_train --json figures/measurements/throughput_train.json``.
With ``--case english`` and ``--case mix`` the file has those corpora as well.
"""

from __future__ import annotations

from figures.bars import bar_chart, note
from figures.table import Tables

CORPORA = {"fra": "English sentences", "english": "English books", "mix": "books, code, many languages"}


def draw(tables: Tables) -> str:
    shown = {title: table for title, table in tables.items() if title.endswith("1 thread(s)") and "part" not in title}
    groups = {}
    for title, table in shown.items():
        case, _, size = title.removesuffix(", 1 thread(s)").partition(": ")
        groups[f"{CORPORA[case]}: {size}"] = {row["trainer"]: row["MB/s"] for row in table["rows"]}
    return bar_chart(
        groups, title="Training a dictionary, MB of text a second, one thread; longer is better", note=note(shown)
    )

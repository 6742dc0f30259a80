"""The time of Algorithm 2 as automata, tokens and rules grow: Theorem 3 of *Constructing a BPE Tokenization DFA*.

The tables are from ``python -m tests.benchmarks.bench_fold_growth --json figures/papers/growth_fold.json``.
"""

from __future__ import annotations

from figures.bars import note
from figures.chart import line_chart
from figures.table import Tables

SERIES = {
    "states, 50 tokens": "one fold, 50 tokens, by states",
    "tokens, 500 states": "one fold, 500 states, by tokens",
    "rules": "the iteration, by rules",
}


def draw(tables: Tables) -> str:
    series = {}
    for words, name in SERIES.items():
        (rows,) = (table["rows"] for title, table in tables.items() if f"by the number of {words};" in title)
        series[name] = [(float(row.get("size") or row["rules"]), row["ms"]) for row in rows]
    last = tables[max(tables, key=lambda title: len(tables[title]["caption"]))]
    return line_chart(
        series,
        title="The time of Algorithm 2; Theorem 3: degrees 1, 1 and 3 at most",
        x_label="states, tokens or rules",
        y_label="milliseconds",
        log_x=True,
        log_y=True,
        note="\n".join(note({"": last})),
    )

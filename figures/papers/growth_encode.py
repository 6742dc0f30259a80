"""The time of encoding as a piece grows: Corollary 3 of *Constructing a BPE Tokenization DFA*.

The tables are from ``python -m tests.benchmarks.bench_encode_growth --json figures/papers/growth_encode.json``:
adversarial texts, one piece each.
"""

from __future__ import annotations

from figures.bars import note
from figures.chart import line_chart
from figures.table import Tables

COMPARED = "random tokens"


def draw(tables: Tables) -> str:
    series: dict[str, list[tuple[float, float]]] = {}
    for title, table in tables.items():
        kind = title.split(", ")[1].partition(" of ")[0]
        for row in table["rows"]:
            # The others on one text; the one pass on all of them.
            if kind == COMPARED or row["way"] == "one pass":
                sizes = [column for column in table["columns"] if column.endswith(" B") and row[column] != "-"]
                name = f"{row['way']}, {kind}"
                series[name] = [(float(size[:-2].replace(",", "")), float(row[size])) for size in sizes]
    return line_chart(
        series,
        title="Encoding one piece with the rules of cl100k",
        x_label="bytes of the piece",
        y_label="nanoseconds a byte",
        log_x=True,
        log_y=True,
        note="\n".join(note(tables)),
    )

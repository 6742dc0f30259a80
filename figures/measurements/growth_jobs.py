"""The time of every job a byte of ordinary text, as the text grows to a gigabyte.

The tables are from ``python -m tests.benchmarks.bench_growth 1073741824 --json figures/measurements/growth_jobs.json``.
A line that is level says that twice as much takes twice the time; one that ends early is of a job that would have taken
too long.
"""

from __future__ import annotations

from figures.bars import note
from figures.chart import line_chart
from figures.table import Tables

BEGINS = "Growth: "
SHORTEST = 0.02
"""The shortest time that is drawn, in seconds."""


def draw(tables: Tables) -> str:
    """Return the chart of the jobs with sizes in bytes."""
    series = {
        title.removeprefix(BEGINS): [
            (float(row["bytes"].replace(",", "")), 1e9 * float(row["s"]) / float(row["bytes"].replace(",", "")))
            for row in table["rows"]
            # The system counts the time of shorter runs in ticks.
            if isinstance(row["s"], float) and row["s"] >= SHORTEST
        ]
        for title, table in tables.items()
        if "bytes" in table["columns"]
    }
    return line_chart(
        series,
        title="Every job takes time in proportion to the text",
        x_label="bytes of text",
        y_label="nanoseconds a byte",
        log_x=True,
        log_y=True,
        note="\n".join(note(tables, 110)),
    )

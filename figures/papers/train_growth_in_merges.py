"""The time of training as more merges are made: Theorem 4.2 of *A Formal Perspective on Byte-Pair Encoding*."""

from __future__ import annotations

from figures.chart import line_chart
from figures.table import Row
from figures.training_growth import growth_in_merges


def measure() -> list[Row]:
    return growth_in_merges()


def draw(rows: list[Row]) -> str:
    return line_chart(
        {
            "plain trainer (Alg 1)": [(row["merges"], row["plain"]) for row in rows if row["plain"]],
            "fast trainer (Alg 2)": [(row["merges"], row["fast"]) for row in rows],
        },
        title=f"Training time and number of merges, {rows[0]['symbols']:,} symbols",
        x_label="merges M",
        y_label="processor seconds",
        log_x=True,
        log_y=True,
        note="The beginning of English books, medians of 3.",
    )

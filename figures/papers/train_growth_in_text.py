"""The time of training as the text grows: Theorem 4.2 of *A Formal Perspective on Byte-Pair Encoding*."""

from __future__ import annotations

from figures.chart import line_chart
from figures.table import Row
from figures.training_growth import growth_in_texts


def measure() -> list[Row]:
    return growth_in_texts()


def draw(rows: list[Row]) -> str:
    return line_chart(
        {
            "plain trainer (Alg 1)": [(row["symbols"], row["plain"]) for row in rows if row["plain"]],
            "fast trainer (Alg 2)": [(row["symbols"], row["fast"]) for row in rows],
        },
        title=f"Training time and length of the text, {rows[0]['merges']} merges",
        x_label="symbols N, one string",
        y_label="processor seconds",
        log_x=True,
        log_y=True,
        note="Beginnings of English books, medians of 3.",
    )

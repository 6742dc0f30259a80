"""Algorithm 3 with the corrected guard compared with brute force: Figure 4 of *A Formal Perspective on BPE*."""

from __future__ import annotations

from figures.chart import line_chart
from figures.table import Row
from figures.training_growth import exact_searches


def measure() -> list[Row]:
    return exact_searches()


def draw(rows: list[Row]) -> str:
    series: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        series.setdefault(f"{row['symbols']} symbols", []).append((row["merges"], row["faster"]))
    return line_chart(
        series,
        title="How much faster the guarded exact search is than brute force",
        x_label="merges M",
        y_label="times as fast",
        note="Means over 5 texts of two sentences' beginnings; both find the same optimum.",
    )

"""The race of trainers: the page has the figures that were kept."""

from __future__ import annotations

from pathlib import Path

from figures.papers.speedy_race import SIZES
from figures.table import read_tables

ROOT = Path(__file__).parents[3]


def test_the_table_of_the_page() -> None:
    page = (ROOT / "notebooks" / "measurements.md").read_text("utf-8")
    shown = {line.split(" | ")[0]: line.split(" | ")[1:4] for line in page.splitlines() if line.startswith("| ")}
    (table,) = read_tables(ROOT / "figures" / "papers" / "speedy_race.json").values()
    for row in table["rows"]:
        (found,) = (cells for name, cells in shown.items() if name.split()[1] == row["trainer"].split()[0])
        for size, cell in zip(SIZES, found, strict=True):
            number, _, how = cell.partition(", ") if "extrapolated" in cell else (cell, "", "")
            assert bool(how) == (size == SIZES[-1] and row["the last"] == "extrapolated")
            assert abs(float(number.replace(",", "")) / row[size] - 1) < 0.04, (row["trainer"], size)

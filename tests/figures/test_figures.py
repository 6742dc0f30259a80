"""The figures: each is what is drawn from the table kept beside it, and charts put values where they belong."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from importlib import import_module
from pathlib import Path

import pytest

from figures.__main__ import names, render
from figures.chart import Axis, line_chart
from figures.table import read_table, write_table
from tokdfa.draw.dot import to_dot

ROOT = Path(__file__).parents[2]


# How Graphviz lays out what is in a .dot file depends on its version and fonts; these are compared before that.
DRAWN = {path.stem for path in (ROOT / "figures").glob("*.dot")}


@pytest.mark.parametrize("name", [name for name in names() if name not in DRAWN])
def test_a_figure_is_drawn_from_its_table(name: str) -> None:
    svg = render(name)
    ElementTree.fromstring(svg)
    assert svg == (ROOT / "figures" / f"{name}.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(DRAWN))
def test_a_picture_is_that_of_its_script(name: str) -> None:
    graph = import_module(f"figures.{name}").graph()
    assert (ROOT / "figures" / f"{name}.dot").read_text(encoding="utf-8") == to_dot(graph), "run python -m figures"
    ElementTree.parse(ROOT / "figures" / f"{name}.svg")


def test_all_figures_of_the_papers_on_automata_are_there() -> None:
    assert {f"dfa_figure_{number}" for number in range(1, 7)} | {"fwp_trie"} <= DRAWN


def test_axes() -> None:
    axis = Axis([1, 1000], 0, 100, log=True)
    assert axis.ticks == [1, 10, 100, 1000]
    assert axis.place(10) - axis.place(1) == pytest.approx(axis.place(1000) - axis.place(100))
    axis = Axis([3, 42], 100, 0, log=False)
    assert axis.ticks == [0, 10, 20, 30, 40, 50]
    assert (axis.place(0), axis.place(50)) == (100, 0)


def test_a_chart_says_what_it_shows() -> None:
    svg = line_chart({"<a>": [(1, 2), (3, 4)]}, title="T & t", x_label="x", y_label="y", note="n")
    words = [element.text for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
    assert {"<a>", "T & t", "x", "y", "n"} <= set(words)
    with pytest.raises(ValueError, match="math domain error"):
        line_chart({"a": [(0, 1)]}, title="", x_label="", y_label="", log_x=True)


def test_tables_are_read_as_written(tmp_path: Path) -> None:
    rows = [{"a": 1, "b": 0.25, "c": "x,y", "d": ""}, {"a": -2, "b": 1.0, "c": "", "d": "z"}]
    write_table(tmp_path / "t.csv", rows)
    assert read_table(tmp_path / "t.csv") == rows

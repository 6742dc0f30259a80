"""Each figure equals the drawing of the table stored next to it, and charts put values where they belong."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from figures.__main__ import chosen, gallery, module_of, names, render, scripts
from figures.bars import bar_chart, dot_chart, note
from figures.chart import Axis, line_chart
from figures.table import read_table, read_tables, write_table
from tests.benchmarks import harness
from tests.benchmarks.__main__ import PROGRAMS
from tokdfa.draw.graph import to_dot

ROOT = Path(__file__).parents[3]


# How Graphviz lays out what is in a .dot file depends on its version and fonts; these are compared before that.
DRAWN = {path.stem for path in (ROOT / "figures").rglob("*.dot")}


@pytest.mark.parametrize("name", [name for name in names() if name not in DRAWN])
def test_a_figure_is_drawn_from_its_table(name: str) -> None:
    svg = render(name)
    ElementTree.fromstring(svg)
    assert svg == scripts()[name].with_suffix(".svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(DRAWN))
def test_a_picture_is_that_of_its_script(name: str) -> None:
    graph = module_of(name).graph()
    assert scripts()[name].with_suffix(".dot").read_text(encoding="utf-8") == to_dot(graph), "run python -m figures"
    ElementTree.parse(scripts()[name].with_suffix(".svg"))


def test_all_figures_of_the_papers_on_automata_are_there() -> None:
    assert {f"dfa_figure_{number}" for number in range(1, 7)} | {"fwp_trie"} <= DRAWN


def test_one_command_measures_all_tables_of_speed() -> None:
    assert {name for name in names() if name.startswith(("throughput_", "time_"))} <= {*PROGRAMS} <= {*names()}
    modules = {program.split()[0] for programs in PROGRAMS.values() for program in programs}
    assert modules <= {path.stem for path in (ROOT / "tests" / "benchmarks").glob("bench_*.py")}


def test_the_gallery_shows_them_all() -> None:
    assert (ROOT / "figures" / "README.md").read_text(encoding="utf-8") == gallery(), "run python -m figures"


def test_the_pictures_of_the_pages_are_figures() -> None:
    pages = [ROOT / "README.md", *(ROOT / "notebooks").glob("*.md")]
    shown = [
        name
        for page in pages
        for name in re.findall(r"\]\((?:\.\./)?(figures/\w+/\w+)\.svg\)", page.read_text("utf-8"))
    ]
    assert {"figures/readme/readme_film", "figures/readme/readme_run", "figures/readme/readme_language"} <= {*shown}
    assert {*shown} <= {f"figures/{script.parent.name}/{name}" for name, script in scripts().items()}


def test_axes_have_round_ticks() -> None:
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
    with pytest.raises(ValueError, match=r"math domain error|expected a positive input"):
        line_chart({"a": [(0, 1)]}, title="", x_label="", y_label="", log_x=True)


def test_tables_are_read_as_written(tmp_path: Path) -> None:
    rows = [{"a": 1, "b": 0.25, "c": "x,y", "d": ""}, {"a": -2, "b": 1.0, "c": "", "d": "z"}]
    write_table(tmp_path / "t.csv", rows)
    assert read_table(tmp_path / "t.csv") == rows


def test_figures_are_named_or_by_what_their_names_begin_with() -> None:
    assert chosen([]) == names()
    assert chosen(["fwp_trie_abcz"]) == ["fwp_trie_abcz"]
    assert {"throughput_encode", "throughput_train"} <= {*chosen(["throughput"])}
    with pytest.raises(SystemExit, match="no figure of that name: through"):
        chosen(["dfa", "through"])


def rectangles(svg: str) -> list[tuple[str, float]]:
    """The bars of a chart, each as its colour and its length."""
    found = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}rect")
    return [(bar.get("fill", ""), float(bar.get("width", ""))) for bar in found if bar.get("fill") != "white"]


def test_bars_are_as_long_as_what_they_stand_for() -> None:
    svg = bar_chart({"one": {"tokdfa": 30.0, "a": 60.0, "b": 15.0}, "two": {"a": 1200.0}}, title="t", note=["n", "m"])
    (_, a), (ours, t), (_, b), (other, whole) = rectangles(svg)
    assert whole == 20 * a == 40 * t == 80 * b
    assert ours != other
    words = [element.text for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
    assert words == ["t", "one", "a", "60", "tokdfa", "30", "b", "15", "two", "a", "1,200", "n", "m"]


def test_marks_stand_where_their_values_are() -> None:
    svg = dot_chart({"g": {"x": {"u": 1, "v": 100}, "y": {"v": 10}}}, title="t", label="l")
    root = ElementTree.fromstring(svg)
    (circle,) = [each for each in root.iter("{http://www.w3.org/2000/svg}circle") if float(each.get("cy", 0)) > 50]
    squares = [
        [float(corner.split(",")[0]) for corner in each.get("points", "").split()]
        for each in root.iter("{http://www.w3.org/2000/svg}polygon")
    ][1:]
    hundred, ten = (sum(corners) / 4 for corners in squares)
    assert ten - float(circle.get("cx", 0)) == pytest.approx(hundred - ten, abs=0.2)


def test_tables_of_benchmarks_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness, "_kept", [])
    path = tmp_path / "kept.json"
    arguments = ["bench", "--json", str(path), "--case", "x"]
    harness.keep_tables(arguments)
    assert arguments == ["bench", "--case", "x"]
    harness.print_table("A", ["name", "MB/s"], [["[a-z]", 1.23456], ["b", "-"]], "one thread")
    harness.print_table("B", ["name"], [[7]], "one thread")
    first = read_tables(path)
    assert first["A"]["rows"] == [{"name": "[a-z]", "MB/s": 1.235}, {"name": "b", "MB/s": "-"}]
    assert first["B"]["rows"] == [{"name": 7}]
    # Measured again, a table takes the place of the older one; the others stay.
    harness.print_table("A", ["name", "MB/s"], [["c", 2.0]], "two threads")
    again = read_tables(path)
    assert [*again] == ["A", "B"]
    assert again["A"]["rows"] == [{"name": "c", "MB/s": 2.0}]
    assert again["B"] == first["B"]
    (words,) = {" ".join(note({"B": first["B"]}))}
    assert words.startswith("one thread; ")
    assert "CPUs" in words
    assert words.endswith(" UTC")
    with pytest.raises(SystemExit):
        harness.keep_tables(["bench", "--json"])

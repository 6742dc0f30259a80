"""The figures of automata are what their scripts draw."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from tokdfa.draw.dot import to_dot
from tokdfa.draw.graph import Graph

FOLDER = Path(__file__).parents[2] / "figures"
NAMES = sorted(path.stem for path in FOLDER.glob("*.dot"))


def test_there_are_figures() -> None:
    assert {f"dfa_figure_{number}" for number in range(1, 7)} | {"fwp_trie"} <= {*NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_is_what_its_script_draws(name: str) -> None:
    graph = import_module(f"figures.{name}").graph()
    assert isinstance(graph, Graph)
    assert (FOLDER / f"{name}.dot").read_text(encoding="utf-8") == to_dot(graph), "run python -m figures"
    assert (FOLDER / f"{name}.svg").read_text(encoding="utf-8").startswith("<svg ")

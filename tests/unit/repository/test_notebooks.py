"""The notebooks run, in order, and show what they say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat", reason="nbclient runs the notebooks: install the extra `notebooks`")
nbclient = pytest.importorskip("nbclient", reason="nbclient runs the notebooks: install the extra `notebooks`")

FOLDER = Path(__file__).parents[3] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def shown(cell: Any) -> str:
    """The output of a cell as text; pictures are as Graphviz's version makes them."""
    return "".join(
        output["text"] if output["output_type"] == "stream" else output["data"].get("text/plain", "")
        for output in cell.get("outputs", [])
        if output.get("name") != "stderr"
    )


def test_the_index_names_them_all_in_order() -> None:
    assert re.findall(r"\((\d\d_\w+\.ipynb)\)", (FOLDER / "README.md").read_text(encoding="utf-8")) == [
        notebook.name for notebook in NOTEBOOKS
    ]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """One kernel for all notebooks: to start it and import the package takes longer than most of them."""
    client = nbclient.NotebookClient(nbformat.v4.new_notebook(), timeout=300)
    with client.setup_kernel():
        yield client


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_it_runs_and_shows_what_it_showed(path: Path, tmp_path: Path, client: Any) -> None:
    stored = nbformat.read(path, as_version=4)
    fresh = nbformat.read(path, as_version=4)
    # Nothing is left of the notebook before.
    fresh.cells.insert(0, nbformat.v4.new_code_cell(f"import os\nos.chdir({str(tmp_path)!r})\n%reset -f"))
    client.nb = fresh
    client.reset_execution_trackers()
    for number, cell in enumerate(fresh.cells):
        client.execute_cell(cell, number)
    for before, after in zip(stored.cells, fresh.cells[1:], strict=True):
        assert shown(after) == shown(before), before.source

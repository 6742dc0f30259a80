"""The notebooks run, in order, and show what they say."""

from __future__ import annotations

import re
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


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_it_runs_and_shows_what_it_showed(path: Path, tmp_path: Path) -> None:
    stored = nbformat.read(path, as_version=4)
    fresh = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(fresh, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    for before, after in zip(stored.cells, fresh.cells, strict=True):
        assert shown(after) == shown(before), before.source

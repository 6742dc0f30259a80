"""Tests mirror the tree: a file of tests is about the module of the same name."""

from __future__ import annotations

from pathlib import Path

import pytest

import tokdfa

TESTS = Path(__file__).parents[1]
PACKAGE = Path(tokdfa.__file__).parent
MIRRORED = sorted(
    path.relative_to(TESTS) for path in TESTS.rglob("test_*.py") if (PACKAGE / path.parent.relative_to(TESTS)).is_dir()
)


def subject(file: Path) -> str | None:
    """Return the module or C source that a file of tests is about: ``test_X.py`` or ``test_X_what.py`` is about X."""
    name = file.stem.removeprefix("test_")
    folder = PACKAGE / file.parent
    sources = {path.name.partition(".")[0] for path in folder.iterdir() if path.suffix in (".py", ".c", ".h")}
    sources |= {path.name for path in folder.iterdir() if (path / "__init__.py").is_file()}
    fitting = [source for source in sources if name == source or name.startswith(f"{source}_")]
    return max(fitting, key=len, default=None)


@pytest.mark.parametrize("file", MIRRORED, ids=str)
def test_a_file_of_tests_is_about_a_module(file: Path) -> None:
    assert subject(file) is not None, f"nothing in tokdfa/{file.parent} has the name of {file.name}"


def test_what_is_about_nothing_is_found() -> None:
    assert len(MIRRORED) > 100
    assert subject(Path("automata/test_fold.py")) == "fold"
    assert subject(Path("tokenizers/test_tokenizer_copies.py")) == "tokenizer"
    assert subject(Path("tokenizers/formats/test_tokenizer_json.py")) == "tokenizer_json"
    assert subject(Path("automata/test_folding.py")) is None
    assert subject(Path("test_nothing.py")) is None

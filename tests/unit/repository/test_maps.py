"""The maps: each package names its modules, the contributors' page points to files, the glossary explains terms."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

import tokdfa

PACKAGE = Path(tokdfa.__file__).parent
ROOT = PACKAGE.parent
PACKAGES = sorted(
    path.parent for path in PACKAGE.rglob("__init__.py") if path.parent != PACKAGE / "kernels" / "backend"
)
# A screenful.
MOST_LINES = 40


def _map(package: Path) -> str:
    name = ".".join(package.relative_to(ROOT).parts)
    return importlib.import_module(name).__doc__ or ""


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.relative_to(PACKAGE).as_posix())
def test_a_package_says_what_lives_in_it(package: Path) -> None:
    named = set(re.findall(r"`(\w+)`", _map(package)))
    modules = {path.stem for path in package.glob("*.py") if not path.stem.startswith("_")}
    folders = {path.parent.name for path in package.glob("*/__init__.py")}
    missing = (modules | folders) - named
    assert not missing, f"not on the map of {package.name}: {', '.join(sorted(missing))}"


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.relative_to(PACKAGE).as_posix())
def test_a_map_is_a_screenful(package: Path) -> None:
    assert len(_map(package).splitlines()) <= MOST_LINES


def test_the_contributors_page_points_to_what_is_there() -> None:
    page = (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
    paths = re.findall(r"`((?:tokdfa|tests|figures|notebooks)/[\w./-]*)`", page)
    assert len(paths) > 40
    gone = [path for path in paths if not (ROOT / path).exists()]
    assert not gone


def test_every_term_of_the_glossary_is_explained_once() -> None:
    text = (ROOT / "notebooks" / "glossary.md").read_text(encoding="utf-8")
    terms = [term for line in re.findall(r"^(\*\*.*)\n: ", text, re.M) for term in re.findall(r"\*\*([^*]+)\*\*", line)]
    assert len(terms) > 40
    assert len(terms) == len(set(terms))

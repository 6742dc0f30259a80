"""The documentation site: its pages, and the faults that the check of its links finds. `python .site` builds it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tokdfa
from tests.support.site import site

ROOT = Path(__file__).parents[3]
NOTEBOOKS = ROOT / "notebooks"
PAGES = sorted([*NOTEBOOKS.rglob("*.md"), *NOTEBOOKS.rglob("*.ipynb")])


def page(links: str = "", body: str = "") -> str:
    return f"<!doctype html><html lang=en><head><title>a</title>{links}</head><body>{body}</body></html>"


def test_every_page_is_in_the_contents() -> None:
    contents = (NOTEBOOKS / "index.md").read_text(encoding="utf-8")
    trees = "\n".join(re.findall(r"^```\{toctree\}\n(.*?)^```$", contents, re.MULTILINE | re.DOTALL))
    entries = re.findall(r"^(?:.* <)?([\w./-]+?)>?$", trees, re.MULTILINE)
    names = {path.relative_to(NOTEBOOKS).with_suffix("").as_posix() for path in PAGES} - {"index"}
    assert len(names) > 15
    assert names == {entry for entry in entries if not entry.startswith(("../", "reference/"))}
    assert len(entries) == len(set(entries))


@pytest.mark.parametrize("path", [path for path in PAGES if path.suffix == ".md"], ids=lambda path: path.stem)
def test_what_a_page_links_to_is_there(path: Path) -> None:
    prose = re.sub(r"(`+).*?\1", "", path.read_text(encoding="utf-8"))
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", prose)
    gone = [link for link in links if "://" not in link and not (path.parent / link).exists()]
    assert not gone


@pytest.mark.parametrize("path", sorted((NOTEBOOKS / "guides").glob("*.md")), ids=lambda path: path.stem)
def test_a_guide_shows_how_and_says_what_it_does_not_say(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert re.search(r"^## Limits of .+$", text, re.MULTILINE)
    assert len(text.splitlines()) <= 140
    assert path.name in (NOTEBOOKS / "index.md").read_text(encoding="utf-8")


def test_the_reference_has_every_public_name_and_command(tmp_path: Path) -> None:
    site("reference").write(tmp_path)
    names = (tmp_path / "index.rst").read_text(encoding="utf-8")
    described = set()
    for path in tmp_path.glob("tokdfa*.rst"):
        for module, members in re.findall(
            r"^\.\. automodule:: (.+)\n   :members: (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE
        ):
            described |= {f"{module}.{member}" for member in members.split(", ")}
    for name in sorted(set(tokdfa.__all__) - {"__version__"}):
        home = getattr(tokdfa, name).__module__
        assert f":py:obj:`{name} <{home}.{name}>`" in names
        assert f"{home}.{name}" in described
    commands = (tmp_path / "commands.rst").read_text(encoding="utf-8")
    assert "Usage: tokdfa validate [OPTIONS] TOK IDS" in commands


def test_the_reference_forgets_what_is_gone(tmp_path: Path) -> None:
    (tmp_path / "tokdfa.gone.rst").touch()
    site("reference").write(tmp_path)
    assert not (tmp_path / "tokdfa.gone.rst").exists()


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ('<a href="b.html">b</a><a href="b.html#there">b</a><a href="#here" id="here">a</a>', None),
        ('<a href="c.html">c</a>', "a.html: c.html leads to no file"),
        ('<a href="b.html#nowhere">b</a>', "a.html: b.html#nowhere leads to no anchor"),
        ('<a href="#nowhere">a</a>', "a.html: #nowhere leads to no anchor"),
        ('<a href="https://example.org/">elsewhere</a>', None),
        ('<img src="https://example.org/a.png">', "a.html: loads https://example.org/a.png from elsewhere"),
        ('<script src="//example.org/a.js"></script>', "a.html: loads //example.org/a.js from elsewhere"),
        ('<img src="data:image/png;base64,AAAA">', None),
        ('<img src="gone.png">', "a.html: gone.png leads to no file"),
    ],
)
def test_the_check_of_links_finds_what_is_broken(tmp_path: Path, body: str, fault: str | None) -> None:
    (tmp_path / "a.html").write_text(page(body=body), encoding="utf-8")
    (tmp_path / "b.html").write_text(page(body='<p id="there">b</p>'), encoding="utf-8")
    assert site("links").faults(tmp_path) == ([] if fault is None else [fault])


def test_style_sheets_are_loaded_and_neighbours_are_pointed_to(tmp_path: Path) -> None:
    links = '<link rel="stylesheet" href="https://example.org/a.css"><link rel="next" href="gone.html">'
    (tmp_path / "a.html").write_text(page(links), encoding="utf-8")
    (tmp_path / "b.html").write_text(page(), encoding="utf-8")
    assert site("links").faults(tmp_path) == [
        "a.html: loads https://example.org/a.css from elsewhere",
        "a.html: gone.html leads to no file",
    ]


def test_a_site_without_pages_is_a_fault(tmp_path: Path) -> None:
    assert site("links").faults(tmp_path) == [f"{tmp_path}: no pages"]


def test_pages_are_mended_once(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text(page(body="".join(site("mending").MENDS)), encoding="utf-8")
    site("mending").mend(tmp_path)
    once = path.read_text(encoding="utf-8")
    assert 'aria-level="2"' in once
    site("mending").mend(tmp_path)
    assert path.read_text(encoding="utf-8") == once

"""The page of a film in a browser: keys, buttons, themes, no complaints; skipped where none is installed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.browser import Browser, browser
from tokdfa import Dictionary, Film
from tokdfa.base.errors import TokdfaError
from tokdfa.draw.render import can_render


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    if not can_render():
        pytest.skip("there is no Graphviz")
    with browser() as found:
        yield found


def _seen(chromium: Browser) -> list[str]:
    """The names of the states and arrows that are visible, but for the start."""
    names: list[str] = chromium(
        """[...document.querySelectorAll("g.node, g.edge")]
             .filter(e => getComputedStyle(e).visibility === "visible")
             .map(e => e.querySelector("title").textContent).filter(name => !name.startsWith("start"))"""
    )
    return sorted(names)


def test_leafing_through(chromium: Browser, tmp_path: Path) -> None:
    path = tmp_path / "film.html"
    path.write_text(Film(Dictionary.from_pairs([("a", "a"), ("b", "a")], "ab")).to_html(), encoding="utf-8")
    for scheme in ("light", "dark"):
        chromium.open(path, scheme=scheme)
        assert _seen(chromium) == ["q0", "q0->q0"]
        chromium.press("ArrowRight")
        assert _seen(chromium) == ["q0", "q0->q0", "q0->q1", "q1", "q1->q0"]
        assert chromium("document.getElementById('status').textContent") == "A1: rule 1, a≀a"
        assert chromium("[...document.querySelectorAll('.new title')].map(e => e.textContent).join()") == "q1"
        chromium("document.getElementById('next').click()")
        assert _seen(chromium) == sorted(
            ["q0", "q1", "q2", *(f"q{p}->q{q}" for p, q in ("00", "01", "02", "11", "12", "20", "21", "22"))]
        )
        chromium.press("Home")
        assert chromium("document.querySelector('[aria-current]').textContent") == "A0"
        chromium.press("End")
        assert chromium("document.querySelector('[aria-current]').textContent") == "A2: rule 2, b≀a"
        assert chromium.complaints == []
        assert [url for url in chromium.requests if url != "about:blank"] == [path.as_uri()]


def test_the_moving_picture_moves(chromium: Browser, tmp_path: Path) -> None:
    path = tmp_path / "film.html"
    svg = Film(Dictionary.from_pairs([("a", "a"), ("b", "a")], "ab")).to_svg()
    path.write_text(f'<!DOCTYPE html><meta charset="utf-8"><title>film</title>{svg}', encoding="utf-8")
    chromium.open(path)
    chromium("document.querySelector('svg').pauseAnimations()")
    shown = []
    for seconds in (1, 3, 5):
        chromium(f"document.querySelector('svg').setCurrentTime({seconds})")
        shown.append([name for name in _seen(chromium) if "->" not in name])
    assert shown == [["q0"], ["q0", "q1"], ["q0", "q1", "q2"]]


def test_a_picture_without_a_size_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Film, "_drawn", lambda *_: "<svg></svg>")
    with pytest.raises(TokdfaError, match="have no size"):
        Film(Dictionary.from_pairs([("a", "a")], "ab")).to_svg()

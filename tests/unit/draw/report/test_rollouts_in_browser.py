"""The page of rollouts in a browser: each class apart, at any width, light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import tokdfa
from tests.support.browser import Browser, browser, findings_of_axe
from tokdfa.draw.report.rollouts import RolloutsReport
from tokdfa.jobs.rollouts.masks import MaskTally
from tokdfa.jobs.rollouts.result import Tally

HOSTILE = "</script><b>\0\u202e\u05d0 \U0001f469"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tokenizer = tokdfa.default_tokenizer()
    tally, masks = Tally(100), MaskTally(tokenizer, None)
    letters = [id for letter in HOSTILE for id in tokenizer.encode(letter).tolist()]
    half = next(id for id in range(300) if tokenizer.decode_bytes([id]) == b"\xe2")
    for number in range(30):
        ids = [64, 261, 1193, *letters, 261, 1193, half, *[64] * number, 261, 1193]
        mask = [0, 0, 1, *[0] * len(letters), 0, 0, *[1] * (number + 3)]
        tally.add(tokdfa.check_rollout(tokenizer, ids, mask), f"rollouts.jsonl, line {number + 1}")
        masks.add(tokdfa.Rollout(ids, mask=mask), f"rollouts.jsonl, line {number + 1}")
    path = tmp_path_factory.mktemp("page") / "rollouts.html"
    bad = [("rollouts.jsonl, line 31", "field ids: the field is missing or null")]
    RolloutsReport(tokenizer, tally, masks, bad=bad, n_bad=1, title="merges.txt", source="rollouts.jsonl").save(path)
    return path


def test_each_class_has_its_section(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    headings = chromium("[...document.querySelectorAll('h2')].map((e) => e.textContent)")
    assert headings == ["Loss masks", "Trained spans", "Classes", "Bugs", "Drift", "Junctions", "Bad records"]
    counts = chromium("[...document.querySelectorAll('table')].map((e) => e.querySelectorAll('tbody tr').length)")
    assert counts[1] > 1  # Edges
    assert counts[2:4] == [3, 3]  # Spans, classes
    for name in ("bugs", "drift", "junctions"):
        section = f"document.getElementById('{name}').parentElement"
        assert chromium(f"{section}.querySelectorAll('svg.places rect').length") > 0
        captions = chromium(f"[...{section}.querySelectorAll('caption')].map((e) => e.textContent)")
        assert [caption.partition(": ")[0].lower() for caption in captions] == [
            f"{name} by seam, the place where two parts of a rollout meet", f"{name} by kind", f"{name} by rule", name
        ]  # fmt: skip
    kinds = chromium("[...document.getElementById('drift').parentElement.querySelectorAll('tbody th')]"
                     ".map((e) => e.textContent)")  # fmt: skip
    assert any(kind.startswith("not-utf8") for kind in kinds)


def test_examples_show_the_text_around_their_spans() -> None:
    tokenizer = tokdfa.default_tokenizer()
    words = tokenizer.encode("one two three four five six seven eight nine").tolist()
    tally = Tally(9)
    tally.add(tokdfa.check_rollout(tokenizer, [*words, 261, 1193, *words], prompt=1), "a.jsonl, line 1")
    (example,) = tally.examples
    assert (example.before, example.after) == (tuple(words[-8:]), tuple(words[:8]))
    page = RolloutsReport(tokenizer, tally).to_html()
    assert "<mark>␣single</mark>" in page
    assert "␣seven␣eight␣nine<mark>" in page


def test_ids_around_a_span_that_no_token_has_are_shown_themselves() -> None:
    tokenizer = tokdfa.default_tokenizer()
    tally = Tally(9)
    tally.add(tokdfa.check_rollout(tokenizer, [10**6, 261, 1193, 10**6 + 1], prompt=1), "a.jsonl, line 1")
    (example,) = (example for example in tally.examples if 261 in example.violation.ids)
    assert (example.before, example.after) == ((10**6,), (10**6 + 1,))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 800, 1400])
def test_nothing_is_complained_of_loaded_or_too_wide(chromium: Browser, page: Path, scheme: str, width: int) -> None:
    chromium.open(page, scheme=scheme, width=width)
    assert chromium.complaints == []
    assert [url for url in chromium.requests if url != "about:blank"] == [page.as_uri()]
    assert chromium("document.documentElement.scrollWidth") == width
    assert chromium(
        "[...document.querySelectorAll('.scroll')].every((e) => (e.scrollWidth > e.clientWidth) === (e.tabIndex === 0)"
        " && e.classList.contains('scrolls') === (e.tabIndex === 0))"
    )
    assert chromium("document.querySelectorAll('h1').length") == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(chromium: Browser, page: Path, scheme: str) -> None:
    chromium.open(page, scheme=scheme)
    assert findings_of_axe(chromium) == []

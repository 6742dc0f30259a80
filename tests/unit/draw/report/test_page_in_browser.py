"""The pages in a browser: keys, themes, no complaints, nothing loaded; skipped where none is installed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import tokdfa
from tests.support.browser import Browser, browser, findings_of_axe
from tests.support.pages import data_of
from tokdfa.draw.report.validation import ValidationReport

SINGLE = [261, 1193]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as found:
        yield found


def varied() -> ValidationReport:
    """A report with violations of several kinds, hostile tokens among them."""
    tokenizer = tokdfa.default_tokenizer()
    hostile = "</script><b>\0\u202e\u05d0\u05b0 \U0001f469\u200d\U0001f680".encode()
    letters = [int(tokenizer.encode_piece(bytes([byte]))[0]) for byte in hostile]
    (bad,) = tokenizer.encode_piece(b"\xff").tolist()
    newline, nul = (int(tokenizer.encode_piece(byte)[0]) for byte in (b"\n", b"\0"))
    ids: list[int] = []
    for _ in range(15):
        ids += [*SINGLE, bad, 64, *letters, nul, newline, newline, newline, *SINGLE]
    return tokdfa.validation_report(tokenizer, ids, names=("merges.txt", "ids.npy"))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    varied().save(path)
    return path


@pytest.fixture(scope="module")
def thousands(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    tokdfa.validation_report(tokdfa.default_tokenizer(), SINGLE * 6_000, names=("", "ids.npy")).save(path)
    return path


def focused(chromium: Browser) -> str:
    return str(chromium("document.activeElement.id"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(chromium: Browser, page: Path, thousands: Path, scheme: str) -> None:
    for each in (page, thousands):
        chromium.open(each, scheme=scheme)
        assert findings_of_axe(chromium) == []


def test_nothing_is_complained_of_and_nothing_is_loaded(chromium: Browser, page: Path, tmp_path: Path) -> None:
    canonical, compared = tmp_path / "canonical.html", tmp_path / "compared.html"
    tokenizer = tokdfa.default_tokenizer()
    tokdfa.validation_report(tokenizer, []).save(canonical)
    tokdfa.comparison_report(tokenizer, tokenizer).save(compared)
    for path in (page, canonical, compared):
        for scheme in ("light", "dark"):
            chromium.open(path, scheme=scheme)
            chromium.press("n", "t", "t")
            assert chromium("document.querySelectorAll('h1').length") == 1
            assert chromium.complaints == []
            assert [url for url in chromium.requests if url != "about:blank"] == [path.as_uri()]


def test_a_card_shows_its_violation(chromium: Browser, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    tokdfa.validation_report(tokdfa.default_tokenizer(), [64, *SINGLE, 64, 0]).save(path)
    chromium.open(path)
    assert chromium("document.querySelectorAll('article').length") == 1
    (shown,) = data_of(path.read_text("utf-8"))["violations"]
    assert chromium("document.querySelector('.reason').textContent") == "".join(shown["said"])
    named = chromium("[...document.querySelectorAll('.reason bdi')].map((e) => e.textContent)")
    assert named == ["ingle", "␣s", "␣s + ingle"]
    assert chromium("document.querySelector('.card header').textContent") == ("1. Token 1, byte 1pairknown at token 2")
    rows = chromium("[...document.querySelectorAll('.runs tr')].map((row) => row.textContent)")
    assert rows[0].startswith("given⊢a64␣s261ingle1193✕a64")
    assert rows[1] == "canonical␣single2513"
    picture = chromium("document.querySelector('.card figcaption').textContent")
    assert "reached on ␣s, allows " in picture
    assert picture.endswith("ingle is not one of them: rule 2,257, ␣s + ingle, removed it.")
    assert chromium("[...document.querySelectorAll('.run .name')].map((e) => e.textContent)") == ["given", "canonical"]


def test_cards_have_what_the_data_has(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    shown = data_of(page.read_text("utf-8"))["violations"]
    reasons = chromium("[...document.querySelectorAll('.reason')].map((e) => e.textContent)")
    assert reasons == ["".join(fields["said"]) for fields in shown[:20]]
    kinds = chromium("[...document.querySelectorAll('.card .kind')].map((e) => e.textContent)")
    assert kinds == [fields["kind"] for fields in shown[:20]]
    given = chromium(
        "[...document.querySelectorAll('.card')]"
        ".map((e) => [...e.querySelectorAll('.left small')].map((s) => +s.textContent))"
    )
    assert given == [[id for id, _ in fields["lanes"]["left"]] for fields in shown[:20]]
    assert len({*kinds}) > 1


def test_two_tokenizations_of_a_comparison(chromium: Browser, tmp_path: Path) -> None:
    loaded = []
    for name, rules in (("a", "a b\nb c\n"), ("b", "b c\na b\n")):
        (tmp_path / f"{name}.merges.txt").write_text(f"#version: 0.2\n{rules}")
        loaded.append(tokdfa.load(tmp_path / f"{name}.merges.txt"))
    path = tmp_path / "report.html"
    report = tokdfa.comparison_report(*loaded, ignore_ids=True)
    report.save(path)
    chromium.open(path)
    witness = report.verdict.witness
    assert witness is not None
    ids = chromium(
        "[...document.querySelectorAll('#witness tr')]"
        ".map((row) => [...row.querySelectorAll('small')].map((e) => +e.textContent))"
    )
    assert ids == [[*witness.tokens_a], [*witness.tokens_b]]
    assert chromium("document.querySelectorAll('table.runs.ab').length") == 1
    assert chromium.complaints == []


def test_without_scripts(chromium: Browser, page: Path) -> None:
    chromium.call("Page.enable")
    chromium.open(page, script=False)
    root = chromium.call("DOM.getDocument", depth=1)["root"]["nodeId"]

    def number(selector: str) -> int:
        return len(chromium.call("DOM.querySelectorAll", nodeId=root, selector=selector)["nodeIds"])

    assert number(".card") == 0
    assert number(".controls") == 0
    assert number("#theme[hidden]") == 1
    assert number("noscript tbody tr") == len(data_of(page.read_text("utf-8"))["violations"]) <= 100


def test_keys_move_between_violations(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    chromium.press("n")
    assert focused(chromium) == "v1"
    chromium.press("n", "j")
    assert focused(chromium) == "v3"
    chromium.press("p")
    assert focused(chromium) == "v2"
    chromium.press("k", "k", "k")
    assert focused(chromium) == "v1"
    chromium.press(*"n" * 20)
    assert focused(chromium) == "v21"
    assert chromium("document.querySelectorAll('.card').length") == 20
    assert chromium("document.querySelector('[role=status]').textContent").startswith("21 to 40 of ")
    chromium.press("p")
    assert focused(chromium) == "v20"
    # In a field, letters are letters.
    chromium.press("/", "n")
    assert chromium("document.activeElement.type + document.activeElement.value") == "searchn"
    chromium.press("Escape")
    assert focused(chromium).startswith("v")
    chromium("document.querySelector('input[type=checkbox]').click()")
    before = focused(chromium)
    chromium.press("n")
    assert focused(chromium) == before


def test_the_order_of_focus(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    reached = []
    for _ in range(4):
        chromium.press("Tab")
        reached.append(chromium("document.activeElement.textContent.split(':')[0]"))
    assert reached == ["Skip to the report", "Theme", "Next →", ""]
    chromium.open(page)
    chromium.press("Tab", "Enter")
    assert focused(chromium) == "main"


def test_choosing_a_kind_hides_others(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    kinds = chromium("[...document.querySelector('select').options].map((option) => option.value)")
    assert kinds[0] == ""
    assert {"pair", "not-utf8"} <= {*kinds}
    chromium("(s => { s.value = 'not-utf8'; s.dispatchEvent(new Event('change')); })(document.querySelector('select'))")
    assert set(chromium("[...document.querySelectorAll('.card .kind')].map((e) => e.textContent)")) == {"not-utf8"}
    chromium.press("n", "n")
    assert chromium("document.activeElement.querySelector('.kind').textContent") == "not-utf8"
    chromium(
        "(f => { f.value = 'no such token'; f.dispatchEvent(new Event('input')); })"
        "(document.querySelector('input[type=search]')); new Promise((done) => setTimeout(done, 400))"
    )
    assert chromium("document.querySelectorAll('.card').length") == 0
    # The address of a violation leads to it even if the filter hides it.
    chromium("location.hash = 'v25'; new Promise((done) => setTimeout(done, 200))")
    assert focused(chromium) == "v25"


def test_dark_and_light(chromium: Browser, page: Path) -> None:
    def background() -> str:
        return str(chromium("getComputedStyle(document.body).backgroundColor"))

    seen = {}
    for scheme in ("light", "dark"):
        chromium.open(page, scheme=scheme)
        chromium("localStorage.clear(); document.documentElement.removeAttribute('data-theme')")
        seen[scheme] = background()
    assert seen["light"] != seen["dark"]
    chromium.open(page, scheme="dark")
    chromium.press("t")
    assert background() == seen["light"]
    chromium.press("t")
    assert background() == seen["dark"]
    # It is remembered: the browser writes it down some time later.
    until = time.monotonic() + 10
    while True:
        chromium.open(page, scheme="light")
        if background() == seen["dark"] or time.monotonic() > until:
            break
    assert background() == seen["dark"]
    chromium.press("t")
    assert background() == seen["light"]


def test_thousands_are_shown_in_parts(chromium: Browser, thousands: Path) -> None:
    chromium.open(thousands)
    assert "The first 5,000 of 6,000" in chromium("document.getElementById('how-many').textContent")
    assert chromium("document.querySelectorAll('.card').length") == 20
    chromium.press("g", *"4999", "Enter")
    assert focused(chromium) == "v4999"
    chromium.press("n", "n")
    assert focused(chromium) == "v5000"
    # A bar of the picture leads to the first violation there; the field does the same.
    chromium("document.querySelectorAll('.places rect')[5].dispatchEvent(new MouseEvent('click'))")
    first = int(focused(chromium).removeprefix("v"))
    token = int(chromium("document.querySelectorAll('.places rect')[5].dataset.from"))
    assert 2 * (first - 1) >= token > 2 * (first - 2)
    chromium("document.querySelectorAll('input[type=number]')[1].focus()")
    chromium.press(*"7000", "Enter")
    assert focused(chromium) == "v3501"
    assert chromium("document.getElementsByTagName('*').length") < 3_000
    assert thousands.stat().st_size < 4_000_000


@pytest.mark.parametrize("width", [360, 400, 800, 1400])
def test_nothing_is_wider_than_the_window(chromium: Browser, page: Path, width: int) -> None:
    chromium.open(page, width=width)
    assert chromium("document.documentElement.scrollWidth") == width
    assert chromium(
        "[...document.querySelectorAll('.scroll')].every((e) => (e.scrollWidth > e.clientWidth) === (e.tabIndex === 0)"
        " && e.classList.contains('scrolls') === (e.tabIndex === 0))"
    )

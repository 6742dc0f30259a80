"""The page of a corpus: its totals, its worst files and documents, in a browser and without one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tests.support.browser import Browser, browser, findings_of_axe
from tokdfa.draw.report.corpus import CorpusReport
from tokdfa.jobs.shards.report import Report
from tokdfa.jobs.shards.run import check_shards

HOSTILE = "<b>&\u202e\u05d0 .npy"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> CorpusReport:
    tokenizer = tokdfa.default_tokenizer()
    folder = tmp_path_factory.mktemp("shards")
    for number in range(8):
        ids = [64, 2513] * 20 + [64, 261, 1193] * (number // 2)
        np.save(folder / (HOSTILE if number == 7 else f"{number}.npy"), ids)
    np.save(folder / "range.npy", [64, 99_999, 261, 1193])
    (folder / "cut.npy").write_bytes(b"\x93NUMPY\x01")
    files: dict[str, Report] = {}
    total = check_shards(tokenizer, sorted(folder.iterdir()), finished=files.__setitem__)
    assert (len(files), total.violations, len(total.broken)) == (10, 2 * (1 + 2 + 3) + 2, 1)
    return CorpusReport(tokenizer, total, files, title="merges.txt", source="shards")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as found:
        yield found


def test_files_are_listed_by_their_violations(chromium: Browser, report: CorpusReport, tmp_path: Path) -> None:
    report.save(tmp_path / "page.html")
    chromium.open(tmp_path / "page.html")
    assert chromium("[...document.querySelectorAll('h2')].map((e) => e.textContent)") == [
        "The same violation again and again", "Where in the documents", "Reasons", "Files", "Documents",
        "First violations of each kind",
    ]  # fmt: skip
    table = "[...document.querySelectorAll('table')].find((e) => e.caption.textContent.startsWith('With violations'))"
    rows = chromium(f"[...{table}.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent))")
    # The direction of the name's text is made visible, and its markup is text.
    assert [(Path(row[0]).name, row[4]) for row in rows] == [
        ("6.npy", "3"), ("<b>&\\u202eא .npy", "3"), ("4.npy", "2"), ("5.npy", "2"), ("range.npy", "2"),
        ("2.npy", "1"), ("3.npy", "1"),
    ]  # fmt: skip
    kinds = chromium("[...document.querySelectorAll('table')][1].innerText")
    assert "pair" in kinds
    assert "id-out-of-range" in kinds


def test_a_clean_corpus_has_no_tables(report: CorpusReport) -> None:
    clean = CorpusReport(tokdfa.default_tokenizer(), Report(shards=2, ids=50, documents=2), {}).to_html()
    assert "All 50 ids that were read are what the tokenizer gives for their text." in clean
    assert "<table" not in clean
    assert "Not canonical: shards" in report.to_html()


@pytest.mark.parametrize("width", [360, 1400])
def test_nothing_is_complained_of_loaded_or_too_wide(
    chromium: Browser, report: CorpusReport, tmp_path: Path, width: int
) -> None:
    report.save(tmp_path / "page.html")
    chromium.open(tmp_path / "page.html", width=width)
    assert chromium.complaints == []
    assert [url for url in chromium.requests if url != "about:blank"] == [(tmp_path / "page.html").as_uri()]
    assert chromium("document.documentElement.scrollWidth") == width
    assert chromium(
        "[...document.querySelectorAll('.scroll')].every((e) => (e.scrollWidth > e.clientWidth) === (e.tabIndex === 0)"
        " && e.classList.contains('scrolls') === (e.tabIndex === 0))"
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(chromium: Browser, report: CorpusReport, tmp_path: Path, scheme: str) -> None:
    report.save(tmp_path / "page.html")
    chromium.open(tmp_path / "page.html", scheme=scheme)
    assert findings_of_axe(chromium) == []

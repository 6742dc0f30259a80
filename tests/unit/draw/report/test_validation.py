"""The page on the validation of a stream."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tokdfa
from tests.support.pages import Page, check, data_of
from tests.support.tokenizer_files import tokenizer_json

SINGLE = [261, 1193]  # " s" and "ingle", which are one token.


@pytest.fixture(scope="module")
def tokenizer() -> tokdfa.Tokenizer:
    return tokdfa.default_tokenizer()


def test_a_violation(tokenizer: tokdfa.Tokenizer) -> None:
    report = tokdfa.validation_report(tokenizer, [64, *SINGLE, 64], names=("merges.txt", "ids.npy"))
    assert not report.verdict
    assert report.verdict == tokenizer.validate([64, *SINGLE, 64])
    assert (report.n_violations, report.n_shown, report.counts) == (1, 1, {"pair": 1})
    page = check(report.to_html())
    assert page.texts["h1"] == "Not canonical"
    plain = page.texts["noscript"]
    for words in ("261 1193", "2513", "ingle (1193)", "␣s (261)", "rule 2,257", "␣s + ingle", "Canonical ids"):
        assert words in plain
    (shown,) = data_of(report.to_html())["violations"]
    assert "".join(shown["said"]) in plain
    assert (shown["kind"], shown["index"], shown["pair"], shown["rule"]) == ("pair", 1, SINGLE, 2257)
    assert "merges.txt" in page.texts["dl"]
    assert "ids.npy" in page.texts["dl"]


def test_canonical_streams(tokenizer: tokdfa.Tokenizer) -> None:
    for text in ("", "a single man"):
        report = tokdfa.validation_report(tokenizer, tokenizer.encode(text))
        assert report.verdict
        page = check(report.to_html())
        assert page.texts["h1"] == "Canonical"
        assert page.count("noscript") == 0


def test_the_page_says_how_many_it_shows(tokenizer: tokdfa.Tokenizer) -> None:
    report = tokdfa.validation_report(tokenizer, SINGLE * 300, max_shown=50, all=True)
    assert (report.n_violations, report.n_shown, len(report.verdict.violations)) == (300, 50, 300)
    html = report.to_html()
    page = check(html)
    assert "The first 50 of 300 are on this page." in page.texts["main"]
    assert "300 places of 600 tokens" in page.texts["main"]
    assert page.texts["noscript"].count("rule 2,257") == 50
    assert len(data_of(html)["violations"]) == 50
    assert len(data_of(report.to_html(max_shown=20))["violations"]) == 20
    assert len(tokdfa.validation_report(tokenizer, SINGLE * 3).verdict.violations) == 1


def test_the_page_does_not_hang_on_chunks(tokenizer: tokdfa.Tokenizer) -> None:
    ids = np.array([64, *SINGLE, 13, *SINGLE, 64, *SINGLE], dtype=np.uint16)
    whole = tokdfa.validation_report(tokenizer, ids).to_html()
    for size in (1, 2, 3):
        chunks = iter([ids[begin : begin + size] for begin in range(0, len(ids), size)])
        assert tokdfa.validation_report(tokenizer, chunks).to_html() == whole


@settings(max_examples=40)
@given(st.lists(st.integers(0, 400), max_size=30), st.text(max_size=8), st.text(max_size=8))
def test_any_ids_and_names(ids: list[int], title: str, source: str) -> None:
    report = tokdfa.validation_report(tokdfa.default_tokenizer(), ids, names=(title, source))
    html = report.to_html()
    check(html)
    assert "\0" not in html
    if not report.verdict:
        assert len(data_of(html)["violations"]) == report.n_violations


HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--",
    "\0\x1b[31m",
    "\u202eabc\u2066",
    "א\u05b0ב",
    "👩\u200d🚀",
    "\u0301",
    "|]]>&amp;",
]


@pytest.fixture
def hostile(tmp_path: Path) -> tokdfa.Tokenizer:
    """A tokenizer in which each hostile text is a special token."""
    config = tokenizer_json()
    first = len(config["model"]["vocab"])
    config["added_tokens"] = [
        {**config["added_tokens"][0], "id": first + n, "content": text} for n, text in enumerate(HOSTILE)
    ]
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    return tokdfa.load(path)


def test_hostile_tokens(hostile: tokdfa.Tokenizer) -> None:
    specials = {special.content: special.id for special in hostile.specials}
    ids: list[int] = []
    for text in HOSTILE:
        ids += [
            *(hostile.encode(character)[0] for character in text if len(hostile.encode(character)) == 1),
            specials[text],
            256,
            257,
        ]
    report = tokdfa.validation_report(hostile, ids)
    assert not report.verdict
    html = report.to_html()
    page = check(html)
    assert "alert(1)" in page.texts["noscript"]
    assert page.count("script") == 2
    for character in "\0\x1b\u202e\u2066\u200d":
        assert character not in html
    table = data_of(html)["tokens"]
    assert table[str(specials["\0\x1b[31m"])] == [r"\x00\x1b[31m", "special"]
    assert table[str(specials["\u202eabc\u2066"])] == [r"\u202eabc\u2066", "special"]


@pytest.fixture(scope="module")
def incomplete(tmp_path_factory: pytest.TempPathFactory) -> tokdfa.Tokenizer:
    """A tokenizer with tokens that no rule makes."""
    config = tokenizer_json()
    vocab = config["model"]["vocab"]
    vocab |= {word: len(vocab) + place for place, word in enumerate(("the", "he\u0120t", "\u010aa"))}
    config["added_tokens"][0]["id"] = len(vocab)
    path = tmp_path_factory.mktemp("incomplete") / "tokenizer.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    return tokdfa.load(path)


@settings(max_examples=40)
@given(ids=st.lists(st.integers(60, 70) | st.integers(250, 266), max_size=12))
def test_tokens_that_no_rule_makes(incomplete: tokdfa.Tokenizer, ids: list[int]) -> None:
    report = tokdfa.validation_report(incomplete, ids, all=True)
    assert report.verdict == incomplete.validate(ids, all=True)
    check(report.to_html())


def test_bytes_that_are_no_text(tokenizer: tokdfa.Tokenizer) -> None:
    (byte,) = tokenizer.encode_piece(b"\xff")
    report = tokdfa.validation_report(tokenizer, [64, byte, 64])
    page = check(report.to_html())
    assert report.counts == {"not-utf8": 1}
    assert "the bytes ff are not UTF-8" in page.texts["noscript"]
    assert "none: no text has these ids" in page.texts["noscript"]


def test_the_same_bytes_whatever_the_hash_seed() -> None:
    program = (
        "import hashlib, tokdfa\n"
        "tokenizer = tokdfa.default_tokenizer()\n"
        "ids = tokenizer.encode('a single man in want of a wife').tolist()\n"
        f"ids[2:2] = {SINGLE * 20} + [7, 9, 200]\n"
        "print(hashlib.sha256(tokdfa.validation_report(tokenizer, ids).to_html().encode()).hexdigest())\n"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "4711")
    }
    assert len(digests) == 1


def test_files_are_whole_or_not_there(tokenizer: tokdfa.Tokenizer, tmp_path: Path) -> None:
    report = tokdfa.validation_report(tokenizer, SINGLE)
    path = tmp_path / "report.html"
    path.write_text("old")
    report.save(path)
    assert path.read_text(encoding="utf-8") == report.to_html()
    with pytest.raises(OSError, match="nothing"):
        report.save(tmp_path / "nothing" / "report.html")
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.html"]


def test_in_a_notebook(tokenizer: tokdfa.Tokenizer) -> None:
    report = tokdfa.validation_report(tokenizer, SINGLE * 100)
    shown = report._repr_mimebundle_()
    assert shown["text/plain"] == "<ValidationReport: 200 tokens, 100 violations>"
    frame = Page(shown["text/html"])
    ((tag, values),) = frame.elements
    assert tag == "iframe"
    assert values["sandbox"] == "allow-scripts"
    assert values["srcdoc"] == report.to_html(max_shown=50)
    assert len(data_of(values["srcdoc"])["violations"]) == 50


@settings(max_examples=40)
@given(
    st.lists(st.sampled_from([64, *SINGLE, 13, 83, 187, 222, 5_000, 70_000]), max_size=20),
    st.sampled_from([5_000, 70_000, 13]),
    st.booleans(),
)
def test_windows_and_documents(ids: list[int], separator: int, window: bool) -> None:
    tokenizer = tokdfa.default_tokenizer()
    ids = [id for id in ids if 0 <= id < tokenizer.n_ids or id == separator]
    report = tokdfa.validation_report(tokenizer, ids, all=True, window=window, documents=separator)
    assert report.verdict == tokenizer.validate(ids, all=True, window=window, documents=separator)
    page = check(report.to_html())
    assert f"documents, with {separator} between them" in page.texts["dl"]
    ids = [id for id in ids if id < tokenizer.n_ids]
    report = tokdfa.validation_report(tokenizer, ids, all=True, window=True)
    assert report.verdict == tokenizer.validate(ids, all=True, window=True)
    assert "cut out of a longer stream" in check(report.to_html()).texts["dl"]


def test_wordpiece_streams_are_shown(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("[UNK]\na\nabcd\n##b\n##bc\n##z\n")
    report = tokdfa.validation_report(tokdfa.load(tmp_path / "vocab.txt"), [1, 3, 5])
    assert report.counts == {}
    report = tokdfa.validation_report(tokdfa.load(tmp_path / "vocab.txt"), [1, 3, 2, 1, 5])
    check(report.to_html())

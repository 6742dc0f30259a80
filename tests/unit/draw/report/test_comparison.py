"""The page on the comparison of two tokenizers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tokdfa
from tests.support import commands
from tests.support.pages import check, data_of
from tests.support.tokenizer_files import added_token, as_bytes, merges_txt, tokenizer_json
from tokdfa.jobs.comparison.result import part_rows

PAIRS = [(b"a", b"b"), (b"c", b"d"), (b"b", b"c"), (b"ab", b"c")]


def load(folder: Path, name: str, pairs: list[tuple[bytes, bytes]]) -> tokdfa.Tokenizer:
    path = folder / f"{name}.merges.txt"
    path.write_text(merges_txt(pairs), encoding="utf-8")
    return tokdfa.load(path)


def test_equivalent_tokenizers_are_shown(tmp_path: Path) -> None:
    a, b = load(tmp_path, "a", PAIRS), load(tmp_path, "b", [PAIRS[1], PAIRS[0], *PAIRS[2:]])
    report = tokdfa.comparison_report(a, b, ignore_ids=True)
    assert report.verdict
    page = check(report.to_html())
    assert page.texts["h1"] == "Equivalent"
    assert page.count("div", id="witness") == 0
    for part, outcome in part_rows(report.verdict):
        assert part in page.texts["main"]
        assert outcome in page.texts["main"]


def test_different_tokenizers_are_shown(tmp_path: Path) -> None:
    a, b = load(tmp_path, "a", PAIRS), load(tmp_path, "b", [PAIRS[0], PAIRS[2], PAIRS[1], PAIRS[3]])
    report = tokdfa.comparison_report(a, b, ignore_ids=True, names=("one", "<two>"))
    assert not report.verdict
    assert report.verdict == tokdfa.compare(a, b, ignore_ids=True)
    assert report.to_html() == tokdfa.comparison_report(a, b, report.verdict, names=("one", "<two>")).to_html()
    html = report.to_html()
    page = check(html)
    assert page.texts["h1"] == "Different"
    assert page.count("div", id="witness") == 1
    data = data_of(html)
    witness = report.verdict.witness
    assert witness is not None
    for side, ids, table in (("left", witness.tokens_a, "tokens"), ("right", witness.tokens_b, "other")):
        assert ids is not None
        shown = [*data["witness"]["before"], *(id for id, _ in data["witness"]["lanes"][side])]
        assert shown + data["witness"]["behind"][: len(ids) - len(shown)] == [*ids]
        assert {*map(str, ids)} <= data[table].keys()
        assert " ".join(map(str, ids)) in page.texts["noscript"]
    main = page.texts["main"]
    for words in ("bcd", "one", "<two>", "does not allow", "would have merged them"):
        assert words in main


def test_other_ids_only(tmp_path: Path) -> None:
    a, b = load(tmp_path, "a", PAIRS), load(tmp_path, "b", [PAIRS[1], PAIRS[0], *PAIRS[2:]])
    report = tokdfa.comparison_report(a, b)
    assert not report.verdict
    page = check(report.to_html())
    for token in (a.encode("ab")[0], b.encode("ab")[0]):
        assert str(token) in page.texts["table"]


@settings(max_examples=4)
@given(st.lists(st.integers(0, 3), max_size=4), st.lists(st.integers(0, 3), max_size=4))
def test_any_two_tokenizers_are_shown(
    tmp_path_factory: pytest.TempPathFactory, left: list[int], right: list[int]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    pairs = [(b"a", b"b"), (b"\xff", b"\0"), (b"<", b"/"), (b"b", b"\xd7")]
    a, b = (load(folder, name, [pairs[n] for n in dict.fromkeys(ns)]) for name, ns in (("a", left), ("b", right)))
    report = tokdfa.comparison_report(a, b)
    page = check(report.to_html())
    assert page.texts["h1"] == ("Equivalent" if report.verdict else "Different")


def test_wordpiece_tokenizers_are_shown(tmp_path: Path) -> None:
    for name, words in (("a", "[UNK] a abcd ##b"), ("b", "[UNK] a abce ##b")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "vocab.txt").write_text(words.replace(" ", "\n") + "\n")
    report = tokdfa.comparison_report(tokdfa.load(tmp_path / "a"), tokdfa.load(tmp_path / "b"))
    assert not report.verdict
    check(report.to_html())


@pytest.mark.parametrize("kind", ["byte pairs", "WordPiece"])
def test_a_fingerprint_is_the_same_everywhere(tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str) -> None:
    printed = []
    for name in "ab":
        if kind == "byte pairs":
            path = tmp_path / f"{name}.merges.txt"
            path.write_text(merges_txt(PAIRS), encoding="utf-8")
        else:
            path = tmp_path / f"{name}.vocab.txt"
            path.write_text("[UNK]\na\n##b\n", encoding="utf-8")
        assert commands.run("info", path, "--json") == 0
        printed.append(json.loads(capsys.readouterr().out)["fingerprint"])
        assert tokdfa.load(path).fingerprint == printed[-1]
    assert printed[0] == printed[1]
    if kind == "byte pairs":
        page = check(tokdfa.comparison_report(tokdfa.load(path), tokdfa.load(path)).to_html())
        assert page.texts["main"].count(printed[0][:16]) == 2


def test_special_tokens_that_differ_are_named(tmp_path: Path) -> None:
    loaded = []
    for name, added in (("a", []), ("b", [added_token(256, "<user>")])):
        path = tmp_path / f"{name}.json"
        path.write_bytes(as_bytes(tokenizer_json([], added_tokens=added)))
        loaded.append(tokdfa.load(path))
    html = tokdfa.comparison_report(*loaded).to_html()
    assert "Special and added tokens that differ: the first 1 of 1" in html
    assert "Different: specials." in html
    assert html.index('<th scope="row">specials</th>') < html.index('<th scope="row">dictionary</th>')

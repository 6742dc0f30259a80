"""The counts made for real tokenizers, checked by hand on small ones."""

from __future__ import annotations

from pathlib import Path

import pytest

import tokdfa
from figures.measurements.real_tokenizers import files, late_parts, row
from figures.table import read_table
from tests.support.tokenizer_files import merges_txt
from tokdfa import Dictionary


def test_late_parts_are_counted() -> None:
    # In the first rule ab comes too early; abc is made by no rule, and is a part of two.
    dictionary = Dictionary([("ab", "a"), ("a", "b"), ("abc", "a"), ("b", "abc")], "abc")
    assert late_parts(dictionary) == (3, 2)
    assert late_parts(Dictionary([("a", "b"), ("ab", "ab")])) == (0, 0)


def test_a_small_tokenizer(tmp_path: Path) -> None:
    path = tmp_path / "merges.txt"
    path.write_text(merges_txt([(b"a", b"b"), (b"ab", b"a"), (b"b", b"a"), (b"c", b"c"), (b"a", b"ba")]), "utf-8")
    tokenizer = tokdfa.load(path)
    found = row("small", tokenizer, ["aba\n", "ab"])
    # aba is made by ab≀a, so a≀ba is dead, and no text uses it. The text has aba, ab and the line break.
    assert (found["rules"], found["dead_rules"], found["improper_rules"], found["late_parts"]) == (5, 1, 0, 0)
    assert found["unused_rules"] == 3
    assert found["unused_bytes"] == 255
    assert found["unused_tokens"] == found["tokens"] - 3
    assert (found["states_built"], found["states_reachable"]) == (5, tokenizer.dfa.states_reachable)


def test_more_files_are_named(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKDFA_TOKENIZERS", "Mine=/a/b.json:Yours=/c")
    named = files()
    assert named["GPT-2"] == data / "vocabs" / "gpt2"
    assert (named["Mine"], named["Yours"]) == (Path("/a/b.json"), Path("/c"))


def test_the_page_has_the_table() -> None:
    root = Path(__file__).parents[3]
    page = (root / "notebooks" / "measurements.md").read_text("utf-8")
    rows = read_table(root / "figures" / "measurements" / "real_tokenizers.csv")
    columns = ("rules", "states_minimal", "intervals", "improper_rules", "dead_tokens")
    columns += ("unused_tokens", "unused_rules", "unused_bytes")
    for found in rows:
        counts = ("–" if found[column] < 0 else f"{found[column]:,}" for column in columns)
        assert f"| {' | '.join((found['tokenizer'], *counts))} |" in page
    assert len(rows) > 15

"""tokdfa formats: what it lists is what is read, and what the README says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from support.commands import run
from support.schemas import schema

from tokdfa.cli.formats import OBJECTS, READ
from tokdfa.tokenizers.formats import FORMATS

ROOT = Path(__file__).parents[2]


def test_every_format_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert {name for row in READ for name in row.formats} == set(FORMATS)
    assert {name for row in OBJECTS for name in row.formats} <= set(FORMATS)
    assert schema("formats")["$defs"]["readable"]["properties"]["formats"]["items"]["enum"] == list(FORMATS)
    assert run("formats") == 0
    shown = capsys.readouterr().out
    # A narrow terminal wraps the columns.
    assert all(row.what.split()[-1] in shown and row.standard in shown for row in (*READ, *OBJECTS))
    assert run("formats", "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert [row["what"] for row in printed["files"]] == [row.what for row in READ]


def test_the_readme_lists_them_too() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = text.split("## What is read")[1].split("\n## ")[0].replace("`", "")
    rows = re.findall(r"^\| (.+) \| (.+) \|$", table, re.MULTILINE)[1:]
    assert rows == [(row.what, row.standard) for row in READ]

"""The texts of the figure on look-ahead attain its numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

import tokdfa
from figures.measurements.look_ahead import DICTIONARIES
from figures.table import read_table
from tokdfa import SubsequentialTransducer

ROWS = read_table(Path(__file__).parents[3] / "figures" / "measurements" / "look_ahead.csv")


SLOW = {"cl100k", "o200k"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in DICTIONARIES]
)
def test_each_number_is_attained(data: Path, name: str) -> None:
    dictionary = tokdfa.load(data / "vocabs" / DICTIONARIES[name]).dictionary
    rows = [row for row in ROWS if row["dictionary"] == name]
    assert {row["rules"] for row in rows if row["unit"] == "symbols"} == {len(dictionary)}
    for row in rows:
        if 1000 < row["rules"] < len(dictionary):
            continue
        text, continuation = (bytes.fromhex(row[key].removeprefix("x")) for key in ("text", "continuation"))
        transducer = SubsequentialTransducer(dictionary.prefix(row["rules"]))
        before, after = transducer(text), transducer(text + continuation)
        same = next(i for i, (u, v) in enumerate(zip(before, after, strict=False)) if u != v)
        revised = len(before) - same if row["unit"] == "tokens" else sum(map(len, before[same:]))
        assert revised == row["revised"]
        # A stream holds back just as much.
        stream = transducer.stream()
        settled = len(stream.feed(text))
        held = len(before) - settled if row["unit"] == "tokens" else stream.delay
        assert held == row["revised"]

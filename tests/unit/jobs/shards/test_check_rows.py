"""Rows in memory give the report that the same rows in a file give."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

import tokdfa
from tokdfa.base.errors import TokenStreamError
from tokdfa.jobs.shards.check import check_rows, check_shard
from tokdfa.jobs.shards.report import Report

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


def documents(seed: int) -> list[list[int]]:
    source = random.Random(seed)
    return [
        source.choice([[64, 2513, 462], [64, 261, 1193], [], [99999, 64], [261, 1193] * 3]) for _ in range(seed * 40)
    ]


@pytest.mark.parametrize("seed", range(4))
def test_rows_are_checked_as_a_file(tmp_path: Path, seed: int) -> None:
    tokenizer = tokdfa.default_tokenizer()
    column = arrow.array(documents(seed), arrow.list_(arrow.int32()))
    table = arrow.table({"other": [0] * len(column), "input_ids": column})
    parquet.write_table(table, tmp_path / "x.parquet")
    expected = check_shard(tokenizer, tmp_path / "x.parquet")
    if seed:
        assert expected.wrong_documents
        assert expected.empty_documents
        assert expected.out_of_range
    found = check_rows(tokenizer, table)
    named = replace(
        found,
        shards=1,
        first=tuple(each._replace(file=str(tmp_path / "x.parquet")) for each in found.first),
        worst=tuple(each._replace(file=str(tmp_path / "x.parquet")) for each in found.worst),
        groups=tuple(replace(each, file=str(tmp_path / "x.parquet")) for each in found.groups),
    )
    assert named == expected
    # In pieces, and in batches.
    pieces = arrow.concat_tables([table.slice(at, 7) for at in range(0, len(table), 7)] or [table])
    assert check_rows(tokenizer, pieces) == found
    parts = [check_rows(tokenizer, batch) for batch in table.to_batches(max_chunksize=11)]
    whole = sum(parts, Report())
    assert (whole.kinds, whole.rules, whole.documents) == (found.kinds, found.rules, found.documents)
    assert whole.shards == 0


def test_names_of_rows_come_from_the_key() -> None:
    table = arrow.table({"id": ["a", None, "c"], "x": [[64], [261, 1193], [261, 1193]]})
    report = check_rows(tokdfa.default_tokenizer(), table, key="id")
    assert [(each.file, each.unit, each.number) for each in report.first] == [("None", "row", 1), ("c", "row", 2)]
    for batch in table.slice(2).to_batches():
        assert check_rows(tokdfa.default_tokenizer(), batch, "x", key="id").worst[0][1:] == ("c", "row", 0)


def test_nulls_are_broken_rows() -> None:
    tokenizer = tokdfa.default_tokenizer()
    for column, what in (([[64], None], "the ids are null"), ([[64], [64, None]], "one of the ids is null")):
        (broken,) = check_rows(tokenizer, arrow.table({"x": column})).broken
        assert (broken.file, broken.what) == ("rows", what)


@pytest.mark.parametrize(
    ("columns", "given", "said"),
    [
        ({"x": [1]}, {}, "not clear which field"),
        ({"x": [[1]], "y": [[1]]}, {}, "not clear which field"),
        ({"tokens": [1]}, {}, "must have lists of integers: 'int64'"),
        ({"x": [["a"]]}, {"field": "x"}, "must have lists of integers"),
        ({"x": [[1]]}, {"field": "z"}, "the field is missing: 'z'"),
        ({"x": [[1]]}, {"key": "z"}, "with the names of documents is missing: 'z'"),
    ],
)
def test_columns_that_do_not_fit(columns: dict, given: dict, said: str) -> None:
    with pytest.raises(TokenStreamError, match=said):
        check_rows(tokdfa.default_tokenizer(), arrow.table(columns), **given)

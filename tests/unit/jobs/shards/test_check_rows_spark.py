"""The function for Spark in the guide, run by Spark itself where it is installed, with Java."""

from __future__ import annotations

import doctest
import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import tokdfa
from tokdfa.jobs.shards.check import check_shard
from tokdfa.jobs.shards.report import Report

ROOT = Path(__file__).parents[4]
GUIDE = ROOT / "notebooks" / "guides" / "check_on_a_cluster.md"


def of_the_guide() -> dict[str, Any]:
    """Return the names that the guide's section on Spark defines."""
    (section,) = re.findall(r"^## With Spark$(.*?)^## ", GUIDE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {"tok": tokdfa.default_tokenizer(), "tokdfa": tokdfa}
    for example in doctest.DocTestParser().get_examples(section):
        if doctest.SKIP not in example.options:
            exec(example.source, names)
    return names


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_rows_are_checked_in_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    if shutil.which("java") is None:
        pytest.skip("there is no Java on this machine")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    documents = [[64, 2513, 462], [64, 261, 1193], [], [1 << 20]] * 300
    (tmp_path / "shards").mkdir()
    for number in range(3):
        table = arrow.table({"input_ids": arrow.array(documents, arrow.list_(arrow.int32()))})
        parquet.write_table(table, tmp_path / "shards" / f"{number}.parquet")
    expected = sum(
        (check_shard(tokdfa.default_tokenizer(), path) for path in (tmp_path / "shards").iterdir()), Report()
    )
    assert expected.violations == 3 * 300 * 2
    session = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        frame = session.read.parquet(str(tmp_path / "shards")).select("input_ids")
        rows = frame.mapInArrow(of_the_guide()["reports"], "report string").collect()
    finally:
        session.stop()
        os.environ.pop("SPARK_LOCAL_IP", None)
    found = sum((Report.from_dict(json.loads(row.report)) for row in rows), Report())
    for name in (
        "ids",
        "documents",
        "empty_documents",
        "wrong_documents",
        "unended_documents",
        "kinds",
        "out_of_range",
    ):
        assert getattr(found, name) == getattr(expected, name), name

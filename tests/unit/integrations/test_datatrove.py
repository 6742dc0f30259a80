"""Steps of datatrove, run by its own executor where it is installed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tokdfa
from tokdfa.base.errors import TokenStreamError, UnsupportedFeatureError
from tokdfa.integrations import datatrove as module
from tokdfa.jobs.shards.check import Options, check_shard
from tokdfa.jobs.shards.report import Report

real = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def run(steps: list[Any], folder: Path, tasks: int, workers: int) -> dict[str, Any]:
    """Run a pipeline, and return the statistics of its last step."""
    executor = pytest.importorskip("datatrove.executor", reason="datatrove is not installed")
    logs = folder / "logs"
    executor.LocalPipelineExecutor(steps, tasks=tasks, workers=workers, logging_dir=str(logs)).run()
    return json.loads((logs / "stats.json").read_text())[-1]["stats"]


class TestWithDatatrove:
    pytestmark = real

    @pytest.mark.parametrize("workers", [1, 2])
    def test_shards_are_checked_by_an_executor(self, tmp_path: Path, workers: int) -> None:
        pytest.importorskip("datatrove", reason="datatrove is not installed")
        tokenizer = tokdfa.default_tokenizer()
        (tmp_path / "shards").mkdir()
        for number in range(5):
            ids = [64, 261, 1193] if number % 2 else tokenizer.encode("a single man")
            np.save(tmp_path / "shards" / f"{number}.npy", ids)
        (tmp_path / "shards" / "4.npy").write_bytes(b"")
        expected = sum((check_shard(tokenizer, path) for path in sorted((tmp_path / "shards").iterdir())), Report())
        assert expected.violations == 2
        step = module.CheckShards(tokenizer, tmp_path / "shards", tmp_path / "reports")
        stats = run([step], tmp_path, 3, workers)
        assert module.total(tmp_path / "reports") == expected
        found = {name: stats[name]["total"] if isinstance(stats[name], dict) else stats[name] for name in stats}
        assert (found["violations"], found["broken"], found["ids"], found["documents"]) == (2, 1, 12, 4)

    def test_documents_are_filtered(self, tmp_path: Path) -> None:
        data = pytest.importorskip("datatrove.data", reason="datatrove is not installed")
        writers = pytest.importorskip("datatrove.pipeline.writers.jsonl")
        rows = [[64, 2513], [64, 261, 1193], [], [1 << 20]]
        documents = [data.Document("", str(at), metadata={"input_ids": ids}) for at, ids in enumerate(rows)]

        dropped = writers.JsonlWriter(str(tmp_path / "dropped"), compression=None)
        kept = writers.JsonlWriter(str(tmp_path / "kept"), compression=None)
        step = module.CanonicalFilter(tokdfa.default_tokenizer(), exclusion_writer=dropped)
        run([documents, step, kept], tmp_path, 1, 1)

        def read(name: str) -> list[Any]:
            return [json.loads(line) for file in (tmp_path / name).iterdir() for line in file.open()]

        assert [row["id"] for row in read("kept")] == ["0", "2"]
        reasons = {row["id"]: row["metadata"]["filter_reason"] for row in read("dropped")}
        assert reasons == {"1": "pair", "3": "id-out-of-range"}
        with pytest.raises(TokenStreamError, match="document x: the field is missing: 'input_ids'"):
            step.filter(data.Document("", "x"))

    def test_it_passes_documents_on(self, tmp_path: Path) -> None:
        data = pytest.importorskip("datatrove.data", reason="datatrove is not installed")
        np.save(tmp_path / "x.npy", [64, 261, 1193])
        step = module.CheckShards(tokdfa.default_tokenizer(), [tmp_path / "x.npy"], options=Options(end=1193))
        documents = [data.Document("", "a"), data.Document("", "b")]
        assert [*step.run(iter(documents), 0, 1)] == documents
        assert [*step.run(None, 0, 1)] == []


@pytest.mark.skipif("datatrove" in sys.modules, reason="datatrove is installed")
def test_datatrove_is_missing() -> None:
    for make in (lambda: module.CheckShards("gpt2", []), lambda: module.CanonicalFilter("gpt2")):
        with pytest.raises(
            UnsupportedFeatureError, match=r"datatrove is needed for its steps \(pip install datatrove\)"
        ):
            make()


def test_no_reports_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TokenStreamError, match="no task has written a report"):
        module.total(tmp_path)

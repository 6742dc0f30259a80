"""The stage of NeMo Curator, run by its own executor on Ray where both are installed."""

from __future__ import annotations

import copy
import pickle
import sys
from typing import Any

import pytest

import tokdfa
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.integrations import nemo_curator as module
from tokdfa.jobs.shards.check import check_rows
from tokdfa.jobs.shards.report import Report

real = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
ROWS = [[64, 2513], [64, 261, 1193], [], [1 << 20, 64], [64]]


class TestWithCurator:
    pytestmark = real

    @pytest.fixture
    def batches(self) -> list[Any]:
        tasks = pytest.importorskip("nemo_curator.tasks", reason="nemo-curator is not installed")
        arrow = pytest.importorskip("pyarrow")
        table = arrow.table({"id": [*"abcde"], "input_ids": ROWS})
        return [
            tasks.DocumentBatch(dataset_name="x", data=table),
            tasks.DocumentBatch(dataset_name="x", data=table.slice(1, 1).to_pandas()),
        ]

    def expected(self) -> Report:
        arrow = pytest.importorskip("pyarrow")
        table = arrow.table({"id": [*"abcde"], "input_ids": ROWS})
        tokenizer = tokdfa.default_tokenizer()
        return sum((check_rows(tokenizer, each, key="id") for each in (table, table.slice(1, 1))), Report())

    def test_batches_are_checked(self, batches: list[Any]) -> None:
        stage = module.CheckRows(tokdfa.default_tokenizer(), key="id", drop=True)
        stage = pickle.loads(pickle.dumps(copy.deepcopy(stage).with_(name="again")))
        done = stage.process_batch(batches)
        assert module.total(done) == self.expected()
        assert [[*each.to_pandas()["id"]] for each in done] == [["a", "c", "e"], []]
        assert isinstance(done[0].data, type(batches[0].data))
        assert isinstance(done[1].data, type(batches[1].data))
        assert stage._consume_custom_metrics()["ids"] == 3
        assert not stage.validate_input(type(batches[0])(dataset_name="x", data=batches[0].data.select(["id"])))

    def test_in_a_pipeline(self, batches: list[Any]) -> None:
        ray = pytest.importorskip("ray", reason="ray is not installed")
        pipeline = pytest.importorskip("nemo_curator.pipeline")
        backend = pytest.importorskip("nemo_curator.backends.ray_actor_pool")
        ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
        try:
            stage = module.CheckRows(tokdfa.default_tokenizer(), key="id")
            steps = pipeline.Pipeline("check", stages=[stage])
            done = steps.run(backend.RayActorPoolExecutor(), initial_tasks=batches)
        finally:
            ray.shutdown()
        assert module.total(done) == self.expected()
        assert sum(each.num_items for each in done) == 6


@pytest.mark.skipif("nemo_curator" in sys.modules, reason="nemo-curator is installed")
def test_curator_is_missing() -> None:
    with pytest.raises(UnsupportedFeatureError, match=r"nemo-curator is needed .* \(pip install nemo-curator\)"):
        module.CheckRows("gpt2")


def test_no_batches_is_an_empty_report() -> None:
    assert module.total([]) == Report()

"""NeMo Curator: a stage that checks batches of documents, and may drop documents that are not canonical."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.integrations.metrics import PerProcess, why_not_canonical
from tokdfa.jobs.shards.check import check_rows
from tokdfa.jobs.shards.report import Report

try:
    from nemo_curator.stages.base import ProcessingStage
    from nemo_curator.tasks import DocumentBatch
except ImportError:
    ProcessingStage = DocumentBatch = object

_Stage: Any = object if ProcessingStage is object else ProcessingStage[DocumentBatch, DocumentBatch]

_KEY = "tokdfa_report"


class CheckRows(_Stage):  # type: ignore[misc]
    """A stage that checks the ids of documents in batches, and records the report in the batch.

    Parameters
    ----------
    tokenizer : AnyTokenizer, path, or tokenizer of transformers
        It is read here, and sent to the workers, which build it once each.
    field : str
        The column of lists of ids.
    key : str, optional
        A column with names of the documents, for reports.
    drop : bool
        Whether rows that are not canonical are dropped. The report is on all.

    Notes
    -----
    Read in NeMo Curator 1.4.0. Stages are copied, and sent to workers as pickles; a batch is a `DocumentBatch` of an
    Arrow table or a data frame of pandas. The report is in its metadata, and :func:`total` adds up the reports of all
    batches; batches that become empty are kept for their reports. Metrics are `ids`, `documents`, `wrong_documents` and
    `violations`.

    Examples
    --------
    >>> from nemo_curator.pipeline import Pipeline  # doctest: +SKIP
    >>> stage = CheckRows("gpt2/", "input_ids", drop=True)  # doctest: +SKIP
    >>> batches = Pipeline("check", stages=[reader, stage]).run()  # doctest: +SKIP
    >>> total(batches).violations  # doctest: +SKIP
    0
    """

    name = "tokdfa_check_rows"
    batch_size = 1

    def __init__(self, tokenizer: Any, field: str = "input_ids", key: str | None = None, drop: bool = False) -> None:
        if ProcessingStage is object:
            hint = "pip install nemo-curator"
            raise UnsupportedFeatureError("the package nemo-curator is needed for its stages", hint=hint)
        super().__init__()
        self.tokenizer = PerProcess(tokenizer)
        self.field = field
        self.key = key
        self.drop = drop

    def inputs(self) -> tuple[list[str], list[str]]:
        """Return the attributes and columns that are needed."""
        return ["data"], [self.field] if self.key is None else [self.field, self.key]

    def outputs(self) -> tuple[list[str], list[str]]:
        """Return the attributes and columns that there are afterwards."""
        return ["data"], [self.field]

    def process(self, task: Any) -> Any:
        """Return the batch with its report, and without the rows that are dropped."""
        tokenizer = self.tokenizer.tokenizer
        rows = task.to_pyarrow()
        report = check_rows(tokenizer, rows, self.field, key=self.key)
        self._log_metrics(
            {name: getattr(report, name) for name in ("ids", "documents", "wrong_documents", "violations")}
        )
        data = task.data
        if self.drop and not report:
            kept = [_is_canonical(tokenizer, row) for row in rows.column(self.field)]
            data = rows.filter(kept) if data is rows else data[kept]
        return DocumentBatch(
            dataset_name=task.dataset_name,
            data=data,
            _stage_perf=task._stage_perf,
            _metadata={**task._metadata, _KEY: report.to_dict()},
        )


def _is_canonical(tokenizer: Any, row: Any) -> bool:
    if not row.is_valid or row.values.null_count:
        return False
    return why_not_canonical(tokenizer, row.values.to_numpy(zero_copy_only=False)) is None


def total(batches: Iterable[Any]) -> Report:
    """Return the sum of the reports that :class:`CheckRows` has recorded in batches."""
    reports = (batch._metadata[_KEY] for batch in batches if _KEY in batch._metadata)
    return sum(map(Report.from_dict, reports), Report())

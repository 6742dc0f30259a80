"""datatrove: a step that checks shards, and a filter that drops documents which are not canonical."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tokdfa.base.atomic import write_atomically
from tokdfa.base.errors import TokenStreamError, UnsupportedFeatureError
from tokdfa.integrations.metrics import PerProcess, why_not_canonical
from tokdfa.jobs.shards.check import Options, check_shard
from tokdfa.jobs.shards.report import Report
from tokdfa.stores.opening import find_stores
from tokdfa.stores.store import value_of

try:
    from datatrove.pipeline.base import PipelineStep
    from datatrove.pipeline.filters.base_filter import BaseFilter
except ImportError:
    PipelineStep = BaseFilter = object


class CheckShards(PipelineStep):  # type: ignore[misc]
    """A step of a pipeline that checks the files of a corpus, each task its share of them.

    Documents that come from steps before it are passed on.

    Parameters
    ----------
    tokenizer : AnyTokenizer, path, or tokenizer of transformers
        It is read here, and sent to the tasks.
    paths : path, or iterable of paths
        Files, folders and patterns, as the command ``tokdfa validate`` takes them; every task must see them.
    report_folder : str or Path, optional
        Where each task writes its report; :func:`total` adds them up.
    options : Options, optional
        How the shards are read and judged.

    Notes
    -----
    Read in datatrove 0.10.1. The statistics are `ids`, `documents`, `wrong_documents`, `violations` and `broken`, by
    shard. A task takes every `world_size`-th file, as datatrove's readers do.

    Examples
    --------
    >>> from datatrove.executor import LocalPipelineExecutor  # doctest: +SKIP
    >>> step = CheckShards("gpt2/", "tokenized/", "reports/")  # doctest: +SKIP
    >>> LocalPipelineExecutor([step], tasks=8).run()  # doctest: +SKIP
    >>> total("reports/").violations  # doctest: +SKIP
    0
    """

    name = "tokdfa"
    type = "🔎 - VALIDATE"

    def __init__(
        self,
        tokenizer: Any,
        paths: str | Path | Iterable[str | Path],
        report_folder: str | Path | None = None,
        options: Options | None = None,
    ) -> None:
        _require(PipelineStep)
        super().__init__()
        self.tokenizer = PerProcess(tokenizer)
        self.paths = [str(path) for path in ([paths] if isinstance(paths, (str, Path)) else paths)]
        self.report_folder = None if report_folder is None else str(report_folder)
        self.options = Options() if options is None else options

    def run(self, data: Iterable[Any] | None, rank: int = 0, world_size: int = 1) -> Iterator[Any]:
        """Check the share of a task; see `PipelineStep.run`."""
        yield from data or ()
        found = Report()
        for path in find_stores(self.paths)[rank::world_size]:
            with self.track_time("shard"):
                report = check_shard(self.tokenizer.tokenizer, path, **self.options._asdict())
            for name in ("ids", "documents", "wrong_documents", "violations"):
                self.stat_update(name, value=getattr(report, name), unit="shard")
            self.stat_update("broken", value=len(report.broken), unit="shard")
            found += report
        if self.report_folder is not None:
            folder = Path(self.report_folder)
            folder.mkdir(parents=True, exist_ok=True)
            write_atomically(folder / f"{rank:05}.json", json.dumps(found.to_dict()).encode() + b"\n")


def total(report_folder: str | Path) -> Report:
    """Return the sum of the reports of all tasks of a :class:`CheckShards`, by its folder."""
    files = sorted(Path(report_folder).glob("*.json"))
    if not files:
        raise TokenStreamError("no task has written a report", where=str(report_folder))
    return sum((Report.from_dict(json.loads(file.read_bytes())) for file in files), Report())


class CanonicalFilter(BaseFilter):  # type: ignore[misc]
    """A filter that keeps the documents with canonical ids.

    Parameters
    ----------
    tokenizer : AnyTokenizer, path, or tokenizer of transformers
        It is read here, and sent to the tasks.
    field : str
        Where the ids are in a document's metadata, with dots into mappings.
    exclusion_writer : DiskWriter, optional
        Saves the documents that are dropped.

    Notes
    -----
    Read in datatrove 0.10.1. The reason for which a document is dropped is the kind of its first violation. A document
    without ids stops the task.

    Examples
    --------
    >>> CanonicalFilter("gpt2/", field="input_ids")  # doctest: +SKIP
    🔻 - FILTER: canonical ids
    """

    name = "canonical ids"

    def __init__(self, tokenizer: Any, field: str = "input_ids", exclusion_writer: Any = None) -> None:
        _require(BaseFilter)
        super().__init__(exclusion_writer)
        self.tokenizer = PerProcess(tokenizer)
        self.field = field

    def filter(self, doc: Any) -> bool | tuple[bool, str]:
        """Return whether a document is kept, or why it is not."""
        ids = value_of(doc.metadata, self.field, f"document {doc.id}")
        why = why_not_canonical(self.tokenizer.tokenizer, ids)
        return True if why is None else (False, why)


def _require(base: type) -> None:
    if base is object:
        raise UnsupportedFeatureError("the package datatrove is needed for its steps", hint="pip install datatrove")

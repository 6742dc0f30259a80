"""Ray: shards checked by the workers of a cluster, and callable classes for datasets."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tokdfa.base.errors import TokenStreamError
from tokdfa.integrations.metrics import as_tokenizer
from tokdfa.integrations.ray_tasks import iterate_apart, run_tasks
from tokdfa.jobs.shards.check import Options, check_rows, check_shard
from tokdfa.jobs.shards.report import Report
from tokdfa.jobs.shards.run import check_shards
from tokdfa.stores.opening import find_stores

_LOST = "the Ray cluster is lost"


def check(
    paths: Iterable[str | Path],
    tokenizer: Any,
    options: Options | None = None,
    *,
    address: str | None = None,
    threads: int = 1,
    apart: bool = False,
    report_path: str | Path | None = None,
    progress: tuple[Callable[[int], object] | None, Callable[[str, Report], object] | None] = (None, None),
) -> Report:
    """Check shards with the workers of a Ray cluster, each shard in one task.

    Parameters
    ----------
    paths : iterable of str or Path
        Files, folders and patterns, as the command ``tokdfa validate`` takes them. The workers must see the files under
        the same paths; one that only the workers see is given by its name.
    tokenizer : AnyTokenizer, path, or tokenizer of transformers
        It is read here, sent once, and built once by each worker.
    options : Options, optional
        How the shards are read and judged.
    address : str, optional
        The cluster: ``HOST:PORT``, ``ray://HOST:PORT``, ``auto``, or ``local`` for one on this machine that lasts as
        long as the call. By default the cluster to which this process is connected, or else the one that ``ray.init()``
        finds or starts.
    threads : int
        The number of threads of a task, over parts of its shard; Ray reserves as many CPUs for it.
    apart : bool
        Whether Ray runs in a process of its own. If the cluster is lost, Ray ends the process that it runs in, with the
        exit status 1.
    report_path, progress
        The report, and `advance` and `finished`, of :func:`tokdfa.jobs.shards.run.check_shards`.

    Returns
    -------
    Report
        The same as without Ray. A shard at which every worker dies is in `broken`, and so is one that workers do not
        see.

    Raises
    ------
    TokenStreamError
        If there are no shards.
    UnsupportedFeatureError
        If Ray is not installed.
    TokdfaError
        If no cluster answers at the address, or its workers have another version of tokdfa, or none; and, with
        `ray_tasks`, if the cluster is lost.
    ImproperDictionaryError, OSError
        As :func:`tokdfa.jobs.shards.run.check_shards` does.

    Notes
    -----
    Read in Ray 2.60.0: a task is run again when its worker or node dies, ``max_retries`` times, here three, on any node
    with a free CPU; `ray.init` at an address where nothing answers takes over five minutes and then ends the process,
    so that is tried first. At most four tasks per CPU are submitted ahead.

    Examples
    --------
    >>> from tokdfa.integrations.ray import check
    >>> report = check(["shards/"], "gpt2/", address="10.0.0.1:6379")  # doctest: +SKIP
    >>> report.violations, report.broken  # doctest: +SKIP
    (0, ())
    """
    own = as_tokenizer(tokenizer)
    options = Options() if options is None else options
    shards = [*_shards(paths)]
    if not shards:
        raise TokenStreamError("there are no shards to check", hint="give files, folders or patterns of files")

    advance, finished = progress

    def work(left: list[str]) -> Iterator[tuple[str, Report]]:
        if not left:
            return
        job = (address, own, options, threads, left)
        for path, report in iterate_apart(run_tasks, *job, lost=_LOST) if apart else run_tasks(*job):
            if advance is not None:
                advance(report.ids)
            yield path, report

    return check_shards(own, shards, options, report_path=report_path, finished=finished, work=work)


def _shards(paths: Iterable[str | Path]) -> Iterator[Path]:
    for path in paths:
        try:
            yield from find_stores([path])
        except FileNotFoundError:
            # Perhaps the workers see it.
            yield Path(path)


class CheckShards:
    """A callable class for `Dataset.map_batches` that checks the files which the rows name.

    Parameters
    ----------
    tokenizer : AnyTokenizer, path, or tokenizer of transformers
        A path is read by each actor, so all nodes must see it.
    options : Options, optional
        How the shards are read and judged.
    column : str
        The column with the paths; by default the one that ``ray.data.from_items`` makes.

    Notes
    -----
    Read in Ray 2.60.0: `map_batches` makes actors of classes and builds each once; batches are mappings of arrays
    unless `batch_format` is another. The reports are text, so that they can be stored; :func:`total` adds them up. If
    actors die, Ray makes new ones without end; :func:`check` gives up on a shard that ends its workers.

    Examples
    --------
    >>> import ray
    >>> shards = ray.data.from_items(["/data/0.npy", "/data/1.npy"])  # doctest: +SKIP
    >>> pool = ray.data.ActorPoolStrategy(size=2)  # doctest: +SKIP
    >>> checked = shards.map_batches(  # doctest: +SKIP
    ...     CheckShards, fn_constructor_args=[tokenizer], compute=pool, batch_size=1
    ... )
    >>> report = total(checked.iter_rows())  # doctest: +SKIP
    """

    def __init__(self, tokenizer: Any, options: Options | None = None, column: str = "item") -> None:
        self._tokenizer = as_tokenizer(tokenizer)
        self._options = Options() if options is None else options
        self._column = column

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, list[str]]:
        """Return the paths of a batch, and their reports."""
        paths = [str(path) for path in batch[self._column]]
        reports = (check_shard(self._tokenizer, path, **self._options._asdict()) for path in paths)
        return {"path": paths, "report": [json.dumps(report.to_dict()) for report in reports]}


class CheckRows:
    """A callable class for `Dataset.map_batches` that checks batches of Arrow with ids in a column.

    Parameters
    ----------
    tokenizer : AnyTokenizer, path, or tokenizer of transformers
        A path is read by each actor, so all nodes must see it.
    field, key, literal, end
        See :func:`tokdfa.jobs.shards.check.check_rows`.

    Notes
    -----
    Read in Ray 2.60.0: with ``batch_format="pyarrow"`` a batch is a `pyarrow.Table`. Each actor takes a CPU; if there
    are as many as CPUs, none is left for the tasks that read, and nothing runs.

    Examples
    --------
    >>> rows = ray.data.read_parquet("/data/", columns=["input_ids"])  # doctest: +SKIP
    >>> checked = rows.map_batches(  # doctest: +SKIP
    ...     CheckRows, fn_constructor_args=[tokenizer], batch_format="pyarrow", batch_size=None
    ... )
    >>> report = total(checked.iter_rows())  # doctest: +SKIP
    """

    def __init__(
        self,
        tokenizer: Any,
        field: str | None = None,
        *,
        key: str | None = None,
        literal: bool = False,
        end: int | None = None,
    ) -> None:
        self._tokenizer = as_tokenizer(tokenizer)
        self._field = field
        self._how: dict[str, Any] = {"key": key, "literal": literal, "end": end}

    def __call__(self, batch: Any) -> dict[str, list[str]]:
        """Return the report on a batch."""
        report = check_rows(self._tokenizer, batch, self._field, **self._how)
        return {"report": [json.dumps(report.to_dict())]}


def total(rows: Iterable[Mapping[str, Any]]) -> Report:
    """Return the sum of the reports in rows that :class:`CheckShards` and :class:`CheckRows` gave.

    Parameters
    ----------
    rows : iterable of mappings
        Such as ``dataset.iter_rows()``.

    Examples
    --------
    >>> import tokdfa
    >>> checker = CheckShards(tokdfa.default_tokenizer())
    >>> checked = checker({"item": ["missing.npy"]})
    >>> total([{"report": each} for each in checked["report"]]).broken[0].what
    'No such file or directory'
    """
    return sum((Report.from_dict(json.loads(row["report"])) for row in rows), Report())

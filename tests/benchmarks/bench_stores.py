"""What stores and reports cost beside validating the same ids in memory.

Usage: ``python -m tests.benchmarks.bench_stores TOKENIZER [MILLIONS]``. A text of the package is encoded and repeated
as documents; files are read from the page cache. Rates are the best of three runs: of one thread by processor time, of
several by the clock.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import tokdfa
from tokdfa.shards.check import check_shard
from tokdfa.shards.run import check_shards

_DOCUMENT = 1_000
"""The number of ids of a document."""
_SMALL_SHARDS = 1_000


def best(run: Callable[[], object], times: int = 3, clock: Callable[[], float] = process_time) -> float:
    seconds = []
    for _ in range(times):
        began = clock()
        run()
        seconds.append(clock() - began)
    return min(seconds)


def anonymous() -> int:
    """Return the anonymous memory of the process, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("RssAnon")).split()[1])


def _alone(tok: str, path: str) -> None:
    check_shard(tokdfa.load(tok), path)


def main(tok: str, millions: float = 20) -> None:
    tokenizer = tokdfa.load(tok)
    text = "".join(path.read_text("utf-8") for path in sorted(Path(tokdfa.__file__).parent.rglob("*.py")))
    one = tokenizer.encode(text[: 1 << 20])[: 200 * _DOCUMENT].astype(np.uint32)
    n = int(millions * 1e6)
    whole = [tokenizer.encode(text[at : at + 4 * _DOCUMENT]) for at in range(0, 1 << 20, 4 * _DOCUMENT)]
    lengths = np.tile([*map(len, whole)], n // sum(map(len, whole)) + 1)
    ids = np.tile(np.concatenate(whole), n // sum(map(len, whole)) + 1).astype(np.uint32)
    n, starts = len(ids), np.cumsum(lengths) - lengths
    with tempfile.TemporaryDirectory() as folder:
        ds = Path(folder) / "x.ds"
        ids.tofile(ds)
        np.append(starts[1:], n).astype("<u8").tofile(f"{ds}.index")
        table = Path(folder) / "x.parquet"
        offsets = pa.array(np.append(starts, n).astype(np.int32))
        column = pa.ListArray.from_arrays(offsets, pa.array(ids.astype(np.int32)))
        pq.write_table(pa.table({"input_ids": column}), table, compression="zstd", row_group_size=1_000)

        def rate(name: str, run: Callable[[], object], clock: Callable[[], float] = process_time) -> float:
            seconds = best(run, clock=clock)
            print(f"{name:<44}{n / seconds / 1e6:8.1f} M ids/s", flush=True)
            return seconds

        memory = rate("validate, array in memory, documents", lambda: tokenizer.validate(ids, documents=starts))
        raw = rate("check_shard, .ds from the page cache", lambda: check_shard(tokenizer, ds))
        print(f"{'  beside the array':<44}{raw / memory:8.2f} times the time")
        alone = rate(
            "pyarrow alone, Parquet (zstd)", lambda: [*pq.ParquetFile(table).iter_batches(256, use_threads=False)]
        )
        parquet = rate("check_shard, Parquet (zstd)", lambda: check_shard(tokenizer, table))
        print(f"{'  beside pyarrow alone':<44}{alone / parquet:8.2f} of its rate")
        two = rate("check_shard, .ds, two threads", lambda: check_shard(tokenizer, ds, threads=2), perf_counter)
        clocked = best(lambda: check_shard(tokenizer, ds), clock=perf_counter)
        print(f"{'  beside one thread, by the clock':<44}{clocked / two:8.2f} times as fast")
        began = perf_counter()
        context = get_context("fork")
        processes = [context.Process(target=_alone, args=(tok, str(ds))) for _ in range(2)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        both = perf_counter() - began
        print(f"{'two processes, a shard each, loading included':<44}{2 * n / both / 1e6:8.1f} M ids/s")
        shards = []
        for number in range(_SMALL_SHARDS):
            shards.append(Path(folder) / f"{number:05}.npy")
            np.save(shards[-1], one[:1000])
        few = best(lambda: [tokenizer.validate(one[:1000]) for _ in shards])
        small = best(lambda: check_shards(tokenizer, shards, report_path=Path(folder) / "report.json"), 1)
        print(f"{'overhead of a small shard, with --report':<44}{(small - few) / _SMALL_SHARDS * 1e3:8.2f} ms")
        before = anonymous()
        check_shards(tokenizer, [ds, *shards])
        print(f"{'anonymous memory, grown by':<44}{(anonymous() - before) / 1e6:8.1f} MB")


if __name__ == "__main__":
    main(sys.argv[1], *map(float, sys.argv[2:3]))

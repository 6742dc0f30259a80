"""The cost of a corpus on a cluster: the rates of storage, unpacking and the kernel, and of one and two workers of Ray.

Usage: ``python -m tests.benchmarks.bench_cluster TOKENIZER [GIGABYTES [PAIRS]]``. The source of the package is encoded
and repeated as documents. The first part needs no Ray: rates of one core by processor time, and of storage by the
clock, after the file has been dropped from the page cache. The second part checks shards of 256 MB with one worker and
with two, in turn; starting a cluster and building the tokenizer are not counted.
"""

from __future__ import annotations

import os
import pickle
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import tokdfa
from tests.benchmarks.bench_stores import best
from tokdfa.base.arrays import IntegerArray
from tokdfa.jobs.shards.check import check_shard
from tokdfa.jobs.shards.report import Report

_SHARD = 256 << 20
"""The bytes of a shard."""
_SMALL = 200
"""The number of small shards."""


def encoded(tokenizer: tokdfa.Tokenizer) -> tuple[IntegerArray, IntegerArray]:
    """Return ids of a text, and where its documents begin."""
    text = "".join(path.read_text("utf-8") for path in sorted(Path(tokdfa.__file__).parent.rglob("*.py")))
    parts = [tokenizer.encode(text[at : at + 4_000]) for at in range(0, len(text), 4_000)]
    ends = np.cumsum([*map(len, parts)])
    return np.concatenate(parts), ends - [*map(len, parts)]


def write_ds(path: Path, ids: IntegerArray, starts: IntegerArray, repeat: int) -> int:
    """Write a file of datatrove, and return its number of ids."""
    one = ids.astype("<u4" if ids.max() >= 1 << 16 else "<u2")
    with path.open("wb") as stream:
        for _ in range(repeat):
            one.tofile(stream)
    ends = np.append(starts[1:], len(ids)) + len(ids) * np.arange(repeat)[:, None]
    ends.astype("<u8").tofile(f"{path}.index")
    return len(ids) * repeat


def read_from_storage(path: Path) -> float:
    """Return how many bytes a second are read that are not in the page cache."""
    with path.open("rb", buffering=0) as stream:
        os.fsync(stream.fileno())
        os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        began, size = perf_counter(), 0
        while data := stream.read(1 << 23):
            size += len(data)
    return size / (perf_counter() - began)


def rates(tok: str, folder: Path) -> None:
    tokenizer = tokdfa.load(tok)
    data = pickle.dumps(tokenizer)
    print(f"{'the tokenizer as it is sent':<44}{len(data) / 1e6:8.2f} MB")
    began = process_time()
    again = pickle.loads(data)
    again.validate(again.encode("a"))
    print(f"{'building it in a worker':<44}{process_time() - began:8.2f} s")
    ids, starts = encoded(tokenizer)
    ds, table = folder / "x.ds", folder / "x.parquet"
    n = write_ds(ds, ids, starts, 20_000_000 // len(ids) + 1)
    offsets = pa.array(np.append(starts, len(ids)).astype(np.int32))
    column = pa.ListArray.from_arrays(offsets, pa.array(ids.astype(np.int32)))
    repeated = pa.chunked_array([column] * (n // len(ids)))
    pq.write_table(pa.table({"input_ids": repeated}), table, compression="zstd", row_group_size=1_000)
    alone = best(lambda: [*pq.ParquetFile(table).iter_batches(256, use_threads=False)])
    print(f"{'raw, from the page cache':<44}{n / best(lambda: check_shard(tokenizer, ds)) / 1e6:8.1f} M ids/s a core")
    print(f"{'Parquet (zstd)':<44}{n / best(lambda: check_shard(tokenizer, table)) / 1e6:8.1f} M ids/s a core")
    print(f"{'  unpacking alone, by pyarrow':<44}{n / alone / 1e6:8.1f} M ids/s a core")
    print(f"{'  bytes an id, raw':<44}{ds.stat().st_size / n:8.2f}")
    print(f"{'  bytes an id, Parquet (zstd) of a repeated text':<44}{table.stat().st_size / n:8.2f}")
    print(f"{'storage of this machine':<44}{max(read_from_storage(ds) for _ in range(3)) / 1e6:8.0f} MB/s")


def workers(tok: str, folder: Path, gigabytes: float, pairs: int) -> None:
    import ray

    from tokdfa.integrations.ray import check

    tokenizer = tokdfa.load(tok)
    ids, starts = encoded(tokenizer)
    size = ids.astype("<u4" if ids.max() >= 1 << 16 else "<u2").nbytes
    shards = [folder / f"{number:04}.ds" for number in range(max(int(gigabytes * 1e9 / _SHARD), 2))]
    n = sum(write_ds(shard, ids, starts, _SHARD // size) for shard in shards)
    small = [folder / f"small-{number:04}.npy" for number in range(_SMALL)]
    for shard in small:
        np.save(shard, ids[:1000])
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    seconds: dict[int, list[float]] = {1: [], 2: []}
    found: list[Report] = []
    for _ in range(pairs):
        for count in seconds:
            ray.init(num_cpus=count, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
            # All workers have begun, and built the tokenizer, before the clock runs.
            check(shards[: 2 * count], tokenizer)
            began = perf_counter()
            found.append(check(shards, tokenizer))
            seconds[count].append(perf_counter() - began)
            if count == 2:
                began = perf_counter()
                check(small, tokenizer)
                each = (perf_counter() - began) / _SMALL
            ray.shutdown()
        one, two = (seconds[count][-1] for count in seconds)
        print(
            f"one worker {one:.1f} s, two {two:.1f} s: {one / two:.2f} times as fast; a small shard {each * 1e3:.1f} ms"
        )
    assert all(report == found[0] for report in found)
    gain = median(one / two for one, two in zip(*seconds.values(), strict=True))
    print(f"{n / 1e9:.2f} G ids in {len(shards)} shards; two workers are {gain:.2f} times as fast as one (median)")


def main(tok: str, gigabytes: float = 4, pairs: float = 3) -> None:
    with tempfile.TemporaryDirectory() as folder:
        rates(tok, Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        workers(tok, Path(folder), gigabytes, int(pairs))


if __name__ == "__main__":
    main(sys.argv[1], *map(float, sys.argv[2:4]))

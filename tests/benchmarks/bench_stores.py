"""The cost of stores and reports compared with validating the same ids in memory.

Usage: ``python -m tests.benchmarks.bench_stores TOKENIZER [MILLIONS]``. A text of the package is encoded and repeated
as documents; files are read from the page cache. Rates are the best of three runs: of one thread by processor time, of
several by the clock.

``python -m tests.benchmarks.bench_stores causes [TOKENIZER [TEXT [MILLIONS]]] [--json FILE]`` writes so many ids as
Parquet and .npy, with three in a thousand taken apart, and shows the time and memory of their report on two threads,
the median of three processes. By default these are 100 million ids of Gemma-2, in many languages.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from time import perf_counter, process_time, sleep

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import tokdfa
from tests.benchmarks.harness import environment, keep_tables, print_table
from tokdfa.jobs.shards.check import check_shard
from tokdfa.jobs.shards.report import Report
from tokdfa.jobs.shards.run import check_shards

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


def _taken_apart(tokenizer: tokdfa.AnyTokenizer) -> np.ndarray:
    """Return for each id two ids with the same spelling, of shape (ids, 2); -1 where there are none."""
    continuing = b"##" if isinstance(tokenizer, tokdfa.WordPieceTokenizer) else b""
    words = [tokenizer.name_of(id) for id in range(len(tokenizer.id_spellings.offsets) - 1)]
    id_of = {word: id for id, word in reversed([*enumerate(words)])}
    halves = np.full((len(words), 2), -1, dtype=np.int32)
    for id in {*range(len(words))} - {*tokenizer.special_ids.tolist()}:
        cuts = range(1 + len(continuing) * words[id].startswith(b"##"), len(words[id]))
        pairs = ((words[id][:cut], continuing + words[id][cut:]) for cut in cuts)
        found = next((pair for pair in pairs if pair[0] in id_of and pair[1] in id_of), None)
        if found is not None:
            halves[id] = id_of[found[0]], id_of[found[1]]
    return halves


def causes(tok: str, path: str, millions: float) -> None:
    """Print the time and memory of the report on files with 0.3 % violations."""
    tokenizer = tokdfa.load(tok)
    texts = Path(path).read_text("utf-8", errors="ignore").split("\n\n")
    whole = [tokenizer.encode("\n\n".join(texts[at : at + 8])) for at in range(0, len(texts), 8)]
    halves, source = _taken_apart(tokenizer), np.random.default_rng(5)
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{number:02}.{('parquet', 'npy')[number % 2]}" for number in range(16)]
        for shard in paths:
            n, documents = 0, []
            while n < millions * 1e6 / len(paths):
                documents.append(whole[source.integers(len(whole))])
                n += len(documents[-1])
            ids, starts = np.concatenate(documents), np.cumsum([0, *map(len, documents)])
            able = np.flatnonzero(halves[ids, 0] >= 0)
            at = np.sort(source.choice(able, int(0.003 * len(ids)), replace=False))
            spoiled = np.insert(ids, at + 1, halves[ids[at], 1]).astype(np.int32)
            spoiled[at + np.arange(len(at))] = halves[ids[at], 0]
            if shard.suffix == ".npy":
                np.save(shard, spoiled)
                continue
            offsets = pa.array((starts + np.searchsorted(at, starts)).astype(np.int32))
            column = pa.ListArray.from_arrays(offsets, pa.array(spoiled))
            pq.write_table(pa.table({"input_ids": column}), shard, compression="zstd", row_group_size=1_000)
        report = Path(folder) / "report"
        output = ("--report", f"{report}.json", "--html", f"{report}.html", "--force", "--json")
        command = [sys.executable, "-m", "tokdfa", "validate", tok, *map(str, paths), *output, "--threads", "2"]
        taken = [_cost_of(command) for _ in range(3)]
        found = Report.from_dict(json.loads(Path(f"{report}.json").read_text("utf-8"))["report"])
    columns = ["ids", "violations", "groups", "s", "s of processor time", "largest memory, MB"]
    cost = (median(side) for side in zip(*taken, strict=True))
    row = [found.ids, found.violations, len(found.groups), *cost]
    print_table("Report of a folder with 0.3 % violations", columns, [row], f"two threads; {environment('pyarrow')}")


def _cost_of(command: list[str]) -> tuple[float, float, float]:
    """Return the seconds of a process by the clock and of the processor, and the largest memory that it held, in MB."""
    began, most = perf_counter(), 0
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    # The usage of a process that has ended counts the memory of this one, which it was copied from.
    while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
        lines = Path(f"/proc/{process.pid}/status").read_text("utf-8").splitlines()
        most = max([most, *(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))])
        sleep(0.02)
    _, status, usage = ended
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 1, process.returncode
    return perf_counter() - began, usage.ru_utime + usage.ru_stime, most / 1024


def _in_processes(tokenizer: tokdfa.AnyTokenizer, paths: list[Path]) -> None:
    context = get_context("fork")
    processes = [context.Process(target=check_shard, args=(tokenizer, path)) for path in paths]
    for process in processes:
        process.start()
    for process in processes:
        process.join()


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
        stream = Path(folder) / "x.npy"
        # Repeated, the text must still be canonical: it ends with a blank line.
        unit = tokenizer.encode(text[: text.rindex("\n\n", 0, 1 << 20)]).astype(np.uint16)
        ids = np.tile(unit, n // len(unit) + 1)[:n]
        np.save(stream, ids)
        one_stream = rate("validate, array in memory, one stream", lambda: tokenizer.validate(ids, all=True))
        npy = rate("check_shard, .npy from the page cache", lambda: check_shard(tokenizer, stream))
        print(f"{'  beside the array':<44}{npy / one_stream:8.2f} times the time")
        copy = Path(folder) / "y.npy"
        np.save(copy, ids)
        # In turn, so that other work on the machine meets all of them.
        runs: dict[str, Callable[[], object]] = {
            "two processes, a file each": lambda: _in_processes(tokenizer, [stream, copy]),
            "two threads, a file each": lambda: check_shards(tokenizer, [stream, copy], threads=2),
            "two threads, in each file in turn": lambda: [
                check_shard(tokenizer, path, threads=2) for path in (stream, copy)
            ],
            "one thread": lambda: check_shards(tokenizer, [stream, copy]),
        }
        clocked = dict.fromkeys(runs, float("inf"))
        for _ in range(5):
            for name, run in runs.items():
                clocked[name] = min(clocked[name], best(run, 1, perf_counter))
        processes = clocked["two processes, a file each"]
        for name, seconds in clocked.items():
            of = f"{processes / seconds:8.2f} of two processes"
            print(f"{name + ', by the clock':<44}{2 * n / seconds / 1e6:8.1f} M ids/s{of}", flush=True)
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


if __name__ == "__main__" and sys.argv[1] == "causes":
    keep_tables(sys.argv)
    gemma = Path(os.environ.get("TOKDFA_FAMILIES", ""), "gemma2", "package", "models", "tokenizer.json")
    languages = Path(os.environ.get("TOKDFA_DATA", ""), "corpora", "multilingual.txt")
    given = [*sys.argv[2:], *(str(gemma), str(languages), "100")[len(sys.argv) - 2 :]]
    causes(given[0], given[1], float(given[2]))
elif __name__ == "__main__":
    main(sys.argv[1], *map(float, sys.argv[2:3]))

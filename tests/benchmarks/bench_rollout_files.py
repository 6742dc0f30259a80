"""Reading rollouts: the memory and the time of ``tokdfa rollouts`` for 10,000, 100,000 and 1,000,000 rows.

Run: python tests/benchmarks/bench_rollout_files.py [ROWS …]
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

import pyarrow as arrow
from pyarrow import parquet

import tokdfa

MERGES = Path(tokdfa.__file__).parent / "tokenizers" / "data" / "default.merges.txt"
ROW = {"prompt_ids": [64], "response_ids": [2513, 462] * 8 + [261, 1193], "response_mask": [1] * 16 + [1, 1]}
BATCH = 10_000


def write_parquet(path: Path, n: int) -> None:
    table = arrow.Table.from_pylist([ROW] * BATCH)
    with parquet.ParquetWriter(path, table.schema) as writer:
        for _ in range(n // BATCH):
            writer.write_table(table)


def write_jsonl(path: Path, n: int) -> None:
    line = json.dumps(ROW) + "\n"
    with path.open("w") as file:
        for _ in range(n // BATCH):
            file.write(line * BATCH)


def main() -> None:
    sizes = [int(argument) for argument in sys.argv[1:]] or [10_000, 100_000, 1_000_000]
    with tempfile.TemporaryDirectory() as folder:
        for name, write in (("rollouts.parquet", write_parquet), ("rollouts.jsonl", write_jsonl)):
            for n in sizes:
                path = Path(folder, name)
                write(path, n)
                command = [sys.executable, "-m", "tokdfa", "rollouts", str(MERGES), str(path), "--framework", "verl"]
                child = os.posix_spawn(
                    command[0], [*command, "--pretokenizer", "gpt2", "--examples", "0"], {**os.environ}
                )
                _, status, used = os.wait4(child, 0)
                seconds = used.ru_utime + used.ru_stime
                print(
                    f"{name}, {n:,} rows: {used.ru_maxrss / 1024:.0f} MB, {seconds:.1f} s of CPU, "
                    f"status {os.waitstatus_to_exitcode(status)}",
                    flush=True,
                )


if __name__ == "__main__":
    main()

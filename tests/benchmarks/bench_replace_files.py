"""Replacing in a corpus of Parquet files, and writing it again: 10^8 ids of English in documents of 500.

Run from the top of the repository, with TOKDFA_DATA naming the folder of the vocabularies and corpora:
``python -m tests.benchmarks.bench_replace_files [files [threads [rounds]]] [--json FILE]``.

Reading the corpus with pyarrow and writing it again as it is takes turns with replacing: no replacement of a whole
corpus can be faster. Each speed is the median of the rounds, by the clock and by processor time.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import rmtree
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import tokdfa
from tests.benchmarks.harness import environment, keep_tables, print_table
from tokdfa.jobs.replacing.files import replace_files

IDS, DOCUMENT = 12_500_000, 500
WORDS = (("Elizabeth", "Zanzibar"), ("Zqnzibar", "Zanzibar"), ("the", "teh"))


def write_corpus(folder: Path, tokenizer: tokdfa.AnyTokenizer, text: str, n_files: int) -> list[Path]:
    """Write files of documents, each with a column of names as well."""
    ids = tokenizer.encode(text)
    whole = np.tile(ids, -(-IDS // len(ids)))[:IDS]
    paths = []
    for number in range(n_files):
        offsets = pa.array(np.arange(0, IDS + 1, DOCUMENT, dtype=np.int32))
        column = pa.ListArray.from_arrays(offsets, pa.array(np.roll(whole, number)))
        names = pa.array([f"document {row}" for row in range(len(column))])
        paths.append(folder / f"{number:03}.parquet")
        table = pa.table({"id": names, "input_ids": column})
        pq.write_table(table, paths[-1], compression="zstd", row_group_size=5000)
    return paths


def copied(paths: list[Path], output: Path, threads: int) -> None:
    """Read all files, and write them again."""
    output.mkdir()

    def copy(path: Path) -> None:
        pq.write_table(pq.read_table(path), output / path.name, compression="zstd", row_group_size=5000)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(copy, paths))


def main(n_files: int, threads: int, rounds: int) -> None:
    """Print the speed of replacing."""
    data = Path(os.environ["TOKDFA_DATA"])
    text = (data / "corpora" / "english.txt").read_text("utf-8")
    tokenizer = tokdfa.load(data / "vocabs" / "gpt2" / "tokenizer.json")
    replacers = {word: tokdfa.Replacer(tokenizer, word, other) for word, other in WORDS}
    seconds: dict[str, list[tuple[float, float]]] = {}
    matches: dict[str, object] = {}
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "in").mkdir()
        paths = write_corpus(folder / "in", tokenizer, text, n_files)
        for name in ("pyarrow alone", *replacers) * rounds:
            began, used = perf_counter(), process_time()
            if name in replacers:
                done = replace_files(replacers[name], [folder / "in"], folder / "out", description={}, threads=threads)
                assert not done.errors
                matches[name] = done.total.matches
            else:
                copied(paths, folder / "out", threads)
            seconds.setdefault(name, []).append((perf_counter() - began, process_time() - used))
            rmtree(folder / "out")
    n = n_files * IDS / 1e6
    rows: list[list[object]] = [
        [name, matches.get(name, ""), *(n / median(side) for side in zip(*taken, strict=True))]
        for name, taken in seconds.items()
    ]
    print_table(
        f"Replacing in {n:.0f} million ids of GPT-2 in {n_files} Parquet files; millions of ids a second",
        ["word", "matches", "replaced", "of processor time"],
        rows,
        f"{threads} threads; {environment('pyarrow')}; median of {rounds}",
    )


if __name__ == "__main__":
    keep_tables(sys.argv)
    main(*(int(each) for each in (*sys.argv[1:], *("8", "2", "5")[len(sys.argv) - 1 :])))

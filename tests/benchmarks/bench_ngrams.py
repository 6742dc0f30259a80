"""Contamination: a million 13-grams of 10,000 items, counted in a corpus of ids.

``TOKDFA_DATA=… TOKDFA_FAMILIES=… python -m tests.benchmarks.bench_ngrams [IDS] [NAME…] [--json FILE]``

The ids are those of the English corpus, again and again, in two .npy files, 100 million in all by default. The items
are its words in a random order, and one in a hundred is a part of it. Throughput is by the wall, of one thread and two,
of two in one file with documents of 1,000 ids, and of one with n-grams of ids; and by processor time of one. Peers
decode, split and look n-grams up in a set of Python's, as lm-eval-harness does.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

import tokdfa
from tests.benchmarks.families import families
from tests.benchmarks.harness import environment, keep_tables, peak_memory, print_table
from tokdfa.jobs.searching.ngrams import NgramCounter

NAMES = ["gpt2", "cl100k", "o200k", "llama3_1", "llama2", "qwen2_5", "gemma2", "deepseek_v3", "mistral_nemo"]
N, N_ITEMS, N_WORDS = 13, 10_000, 112
COLUMNS = ["M ids/s, one thread", "two threads", "two in one file", "of ids", "processor time", "Python, M ids/s"]
COLUMNS += ["build, s", "contaminated", "MB"]


def items_of(words: Sequence[str]) -> list[str]:
    source = random.Random(0)
    shuffled = [" ".join(source.choices(words, k=N_WORDS)) for _ in range(N_ITEMS)]
    for at in range(0, N_ITEMS, 100):
        begin = source.randrange(len(words) - N_WORDS)
        shuffled[at] = " ".join(words[begin : begin + N_WORDS])
    return shuffled


def by_python(tokenizer: tokdfa.AnyTokenizer, ids: np.ndarray, items: list[str]) -> float:
    """Return the ids a second of decoding, splitting and a set, the set not counted."""
    wanted = {tuple(words[at : at + N]) for words in map(str.split, items) for at in range(len(words) - N + 1)}
    began = process_time()
    words = tokenizer.decode(ids).split()
    found = {gram for gram in zip(*(words[at:] for at in range(N)), strict=False) if gram in wanted}
    assert found
    return len(ids) / (process_time() - began)


def _of_one_file(counter: NgramCounter, path: Path, ids: np.ndarray) -> float:
    """Return the ids a second of two threads in one file of datatrove, with documents of 1,000 ids."""
    ids.astype(np.uint32).tofile(path)
    np.append(np.arange(1000, len(ids), 1000), len(ids)).astype(np.uint64).tofile(f"{path}.index")
    began = perf_counter()
    counter.count_store(tokdfa.open_store(path), 2)
    return 1e-6 * len(ids) / (perf_counter() - began)


def main() -> None:
    arguments = sys.argv[1:]
    keep_tables(arguments)
    n_ids = int(arguments.pop(0)) if arguments and arguments[0].isdecimal() else 100_000_000
    text = Path(os.environ["TOKDFA_DATA"], "corpora", "english.txt").read_text(encoding="utf-8")
    items = items_of(text.split())
    rows: list[list[object]] = []
    for family in families(arguments or NAMES):
        tokenizer = family.load()
        ids = tokenizer.encode(text)
        began = perf_counter()
        counter = NgramCounter(tokenizer, items, N)
        build = perf_counter() - began
        rates: list[float] = []
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder, f"{number}.npy") for number in range(2)]
            for path in paths:
                np.save(path, np.resize(ids, n_ids // 2).astype(np.uint16 if ids.max() < 1 << 16 else np.uint32))
            for threads in (1, 2):
                totals = counter.totals()
                began, began_here = perf_counter(), process_time()
                chunks = [tokdfa.open_store(path).iter_chunks() for path in paths]
                with ThreadPoolExecutor(threads) as pool:
                    for tally in pool.map(counter.count, chunks):
                        counter.add(totals, tally)
                rates.append(1e-6 * n_ids / (perf_counter() - began))
                if threads == 1:
                    cpu = 1e-6 * n_ids / (process_time() - began_here)
            rates.append(_of_one_file(counter, Path(folder, "whole.ds"), np.resize(ids, n_ids)))
            of_ids = NgramCounter(tokenizer, items, N, "ids")
            began = perf_counter()
            of_ids.count(tokdfa.open_store(paths[0]).iter_chunks())
            rates.append(1e-6 * (n_ids // 2) / (perf_counter() - began))
        n_found = sum(item.found > 0 for item in counter.found_items(totals))
        python = 1e-6 * by_python(tokenizer, ids, items)
        rows.append([family.name, *rates, cpu, python, build, n_found, peak_memory() >> 20])
    title = f"{counter.n_ngrams:,} {N}-grams counted in {n_ids:,} ids"
    print_table(title, ["tokenizer", *COLUMNS], rows, environment())


if __name__ == "__main__":
    main()

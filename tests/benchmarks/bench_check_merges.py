"""Checking merges against making them: the ratio of the times, which should be 1.5 at most.

    TOKDFA_DATA=… python -m tests.benchmarks.bench_check_merges [--merges N] [--repeats N] [CORPUS …]

Both count the corpus and merge with one thread, alternately. Checking also reads the merges, from a tokenizer.json.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

from tokdfa.training.api import train
from tokdfa.training.checking import check_merges
from tokdfa.training.output import write_dictionary


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="*", metavar="CORPUS")
    parser.add_argument("--merges", type=int, default=32_000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    corpora = options.corpora or sorted(map(str, Path(os.environ["TOKDFA_DATA"], "corpora").glob("*.txt")))
    print("corpus                     train s    check s    ratio    ratio of processor time")
    for corpus in corpora:
        seconds: dict[str, list[tuple[float, float]]] = {"train": [], "check": []}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "tokenizer.json")
            for repeat in range(options.repeats + 1):
                began, began_processor = perf_counter(), process_time()
                made = train(corpus, options.merges, like="tokenizers")
                seconds["train"].append((perf_counter() - began, process_time() - began_processor))
                if repeat == 0:
                    write_dictionary(made, path, pretokenizer="gpt2")
                began, began_processor = perf_counter(), process_time()
                found = check_merges(path, corpus, like="tokenizers")
                seconds["check"].append((perf_counter() - began, process_time() - began_processor))
                if not found:
                    raise SystemExit(f"{corpus}: {found.reason}")
        # The first of each does not count.
        trained, checked = ([median(column) for column in zip(*rows[1:], strict=True)] for rows in seconds.values())
        ratios = [check / train for check, train in zip(checked, trained, strict=True)]
        print(f"{Path(corpus).name:24} {trained[0]:9.2f} {checked[0]:10.2f} {ratios[0]:8.2f} {ratios[1]:8.2f}")


if __name__ == "__main__":
    main()

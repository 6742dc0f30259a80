"""The cost of a process before it is of use: commands, and first ids compared with the peers.

Run from the top of the repository, with TOKDFA_DATA naming the folder of tokenizers and corpora:
``python -m tests.benchmarks.bench_start [commands] [ids]``, by default both. Every number is for whole processes,
started anew each time, in turn. The first run of each, which brings its files into memory and its modules into byte
code, does not count. First verdicts are measured by ``bench_validate``.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from time import perf_counter

from tests.benchmarks.encode_peers import PEERS, as_tokenizers
from tests.benchmarks.harness import as_installed, environment, keep_tables, print_table

PARTS = ("commands", "ids")
TEXT = "hello world"
FIRST_IDS = (
    "import sys; from pathlib import Path; from tests.benchmarks.encode_peers import PEERS; "
    "(peer,) = (peer for peer in PEERS if peer.name == sys.argv[1]); "
    "print(len(peer.make(Path(sys.argv[2]), sys.argv[3])(sys.argv[4])))"
)


def seconds_of(commands: Mapping[str, list[str]], repeats: int) -> dict[str, list[float]]:
    """Return how long each command took, run in turn."""
    kept = as_installed()
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for repeat in range(repeats + 1):
        for name, command in commands.items():
            began = perf_counter()
            subprocess.run(command, env=kept, stdout=subprocess.DEVNULL, check=True)
            if repeat:
                seconds[name].append(perf_counter() - began)
    return seconds


def _print(title: str, commands: Mapping[str, list[str]], repeats: int, *packages: str) -> None:
    found = seconds_of(commands, repeats)
    rows: list[list[object]] = [[name, median(values), min(values)] for name, values in found.items()]
    print_table(f"{title}, median of {repeats}", ["", "seconds", "least"], rows, environment(*packages))


def commands(data: Path, repeats: int) -> None:
    """Print what the commands take."""
    vocabs = data / "vocabs"
    tokdfa = [sys.executable, "-m", "tokdfa"]
    with tempfile.TemporaryDirectory() as folder:
        corpus = str(data / "corpora" / "fra_eng_en.txt")
        chosen = {
            "python alone": [sys.executable, "-c", "pass"],
            "import numpy": [sys.executable, "-c", "import numpy"],
            "tokdfa --version": [*tokdfa, "--version"],
            "tokdfa --help": [*tokdfa, "--help"],
            "tokdfa encode gpt2": [*tokdfa, "encode", str(vocabs / "gpt2"), TEXT],
            "tokdfa encode o200k": [*tokdfa, "encode", str(vocabs / "o200k_base.tiktoken"), TEXT],
            "tokdfa encode BERT": [*tokdfa, "encode", str(vocabs / "bert_uncased_vocab.txt"), TEXT],
            "tokdfa train, 10,000 merges, 5 MB": [
                *(*tokdfa, "train", corpus, "--merges", "10000", "-o", str(Path(folder, "merges.txt")))
            ],
        }
        _print("Commands, start included", chosen, repeats)


def first_ids(data: Path, repeats: int) -> None:
    """Print how long it takes in Python from the start of a process to the first ids."""
    for name in ("cl100k", "o200k"):
        path = data / "vocabs" / f"{name}_base.tiktoken"
        with tempfile.TemporaryDirectory() as folder:
            chosen = {
                peer.name: [sys.executable, "-c", FIRST_IDS, peer.name, str(path), name, TEXT]
                for peer in PEERS
                if peer.name != "tokenizers"
            }
            # tokenizers reads no ranks: it has its own file, made beforehand.
            own = Path(folder, "tokenizer.json")
            as_tokenizers(path, name).save(str(own))
            load = "import sys, tokenizers; tokenizers.Tokenizer.from_file(sys.argv[1]).encode(sys.argv[2])"
            chosen["tokenizers"] = [sys.executable, "-c", load, str(own), TEXT]
            packages = [peer.package for peer in PEERS if peer.package != "tokdfa"]
            _print(f"From the start of a process to the ids of {TEXT!r}, {name}", chosen, repeats, *packages)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="by default both")
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    data, parts = Path(os.environ["TOKDFA_DATA"]), options.parts or PARTS
    if "commands" in parts:
        commands(data, options.repeats)
    if "ids" in parts:
        first_ids(data, options.repeats)


if __name__ == "__main__":
    keep_tables(sys.argv)
    main()

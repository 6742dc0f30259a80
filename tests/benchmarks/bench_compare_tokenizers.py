"""Comparing whole tokenizers: the results, how long it takes, how much memory.

Each comparison is a process of its own. Where texts separate the two, the pieces of the witness and its ids are found
by backtracking and by the tokenizers themselves; for two patterns of tiktoken its own answer is compared.

    TOKDFA_DATA=… python -m tests.benchmarks.bench_compare_tokenizers [CASE…]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

import tokdfa
from tests.benchmarks.harness import environment, keep_tables, peak_memory, print_table
from tokdfa.jobs.comparison.result import part_rows
from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer
from tokdfa.tokenizers.pretokenizers.steps import NAMED, Split, Splitting

CL100K = NAMED["cl100k"].steps[0].pattern
REWRITTEN = CL100K.replace("(?i:[sdmt]|ll|ve|re)", "(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])")
CASES: dict[str, tuple[str, str, str]] = {
    "gpt2: its pattern, tiktoken's spelling": ("gpt2/merges.txt", "gpt2", "gpt2_tiktoken"),
    "cl100k: its pattern, the spelling for tokenizers (Llama-3's)": ("cl100k_base.tiktoken", "cl100k", "llama3"),
    "cl100k: its pattern, [sS] for (?i:s)": ("cl100k_base.tiktoken", "cl100k", REWRITTEN),
    "cl100k: its pattern, {1,2} digits": ("cl100k_base.tiktoken", "cl100k", CL100K.replace("{1,3}", "{1,2}")),
    "cl100k: its pattern, Qwen2's": ("cl100k_base.tiktoken", "cl100k", "qwen2"),
    "o200k: its pattern, tekken's": ("o200k_base.tiktoken", "o200k", "tekken"),
    "o200k: Unicode of tiktoken, of regex": ("o200k_base.tiktoken", "unicode", "o200k"),
    "cl100k: Unicode of tiktoken, of regex": ("cl100k_base.tiktoken", "unicode", "llama3"),
}


def sides(case: str) -> list[tokdfa.Tokenizer]:
    name, one, other = CASES[case]
    path = Path(os.environ["TOKDFA_DATA"]) / "vocabs" / name
    if one != "unicode":
        return [tokdfa.load(path, pretokenizer=pattern) for pattern in (one, other)]
    found = []
    for table in ("tiktoken", "regex"):
        side = tokdfa.load(path, pretokenizer="none")
        side.pretokenizer = PreTokenizer(Splitting(table, (Split(NAMED[other].steps[0].pattern),)))  # type: ignore[arg-type]
        found.append(side)
    return found


def run(case: str) -> dict[str, Any]:
    a, b = sides(case)
    a.encode("warm"), b.encode("up")
    began = perf_counter()
    found = tokdfa.compare(a, b)
    seconds = perf_counter() - began
    if found:
        outcome = "equivalent"
    else:
        text, *ids = found.witness
        for side, those in zip((a, b), ids, strict=True):
            pieces = side.pretokenizer.split_backtracking(text)
            assert [i for piece in pieces for i in side.encode_piece(piece)] == [*those]
        outcome = f"{text!r} {list(ids[0])} {list(ids[1])}"
    proven = dict(part_rows(found)).get("search" if found else "shortest", "")
    return {"outcome": outcome, "how": proven, "seconds": seconds, "memory": peak_memory()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", default=list(CASES), metavar="CASE")
    parser.add_argument("--one", action="store_true")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(run(options.cases[0])))
        return
    rows: list[list[object]] = []
    for case in options.cases:
        done = subprocess.run(
            [sys.executable, "-m", "tests.benchmarks.bench_compare_tokenizers", "--one", case],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(done.stderr)
        found = json.loads(done.stdout)
        rows.append([case, found["outcome"], found["how"], f"{found['seconds']:.1f}", f"{found['memory'] / 1e6:.0f}"])
    columns = ["compared", "outcome", "how", "s", "peak MB"]
    print_table("Whole tokenizers", columns, rows, f"{environment('numpy')}; loading is not counted")


if __name__ == "__main__":
    keep_tables(sys.argv)
    main()

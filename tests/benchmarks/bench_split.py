"""Splitting side by side: the machine, the backtracking engine of `regex`, and tokenizers.

Run from the top of the repository, with TOKDFA_DATA naming the folder of the corpora:
``python -m tests.benchmarks.bench_split``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import regex
from tokenizers import Regex, pre_tokenizers

from tests.benchmarks.harness import environment, keep_tables, measure, peak_memory, print_table
from tokdfa.tokenizers.pretokenizers.splitter import Splitter
from tokdfa.tokenizers.pretokenizers.steps import NAMED

CORPORA = ("english.txt", "python_code.txt", "multilingual.txt")
NAMES = ("gpt2", "cl100k", "o200k", "deepseek")
LENGTH = 500_000


def throughput(name: str, text: str) -> dict[str, float]:
    """Return the megabytes a second of each way to split `text`."""
    data = text.encode()
    splitter = Splitter(NAMED[name])
    steps = NAMED[name].steps
    split = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(step.pattern), "isolated") for step in steps])
    ways: dict[str, Callable[[], object]] = {
        "tokdfa": lambda: splitter.spans(data),
        "tokenizers": lambda: split.pre_tokenize_str(text),
    }
    if len(steps) == 1:
        program = regex.compile(steps[0].pattern)
        ways["regex"] = lambda: [match.span() for match in program.finditer(text)]
    return {way: len(data) / 1e6 / measured.median for way, measured in measure(ways).items()}


def main() -> None:
    """Print the sizes of the machines and the throughput."""
    sizes: list[list[object]] = []
    for name, splitting in NAMED.items():
        machine = Splitter(splitting).machine
        single = int((machine.n_nfa_states == 1).sum())
        sizes.append([name, machine.n_states, single, machine.parent.shape[2], machine.target.shape[1]])
    columns = ["pattern", "states", "of one hypothesis", "most hypotheses", "classes of symbols"]
    print_table("Machines of split patterns", columns, sizes)
    rows: list[list[object]] = []
    folder = Path(os.environ["TOKDFA_DATA"]) / "corpora"
    for name in NAMES:
        for corpus in CORPORA:
            text = (folder / corpus).read_text("utf-8")[:LENGTH]
            speed = throughput(name, text)
            others = {way: value for way, value in speed.items() if way != "tokdfa"}
            ratio = f"{speed['tokdfa'] / max(others.values()):.1f}"
            rows.append([name, corpus, speed["tokdfa"], others.get("regex", "-"), others["tokenizers"], ratio])
    print_table(
        "Splitting, MB/s of UTF-8, one thread",
        ["pattern", "text", "tokdfa", "regex", "tokenizers", "times the best peer"],
        rows,
        f"{environment('regex', 'tokenizers')}; peak memory {peak_memory() / 1e6:.0f} MB",
    )


if __name__ == "__main__":
    keep_tables(sys.argv)
    main()

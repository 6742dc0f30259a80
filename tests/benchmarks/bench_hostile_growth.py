"""Whether time stays linear on hostile texts: the ratio of times as texts double, for real tokenizers.

``TOKDFA_DATA=… python -m tests.benchmarks.bench_hostile_growth [longest [tokenizers…]]``, 64 MB by default; some
minutes. 1,000,000,000 takes an hour and twelve gigabytes. Texts without an end of a piece, of equal letters, of
alternating scripts and without spaces are encoded, and their ids validated and searched. A ratio compares the time
for twice as many bytes, in processor time; a way stops where a run would take more than 40 seconds. The exit status is
1 if a ratio of two times above a tenth of a second is above 2.1, the least of three runs each.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from time import process_time
from typing import Any

import tokdfa
from tests.benchmarks.harness import environment, keep_tables, print_table

FIRST = 1 << 20
LONGEST_RUN = 40.0
MEASURABLE = 0.1
MOST = 2.1
LOADED: dict[str, tuple[str, dict[str, str]]] = {
    "cl100k": ("cl100k_base.tiktoken", {"pretokenizer": "cl100k"}),
    "o200k": ("o200k_base.tiktoken", {"pretokenizer": "o200k"}),
    "gpt2": ("gpt2", {}),
    "mistral": ("mistral_v3.model", {}),
    "bert": ("bert_uncased_vocab.txt", {}),
}


def letters(size: int) -> str:
    """Letters without an end of a piece, so that the end may depend on the beginning."""
    part = "".join(random.Random(1).choices("etaoinshrdlu", k=9973))
    return (part * (size // len(part) + 1))[:size]


TEXTS: dict[str, Callable[[int], str]] = {
    "one endless piece": letters,
    "equal letters": lambda size: "a" * size,
    "alternating scripts": lambda size: "aж中ア한א" * (size // 14),
    "no spaces": lambda size: "etao,12ins;hr" * (size // 13),
    "spaces alone": lambda size: " " * size,
}


def seconds(work: Callable[[], object], before: float) -> float:
    """Return the least processor time of three runs, of one where that takes long."""
    times = []
    for _ in range(1 if before > LONGEST_RUN / 8 else 3):
        began = process_time()
        work()
        times.append(process_time() - began)
    return min(times)


def main(longest: int, names: list[str]) -> int:
    """Measure and print; return 1 if something is not linear."""
    folder = Path(os.environ["TOKDFA_DATA"]) / "vocabs"
    worst = 0.0
    for name in names:
        path, options = LOADED[name]
        tokenizer: Any = tokdfa.load(folder / path, **options)
        for kind, make in TEXTS.items():
            sizes: list[int] = []
            size = FIRST
            taken: dict[str, list[float]] = {"encode": [], "validate": [], "search": []}
            while size <= longest and all(2 * times[-1] < LONGEST_RUN for times in taken.values() if times):
                text = make(size)
                sizes.append(size)
                made: list[Any] = []
                jobs = {
                    "encode": lambda text=text, made=made, tokenizer=tokenizer: made.append(tokenizer.encode(text)),
                    "validate": lambda made=made, tokenizer=tokenizer: tokenizer.validate(made[-1]),
                    "search": lambda made=made, tokenizer=tokenizer: tokenizer.search("zebra", made[-1]),
                }
                for verb, work in jobs.items():
                    try:
                        found = seconds(work, 2 * taken[verb][-1] if taken[verb] else 0)
                    except tokdfa.TokdfaError as error:
                        print(f"{name}, {kind}, {size:,} B, {verb}: {error}", file=sys.stderr)
                        found = float("nan")
                    taken[verb].append(found)
                    del made[:-1]
                    if not made:
                        break
                size *= 2
            rows: list[list[object]] = []
            for verb, times in taken.items():
                ratios = [later / sooner for sooner, later in pairwise(times)]
                measured = [r for r, sooner in zip(ratios, times, strict=False) if sooner >= MEASURABLE]
                worst = max([worst, *measured])
                cells = [f"{ratio:.2f}" for ratio in ratios] + ["-"] * (len(sizes) - 1 - len(ratios))
                last = f"{times[-1]:.2f} s" if times else "-"
                rows.append([verb, *cells, last])
            columns = ["ratio at", *(f"{size >> 20} MB" for size in sizes[1:]), "the last"]
            caption = f"processor time, the least of three runs; {environment('numpy')}"
            print_table(f"{name}, {kind}: time for twice as many bytes", columns, rows, caption)
    print(f"the largest ratio of times above {MEASURABLE} s: {worst:.2f}")
    return int(worst > MOST)


if __name__ == "__main__":
    keep_tables(sys.argv)
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1 << 26, sys.argv[2:] or list(LOADED)))

"""The race of *Fast and meaningful tokenization*: its four stages, tokenizers and tokdfa, 20, 40 and 10,000 merges.

    TOKDFA_DATA=… python -m tests.benchmarks.bench_speedy --json figures/papers/speedy_race.json

One thread, processor time, English sentences split as in the paper. Where 10,000 merges would take hours, the time is
extrapolated from 20 and 40: it grows by as much with each merge. That is too much, as the list of tokens gets shorter.
"""

from __future__ import annotations

import os

os.environ.update({"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"})

import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from time import process_time

from tests.benchmarks.harness import environment, keep_tables, print_table
from tests.benchmarks.speedy import STAGES, spelled

SIZES = (20, 40, 10_000)
# The programs that take hours, by extrapolation.
TOO_SLOW = ("1 lists", "2 linked list")
PRINTED = {"1 lists": "17280", "3 counts kept": "34", "4 heap": "18", "tokenizers": "0.9"}


def sentence_words(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8").lower()
    return [word for word in re.split(r"\s|\.|!|\?", text) if word]


def tokdfa(words: Sequence[str], merges: int) -> list[str]:
    from tokdfa import train_greedy

    return [str(rule.product) for rule in train_greedy(Counter(words), merges)]


def tokenizers(words: Sequence[str], merges: int) -> list[str]:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    symbols = len({symbol for word in words for symbol in word})
    tokenizer.train_from_iterator(
        [" ".join(words[i : i + 1000]) for i in range(0, len(words), 1000)],
        trainers.BpeTrainer(vocab_size=symbols + merges, show_progress=False),
    )
    entries = tokenizer.get_vocab()
    return sorted(entries, key=entries.__getitem__)[symbols:]


def staged(train: Callable[[Sequence[str], int], list[tuple[int, int]]]) -> Callable[[Sequence[str], int], list[str]]:
    return lambda words, merges: spelled(words, train(words, merges))


def main() -> None:
    path = Path(os.environ["TOKDFA_DATA"]) / "corpora" / "fra_eng_en.txt"
    words = sentence_words(path)
    trainers = {name: staged(train) for name, train in STAGES.items()} | {"tokenizers": tokenizers, "tokdfa": tokdfa}
    expected = tokdfa(words, SIZES[-1])
    rows = []
    for name, train in trainers.items():
        row: list[object] = [name]
        same = 0
        for merges in SIZES:
            if merges == SIZES[-1] and name in TOO_SLOW:
                twenty, forty = (float(seconds) for seconds in row[1:3])  # type: ignore[arg-type]
                row.append(round(forty + (forty - twenty) / (SIZES[1] - SIZES[0]) * (merges - SIZES[1])))
                continue
            start = process_time()
            made = train(words, merges)
            row.append(process_time() - start)
            same = next(
                (i for i, pair in enumerate(zip(made, expected, strict=False)) if pair[0] != pair[1]), len(made)
            )
        rows.append([*row, "extrapolated" if name in TOO_SLOW else "measured", same, PRINTED.get(name, "-")])
        print(rows[-1], flush=True)
    print_table(
        f"English sentences: {len(words):,} words, {sum(map(len, words)):,} symbols",
        ["trainer", *(f"{merges:,} merges, s" for merges in SIZES), "the last", "first merges as tokdfa", "printed, s"],
        rows,
        f"processor time of one run, one thread; {environment('tokenizers')}",
    )


if __name__ == "__main__":
    keep_tables(sys.argv)
    main()

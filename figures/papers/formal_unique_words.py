"""Unique words: Table 3 and the speed-up |x| / |x_u| of appendix B.1 of *A Formal Perspective on Byte-Pair Encoding*.

For the beginnings of four texts that TOKDFA_DATA names: all words and unique ones, split at white space; the ratio of
the symbols of both; and by how much the slow trainer, which counts all pairs afresh for every merge, is faster on
unique words with their frequencies than on all words.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import process_time

from figures.chart import line_chart
from figures.table import Row

TEXTS = {
    "English books": "english.txt",
    "English sentences": "fra_eng_en.txt",
    "Python code": "python_code.txt",
    "over 500 languages": "multilingual.txt",
}
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
# The largest text on which both trainers run, and the merges that they make.
TIMED = 1_000_000
MERGES = 3


class EveryWord(Mapping[str, int]):
    """Words that come as often as they are in the text, each with the frequency 1."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words

    def __getitem__(self, word: str) -> int:
        return 1

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __len__(self) -> int:
        return len(self._words)


def row(name: str, text: str, *, timed: bool) -> Row:
    """Return what Table 3 has, the ratio of symbols, and the measured one; -1 where nothing was timed."""
    from tokdfa.training.naive import train_naive

    words = text.split()
    unique = Counter(words)
    found: Row = {
        "text": name,
        "symbols": len(text),
        "sentences": len([line for line in text.splitlines() if line.strip()]),
        "words": len(words),
        "unique_words": len(unique),
        "unique_percent": 100 * len(unique) / len(words),
        "ratio": sum(map(len, words)) / sum(map(len, unique)),
        "faster": -1.0,
    }
    if timed:
        seconds = []
        for pieces in (EveryWord(words), unique):
            start = process_time()
            train_naive(pieces, MERGES, tie="first-seen")
            seconds.append(process_time() - start)
        found["faster"] = seconds[0] / seconds[1]
    return found


def measure() -> list[Row]:
    """Count the words and run both trainers: some minutes."""
    folder = Path(os.environ["TOKDFA_DATA"]) / "corpora"
    rows = []
    for name, file in TEXTS.items():
        text = (folder / file).read_text(encoding="utf-8")
        sizes = [*(size for size in SIZES if size < len(text)), len(text)]
        rows += [row(name, text[:size], timed=size <= TIMED) for size in sizes]
    return rows


def draw(rows: list[Row]) -> str:
    series: dict[str, list[tuple[float, float]]] = {}
    for name in TEXTS:
        mine = [each for each in rows if each["text"] == name]
        series[name] = [(each["symbols"], each["ratio"]) for each in mine]
        series[f"{name}, timed"] = [(each["symbols"], each["faster"]) for each in mine if each["faster"] > 0]
    last = [each for each in rows if each["symbols"] == max(r["symbols"] for r in rows if r["text"] == each["text"])]
    shares = ", ".join(f"{each['text']} {each['unique_percent']:.1f} %" for each in last)
    return line_chart(
        series,
        title="|x| / |x_u|, and how much faster unique words are",
        x_label="symbols of the text",
        y_label="ratio",
        log_x=True,
        log_y=True,
        note=f"Unique words of the whole texts: {shares}.\n"
        f"Timed: {MERGES} merges of the slow trainer on all words, against unique words with their frequencies.",
    )

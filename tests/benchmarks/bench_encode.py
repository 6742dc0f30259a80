"""Encoding side by side, one thread: warm, on a first pass, on words that never repeat, loading, and memory.

``TOKDFA_DATA=… python -m tests.benchmarks.bench_encode [warm] [cold] [load] [memory]``, by default everything, which
takes some minutes. `warm` encodes the same text again, `cold` with an encoder that was just made and has seen one word.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import Counter
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

from tests.benchmarks.encode_peers import PEERS, Encode
from tests.benchmarks.harness import environment, keep_tables, measure, peak_memory, print_table

REPEATS = 5
PARTS = ("warm", "cold", "load", "memory")
VOCABS = Path(os.environ.get("TOKDFA_DATA", ".")) / "vocabs"
CORPORA = Path(os.environ.get("TOKDFA_DATA", ".")) / "corpora"


def new_words(text: str, size: int, seed: int = 1) -> str:
    """Return words that occur once each: chains of letters as they follow two others in a text, 4 to 16 of them."""
    draw = random.Random(seed)
    following: dict[str, Counter[str]] = {}
    padded = "".join(symbol if symbol.isalpha() and symbol.isascii() else "  " for symbol in text[:1_000_000].lower())
    for i in range(len(padded) - 2):
        following.setdefault(padded[i : i + 2], Counter())[padded[i + 2]] += 1
    choices = {pair: (list(counts), list(counts.values())) for pair, counts in following.items()}
    words: dict[str, None] = {}
    length = 0
    while length < size:
        word, pair = "", "  "
        while len(word) < 17:
            (symbol,) = draw.choices(*choices[pair])
            if symbol == " ":
                if word:
                    break
                continue
            word += symbol
            pair = pair[1] + symbol
        if 4 <= len(word) <= 16 and word not in words:
            words[word] = None
            length += len(word) + 1
    return " ".join(words)


def speeds(title: str, seconds: dict[str, float], size: int) -> None:
    ours = seconds["tokdfa"]
    rows: list[list[object]] = [[name, size / 1e6 / value, f"{value / ours:.2f}"] for name, value in seconds.items()]
    caption = f"medians of {REPEATS}; {environment(*(peer.package for peer in PEERS[1:]))}"
    print_table(title, ["encoder", "MB/s", "tokdfa is times faster"], rows, caption)


def check(encoders: dict[str, Encode], text: str) -> None:
    """Refuse to compare what does not give the same ids."""
    expected = np.asarray(encoders["tokdfa"](text), dtype=np.int64)
    for name, encode in encoders.items():
        assert np.array_equal(np.asarray(encode(text), dtype=np.int64), expected), name


def warm(texts: dict[str, str]) -> None:
    path = VOCABS / "cl100k_base.tiktoken"
    encoders = {peer.name: peer.make(path, "cl100k") for peer in PEERS}
    for title, text in texts.items():
        check(encoders, text)
        measured = measure({name: partial(encode, text) for name, encode in encoders.items()}, REPEATS)
        seconds = {name: value.median for name, value in measured.items()}
        speeds(f"cl100k, {title}, warm", seconds, len(text.encode()))


def cold(texts: dict[str, str]) -> None:
    path = VOCABS / "cl100k_base.tiktoken"
    for title, text in texts.items():
        seconds: dict[str, list[float]] = {peer.name: [] for peer in PEERS}
        for _ in range(REPEATS):
            for peer in PEERS:
                encode = peer.make(path, "cl100k")
                encode("first")
                began = perf_counter()
                encode(text)
                seconds[peer.name].append(perf_counter() - began)
        speeds(f"cl100k, {title}, first pass", {k: median(v) for k, v in seconds.items()}, len(text.encode()))


def load() -> None:
    """Time from the start of a process to the first ids, and the parts of it, each in processes of its own."""
    for name in ("cl100k", "o200k"):
        rows: list[list[object]] = []
        for peer in PEERS[:-1]:
            runs = [in_process("load", peer.name, name) for _ in range(REPEATS)]
            columns = [median(column) for column in zip(*runs, strict=True)]
            rows.append([peer.name, *(f"{value:.2f}" for value in columns)])
        caption = f"medians of {REPEATS}; compiled kernels are cached; {environment(*(p.package for p in PEERS[1:]))}"
        print_table(f"{name}, seconds", ["encoder", "import", "load", "first use", "all"], rows, caption)


def memory() -> None:
    rows: list[list[object]] = []
    for peer in PEERS:
        loaded, passed = in_process("memory", peer.name, "cl100k")
        rows.append([peer.name, f"{loaded:.0f}", f"{passed:.0f}"])
    caption = "5 MB of English; the text and the ids are in it"
    print_table("cl100k, peak memory in MB", ["encoder", "loaded and used once", "after a text"], rows, caption)


def in_process(what: str, peer: str, name: str) -> list[float]:
    command = [sys.executable, "-m", "tests.benchmarks.bench_encode", "--one", what, peer, name]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [*map(float, output.split())]


def one(what: str, peer_name: str, name: str) -> None:
    """Measure one encoder in this process and print the figures."""
    began = perf_counter()
    peer = next(peer for peer in PEERS if peer.name == peer_name)
    __import__(peer.name)
    imported = perf_counter()
    encode = peer.make(VOCABS / f"{name}_base.tiktoken", name)
    loaded = perf_counter()
    encode("The first words.")
    used = perf_counter()
    if what == "load":
        print(imported - began, loaded - imported, used - loaded, used - began)
        return
    first = peak_memory() / 1e6
    encode((CORPORA / "english.txt").read_text(encoding="utf-8"))
    print(first, peak_memory() / 1e6)


def main(parts: list[str]) -> None:
    """Measure and print."""
    english = (CORPORA / "english.txt").read_text(encoding="utf-8")
    texts = {"English": english, "words that never repeat": new_words(english, 2_000_000)}
    if "warm" in parts:
        warm({"English": english})
    if "cold" in parts:
        cold(texts)
    if "load" in parts:
        load()
    if "memory" in parts:
        memory()


if __name__ == "__main__":
    keep_tables(sys.argv)
    # Encoders that would use several threads are to use one.
    os.environ["RAYON_NUM_THREADS"] = "1"
    if sys.argv[1:2] == ["--one"]:
        one(*sys.argv[2:5])
    else:
        main(sys.argv[1:] or [*PARTS])

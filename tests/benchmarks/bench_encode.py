"""Encoding side by side, each encoder in its fastest documented way, which the tables name.

``TOKDFA_DATA=… python -m tests.benchmarks.bench_encode [PART…]``, by default every part, which takes some minutes:

- `warm` encodes the same text again and again, `cold` with an encoder that was just made and has seen one word: one
  text, one thread; both also on words that occur once each
- `start` encodes a text as the first call of a process after loading, so that all tables are made in it
- `documents` encodes many texts in one call, each encoder by one thread and then by as many as there are processors,
  and compares these threads with as many processes
- `short` encodes one short text at a time
- `load` is from the start of a process to the first ids, `memory` the most that one holds
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
from time import perf_counter, process_time

import numpy as np

from tests.benchmarks.bench_validate import TEXTS, text_of
from tests.benchmarks.encode_peers import BATCHES, PEERS, WAYS, Encode, batch_tokdfa
from tests.benchmarks.harness import environment, keep_tables, measure, peak_memory, print_table

REPEATS = 5
PARTS = ("warm", "cold", "start", "documents", "short", "load", "memory")
# Characters of a document: a line, a paragraph, some pages.
SIZES = (100, 1_000, 10_000)
# Bytes of a short text, and calls that are timed together.
SHORT = {11: 20_000, 1_000: 4_000}
LENGTH = 3_000_000
BATCH = 2_000_000
DATA = Path(os.environ.get("TOKDFA_DATA", "."))
VOCABS = DATA / "vocabs"
CORPORA = DATA / "corpora"
TITLES = {"english": "English", "python_code": "code", "multilingual": "many languages", "licences": "licences"}


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
    print_table(
        title, ["encoder", "MB/s", "tokdfa is times faster"], rows, caption_of(f"processor time of one thread; {WAYS}")
    )


def caption_of(how: str) -> str:
    return f"medians of {REPEATS}, in turn; {how}; {environment(*(peer.package for peer in PEERS[1:]))}"


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
        calls = {name: partial(encode, text) for name, encode in encoders.items()}
        measured = measure(calls, REPEATS, process_time, at_rest=True)
        seconds = {name: value.median for name, value in measured.items()}
        speeds(f"cl100k, {title}, warm", seconds, len(text.encode()))


def cold(texts: dict[str, str]) -> None:
    path = VOCABS / "cl100k_base.tiktoken"
    for title, text in texts.items():
        # The last one takes seconds to be made; one text is enough.
        peers = PEERS if title == "English" else PEERS[:-1]
        seconds: dict[str, list[float]] = {peer.name: [] for peer in peers}
        for _ in range(REPEATS):
            for peer in peers:
                encode = peer.make(path, "cl100k")
                encode("first")
                began = process_time()
                encode(text)
                seconds[peer.name].append(process_time() - began)
                # Freed when the next one is made, its tables would push the next one's out of the caches.
                del encode
        speeds(f"cl100k, {title}, first pass", {k: median(v) for k, v in seconds.items()}, len(text.encode()))


def start() -> None:
    """Time the first call after loading, each in a process of its own."""
    for title in TEXTS:
        seconds = {peer.name: [in_process("start", peer.name, title) for _ in range(REPEATS)] for peer in PEERS[:-1]}
        size = len(_long_text(title).encode())
        speeds(f"cl100k, {TITLES[title]}, first call", {k: median(x for (x,) in v) for k, v in seconds.items()}, size)


def _long_text(name: str) -> str:
    """Return a text of this length, repeated if it is shorter."""
    text = text_of(DATA, name)
    return (text * (1 + LENGTH // len(text)))[:LENGTH]


def short() -> None:
    """Time one short text at a time."""
    path = VOCABS / "cl100k_base.tiktoken"
    encoders = {peer.name: peer.make(path, "cl100k") for peer in PEERS}
    english = text_of(DATA, "english")
    rows: list[list[object]] = [[name] for name in encoders]
    for size, calls in SHORT.items():
        # Of ASCII, so that bytes are characters.
        text = next(english[i : i + size] for i in range(0, len(english), size) if english[i : i + size].isascii())
        loops = {name: partial(_repeat, encode, text, calls) for name, encode in encoders.items()}
        measured = measure(loops, REPEATS, process_time)
        for row in rows:
            row.append(f"{measured[str(row[0])].median / calls * 1e6:.2f}")
    columns = ["encoder", *(f"{size:,} bytes" for size in SHORT)]
    print_table("cl100k, English, microseconds a call", columns, rows, caption_of(f"processor time; {WAYS}"))


def _repeat(encode: Encode, text: str, calls: int) -> None:
    for _ in range(calls):
        encode(text)


def documents(text: str) -> None:
    """Measure many texts in one call at rest, by one thread and by all, each number in a process of its own."""
    for threads in sorted({1, os.cpu_count() or 1}):
        for size in SIZES:
            parts = cut(text[:BATCH], size)
            n_bytes = sum(len(part.encode()) for part in parts)
            command = [sys.executable, "-m", "tests.benchmarks.bench_encode", "--documents", str(threads), str(size)]
            rayon = {"RAYON_NUM_THREADS": str(threads), "TOKENIZERS_PARALLELISM": "true" if threads > 1 else "false"}
            output = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | rayon).stdout
            seconds = dict(zip(BATCHES, map(float, output.split()), strict=True))
            ours = next(iter(seconds.values()))
            rows: list[list[object]] = [[k, n_bytes / 1e6 / v, f"{v / ours:.2f}"] for k, v in seconds.items()]
            clock = "processor time of one thread" if threads == 1 else "time by the clock, all with these threads"
            clock += "; each call after another of the same"
            title = f"cl100k, English, {len(parts):,} documents of {n_bytes // len(parts):,} bytes, {threads} thread(s)"
            print_table(title, ["encoder", "MB/s", "tokdfa is times faster"], rows, caption_of(clock))


def scaling(text: str) -> None:
    """Compare threads in one process with as many processes, all at the same work at the same time."""
    processors = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [*range(os.cpu_count() or 1)]
    rows: list[list[object]] = []
    for size in SIZES:
        n_bytes = sum(len(part.encode()) for part in cut(text[:BATCH], size))

        def rate(processes: list[list[str]], n_bytes: int = n_bytes) -> float:
            command = [sys.executable, "-m", "tests.benchmarks.bench_encode", "--alone"]
            running = [subprocess.Popen([*command, *each], stdout=subprocess.PIPE, text=True) for each in processes]
            return sum(n_bytes / 1e6 / float(process.communicate()[0]) for process in running)

        apart = median(rate([["1", str(size), str(processor)] for processor in processors]) for _ in range(REPEATS))
        threads = median(rate([[str(len(processors)), str(size)]]) for _ in range(REPEATS))
        rows.append([f"{size:,}", apart, threads, f"{threads / apart:.2f}"])
    n = len(processors)
    columns = ["characters", f"{n} processes, MB by the clock", f"{n} threads, MB by the clock", "threads / processes"]
    print_table("cl100k, English, documents in one call of tokdfa, by threads", columns, rows, caption_of("each alone"))


def alone(threads: int, size: int, processor: int | None = None) -> None:
    """Encode documents for a second and print the seconds that it takes once, held to a processor if one is given."""
    if processor is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {processor})
    parts = cut(text_of(DATA, "english")[:BATCH], size)
    encode = batch_tokdfa(VOCABS / "cl100k_base.tiktoken", "cl100k", parts, threads)
    began = perf_counter()
    while perf_counter() < began + 1:
        encode()
    seconds = []
    while perf_counter() < began + 2:
        once = perf_counter()
        encode()
        seconds.append(perf_counter() - once)
    print(median(seconds))


def cut(text: str, size: int) -> list[str]:
    """Return a text in parts that end with lines, each of at least this number of characters."""
    parts, start = [], 0
    while start < len(text):
        stop = text.find("\n", start + size) + 1 or len(text)
        parts.append(text[start:stop])
        start = stop
    return parts


def documents_in_process(threads: int, size: int) -> None:
    """Measure in this process, held to one processor for one thread, and print the seconds."""
    if threads == 1 and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    parts = cut((CORPORA / "english.txt").read_text(encoding="utf-8")[:BATCH], size)
    path = VOCABS / "cl100k_base.tiktoken"
    calls = {name: make(path, "cl100k", parts, threads) for name, make in BATCHES.items()}
    clock = process_time if threads == 1 else perf_counter
    print(*(measured.median for measured in measure(calls, REPEATS, clock, at_rest=True).values()))


def load() -> None:
    """Time from the start of a process to the first ids, and the parts of it, each in processes of its own."""
    for name in ("cl100k", "o200k"):
        rows: list[list[object]] = []
        for peer in PEERS[:-1]:
            runs = [in_process("load", peer.name, name) for _ in range(REPEATS)]
            rows.append([peer.name, *(f"{median(part):.2f}" for part in zip(*runs, strict=True))])
        columns = ["encoder", "import", "load", "first use", "all"]
        print_table(f"{name}, seconds", columns, rows, caption_of(f"processor time; {WAYS}"))


def memory() -> None:
    rows: list[list[object]] = []
    for peer in PEERS:
        loaded, passed = in_process("memory", peer.name, "cl100k")
        rows.append([peer.name, f"{loaded:.0f}", f"{passed:.0f}"])
    caption = "5 MB of English; the text and the ids are in it"
    print_table("cl100k, peak memory in MB", ["encoder", "loaded and used once", "after a text"], rows, caption)


def in_process(what: str, peer: str, name: str) -> list[float]:
    command = [sys.executable, "-m", "tests.benchmarks.bench_encode", "--one", what, peer, name]
    # As installed, with the bytecode of modules written once.
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    output = subprocess.run(command, check=True, capture_output=True, text=True, env=environ).stdout
    return [*map(float, output.split())]


def one(what: str, peer_name: str, name: str) -> None:
    """Measure one encoder in this process and print the figures."""
    began = process_time()
    peer = next(peer for peer in PEERS if peer.name == peer_name)
    if what == "start":
        encode = peer.make(VOCABS / "cl100k_base.tiktoken", "cl100k")
        text = _long_text(name)
        began = process_time()
        encode(text)
        print(process_time() - began)
        return
    __import__(peer.name)
    imported = process_time()
    encode = peer.make(VOCABS / f"{name}_base.tiktoken", name)
    loaded = process_time()
    encode("The first words.")
    used = process_time()
    if what == "load":
        print(imported - began, loaded - imported, used - loaded, used - began)
        return
    first = peak_memory() / 1e6
    encode((CORPORA / "english.txt").read_text(encoding="utf-8"))
    print(first, peak_memory() / 1e6)


def main(parts: list[str]) -> None:
    """Measure and print."""
    english = text_of(DATA, "english")
    texts = {TITLES[name]: text_of(DATA, name)[:LENGTH] for name in TEXTS}
    texts |= {"words that never repeat": new_words(english, 2_000_000)}
    if "warm" in parts:
        warm(texts)
    if "cold" in parts:
        cold(texts)
    if "start" in parts:
        start()
    if "documents" in parts:
        documents(english)
        scaling(english)
    if "short" in parts:
        short()
    if "load" in parts:
        load()
    if "memory" in parts:
        memory()


if __name__ == "__main__":
    keep_tables(sys.argv)
    if sys.argv[1:2] == ["--alone"]:
        alone(*map(int, sys.argv[2:]))
        sys.exit()
    if sys.argv[1:2] == ["--documents"]:
        documents_in_process(int(sys.argv[2]), int(sys.argv[3]))
        sys.exit()
    # Encoders that would use several threads are to use one.
    os.environ |= {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    if sys.argv[1:2] == ["--one"]:
        one(*sys.argv[2:5])
    else:
        main(sys.argv[1:] or [*PARTS])

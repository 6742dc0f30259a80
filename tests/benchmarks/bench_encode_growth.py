"""Time per byte as texts grow, without pre-tokenizer: one pass, compared with Algorithm 1 and a priority queue.

``TOKDFA_DATA=… python -m tests.benchmarks.bench_encode_growth [longest]``, 100 MB by default; about two minutes. The
texts are adversarial ones: equal letters, random tokens, near-merges. Algorithm 1 looks for every rule of the
dictionary, one after the other, in all of the text at once by numpy; a way stops where a run would take more than 20
seconds.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time

import numpy as np
import numpy.typing as npt

import tokdfa
from tests.benchmarks.harness import environment, keep_tables, print_table
from tokdfa import Tokenizer
from tokdfa.kernels.merging.merging import merge_pieces, pair_table

SIZES = (10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
LONGEST_RUN = 20.0
LONG_ENOUGH = 1.0
ENOUGH = 20_000_000
Ints = npt.NDArray[np.int32]

TURNS = {"one pass": 8, "priority queue": 1, "Algorithm 1": 1}


def algorithm_1(tokens: Ints, left: Ints, right: Ints, product: Ints) -> Ints:
    """Apply each rule once, in order of priority, from the left; each rule looks at all tokens at once."""
    for u, v, uv in zip(left.tolist(), right.tolist(), product, strict=True):
        places = np.flatnonzero((tokens[:-1] == u) & (tokens[1:] == v))
        if len(places) and u == v:
            # Of a run of equal tokens every other pair is merged, from the left.
            begins = np.flatnonzero(np.diff(places, prepend=-2) > 1)
            run = np.repeat(begins, np.diff(begins, append=len(places)))
            places = places[(np.arange(len(places)) - run) % 2 == 0]
        if len(places):
            tokens[places] = uv
            tokens = np.delete(tokens, places + 1)
    return tokens


def texts(tokenizer: Tokenizer, size: int) -> Iterator[tuple[str, bytes]]:
    """Yield the adversarial texts of this number of bytes, one at a time."""
    draw = np.random.default_rng(1)
    words = [bytes(word) for word in tokenizer.dictionary.alphabet]  # type: ignore[arg-type]
    yield "equal letters", b"a" * size
    parts: list[bytes] = []
    length = 0
    while length < size:
        parts.append(b"".join(map(words.__getitem__, draw.integers(len(words), size=100_000).tolist())))
        length += len(parts[-1])
    yield "random tokens", b"".join(parts)[:size]
    del parts
    picked = random.Random(2).choice([word for word in words if word.isalpha() and 4 <= len(word) <= 12])
    near = picked[:-1] + picked + picked[1:]
    yield f"near-merges of {picked.decode()!r}", (near * (size // len(near) + 1))[:size]


def nanoseconds_per_byte(function: Callable[[bytes], object], text: bytes, sizes: list[int], turns: int) -> list[float]:
    """Return the least of several runs for each size, up to the size at which one would take too long.

    The machine is now faster and now slower. So a run goes through ENOUGH bytes of the text, in parts of the size, or
    through as many parts as take LONG_ENOUGH seconds where that is slow, and runs of different sizes take turns.
    """
    runs: dict[int, list[float]] = {}
    for turn in range(turns):
        for size in sizes:
            slowest = max((max(values) for values in runs.values()), default=0)
            if slowest * size / 1e9 > LONGEST_RUN or (turn and size not in runs):
                continue
            n_bytes = 0
            start = process_time()
            while n_bytes < max(size, min(ENOUGH, len(text))):
                function(text[n_bytes : n_bytes + size])
                n_bytes += size
                seconds = process_time() - start
                if seconds > LONG_ENOUGH and seconds / n_bytes * ENOUGH > 5 * LONG_ENOUGH:
                    break
            runs.setdefault(size, []).append((process_time() - start) / n_bytes * 1e9)
    return [min(runs[size]) for size in sizes if size in runs]


def main(longest: int) -> None:
    """Measure and print."""
    path = Path(os.environ["TOKDFA_DATA"]) / "vocabs/cl100k_base.tiktoken"
    tokenizer = tokdfa.load(path, pretokenizer="none")
    rules = tokenizer.dictionary
    left, right, product = (np.asarray(row, dtype=np.int32) for row in (rules.left, rules.right, rules.product))
    table = pair_table(left, right, np.arange(len(left), dtype=np.int32), product)

    def by_queue(text: bytes) -> object:
        return merge_pieces(np.frombuffer(text, dtype=np.uint8).astype(np.int32), np.array([0, len(text)]), table)

    def by_rules(text: bytes) -> object:
        return algorithm_1(np.frombuffer(text, dtype=np.uint8).astype(np.int32), left, right, product)

    ways: dict[str, Callable[[bytes], object]] = {
        "one pass": tokenizer.transducer.tokenize,
        "priority queue": by_queue,
        "Algorithm 1": by_rules,
    }
    sizes = [size for size in SIZES if size <= longest]
    for kind, text in texts(tokenizer, longest):
        rows: list[list[object]] = []
        for name, function in ways.items():
            values = nanoseconds_per_byte(function, text, sizes, TURNS[name])
            cells = [f"{value:.1f}" for value in values] + ["-"] * (len(sizes) - len(values))
            rows.append([name, *cells, f"{max(values) / min(values):.2f}"])
        how = "processor time, the least of eight runs, of one for the others, all sizes in turn"
        caption = f"{how}; {environment('numpy')}"
        columns = ["way", *(f"{size:,} B" for size in sizes), "most / least"]
        print_table(f"cl100k, {kind}, nanoseconds per byte", columns, rows, caption)


if __name__ == "__main__":
    keep_tables(sys.argv)
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZES[-1])

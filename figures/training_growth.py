"""How the processor time of training grows: in the text, in the merges, and for the exact search.

Theorem 4.2 of *A Formal Perspective on Byte-Pair Encoding* (O(N log M), where the plain trainer takes O(NM)) and its
Figure 4 (the guarded search compared with brute force). The texts are named by TOKDFA_DATA.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from statistics import mean, median
from time import process_time

from figures.table import Row

# One string, never cut into pieces, as the theorem has it.
MERGES, TEXTS, PLAIN_TEXTS = 200, [1 << n for n in range(12, 23)], 1 << 16
SYMBOLS, NUMBERS, PLAIN_NUMBERS = 1 << 15, [50 << n for n in range(8)], 800
REPEATS = 3
# Two beginnings of sentences, by their number of symbols, with up to a number of merges.
SEARCHES = [(16, 4), (64, 2)]
DRAWS = 5


def corpus(name: str) -> Path:
    return Path(os.environ["TOKDFA_DATA"]) / "corpora" / name


def seconds_of(function: Callable[[], object]) -> float:
    taken = []
    for _ in range(REPEATS):
        began = process_time()
        function()
        taken.append(process_time() - began)
    return median(taken)


def train_both(text: bytes, merges: int, plain: bool) -> Row:
    """Return the seconds of both trainers on one string; they must come to the same."""
    from tokdfa.training.greedy import train_greedy
    from tokdfa.training.naive import train_naive

    fast = seconds_of(lambda: train_greedy({text: 1}, merges, min_frequency=1))
    row: Row = {"symbols": len(text), "merges": merges, "fast": fast, "plain": ""}
    if plain:
        row["plain"] = seconds_of(lambda: train_naive({text: 1}, merges, min_frequency=1))
        assert train_greedy({text: 1}, merges, min_frequency=1) == train_naive({text: 1}, merges, min_frequency=1)
    return row


def growth_in_texts() -> list[Row]:
    text = corpus("english.txt").read_bytes()
    train_both(text[:1000], 10, plain=True)
    return [train_both(text[:size], MERGES, plain=size <= PLAIN_TEXTS) for size in TEXTS]


def growth_in_merges() -> list[Row]:
    text = corpus("english.txt").read_bytes()[:SYMBOLS]
    train_both(text[:1000], 10, plain=True)
    return [train_both(text, merges, plain=merges <= PLAIN_NUMBERS) for merges in NUMBERS]


def exact_searches() -> list[Row]:
    """Return what the guarded search and brute force take, means over texts of two sentences' beginnings."""
    from tokdfa.training.theory import train_exact

    sentences = corpus("fra_eng_en.txt").read_text(encoding="utf-8").splitlines()
    rows: list[Row] = []
    for length, most in SEARCHES:
        long_enough = [sentence[:length] for sentence in sentences if len(sentence) >= length]
        texts = [
            dict.fromkeys((long_enough[at], long_enough[at + 1]), 1)
            for at in range(0, len(long_enough) - 1, len(long_enough) // DRAWS)
        ][:DRAWS]
        for merges in range(1, most + 1):
            taken: dict[str, list[float]] = {"overlap": [], "none": []}
            explored = {"overlap": 0, "none": 0}
            for text in texts:
                units = set()
                for guard in ("overlap", "none"):
                    began = process_time()
                    found = train_exact(text, merges, guard=guard, limit=10**12)  # type: ignore[arg-type]
                    taken[guard].append(process_time() - began)
                    explored[guard] += found.explored
                    units.add(found.units)
                assert len(units) == 1, (text, merges)
            rows.append({
                "symbols": 2 * length,
                "merges": merges,
                "guarded": mean(taken["overlap"]),
                "brute": mean(taken["none"]),
                "faster": mean(b / a for a, b in zip(taken["overlap"], taken["none"], strict=True)),
                "guarded_sequences": explored["overlap"] // DRAWS,
                "brute_sequences": explored["none"] // DRAWS,
            })  # fmt: skip
    return rows

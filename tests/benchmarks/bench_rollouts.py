"""Checking rollouts, on one core: 10,000 of 2,000 ids with 1 % of drift, and the cost of a call compared with validate.

Run: TOKDFA_DATA=... python tests/benchmarks/bench_rollouts.py [TOKENIZER] [TEXT]
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import tokdfa

N, SIZE, SHARE = 10_000, 2_000, 0.01


def drifted(tokenizer: tokdfa.AnyTokenizer, ids: np.ndarray, share: float, source: np.random.Generator) -> np.ndarray:
    """Spell some tokens in another way, until this share of all ids has changed."""
    split: dict[int, list[int]] = {}
    words = {
        bytes(tokenizer.decode_bytes([id])): id
        for id in range(min(tokenizer.n_ids, 50_000))
        if tokenizer.means_something[id]
    }
    for word, id in words.items():
        cut = next((at for at in range(1, len(word)) if word[:at] in words and word[at:] in words), None)
        if cut is not None:
            split[id] = [words[word[:cut]], words[word[cut:]]]
    marks = source.random(len(ids)) < share / 2
    out: list[int] = []
    for id, mark in zip(ids.tolist(), marks.tolist(), strict=True):
        out += split.get(id, [id]) if mark else [id]
    return np.array(out, dtype=np.int32)


def some(tokenizer: tokdfa.AnyTokenizer, stream: np.ndarray, source: np.random.Generator) -> list[np.ndarray]:
    """Rollouts that begin and end between symbols, as those do that are not cut off."""
    first = np.array([tokenizer.decode_bytes([id])[:1] for id in np.flatnonzero(tokenizer.means_something)])
    opens = np.array([not 0x80 <= byte[0] < 0xC0 if byte else False for byte in first])
    places = np.flatnonzero(opens[stream[:-SIZE]] & opens[stream[SIZE:]])
    return [stream[start : start + SIZE].copy() for start in source.choice(places, N)]


def best(times: int, work: Callable[[], object]) -> float:
    """The least CPU time of some runs, in seconds: on a machine with other work it is nearer to that at rest."""
    found = []
    for _ in range(times):
        begin = time.process_time()
        work()
        found.append(time.process_time() - begin)
    return min(found)


def main() -> None:
    data = Path(os.environ["TOKDFA_DATA"])
    path = sys.argv[1] if len(sys.argv) > 1 else data / "vocabs" / "gpt2" / "tokenizer.json"
    text = Path(sys.argv[2] if len(sys.argv) > 2 else data / "corpora" / "english.txt").read_text(encoding="utf-8")
    tokenizer = tokdfa.load(path)
    source = np.random.default_rng(0)
    ids = tokenizer.encode(text[:12_000_000])
    rollouts, clean = (some(tokenizer, each, source) for each in (drifted(tokenizer, ids, 1.3 * SHARE, source), ids))
    checks = tokdfa.check_rollouts(tokenizer, rollouts[:10], threads=1)
    for name, given in (("drift", rollouts), ("canonical", clean)):
        checks = tokdfa.check_rollouts(tokenizer, given, threads=1)
        seconds = best(5, lambda given=given: tokdfa.check_rollouts(tokenizer, given, threads=1))
        print(f"{name}: {seconds:.2f} s, {N * SIZE / seconds / 1e6:.0f} M ids/s; {checks.reason}")
    for size in (5, 100, 2000):
        compare_calls(tokenizer, ids[:size].copy())


def compare_calls(tokenizer: tokdfa.AnyTokenizer, ids: np.ndarray) -> None:
    """Print the cost of a call, compared with validate."""
    while not tokdfa.validate(tokenizer, ids):
        ids = ids[:-1].copy()
    mask = np.ones(len(ids), dtype=np.bool_)
    n = 20_000 if len(ids) < 1000 else 3_000
    plain = best(5, lambda: [tokdfa.validate(tokenizer, ids) for _ in range(n)]) / n
    checked = best(5, lambda: [tokdfa.check_rollout(tokenizer, ids, mask, 0) for _ in range(n)]) / n
    print(f"a call, {len(ids)} ids: validate {1e6 * plain:.2f} µs, check_rollout {1e6 * checked:.2f} µs")


if __name__ == "__main__":
    main()

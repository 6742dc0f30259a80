"""Two threads that use one tokenizer at the same time, on a library of kernels that ThreadSanitizer watches.

The interpreter hands its lock from one thread to the other, and the kernels hold none: data that both read and write
there at the same time is checked. `python -m tests.campaigns.sanitizers --only threads` runs this program.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import numpy as np

import tokdfa

THREADS, ROUNDS = 2, 8
WORDS = 4000


def text_of(seed: int) -> str:
    """Return a text of words that come again and of new ones."""
    dice = random.Random(seed)
    usual = ["a", "single", "man", "in", "possession", "of", "good", "fortune", "1813", "é€😀", "\n\n", "  "]
    new = ["".join(dice.choices("abcdefghijklmnopqrstuvwxyz", k=dice.randrange(1, 12))) for _ in range(WORDS // 4)]
    return " ".join(dice.choices(usual + new, k=WORDS))


def main() -> None:
    """Let the threads do one job after the other, and compare what they answer."""
    tokenizer = tokdfa.default_tokenizer()
    text = text_of(1)
    ids = np.array(tokenizer.encode(text))
    # Many parcels for each thread.
    lines = [text_of(seed) for seed in range(2, 22)]
    mixed = np.random.default_rng(1).permutation(ids)
    replacer = tokdfa.Replacer(tokenizer, "man", "woman")
    jobs: dict[str, Callable[[], Any]] = {
        "validate": lambda: bool(tokenizer.validate(ids)),
        "validate wrong ids": lambda: len(tokenizer.validate(mixed, all=True).violations),
        "search": lambda: len([*tokenizer.search("[a-z]+n", ids)]),
        "replace": lambda: replacer.replace(ids).ids.tolist(),
        "encode": lambda: tokenizer.encode(text).tolist(),
        "encode many": lambda: tokdfa.encode_batch(tokenizer, lines, threads=2).ids.tolist(),
        "decode": lambda: tokenizer.decode(ids),
    }
    together = Barrier(THREADS)

    def work(job: Callable[[], Any]) -> list[Any]:
        together.wait()
        return [job() for _ in range(ROUNDS)]

    with ThreadPoolExecutor(THREADS) as pool:
        for name, job in jobs.items():
            answers = [answer for found in pool.map(work, [job] * THREADS) for answer in found]
            assert all(answer == answers[0] for answer in answers), name
            print(name, flush=True)


if __name__ == "__main__":
    main()

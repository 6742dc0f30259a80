"""Replacing in ids beside decoding, RE2 and encoding again: one match in 10,000 tokens, and none.

Run from the top of the repository, with TOKDFA_DATA naming the folder of the vocabularies and corpora:
``python -m tests.benchmarks.bench_replace [repeats]``.

The peer decodes with tokdfa, the fastest decoder, substitutes with RE2 on bytes and encodes with gigatoken.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from time import process_time
from typing import Any

import gigatoken
import numpy as np
import re2

import tokdfa
from tests.benchmarks.harness import environment, keep_tables, measure, print_table

EVERY = 10_000


def main(repeats: int) -> None:
    """Print the speed of replacing."""
    data = Path(os.environ["TOKDFA_DATA"])
    path = data / "vocabs" / "gpt2" / "tokenizer.json"
    tokenizer = tokdfa.load(path)
    theirs: Any = gigatoken.Tokenizer(str(path))
    words = (data / "corpora" / "english.txt").read_text("utf-8").split(" ")
    step = len(words) * EVERY // len(tokenizer.encode(" ".join(words)))
    for place in range(step // 2, len(words), step):
        words[place] = "Zanzibar"
    ids = tokenizer.encode(" ".join(words))
    rows: list[list[object]] = []
    for pattern in ("Zanzibar", "Zqnzibar"):
        replacer = tokdfa.Replacer(tokenizer, pattern, "Timbuktu")
        searcher = tokdfa.Searcher(tokenizer, pattern, wanted="first")
        program: Any = re2.compile(pattern.encode())

        def peer(program: Any = program) -> Any:
            return theirs.encode(program.sub(b"Timbuktu", tokenizer.decode_bytes(ids)).decode())

        np.testing.assert_array_equal(np.array(peer()), replacer.replace(ids).ids)
        ways = {
            "replace": lambda known=replacer: known.replace(ids),
            "search": lambda known=searcher: known.search(ids),
            "peer": peer,
        }
        found = {name: len(ids) / one.median / 1e6 for name, one in measure(ways, repeats, process_time).items()}
        count = replacer.replace(ids).count
        rates = [found["replace"], found["search"], found["peer"]]
        rows.append([pattern, count, *rates, found["replace"] / found["peer"], found["replace"] / found["search"]])
    print_table(
        "Replacing in ids of GPT-2, English; millions of tokens a second",
        ["pattern", "matches", "replace", "search", "decode + RE2 + gigatoken", "× peer", "× search"],
        rows,
        f"processor time of one thread; {environment('google-re2', 'gigatoken')}; median of {repeats}, in turn",
    )


if __name__ == "__main__":
    keep_tables(sys.argv)
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)

"""Replacing in ids compared with decoding, RE2 and encoding again: one match in 10,000 tokens, and none.

Run from the top of the repository, with TOKDFA_DATA naming the folder of the vocabularies and corpora:
``python -m tests.benchmarks.bench_replace [repeats]``.

The peer decodes with tokdfa, the fastest decoder, substitutes with RE2 on bytes and encodes these with gigatoken. It
takes turns with replacing, which finds its data out of the caches then. Searching, and replacing with ``check=True``,
take turns with replacing in a measurement of their own, so that all of them find them in the caches.
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
NAMES = {"gpt2": None, "cl100k_base": ("cl100k", "gpt4"), "o200k_base": ("o200k", "o200k")}
"""Their vocabularies, and what tokdfa and gigatoken call their pre-tokenizers."""


def both(vocabularies: Path, name: str, pretokenizers: tuple[str, str] | None) -> tuple[tokdfa.AnyTokenizer, Any]:
    """Return a tokenizer of ours and gigatoken's."""
    if pretokenizers is None:
        path = vocabularies / name / "tokenizer.json"
        return tokdfa.load(path), gigatoken.Tokenizer(str(path))
    path = vocabularies / f"{name}.tiktoken"
    theirs = gigatoken.Tokenizer.from_tiktoken(path, pretokenizer=pretokenizers[1], special_tokens={})
    return tokdfa.load(path, pretokenizer=pretokenizers[0]), theirs


def rows_of(name: str, tokenizer: tokdfa.AnyTokenizer, theirs: Any, text: str, repeats: int) -> list[list[object]]:
    """Return the speeds with and without matches."""
    words = text.split(" ")
    step = len(words) * EVERY // len(tokenizer.encode(text))
    for place in range(step // 2, len(words), step):
        words[place] = "Zanzibar"
    ids = tokenizer.encode(" ".join(words))
    rows: list[list[object]] = []
    for pattern in ("Zanzibar", "Zqnzibar"):
        replacer = tokdfa.Replacer(tokenizer, pattern, "Timbuktu")
        checking = tokdfa.Replacer(tokenizer, pattern, "Timbuktu", check=True)
        searcher = tokdfa.Searcher(tokenizer, pattern, wanted="first")
        program: Any = re2.compile(pattern.encode())

        def peer(program: Any = program) -> Any:
            return theirs.encode(program.sub(b"Timbuktu", tokenizer.decode_bytes(ids)))

        def replace(known: tokdfa.Replacer = replacer) -> tokdfa.Replacement:
            return known.replace(ids)

        np.testing.assert_array_equal(np.array(peer()), replace().ids)
        beside = measure({"replace": replace, "peer": peer}, repeats, process_time)
        ways = {
            "replace": replace,
            "search": lambda known=searcher: known.search(ids),
            "check": lambda known=checking: known.replace(ids),
        }
        warm = measure(ways, repeats, process_time)
        cold, other = (len(ids) / beside[way].median / 1e6 for way in ("replace", "peer"))
        again, search, check = (len(ids) / warm[way].median / 1e6 for way in ("replace", "search", "check"))
        rows.append([name, replace().count, cold, other, cold / other, again, search, again / search, check])
    return rows


def main(repeats: int) -> None:
    """Print the speed of replacing."""
    data = Path(os.environ["TOKDFA_DATA"])
    text = (data / "corpora" / "english.txt").read_text("utf-8")
    rows = []
    for name, pretokenizers in NAMES.items():
        rows += rows_of(name, *both(data / "vocabs", name, pretokenizers), text, repeats)
    print_table(
        "Replacing in ids of English; millions of tokens a second",
        ["tokenizer", "matches", "replace", "peer", "× peer", "replace, warm", "search", "× search", "check=True"],
        rows,
        "peer: decode_bytes of tokdfa, RE2 and encode(bytes) of gigatoken; processor time of one thread; "
        f"{environment('google-re2', 'gigatoken')}; median of {repeats}, in turn",
    )


if __name__ == "__main__":
    keep_tables(sys.argv)
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)

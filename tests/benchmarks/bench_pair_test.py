"""How fast pairs are tested: ids of real text and random ones, compared with numpy reading the same array.

``TOKDFA_DATA=… python -m tests.benchmarks.bench_pair_test [--ids N] [NAME …]`` with gpt2, cl100k, o200k.

The ids are those that tokdfa gives for english.txt as one piece, repeated, and a random walk in the automaton; both
are canonical, so that all of them are read.
"""

from __future__ import annotations

import argparse
import os
import sys
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np
import numpy.typing as npt

from tests.benchmarks.harness import environment, keep_tables, measure, peak_memory, print_table
from tokdfa.automata.compact import CompactTokenDFA, PairTest, Tuning
from tokdfa.tokenizers.loading import load_byte_pairs
from tokdfa.tokenizers.tokenizer import Tokenizer

Ints = npt.NDArray[np.int32]

FILES = {"gpt2": "gpt2/merges.txt", "cl100k": "cl100k_base.tiktoken", "o200k": "o200k_base.tiktoken"}
# So many ids stay in the second-level cache.
CHUNK = 1 << 16


def forbidden_pairs(test: PairTest, ids: Ints) -> npt.NDArray[np.bool_]:
    """The marks of all ids, chunk by chunk."""
    marks = []
    behind = None
    for begin in range(0, len(ids), CHUNK):
        chunk = ids[begin : begin + CHUNK]
        marks.append(test.forbidden(chunk, behind))
        behind = int(chunk[-1])
    return np.concatenate(marks)


def canonical(test: PairTest, ids: Ints) -> Ints:
    """Leave out ids until every pair is allowed."""
    while (marks := forbidden_pairs(test, ids)).any():
        ids = ids[~marks]
    return ids


def repeated(test: PairTest, ids: Ints, n: int) -> Ints:
    return canonical(test, np.tile(ids, -(-n // len(ids)))[:n])


def streams(tokenizer: Tokenizer, test: PairTest, text: str, n: int) -> dict[str, Ints]:
    """Canonical streams of about n ids."""
    pieces = [text[begin : begin + 10_000] for begin in range(0, len(text), 10_000)]
    real = tokenizer.encode_pieces(pieces).ids
    random = np.random.default_rng(0).integers(0, test.n_ids, size=min(n, 5_000_000), dtype=np.int32)
    return {"english.txt": repeated(test, real, n), "random": repeated(test, random, n)}


def bench(name: str, folder: Path, n: int) -> None:
    tokenizer = load_byte_pairs(folder / "vocabs" / FILES[name])
    began = perf_counter()
    automaton = CompactTokenDFA(tokenizer.dictionary)
    folded = perf_counter()
    rows = automaton.rows
    merged = perf_counter()
    tokens = tokenizer.id_to_token
    test = PairTest(automaton, tokens, tuning=Tuning(patience=0))
    text = (folder / "corpora" / "english.txt").read_text(encoding="utf-8")
    began_table = perf_counter()
    table = test._by_table.fields
    assert table["bits"].size
    tabled = perf_counter()
    table_rows: list[list[object]] = []
    for stream, ids in streams(tokenizer, test, text, n).items():
        ways = {"numpy sum": partial(np.sum, ids), "tokdfa": partial(forbidden_pairs, test, ids)}
        measured = measure(ways, 5)
        for way, figure in measured.items():
            ratio = measured["numpy sum"].median / figure.median
            table_rows.append([stream, f"{len(ids):,}", way, f"{len(ids) / figure.median / 1e6:.0f}", f"{ratio:.3f}"])
    sizes = ", ".join(f"{array.nbytes / 1e6:.1f}" for array in (table["lookup"], table["blocks"], table["bits"]))
    caption = (
        f"{environment('numpy')}; peak {peak_memory() / 1e6:.0f} MB; one thread, median of 5. "
        f"{automaton.states_built:,} states built, {automaton.states_reachable:,} reachable, "
        f"{automaton.states_minimal:,} minimal with {len(rows.start):,} intervals. "
        f"Fold {1e3 * (folded - began):.0f} ms, rows {1e3 * (merged - folded):.0f} ms, "
        f"table {1e3 * (tabled - began_table):.0f} ms ({sizes} MB)."
    )
    columns = ["stream", "ids", "way", "million ids/s", "of numpy sum"]
    print_table(f"Pair test, {name}", columns, table_rows, caption)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(FILES), metavar="NAME")
    parser.add_argument("--ids", type=int, default=50_000_000)
    options = parser.parse_args()
    for name in options.names:
        bench(name, Path(os.environ["TOKDFA_DATA"]), options.ids)


if __name__ == "__main__":
    keep_tables(sys.argv)
    main()

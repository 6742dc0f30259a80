"""How fast pairs are tested: ids of real text and random ones, beside numpy reading the same array.

``TOKDFA_DATA=… python -m tests.benchmarks.bench_pair_test [--ids N] [NAME …]`` with gpt2, cl100k, o200k.

The ids are those that tokdfa gives for english.txt as one piece, repeated, and a random walk in the automaton; both
are canonical, so that all of them are read. Beside the folded-up table there are what it was chosen over: the plain
matrix of bits, intervals with binary search, and a cache of allowed pairs in front of the intervals.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter

os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numba as nb
import numpy as np
import numpy.typing as npt

from tests.benchmarks.harness import environment, keep_tables, measure, peak_memory, print_table
from tokdfa.automata import pairs
from tokdfa.automata.compact import CompactTokenDFA, Rows
from tokdfa.automata.pairs import PairTest
from tokdfa.tokenizers.loading import load_byte_pairs
from tokdfa.tokenizers.tokenizer import Tokenizer

Ints = npt.NDArray[np.int32]

FILES = {"gpt2": "gpt2/merges.txt", "cl100k": "cl100k_base.tiktoken", "o200k": "o200k_base.tiktoken"}
LARGEST_MATRIX = 1 << 29


def forbidden_pairs(test: PairTest, ids: Ints) -> npt.NDArray[np.bool_]:
    """The marks of all ids, chunk by chunk."""
    marks = []
    behind = None
    for begin in range(0, len(ids), pairs.CHUNK):
        chunk = ids[begin : begin + pairs.CHUNK]
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


@nb.njit(nogil=True)
def read_by_numba(ids):  # type: ignore[no-untyped-def]
    total = 0
    for id in ids:
        total += id
    return total


@nb.njit(nogil=True)
def by_intervals(ids, row, position, pointer, start, stop):  # type: ignore[no-untyped-def]
    behind = 0
    for i in range(len(ids)):
        place = position[ids[i]]
        low, length = pointer[behind], pointer[behind + 1] - pointer[behind]
        if length > 0:
            while length > 1:
                half = length >> 1
                low += half if start[low + half] <= place else 0
                length -= half
            if start[low] <= place < stop[low]:
                return i
        behind = row[ids[i]]
    return -1


@nb.njit(nogil=True)
def by_cache(ids, cache, row, position, pointer, start, stop):  # type: ignore[no-untyped-def]
    last = np.int64(-1)
    for i in range(len(ids)):
        key = (last << 32) | ids[i]
        slot = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(40)) & (len(cache) - 1)
        if cache[slot] != key:
            behind = row[last] if last >= 0 else 0
            place = position[ids[i]]
            for k in range(pointer[behind], pointer[behind + 1]):
                if start[k] <= place < stop[k]:
                    return i
            cache[slot] = key
        last = np.int64(ids[i])
    return -1


@nb.njit(nogil=True)
def by_matrix(ids, lookup, matrix):  # type: ignore[no-untyped-def]
    behind = np.int64(0)
    for begin in range(0, len(ids), 1024):
        found = np.uint64(0)
        for i in range(begin, min(begin + 1024, len(ids))):
            entry = lookup[ids[i]]
            column = entry & 0xFFFFFFFF
            found |= (matrix[(behind >> 32) + (column >> 6)] >> np.uint64(column & 63)) & np.uint64(1)
            behind = entry
        if found:
            return begin
    return -1


def matrix_of(test: PairTest) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]] | None:
    """The table without folding, if it is not too large."""
    table = test._table
    assert table is not None
    lookup, blocks, bits = table
    if len(blocks) * pairs.kernels.BLOCK // 8 > LARGEST_MATRIX:
        return None
    words = pairs.kernels.BLOCK // 64
    matrix = bits.reshape(-1, words)[blocks].ravel()
    return ((lookup >> 32) * words) << 32 | (lookup & 0xFFFFFFFF), matrix


def ways(automaton: CompactTokenDFA, test: PairTest, tokens: Ints, ids: Ints) -> dict[str, Callable[[], object]]:
    rows: Rows = automaton.rows
    tables = (rows.of_token[tokens], automaton.position[tokens], rows.pointer, rows.start, rows.stop)
    cache = np.full(1 << 16, -2, dtype=np.int64)
    found: dict[str, Callable[[], object]] = {
        "numpy sum": partial(np.sum, ids),
        "numba sum": partial(read_by_numba, ids),
        "tokdfa": partial(test.first_forbidden, ids),
        "intervals": partial(by_intervals, ids, *tables),
        "cache, 65,536": partial(by_cache, ids, cache, *tables),
    }
    matrix = matrix_of(test)
    if matrix is not None:
        found["matrix"] = partial(by_matrix, ids, *matrix)
    return found


def bench(name: str, folder: Path, n: int) -> None:
    tokenizer = load_byte_pairs(folder / "vocabs" / FILES[name])
    began = perf_counter()
    automaton = CompactTokenDFA(tokenizer.dictionary)
    folded = perf_counter()
    rows = automaton.rows
    merged = perf_counter()
    tokens = tokenizer.id_to_token
    test = PairTest(automaton, tokens)
    text = (folder / "corpora" / "english.txt").read_text(encoding="utf-8")
    pairs.PATIENCE = 0
    began_table = perf_counter()
    table = test._table
    assert table is not None
    tabled = perf_counter()
    table_rows: list[list[object]] = []
    for stream, ids in streams(tokenizer, test, text, n).items():
        measured = measure(ways(automaton, test, tokens, ids), 5)
        for way, figure in measured.items():
            ratio = measured["numpy sum"].median / figure.median
            table_rows.append([stream, f"{len(ids):,}", way, f"{len(ids) / figure.median / 1e6:.0f}", f"{ratio:.3f}"])
    sizes = ", ".join(f"{array.nbytes / 1e6:.1f}" for array in table)
    caption = (
        f"{environment('numpy', 'numba')}; peak {peak_memory() / 1e6:.0f} MB; one thread, median of 5. "
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
    # Compiled kernels are not what is measured.
    warm = PairTest(
        CompactTokenDFA(load_byte_pairs(Path(os.environ["TOKDFA_DATA"]) / "vocabs" / FILES["gpt2"]).dictionary)
    )
    assert warm._table is not None
    for name in options.names:
        bench(name, Path(os.environ["TOKDFA_DATA"]), options.ids)


if __name__ == "__main__":
    keep_tables(sys.argv)
    main()

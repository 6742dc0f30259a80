"""How the processor time of training grows: in the text, in the merges, and for the exact search.

Theorem 4.2 of *A Formal Perspective on Byte-Pair Encoding* (O(N log M), where the plain trainer takes O(NM)) and its
Figure 4 (the guarded search compared with brute force). Run from the top of the repository:

    TOKDFA_DATA=… python -m tests.benchmarks.bench_train_growth [texts] [merges] [exact]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from math import log, log2

from figures.table import Row
from figures.training_growth import DRAWS, MERGES, SYMBOLS, exact_searches, growth_in_merges, growth_in_texts
from tests.benchmarks.harness import environment, keep_tables, print_table


def with_exponents(rows: Sequence[Row], size: str) -> list[list[object]]:
    """Return the rows of a table, with the slopes between neighbours on a doubly logarithmic scale."""
    table: list[list[object]] = []
    for before, row in zip([None, *rows], rows, strict=False):
        slopes: list[object] = []
        for trainer in ("fast", "plain"):
            if before is None or not row[trainer]:
                slopes.append("")
            else:
                slopes.append(log(row[trainer] / before[trainer]) / log(row[size] / before[size]))
        work = row["symbols"] * log2(row["merges"])
        ratio = row["plain"] / row["fast"] if row["plain"] else ""
        plain = 1e3 * row["plain"] if row["plain"] else ""
        table.append([row[size], 1e3 * row["fast"], slopes[0], 1e9 * row["fast"] / work, plain, slopes[1], ratio])
    return table


COLUMNS = ["fast, ms", "exponent", "ns / N log M", "plain, ms", "exponent", "plain / fast"]


def main() -> None:
    wanted = sys.argv[1:] or ["texts", "merges", "exact"]
    if "texts" in wanted:
        print_table(
            f"{MERGES} merges, growing text; Theorem 4.2: both exponents are 1",
            ["symbols", *COLUMNS],
            with_exponents(growth_in_texts(), "symbols"),
            environment(),
        )
    if "merges" in wanted:
        print_table(
            f"{SYMBOLS:,} symbols, growing number of merges; Theorem 4.2: from 1 for the plain trainer to nearly 0",
            ["merges", *COLUMNS],
            with_exponents(growth_in_merges(), "merges"),
            environment(),
        )
    if "exact" in wanted:
        print_table(
            f"Algorithm 3 with the corrected guard beside brute force, means over {DRAWS} texts of two sentences",
            ["symbols", "merges", "guarded, s", "brute, s", "× faster", "guarded, sequences", "brute, sequences"],
            [list(row.values()) for row in exact_searches()],
            environment(),
        )


if __name__ == "__main__":
    keep_tables(sys.argv)
    main()

"""The time of one word against its length: the last figure of *Fast WordPiece Tokenization*.

The table is from ``python -m tests.benchmarks.bench_wordpiece length --json figures/papers/fwp_word_length.json``:
words of the letter a, and a vocabulary with which the longest match takes most candidates.
"""

from __future__ import annotations

from figures.bars import note
from figures.chart import line_chart
from figures.table import Tables


def draw(tables: Tables) -> str:
    (table,) = tables.values()
    sizes = [column for column in table["columns"] if column.startswith("n = ")]
    return line_chart(
        {
            row[""]: [(int(size[4:].replace(",", "")), float(row[size])) for size in sizes if row[size] != "-"]
            for row in table["rows"]
        },
        title="One word, milliseconds",
        x_label="letters of the word",
        y_label="ms",
        log_x=True,
        log_y=True,
        note="\n".join(note(tables)),
    )

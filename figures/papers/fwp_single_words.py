"""Words of many languages, one call a word and all at once: the single-word figures of *Fast WordPiece Tokenization*.

The tables are from ``python -m tests.benchmarks.bench_wordpiece words cased --json
figures/papers/fwp_single_words.json``: the multilingual cased vocabulary of 119,547 entries, whole lines first, then
words that are already split.
"""

from __future__ import annotations

from figures.bars import bar_chart, note
from figures.table import Tables


def draw(tables: Tables) -> str:
    groups = {
        title: {row[""].replace("TensorFlow", "TF"): row["M words/s"] for row in table["rows"]}
        for title, table in tables.items()
    }
    return bar_chart(
        groups,
        title="Multilingual cased WordPiece, million words a second, one thread; longer is better",
        note=note(tables),
    )

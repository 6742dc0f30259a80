"""Validation compared with decoding and encoding again.

The tables are from ``python -m tests.benchmarks.bench_validate --json figures/measurements/throughput_validate.json``.
"""

from __future__ import annotations

from figures.bars import bar_chart, note
from figures.table import Tables

CORPORA = {
    "english": "English books",
    "python_code": "Python code",
    "multilingual": "many languages",
    "licences": "licences",
}
WAYS = ("tokdfa", "gigatoken", "splintr", "tiktoken", "tokenizers")


def draw(tables: Tables) -> str:
    shown = {title: table for title, table in tables.items() if {"tokenizer", *WAYS} <= set(table["columns"])}
    groups = {
        f"{row['tokenizer']}, {CORPORA[row['text']]}": {way: row[way] for way in WAYS}
        for table in shown.values()
        for row in table["rows"]
    }
    title = "Is a stream canonical? Million tokens a second, one thread; longer is better"
    return bar_chart(groups, title=title, note=note(shown))

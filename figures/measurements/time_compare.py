"""The time to compare two whole tokenizers, with a proof or a shortest text at the end.

The table is from ``python -m tests.benchmarks.bench_compare_tokenizers --json figures/measurements/time_compare.json``.
"""

from __future__ import annotations

from figures.bars import bar_chart, note
from figures.table import Tables


def draw(tables: Tables) -> str:
    (table,) = tables.values()
    seconds: dict[str, dict[str, float]] = {}
    for row in table["rows"]:
        tokenizer, edit = row["compared"].split(": ", 1)
        seconds.setdefault(tokenizer, {})[edit] = float(row["s"])
    title = (
        f"Whether two tokenizers ever differ is decided in {max(max(each.values()) for each in seconds.values()):g} s"
    )
    groups = {f"{tokenizer}, seconds; shorter is better": edits for tokenizer, edits in seconds.items()}
    return bar_chart(groups, title=title, note=note(tables), ours="")

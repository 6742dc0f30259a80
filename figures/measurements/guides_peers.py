"""JSON in n tokens by a guide with a budget, compared with engines that know neither the number nor the merges.

The table is from ``TOKDFA_SCHEMAS=… python -m tests.benchmarks.bench_guide_budget_peers cl100k --json
figures/measurements/guides_peers.json``, with 50 schemas of functions that models call (bfcl-eval, on PyPI).
"""

from __future__ import annotations

from figures.bars import bar_chart, note
from figures.table import Tables


def draw(tables: Tables) -> str:
    (table,) = tables.values()
    groups = {
        f"{fault}, of 100 sequences; shorter is better": {
            row["engine"]: 100 * row[fault] / row["walks"] for row in table["rows"]
        }
        for fault in ("cut off", "not canonical", "not valid")
    }
    return bar_chart(groups, title="JSON in at most n tokens, random choices of each mask", note=note(tables))

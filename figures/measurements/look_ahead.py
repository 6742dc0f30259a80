"""The last tokens of a text that a continuation may change, for the first rules of real dictionaries.

Each number is exact and comes with a text and a continuation that attain it, in hexadecimal. The dictionaries are those
that TOKDFA_DATA names.
"""

from __future__ import annotations

import os
from pathlib import Path

from figures.chart import line_chart
from figures.table import Row

RULES = (100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000)
DICTIONARIES = {"GPT-2": "gpt2", "cl100k": "cl100k_base.tiktoken", "o200k": "o200k_base.tiktoken"}


def measure(rules: tuple[int, ...] = RULES) -> list[Row]:
    """Count tokens for the first rules of each dictionary, and for all of them bytes as well: some minutes."""
    import tokdfa
    from tokdfa.automata.look_ahead import look_ahead

    folder = Path(os.environ["TOKDFA_DATA"]) / "vocabs"
    rows = []
    for name, file in DICTIONARIES.items():
        dictionary = tokdfa.load(folder / file).dictionary
        sizes = [*(n for n in rules if n < len(dictionary)), len(dictionary)]
        for n in sizes:
            prefix = dictionary.prefix(n)
            for unit in ("tokens", "symbols") if n == len(dictionary) else ("tokens",):
                found = look_ahead(prefix, unit)
                row = {"dictionary": name, "rules": n, "live": len(prefix.live_rules), "unit": unit}
                texts = {"text": bytes(found.text).hex(), "continuation": bytes(found.continuation).hex()}
                rows.append({**row, "revised": found.revised, **{key: f"x{text}" for key, text in texts.items()}})
    return rows


def draw(rows: list[Row]) -> str:
    counted = [row for row in rows if row["unit"] == "tokens"]
    return line_chart(
        {
            name: [(row["rules"], row["revised"]) for row in counted if row["dictionary"] == name]
            for name in DICTIONARIES
        },
        title="The last tokens that a continuation may change",
        x_label="rules",
        y_label="tokens",
        log_x=True,
        note="Exact, for the first rules of each dictionary; all byte strings, without a pre-tokenizer.",
    )

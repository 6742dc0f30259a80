"""States of the subsequential transducer: the open question of *Constructing a BPE Tokenization DFA*, section 7.

For dictionaries trained on English, on Python code and on random letters: states as the determinization makes them, and
of the minimal transducer, against the number of rules. The texts are those that TOKDFA_DATA names.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path

import numpy as np

from figures.chart import line_chart
from figures.table import Row

RULES = (25, 50, 100, 200, 300, 400, 500, 600, 800, 1000, 1400, 2000)
# Transitions take 8 bytes, and twice that while their arrays grow.
MOST_TRANSITIONS = 110_000_000
FITTED_FROM = 100


def english(folder: Path) -> Counter[str]:
    """The words of English books, in small letters."""
    import regex

    return Counter(regex.findall("[a-z]+", (folder / "english.txt").read_text(encoding="utf-8").lower()))


def code(folder: Path) -> Counter[str]:
    """The pieces of Python code as GPT-2's pattern cuts it, in small letters."""
    from tokdfa.tokenizers.pretokenizers.pretokenizer import pretokenizer

    text = (folder / "python_code.txt").read_text(encoding="utf-8").lower()
    return Counter(piece for piece in pretokenizer("gpt2").split(text) if piece.isascii())


def letters(folder: Path) -> Counter[str]:
    """Words of twenty random letters."""
    draw = random.Random(1)
    return Counter("".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=20)) for _ in range(100_000))


TEXTS = {"English": english, "code": code, "random letters": letters}


def measure(rules: tuple[int, ...] = RULES) -> list[Row]:
    """Count the states for the first rules of each dictionary, as far as memory goes."""
    from tokdfa import Dictionary, train_greedy
    from tokdfa.automata.transducers.subsequential import TransducerTable
    from tokdfa.base.errors import LimitExceededError

    folder = Path(os.environ["TOKDFA_DATA"]) / "corpora"
    rows = []
    for name, pieces in TEXTS.items():
        trained = train_greedy(pieces(folder), max(rules))
        for n in rules:
            # Symbols that no rule has add no states.
            pairs = [(rule.left, rule.right) for rule in trained[:n]]
            symbols = sorted({symbol for left, right in pairs for symbol in f"{left}{right}"})
            try:
                table = TransducerTable.of(
                    Dictionary.from_pairs(pairs, symbols), max_states=MOST_TRANSITIONS // len(symbols)
                )
            except LimitExceededError:
                break
            row = {"text": name, "rules": n, "symbols": len(symbols), "longest": table.alphabet.longest}
            rows.append({**row, "states": table.n_states, "minimal": table.minimal().n_states})
    return rows


def exponent(rows: list[Row], column: str) -> float:
    """Return the slope of the line through the points, both axes logarithmic, from FITTED_FROM rules on."""
    chosen = [row for row in rows if row["rules"] >= FITTED_FROM]
    x, y = (np.log([row[key] for row in chosen]) for key in ("rules", column))
    return float(np.polyfit(x, y, 1)[0])


def expectation(rows: list[Row], rules: int = 1000) -> str:
    """Return the number of states that random letters reach if it continues to grow as between the last two points."""
    mine = [(row["rules"], row["states"]) for row in rows if row["text"] == "random letters"]
    (before, fewer), (last, more) = mine[-2:]
    factor = (more / fewer) ** (100 / (last - before))
    states = more * factor ** ((rules - last) / 100)
    return f"random letters, {factor:.0f} × every 100 rules, would have {states:.0e} states at {rules:,}"


def draw(rows: list[Row]) -> str:
    series = {}
    for name in TEXTS:
        mine = [row for row in rows if row["text"] == name]
        for column, label in (("states", ""), ("minimal", ", minimal")):
            # For random letters no power of |D| describes it: when half of all pairs merge, tokens depend on each other
            # over any distance.
            power = "" if name == "random letters" else f": |D|^{exponent(mine, column):.2f}"
            series[f"{name}{label}{power}"] = [(row["rules"], row[column]) for row in mine]
    return line_chart(
        series,
        title="States of the subsequential transducer",
        x_label="rules |D|",
        y_label="states",
        log_x=True,
        log_y=True,
        note=f"Exponents from {FITTED_FROM} rules on. Memory ends the curves: {expectation(rows)}.",
    )

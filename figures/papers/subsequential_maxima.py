"""The most states of a subsequential transducer: the open question of *Constructing a BPE Tokenization DFA*, section 7.

All proper dictionaries of some live rules, up to renaming of symbols, and the largest minimal transducer among them.
The page *Theorems* proves that n rules never take more than 2ⁿ states.
"""

from __future__ import annotations

from figures.chart import line_chart
from figures.small_dictionaries import small_dictionaries
from figures.table import Row

# For each number of rules, the largest number of symbols that they use; up to four rules, there can be no more.
RANGES = {1: 2, 2: 4, 3: 6, 4: 8, 5: 2}


def measure(ranges: dict[int, int] = RANGES) -> list[Row]:
    """Build the transducers of all of them: some minutes."""
    from tokdfa.automata.dictionary import Dictionary
    from tokdfa.automata.transducers.subsequential import TransducerTable

    found: dict[tuple[int, int], Row] = {}
    for n_rules, most in ranges.items():
        for rules in small_dictionaries(n_rules, most):
            symbols = "".join(sorted({*"".join(u + v for u, v in rules)}))
            dictionary = Dictionary(rules, symbols)
            if len(dictionary.live_rules) < n_rules:
                continue
            table = TransducerTable.of(dictionary, max_states=1 << 12)
            minimal = table.minimal().n_states
            row = found.setdefault(
                (n_rules, len(symbols)),
                {"rules": n_rules, "symbols": len(symbols), "dictionaries": 0, "built": 0, "minimal": 0, "attained": 0},
            )
            row["dictionaries"] += 1
            row["built"] = max(row["built"], table.n_states)
            if minimal >= row["minimal"]:
                row["attained"] = row["attained"] + 1 if minimal == row["minimal"] else 1
                row["example"] = row["example"] if minimal == row["minimal"] else ", ".join(map(str, dictionary))
                row["minimal"] = minimal
    return [found[key] for key in sorted(found)]


def draw(rows: list[Row]) -> str:
    sizes = sorted({row["rules"] for row in rows})
    symbols = sorted({row["symbols"] for row in rows if row["symbols"] <= 4})
    return line_chart(
        {
            "2ⁿ, proved": [(n, 2**n) for n in sizes],
            **{
                f"{count} symbol{'s' if count > 1 else ''}": [
                    (row["rules"], row["minimal"]) for row in rows if row["symbols"] == count
                ]
                for count in symbols
            },
        },
        title="The most states of a minimal subsequential transducer",
        x_label="rules n, all of them live",
        y_label="states",
        log_y=True,
        note=f"All {sum(row['dictionaries'] for row in rows):,} dictionaries up to renaming of symbols: "
        "one to four rules, five over one or two symbols.",
    )

"""All small proper dictionaries, up to renaming of symbols."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

LETTERS = "abcdefghijklmnopqrstuvwxyz"

Rules: TypeAlias = tuple[tuple[str, str], ...]


def small_dictionaries(n_rules: int, most_symbols: int, rules: Rules = ()) -> Iterator[Rules]:
    """Yield all lists of distinct rules with parts that are symbols or made by earlier rules.

    Symbols come for the first time in alphabetical order, and no more than `most_symbols` of them.
    """
    if len(rules) == n_rules:
        yield rules
        return
    text = "".join(u + v for u, v in rules)
    made = dict.fromkeys(u + v for u, v in rules)
    for u in (*LETTERS[: min(len({*text}) + 1, most_symbols)], *made):
        for v in (*LETTERS[: min(len({*text, *u}) + 1, most_symbols)], *made):
            if (u, v) not in rules:
                yield from small_dictionaries(n_rules, most_symbols, (*rules, (u, v)))

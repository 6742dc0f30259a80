"""Comparing real dictionaries with themselves, one thing changed: time, memory, and whether the witnesses are right.

Each dictionary is re-ordered by safe swaps, has two conflicting rules exchanged, one rule dropped, or one added at a
random place. Every witness is confirmed by Algorithm 1, and where there is none, texts around the change are tried.

    TOKDFA_DATA=… python -m tests.benchmarks.bench_compare [--trials N] [NAME…]
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

from tests.benchmarks.harness import environment, keep_tables, peak_memory, print_table
from tests.support.permutations import permutation_safety
from tokdfa import Dictionary, Rule, compare, load, tokenize_leftmost, tokenize_single_pass
from tokdfa.training.theory import overlap_conflict

FILES = {"gpt2": "gpt2/merges.txt", "cl100k": "cl100k_base.tiktoken"}
KINDS = ("safe swaps", "unsafe swap", "dropped", "added")


def conflict(one: Rule, other: Rule) -> bool:
    return overlap_conflict(one.product.decode("latin-1"), other.product.decode("latin-1"))


def change(rules: list[Rule], kind: str, source: random.Random, used: set[bytes]) -> tuple[Dictionary, list[Rule]]:
    """Return the dictionary with one thing changed, and the rules that the change is about."""
    changed = rules[:]
    if kind == "safe swaps":
        for _ in range(10_000):
            i = source.randrange(len(rules) - 1)
            if not conflict(*changed[i : i + 2]):
                changed[i : i + 2] = changed[i + 1], changed[i]
        return Dictionary(changed), []
    while True:
        i = source.randrange(1, len(rules) - 1)
        if kind == "unsafe swap":
            j = source.randrange(i + 1, min(i + 1000, len(rules)))
            if conflict(rules[i], rules[j]):
                changed[i], changed[j] = rules[j], rules[i]
                dictionary = Dictionary(changed)
                if dictionary.properness():
                    return dictionary, [rules[i], rules[j]]
                changed = rules[:]
        elif kind == "dropped":
            if rules[i].product not in used:
                return Dictionary(rules[:i] + rules[i + 1 :]), [rules[i]]
        else:
            rule = Rule(source.choice(rules[:i]).product, source.choice(rules[:i]).product)
            return Dictionary([*rules[:i], rule, *rules[i:]]), [rule]


def confirm(a: Dictionary, b: Dictionary, found, about: list[Rule]) -> None:
    """Fail unless Algorithm 1 says the same."""
    if found:
        texts = {rule.product + other.product for rule in about for other in about} | {r.product for r in about}
        for text in texts:
            assert tokenize_leftmost(a, text) == tokenize_leftmost(b, text), text
        return
    text, tokens_a, tokens_b = found.witness
    assert tokens_a != tokens_b
    assert tokenize_single_pass(a, text) == tokens_a, text
    assert tokenize_single_pass(b, text) == tokens_b, text


def bench(name: str, folder: Path, trials: int, source: random.Random) -> list[list[object]]:
    dictionary = load(folder / "vocabs" / FILES[name], pretokenizer="none").dictionary
    rules = list(dictionary)
    used = {part for rule in rules for part in rule}
    table = []
    for kind in KINDS:
        seconds, seconds_safe, outcomes = [], [], {"equal": 0, "different": 0}
        for _ in range(trials):
            changed, about = change(rules, kind, source, used)
            dictionary.__dict__.pop("folding", None)
            began = perf_counter()
            found = compare(dictionary, changed)
            seconds.append(perf_counter() - began)
            began = perf_counter()
            safe = permutation_safety(dictionary, changed)
            seconds_safe.append(perf_counter() - began)
            assert found or not safe
            assert found or kind != "safe swaps"
            assert bool(safe) == (kind == "safe swaps")
            confirm(dictionary, changed, found, about)
            outcomes["equal" if found else "different"] += 1
        table.append(
            [
                f"{name}, {kind}", trials, outcomes["equal"], outcomes["different"],
                f"{median(seconds):.2f}", f"{max(seconds):.2f}", f"{median(seconds_safe):.2f}",
                f"{peak_memory() / 1e6:.0f}",
            ]
        )  # fmt: skip
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(FILES), metavar="NAME")
    parser.add_argument("--trials", type=int, default=13, help="of each kind, for each dictionary")
    options = parser.parse_args()
    warm = [Dictionary([(b"a", b"b")]), Dictionary([(b"a", b"c")])]
    assert not compare(*warm)
    source = random.Random(1)
    rows = [
        row for name in options.names for row in bench(name, Path(os.environ["TOKDFA_DATA"]), options.trials, source)
    ]
    columns = ["compared", "trials", "equal", "different", "median s", "longest s", "safe? s", "peak MB"]
    caption = f"{environment('numpy')}. Both are folded anew; loading is not counted. Every witness confirmed."
    print_table("Dictionaries with one thing changed", columns, rows, caption)


if __name__ == "__main__":
    keep_tables(sys.argv)
    main()

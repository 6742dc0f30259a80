"""Bounds of all families: of all texts, of a number of bytes, of languages, and for each token of another tokenizer.

``TOKDFA_DATA=… TOKDFA_FAMILIES=… python -m tests.benchmarks.bench_bounds [--family NAME…] [--other NAME]``

Each question is asked once of a tokenizer that has been loaded anew, in a process of its own, so its graph is built
each time. Times are processor time without loading; `--seconds` is the limit of a proof. Each cell has the seconds, and
how many of the values are exact, such as "1.3 s, 4 of 4"; the tokens of the other have the value and its bound, such as
"35.5 s, 8 of at most 8". `--json FILE` keeps the table.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from time import process_time
from typing import Any

import tokdfa
from tests.benchmarks.families import families
from tests.benchmarks.harness import environment, keep_tables, print_table
from tokdfa.base.errors import TokdfaError

FAMILIES = ["gpt2", "qwen2_5", "gpt4o", "deepseek_v3", "llama2", "gemma2", "bert"]
QUESTIONS: dict[str, dict[str, Any]] = {
    "all texts": {},
    "1,000 bytes": {"n_bytes": 1000},
    "999 bytes of Han": {"n_bytes": 999, "language": r"\p{Han}+"},
    "words": {"language": "[a-z]{1,12}"},
    "the other, words": {"language": "[a-z]+", "other": True},
    "the other": {"other": True},
}


def answer(name: str, question: str, other: str, seconds: float) -> str:
    """Return the time and the number of exact values of a question, or the refusal."""
    asked = dict(QUESTIONS[question])
    (family,) = families([name])
    tokenizer = family.load()
    if asked.pop("other", False):
        (second,) = families([other])
        asked["other"] = second.load()
    begin = process_time()
    try:
        found = tokdfa.bounds(tokenizer, max_seconds=seconds, **asked)
    except TokdfaError as error:
        return f"refused: {error.what}"
    spent = process_time() - begin
    ranges = [found.bytes, found.characters, *([] if found.tokens is None else [found.tokens])]
    values = [each for some in ranges for each in (some.fewest, some.most)]
    if found.other is not None:
        return f"{spent:.1f} s, {found.other.value} of at most {found.other.proved}"
    return f"{spent:.1f} s, {sum(each.is_exact for each in values)} of {len(values)}"


def main() -> None:
    """Measure, and print one table."""
    arguments = sys.argv[1:]
    keep_tables(arguments)
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.bench_bounds")
    parser.add_argument("--family", nargs="*", default=FAMILIES, help="all if no name follows")
    parser.add_argument("--question", nargs="*", default=[*QUESTIONS], choices=QUESTIONS)
    parser.add_argument("--other", default="cl100k")
    parser.add_argument("--seconds", type=float, default=300.0)
    options = parser.parse_args(arguments)
    rows = []
    for name in options.family or [family.name for family in families([])]:
        with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
            asked = [(name, question, options.other, options.seconds) for question in options.question]
            rows.append([name, *pool.starmap(answer, asked, chunksize=1)])
    print_table("Bounds over all texts", ["", *options.question], rows, environment())


if __name__ == "__main__":
    main()

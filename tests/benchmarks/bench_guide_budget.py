"""Guides for JSON schemas with a number of ids left: building, the least number, and masks beside those without one.

    TOKDFA_DATA=… [TOKDFA_FAMILIES=…] python -m tests.benchmarks.bench_guide_budget [SCHEMAS.json [TOKENIZER...]]

The file has a list of schemas; by default there are a few of usual shapes. The tokenizers are by default GPT-2, cl100k,
o200k and Mistral v3 of TOKDFA_DATA, and all of TOKDFA_FAMILIES. `--json FILE` keeps the table.
Each walk chooses at random among the ids of the masks with a budget, from the least number of ids up to three times as
many; at each state both masks are asked for, in turn, by two guides of their own, once a third one has filled the
tables that all guides of a tokenizer share. *Far* states have at least twice as many ids left as they need. Times are
processor time.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np

import tokdfa
from tests.benchmarks.bench_guide import one_of, timed
from tests.benchmarks.harness import environment, keep_tables, print_table
from tests.support.real_tokenizers import family_files
from tokdfa.base.errors import TokdfaError

NAME: dict[str, object] = {"type": "string", "maxLength": 30}
SCHEMAS: list[object] = [
    {"type": "object", "properties": {"name": NAME, "age": {"type": "integer"}}, "required": ["name", "age"]},
    {"type": "array", "items": {"enum": ["red", "green", "blue"]}, "maxItems": 8},
    {"type": "object", "properties": {"tags": {"type": "array", "items": NAME}, "done": {"type": "boolean"}}},
    {"anyOf": [{"type": "null"}, {"type": "number"}, NAME]},
]

COLUMNS = [
    "tokenizer", "schemas", "refused", "building, median s", "longest s", "walks", "far, us", "without", "far, ratio",
    "near, us", "without", "near, ratio", "all, ratio",
]  # fmt: skip


def row(name: str, tokenizer: tokdfa.Tokenizer, schemas: list[object], n_walks: int) -> list[object]:
    """Return a row of the table: medians; means of masks with a budget and without, and their ratios, of all, too."""
    source = random.Random(0)
    spent: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    built, refused, walks, asked_of = [], 0, 0, {"far": 0, "near": 0}
    tokdfa.guide(tokenizer, "a")
    for schema in schemas:
        begin = time.process_time()
        try:
            guide = tokdfa.guide(tokenizer, schema=schema)  # type: ignore[arg-type]
        except TokdfaError:
            refused += 1
            continue
        least = guide.least(guide.initial)
        built.append(time.process_time() - begin)
        plain, judge = tokdfa.guide(tokenizer, schema=schema), tokdfa.guide(tokenizer, schema=schema)  # type: ignore[arg-type]
        for number in range(n_walks):
            left = least + (number if number % 2 else source.randrange(2 * least))
            state, ids = guide.initial, 0
            while True:
                judge.mask(state)
                kind = "far" if left >= 2 * judge.least(state) else "near"
                asked_of[kind] += 1
                asked = [(0, lambda: guide.mask(state, remaining=left)), (1, lambda: plain.mask(state))]  # noqa: B023
                for which, ask in asked if ids % 2 else asked[::-1]:
                    spent[kind][which] += timed(ask)[1]
                id = one_of(guide.mask(state, remaining=left), source)
                if id is None:
                    break
                target = guide.step(state, id)
                assert target is not None
                state, left, ids = target, left - 1, ids + 1
            assert guide.is_final(state)
            walks += 1
    means = [
        round(value, 2)
        for kind, n in asked_of.items()
        for value in (*(1e6 * seconds / n for seconds in spent[kind]), spent[kind][0] / spent[kind][1])
    ]
    with_budget, without = np.sum(list(spent.values()), axis=0)
    means.append(round(with_budget / without, 2))
    return [name, len(built), refused, round(float(np.median(built)), 3), round(max(built), 3), walks, *means]


def load(path: str) -> tokdfa.Tokenizer:
    """Load a tokenizer of byte pairs; ranks of tiktoken have the pattern that their name begins with."""
    named = path.endswith(".tiktoken")
    found = tokdfa.load(path, pretokenizer=Path(path).name.partition("_")[0] if named else None)
    assert isinstance(found, tokdfa.Tokenizer)
    return found


def tokenizers() -> dict[str, str]:
    """Return the files of the usual tokenizers, by name."""
    vocabs = Path(os.environ["TOKDFA_DATA"], "vocabs")
    found = {"gpt2": vocabs / "gpt2" / "tokenizer.json", "mistral_v3": vocabs / "mistral_v3.model"}
    found |= {name: vocabs / f"{name}_base.tiktoken" for name in ("cl100k", "o200k")}
    return {name: str(path) for name, path in (found | family_files()).items()}


def main() -> None:
    warnings.simplefilter("ignore")
    keep_tables(sys.argv)
    schemas = json.loads(Path(sys.argv[1]).read_text("utf-8")) if len(sys.argv) > 1 else SCHEMAS
    rows = [row(path, load(path), schemas, 6) for path in sys.argv[2:]]
    rows = rows or [row(name, load(path), schemas, 6) for name, path in tokenizers().items()]
    print_table("guides with a budget", COLUMNS, rows, environment())


if __name__ == "__main__":
    main()

"""Two streams of ids of one text, cut at their shared boundaries: GPT-2's with those of another family.

``TOKDFA_DATA=… TOKDFA_FAMILIES=… python -m tests.benchmarks.bench_align [--ids N] [--family NAME…]``

The ids are of prose in English, repeated as documents until GPT-2 has as many as asked for. The rate counts the ids of
both sides. Times are processor time of one thread, the medians of seven calls. Next to it is the way by hand: the ends
of all ids, from a table of lengths, and numpy's intersection of both, which does not compare the texts. A family that
changes the text is aligned with itself.
"""

from __future__ import annotations

import os
from pathlib import Path
from time import process_time

import numpy as np

import tokdfa
from tests.benchmarks.bench_validate import text_of
from tests.benchmarks.families import Family, asked, families
from tests.benchmarks.harness import environment, measure, print_table

N_IDS = 10_000_000
REPEATS = 7
FAMILIES = ["gpt2", "qwen2_5", "llama2", "gemma2", "bert", "unigram_json"]


def by_hand(sides: list[tuple[tokdfa.AnyTokenizer, np.ndarray]]) -> np.ndarray:
    """Return the shared boundaries of two streams, from the lengths of their ids."""
    ends = [np.cumsum(np.diff(tokenizer.id_spellings.offsets)[ids]) for tokenizer, ids in sides]
    return np.intersect1d(*ends, assume_unique=True)


def row_of(family: Family, reference: Family, n_ids: int) -> list[object]:
    """Return the rates of one family."""
    text = text_of(Path(os.environ["TOKDFA_DATA"]), "english")
    one, other = family.tokenizer, reference.tokenizer
    block = text[:1_000_000]
    ids = one.encode(block)
    if one.decode_bytes(ids) != block.encode():
        other = one
    pair = ids, other.encode(block)
    repeats = -(-n_ids // max(len(pair[1]), 1))
    starts = [np.arange(repeats) * len(each) for each in pair]
    a, b = (np.tile(each, repeats) for each in pair)
    timed = measure(
        {
            "align": lambda: tokdfa.align(one, a, other, b, documents_a=starts[0], documents_b=starts[1]),
            "by hand": lambda: by_hand([(one, a), (other, b)]),
        },
        REPEATS, process_time,
    )  # fmt: skip
    n_both = len(a) + len(b)
    rates = [n_both / timed[name].median / 1e6 for name in ("align", "by hand")]
    return [f"{family.name} and {'itself' if other is one else reference.name}", n_both, *rates]


def main() -> None:
    """Measure, and print one table."""
    options = asked("bench_align", N_IDS, FAMILIES)
    (reference,) = families(["gpt2"])
    rows = [row_of(family, reference, options.ids) for family in families(options.family)]
    columns = ["", "ids of both", "align, M ids/s", "by hand, M ids/s"]
    print_table("Streams of one text, aligned", columns, rows, environment())


if __name__ == "__main__":
    main()

"""A kilobyte appended to a long text, compared with encoding all of it anew, here and by the library.

``TOKDFA_DATA=… TOKDFA_FAMILIES=… python -m tests.benchmarks.bench_append [--ids N] [--family NAME…]``

Each text grows by a kilobyte a call, from 200,000 ids on, so each call of `append` finds another text before it. The
kinds are prose in English, many languages, and one endless run of a letter, which no tokenizer cuts. Times are
processor time, medians in µs. The ids are compared with the library's at the end.
"""

from __future__ import annotations

import os

# Before any library is loaded that reads them.
os.environ |= {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}

from pathlib import Path
from time import process_time

import numpy as np

from tests.benchmarks.bench_validate import text_of
from tests.benchmarks.families import Family, asked, families
from tests.benchmarks.harness import environment, measure, print_table

N_IDS = 200_000
MORE = 1000
REPEATS, REPEATS_ANEW = 51, 5
KINDS = {"prose": "english", "many languages": "multilingual", "an endless run": ""}


def texts(kind: str, family: Family, n_ids: int) -> tuple[str, str]:
    """Return a text of at least so many ids, and a kilobyte that is appended to it; an endless run has fewer ids."""
    corpus = KINDS[kind]
    if not corpus:
        return "a" * n_ids, "a" * MORE
    text = text_of(Path(os.environ["TOKDFA_DATA"]), corpus)[: 6 * n_ids]
    size = len(text) * n_ids // max(len(family.tokenizer.encode(text)), 1)
    text = text * (1 + size // len(text))
    return text[: size + MORE], text[5000 : 5000 + MORE].encode()[:MORE].decode("utf-8", "ignore")


def row_of(family: Family, kind: str, n_ids: int) -> list[object]:
    """Return the times of one kind of text."""
    tokenizer = family.tokenizer
    text, more = texts(kind, family, n_ids)
    encoding = tokenizer.encoding(text)
    n_new = len(encoding.append(more).new_ids)
    appends = measure({"append": lambda: encoding.append(more)}, REPEATS, process_time)["append"]
    whole = encoding.text
    assert np.array_equal(encoding.ids, np.asarray(family.by_library(whole), dtype=np.int64)), family.name
    # The text in the middle of the appends.
    text += (REPEATS // 2) * more
    anew = measure(
        {"tokdfa": lambda: tokenizer.encode(text + more), "library": lambda: family.by_library(text + more)},
        REPEATS_ANEW, process_time, at_rest=True,
    )  # fmt: skip
    start = len(text.encode()) // 2
    middle = start - next(at for at in range(4) if text.encode()[start - at] & 0xC0 != 0x80)
    encoding = tokenizer.encoding(text + more)
    edits = measure({"edit": lambda: encoding.edit((middle, middle), "a")}, REPEATS_ANEW, process_time)["edit"]
    figures = [found.median * 1e6 for found in (appends, edits, anew["tokdfa"], anew["library"])]
    return [family.name, kind, len(encoding), n_new, *figures]


def main() -> None:
    """Measure, and print one table."""
    options = asked("bench_append", N_IDS)
    rows = [row_of(family, kind, options.ids) for family in families(options.family) for kind in KINDS]
    columns = ["", "text", "ids", "new ids", "append", "edit", "anew", "anew, library"]
    print_table("A kilobyte appended to a long text, µs", columns, rows, environment("tokenizers", "tiktoken"))


if __name__ == "__main__":
    main()

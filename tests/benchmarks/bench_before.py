"""This checkout against an older one: the same work in turn, one process each, and the ratio of every cell.

``TOKDFA_DATA=… python -m tests.benchmarks.bench_before OTHER_CHECKOUT [PAIRS]``

Both run by this Python, with all requirements of the older one. Only public names are used. A process
measures at rest: one call that does not count, then the median of five.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from time import perf_counter

REPEATS = 5
CORPORA = ("english", "python_code", "multilingual")
PATTERNS = ("[0-9]{4}", r"\b(?:def|class) [a-z_]+", r"\p{Lu}\p{Ll}+ \p{Lu}\p{Ll}+", "whatever")


def cells() -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield what is measured, and its name."""
    import numpy as np

    import tokdfa

    folder = Path(os.environ["TOKDFA_DATA"])
    texts = {name: (folder / f"corpora/{name}.txt").read_text("utf-8")[:2_000_000] for name in CORPORA}
    for name in ("cl100k", "o200k"):
        path = folder / f"vocabs/{name}_base.tiktoken"
        yield f"load {name}", lambda path=path, name=name: tokdfa.load(path, pretokenizer=name)  # type: ignore[misc]
        tokenizer = tokdfa.load(path, pretokenizer=name)
        for corpus, text in texts.items():
            ids = np.asarray(tokenizer.encode(text), dtype=np.uint32)
            for _ in range(12):
                tokenizer.validate(ids)
            yield f"validate {name} {corpus}", lambda t=tokenizer, i=ids: t.validate(i)  # type: ignore[misc]
            yield f"encode {name} {corpus}", lambda t=tokenizer, text=text: t.encode(text)  # type: ignore[misc]
        yield f"fold {name}", lambda t=tokenizer: fold(t.dictionary)  # type: ignore[misc]
    gpt2 = tokdfa.load(folder / "vocabs/gpt2")
    for corpus, text in texts.items():
        ids = gpt2.encode(text)
        for pattern in PATTERNS:
            searcher = tokdfa.Searcher(gpt2, pattern)
            yield f"search {pattern} {corpus}", lambda s=searcher, i=ids: s.search(i)  # type: ignore[misc]
    words = sorted(set(texts["english"].split()))[:10_000]
    ids = gpt2.encode(texts["english"])
    searcher = tokdfa.Searcher(gpt2, words)
    yield "search 10,000 words english", lambda: searcher.search(ids)
    yield "compare gpt2", lambda: tokdfa.compare(gpt2.dictionary, gpt2.dictionary.prefix(49_000))
    sentences = folder / "corpora/fra_eng_en.txt"
    yield "train fra 10k", lambda: tokdfa.train([sentences], 10_000)
    bert = tokdfa.load(folder / "vocabs/bert_uncased_vocab.txt")
    lines = texts["english"].splitlines()
    yield "wordpiece one text", lambda: bert.encode(texts["english"])
    yield "wordpiece line by line", lambda: [bert.encode(line) for line in lines]


def fold(dictionary: object) -> object:
    """Fold a dictionary anew."""
    vars(dictionary).pop("folding", None)
    return dictionary.folding  # type: ignore[attr-defined]


def worker() -> None:
    """Print the seconds of every cell."""
    found = {}
    for name, function in cells():
        function()
        seconds = []
        for _ in range(REPEATS):
            began = perf_counter()
            function()
            seconds.append(perf_counter() - began)
        found[name] = median(seconds)
    print(json.dumps(found))


def run(checkout: Path) -> dict[str, float]:
    """Return what a checkout measures, with this file's work."""
    environment = os.environ | {"PYTHONPATH": str(checkout), "TOKDFA_WORKER": "1"}
    done = subprocess.run([sys.executable, __file__], env=environment, cwd=checkout, stdout=subprocess.PIPE, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main(other: Path, pairs: int) -> None:
    """Measure in turn, and print the ratios."""
    from tests.benchmarks.harness import environment, print_table

    here = Path(__file__).resolve().parents[2]
    runs = [(run(other), run(here)) for _ in range(pairs)]
    rows: list[list[object]] = []
    for name in runs[0][1]:
        before, after = (median(found[side][name] for found in runs) for side in (0, 1))
        ratio = median(old[name] / new[name] for old, new in runs)
        rows.append([name, 1000 * before, 1000 * after, f"{ratio:.2f}"])
    columns = ["work", "before ms", "now ms", "times as fast"]
    print_table(f"This checkout against an older one, {pairs} pairs", columns, rows, environment("numpy"))


if __name__ == "__main__":
    if os.environ.get("TOKDFA_WORKER"):
        worker()
    else:
        from tests.benchmarks.harness import keep_tables

        keep_tables(sys.argv)
        main(Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else 3)

"""Which tokenizer made each of many files: 200 shards of several tokenizers, one in four with a mistake.

``TOKDFA_DATA=… TOKDFA_FAMILIES=… python -m tests.benchmarks.bench_guess [FILES] [--json FILE]``

A shard is right if its own tokenizer is among the first, and its mistake is the only one named. A shard of random ids
must fit none.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np

import tokdfa
from tests.benchmarks.families import families
from tests.benchmarks.harness import environment, keep_tables, print_table
from tokdfa.jobs.identification.result import Identification

NAMES = ["gpt2", "bert", "cl100k", "o200k", "llama3_1", "llama2", "qwen2_5", "gemma2", "deepseek_v3", "mistral_nemo"]
TEXTS = ("english.txt", "python_code.txt", "multilingual.txt")
WRITERS: dict[str, Callable[[Path, np.ndarray], object]] = {
    "right": lambda path, ids: np.save(path, ids.astype(np.uint32)),
    "raw": lambda path, ids: ids.astype(np.uint16 if ids.max() < 1 << 16 else np.uint32).tofile(
        path.with_suffix(".bin")
    ),
    "shifted-ids": lambda path, ids: np.save(path, ids.astype(np.int64) + 1),
    "cut-to-16-bits": lambda path, ids: np.save(path, ids.astype(np.uint16)),
    "byte-order": lambda path, ids: np.save(path, ids.astype(np.uint32).astype(">u4").view("<u4")),
    "dtype": lambda path, ids: np.save(path, ids.astype(np.uint32).view(np.uint16)),
    "random": lambda path, ids: np.save(path, np.random.default_rng(len(ids)).integers(0, 30_000, len(ids))),
    "mixed": lambda path, ids: np.save(path, ids),
}


def write_shards(folder: Path, n: int) -> dict[str, tuple[str, str]]:
    """Write shards; return the tokenizer and the mistake of each, by the name of its file."""
    texts = [Path(os.environ["TOKDFA_DATA"], "corpora", name).read_text(encoding="utf-8") for name in TEXTS]
    source = np.random.default_rng(0)
    loaded = {family.name: family.load() for family in families(NAMES)}
    streams = {name: [tokenizer.encode(text) for text in texts] for name, tokenizer in loaded.items()}
    truth = {}
    for number in range(n):
        name = str(source.choice([*streams]))
        kind = str(source.choice([*WRITERS])) if source.random() < 0.25 else ("right", "raw")[number % 2]
        stream = streams[name][source.integers(len(texts))]
        size = int(10 ** source.uniform(3, 6))
        begin = int(source.integers(max(len(stream) - size, 1)))
        ids = stream[begin : begin + size]
        if kind == "cut-to-16-bits" and int(ids.max()) < 1 << 16:
            kind = "right"
        if kind == "mixed":
            other = streams["gpt2" if name != "gpt2" else "llama2"][0]
            ids = np.concatenate((ids[: len(ids) // 2], other[begin : begin + size - len(ids) // 2]))
        path = folder / f"shard-{number:03d}.npy"
        WRITERS[kind](path, ids)
        truth[path.stem] = name, "" if kind in ("right", "raw") else kind
    return truth


def is_right(found: Identification, name: str, mistake: str) -> bool:
    """Whether the tokenizer of a shard is among those found, and its mistake is named alone; none for random ids."""
    if mistake == "random":
        return not found.makers
    kinds = [each.kind.value for maker in found.makers[:1] for each in maker.mistakes]
    return (mistake == "mixed" or name in [maker.name for maker in found.makers]) and kinds == [mistake] * bool(mistake)


def main() -> None:
    arguments = sys.argv[1:]
    keep_tables(arguments)
    n = int(arguments[0]) if arguments else 200
    began = perf_counter()
    tokenizers = {family.name: family.load() for family in families(NAMES)}
    load_seconds = perf_counter() - began
    right, seconds, wrong = Counter[str](), [], []
    with tempfile.TemporaryDirectory() as folder:
        truth = write_shards(Path(folder), n)
        began = perf_counter()
        for found in tokdfa.identify_each(folder, tokenizers):
            assert isinstance(found, Identification)
            seconds.append(perf_counter() - began)
            name, mistake = truth[Path(found.path).stem]
            if is_right(found, name, mistake):
                right[mistake or "none"] += 1
            else:
                made = " or ".join(maker.name for maker in found.makers) or ("none" if found.is_enough else "undecided")
                wrong.append(f"{Path(found.path).name}: {name}, {mistake or 'none'}; found {made}")
            began = perf_counter()
    kinds = Counter(mistake or "none" for _, mistake in truth.values())
    rows: list[list[object]] = [[kind, f"{right[kind]} of {count}"] for kind, count in sorted(kinds.items())]
    rows += [
        ["all", f"{right.total()} of {n}"],
        ["seconds to load", f"{load_seconds:.1f}"],
        ["seconds in all", f"{sum(seconds):.1f}"],
        ["median of a file, ms", f"{1e3 * float(np.median(seconds)):.0f}"],
    ]
    print_table(f"which of {len(NAMES)} tokenizers made {n} shards", ["mistake", "right"], rows, environment())
    print("\n".join(wrong))


if __name__ == "__main__":
    main()

"""Validation and encoding with a normalizer that is mostly the identity, compared with the same without one.

cl100k with NFC before it, as Qwen has, against cl100k: millions of ids a second at rest in texts of several scripts,
megabytes of text encoded a second, and the memory that a stream of a gigabyte takes.

Run from the top of the repository, with TOKDFA_DATA naming the folder of tokenizers and corpora:
``python -m tests.benchmarks.bench_normalized``; with ``--tokenizer FILE`` that tokenizer is measured as well, with
``--stream GIGABYTES`` the memory and the time of a stream, instead.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import numpy.typing as npt

import tokdfa
from tests.benchmarks.encode_peers import as_tokenizers
from tests.benchmarks.harness import environment, keep_tables, measure, peak_memory, print_table
from tokdfa.tokenizers.normalizers.steps import UnicodeForm
from tokdfa.tokenizers.tokenizer import Tokenizer

LENGTH = 1_000_000
SCRIPTS = {
    "Chinese": (0x4E00, 0x9FFF),
    "Japanese": (0x3040, 0x30FF),
    "Korean": (0xAC00, 0xD7A3),
    "Russian": (0x400, 0x4FF),
    "Greek": (0x370, 0x3FF),
    "Arabic": (0x600, 0x6FF),
    "Hindi": (0x900, 0x97F),
    "Bengali": (0x980, 0x9FF),
    "Thai": (0xE00, 0xE7F),
    "Vietnamese": (0x1EA0, 0x1EFF),
}


def texts(data: Path) -> Iterator[tuple[str, str]]:
    """Yield names and texts in NFC, the shorter ones repeated."""
    for name in ("english", "python_code", "multilingual"):
        yield name, (data / "corpora" / f"{name}.txt").read_text("utf-8")[:LENGTH]
    lines = (data / "corpora" / "multilingual.txt").read_text("utf-8").split("\n")
    for name, (first, last) in SCRIPTS.items():
        share = 8 if name == "Vietnamese" else 2
        text = "\n".join(line for line in lines if share * sum(first <= ord(c) <= last for c in line) > len(line))
        if text:
            yield name, UnicodeForm("NFC")((text + "\n") * (LENGTH // 3 // len(text) + 1))


def with_nfc(path: Path, folder: Path) -> Tokenizer:
    """Return cl100k with NFC before it."""
    from tokenizers import normalizers

    theirs = as_tokenizers(path, "cl100k")
    theirs.normalizer = normalizers.NFC()
    theirs.save(str(folder / "tokenizer.json"))
    return tokdfa.load(folder / "tokenizer.json")


def side_by_side(data: Path, loaded: dict[str, Tokenizer]) -> None:
    """Print the throughput of validation and of encoding."""
    validation: list[list[object]] = []
    encoding: list[list[object]] = []
    for name, text in texts(data):
        streams = {way: tokenizer.encode(text) for way, tokenizer in loaded.items()}
        for way, ids in streams.items():
            # The table of pairs is built when enough ids have come.
            for _ in range(3 + 9 * int(ids.max()) // len(ids)):
                assert loaded[way].validate(ids)
        calls = {way: partial(loaded[way].validate, ids) for way, ids in streams.items()}
        rates = {way: len(streams[way]) / 1e6 / t.median for way, t in measure(calls, 9, clock=process_time).items()}
        base, *others = rates.values()
        validation.append([name, *rates.values(), *(f"{other / base:.2f}" for other in others)])
        coders = {way: partial(tokenizer.encode, text) for way, tokenizer in loaded.items()}
        size = len(text.encode()) / 1e6
        speeds = {way: size / t.median for way, t in measure(coders, 5, clock=process_time).items()}
        base, *others = speeds.values()
        encoding.append([name, *speeds.values(), *(f"{other / base:.2f}" for other in others)])
    columns = ["text", *loaded, *(f"{way} / cl100k" for way in [*loaded][1:])]
    caption = f"processor time; {environment('numpy')}"
    print_table("Validation with a normalizer, million ids a second, median of 9", columns, validation, caption)
    print_table("Encoding with a normalizer, MB a second, median of 5", columns, encoding, caption)


def growth(data: Path, gigabytes: float, tokenizer: Tokenizer) -> None:
    """Print the time and the memory of a stream that is generated, of all languages, with runs of marks."""
    text = UnicodeForm("NFC")((data / "corpora" / "multilingual.txt").read_text("utf-8")[: 2 * LENGTH])
    ids = tokenizer.encode(text.strip() + " Z\u0334\u0334\u0334a\u0321\u0301lgo\n")
    rows: list[list[object]] = []
    for part in (gigabytes / 16, gigabytes / 4, gigabytes):
        copies = -(-int(part * 1e9 / 4) // len(ids))
        began = perf_counter()
        verdict = tokenizer.validate(_copies(ids, copies))
        seconds = perf_counter() - began
        assert verdict, verdict
        rows.append([part, verdict.tokens / 1e6, seconds, f"{peak_memory() / 1e6:.0f} MB"])
    columns = ["GB", "million ids", "seconds", "peak memory of the process so far"]
    print_table("A stream of all languages, NFC before cl100k", columns, rows, environment("numpy"))


def _copies(ids: npt.NDArray[np.int32], n: int) -> Iterator[npt.NDArray[np.int32]]:
    for _ in range(n):
        yield from np.array_split(ids, 8)


def main() -> None:
    """Run what the command line asks for."""
    arguments = sys.argv[1:]
    keep_tables(arguments)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokenizer", type=Path, help="one more tokenizer with a normalizer")
    parser.add_argument("--stream", type=float, metavar="GIGABYTES", help="measure a stream of that size instead")
    options = parser.parse_args(arguments)
    if "TOKDFA_DATA" not in os.environ:
        sys.exit("TOKDFA_DATA must name the folder of tokenizers and corpora")
    data = Path(os.environ["TOKDFA_DATA"])
    path = data / "vocabs" / "cl100k_base.tiktoken"
    with tempfile.TemporaryDirectory() as folder:
        loaded = {"cl100k": tokdfa.load(path, pretokenizer="cl100k"), "with NFC": with_nfc(path, Path(folder))}
        if options.tokenizer:
            loaded[options.tokenizer.parent.name or options.tokenizer.stem] = tokdfa.load(options.tokenizer)
        if options.stream:
            growth(data, options.stream, loaded["with NFC"])
        else:
            side_by_side(data, loaded)


if __name__ == "__main__":
    main()

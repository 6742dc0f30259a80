"""Loading tokenizers, and folding their dictionaries, beside the files' own libraries and faster ones.

``TOKDFA_DATA=… python -m tests.benchmarks.bench_load [FILE...]``. Given tokenizer.json files (Qwen's, Gemma's,
Command-R's), it loads these instead, beside tokenizers alone, and also the objects that tokenizers has of them.
Libraries put off some of their work until the first text: so the time of loading is given, and that until the first
ids, both in a process that has loaded before. ``bench_encode load`` begins with the start of a process.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

from tests.benchmarks.encode_peers import ranks
from tests.benchmarks.harness import environment, keep_tables, measure, peak_memory, print_table

FIRST = "The first words."


class Library(NamedTuple):
    """A library: its name, its way in words, the way itself, and how what it makes encodes."""

    name: str
    way: str
    load: Callable[[], Any]
    encode: Callable[[Any], object]


def fold(path: Path) -> Callable[[], object]:
    import tokdfa
    from tokdfa.kernels.fold.folding import fold as kernel

    dictionary = tokdfa.load(path, pretokenizer="none").dictionary
    arguments = (dictionary.left, dictionary.right, dictionary.product)
    return lambda: kernel(*arguments, dictionary.alphabet.n_symbols, len(dictionary.alphabet))


def of_json(path: Path) -> list[Library]:
    """Return those that read a tokenizer.json."""
    import gigatoken
    import splintr
    import tokenizers

    import tokdfa

    name = str(path)
    return [
        Library("tokdfa", "load", lambda: tokdfa.load(path), lambda made: made.encode(FIRST)),
        Library("gigatoken", "Tokenizer(path)", lambda: gigatoken.Tokenizer(name), lambda made: made.encode(FIRST)),
        Library("splintr", "from_json", lambda: splintr.from_json(name), lambda made: made.encode_flat(FIRST)),
        Library(
            "tokenizers",
            "from_file",
            lambda: tokenizers.Tokenizer.from_file(name),
            lambda made: made.encode_batch_fast([FIRST], add_special_tokens=False),
        ),
    ]


def of_ranks(path: Path, name: str) -> list[Library]:
    """Return those that read a .tiktoken file, given its pattern."""
    import gigatoken
    import splintr
    import tiktoken

    import tokdfa

    patterns: Any = json.loads((path.parent / "patterns.json").read_bytes())
    theirs: Any = {"cl100k": splintr.CL100K_BASE_PATTERN, "o200k": splintr.O200K_BASE_PATTERN}[name]

    def by_tiktoken() -> object:
        # As tiktoken.load does, without its cache.
        return tiktoken.Encoding(name, pat_str=patterns[name], mergeable_ranks=ranks(path), special_tokens={})

    def by_gigatoken() -> object:
        return gigatoken.Tokenizer.from_tiktoken(path, pretokenizer=name, special_tokens={})

    return [
        Library("tokdfa", "load", lambda: tokdfa.load(path, pretokenizer=name), lambda made: made.encode(FIRST)),
        Library("gigatoken", "from_tiktoken", by_gigatoken, lambda made: made.encode(FIRST)),
        Library(
            "splintr", "Tokenizer(path)", lambda: splintr.Tokenizer(str(path), theirs), lambda m: m.encode_flat(FIRST)
        ),
        Library("tiktoken", "Encoding", by_tiktoken, lambda made: made.encode_ordinary(FIRST)),
    ]


def of_tekken(path: Path) -> list[Library]:
    """Return those that read a tekken.json."""
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    import tokdfa

    return [
        Library("tokdfa", "load", lambda: tokdfa.load(path), lambda made: made.encode(FIRST)),
        Library(
            "mistral-common",
            "Tekkenizer.from_file",
            lambda: Tekkenizer.from_file(path),
            lambda made: made.encode(FIRST, bos=False, eos=False),
        ),
    ]


def beside_tokenizers(paths: list[Path]) -> None:
    """Measure tokenizer.json files beside tokenizers alone, and print."""
    import tokenizers

    import tokdfa

    rows: list[list[object]] = []
    for path in paths:
        made = tokenizers.Tokenizer.from_file(str(path))
        calls: dict[str, Callable[[], object]] = {
            "file": lambda path=path: tokdfa.load(path),  # type: ignore[misc]
            "object": lambda made=made: tokdfa.load(made),  # type: ignore[misc]
            "theirs": lambda path=path: tokenizers.Tokenizer.from_file(str(path)),  # type: ignore[misc]
        }
        seconds = {key: value.median for key, value in measure(calls, clock=process_time).items()}
        shown = [f"{1e3 * seconds[key]:.0f}" for key in calls]
        ratios = [f"{seconds[key] / seconds['theirs']:.2f}" for key in ("file", "object")]
        rows.append([f"{path.parent.name}/{path.name}", *shown, *ratios])
    columns = ["file", "tokdfa, file, ms", "tokdfa, object, ms", "tokenizers, ms", "ratio, file", "ratio, object"]
    caption = f"medians of five, in turn; processor time; {environment('tokenizers')}"
    print_table("Loading a tokenizer.json", columns, rows, caption)


def main(paths: list[Path]) -> None:
    """Measure and print."""
    if paths:
        beside_tokenizers(paths)
        return
    import mistral_common

    vocabs = Path(os.environ["TOKDFA_DATA"]) / "vocabs"
    gpt2 = vocabs / "gpt2/tokenizer.json"
    tekken = Path(mistral_common.__file__).parent / "data/tekken_240911.json"
    files = {gpt2: of_json(gpt2), tekken: of_tekken(tekken)}
    for name in ("cl100k", "o200k"):
        path = vocabs / f"{name}_base.tiktoken"
        files[path] = of_ranks(path, name)
    rows: list[list[object]] = []
    for path, libraries in files.items():
        calls: dict[str, Callable[[], object]] = {"read": path.read_bytes, "fold": fold(path)}
        for library in libraries:
            calls[library.name] = library.load
            calls[f"{library.name}, ids"] = lambda library=library: library.encode(library.load())  # type: ignore[misc]
        seconds = {key: value.median for key, value in measure(calls, clock=process_time).items()}
        for library in libraries:
            loaded, used = seconds[library.name], seconds[f"{library.name}, ids"]
            shown = [f"{1e3 * value:.1f}" for value in (loaded, used)]
            ratio = used / seconds["tokdfa, ids"]
            rows.append([path.name, f"{library.name}, {library.way}", *shown, f"{ratio:.2f}"])
        rows += [[path.name, f"({key} alone)", f"{1e3 * seconds[key]:.1f}", "-", "-"] for key in ("read", "fold")]
    columns = ["file", "library", "load, ms", "load and first ids, ms", "tokdfa is times faster"]
    packages = environment("gigatoken", "splintr-rs", "tiktoken", "tokenizers", "mistral-common")
    caption = f"medians of five, in turn; processor time; {packages}; peak memory {peak_memory() / 1e6:,.0f} MB"
    print_table("Loading, and until the first ids", columns, rows, caption)


if __name__ == "__main__":
    keep_tables(sys.argv)
    os.environ |= {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    main([Path(argument) for argument in sys.argv[1:]])

"""Loading tokenizers, and folding their dictionaries, beside the files' own libraries.

``TOKDFA_DATA=… python -m tests.benchmarks.bench_load``
"""

from __future__ import annotations

import base64
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.benchmarks.harness import environment, keep_tables, measure, peak_memory, print_table


def load(path: Path, **options: str) -> Callable[[], object]:
    import tokdfa

    return lambda: tokdfa.load(path, **options)


def fold(path: Path) -> Callable[[], object]:
    import tokdfa
    from tokdfa.kernels.fold.folding import fold as kernel

    dictionary = tokdfa.load(path, pretokenizer="none").dictionary
    arguments = (dictionary.left, dictionary.right, dictionary.product)
    return lambda: kernel(*arguments, dictionary.alphabet.n_symbols, len(dictionary.alphabet))


def load_with_tiktoken(path: Path, pattern: str) -> Callable[[], object]:
    import tiktoken

    def run() -> object:
        # As tiktoken.load does, without its cache.
        rows = (line.split() for line in path.read_bytes().splitlines() if line)
        ranks = {base64.b64decode(word): int(rank) for word, rank in rows}
        return tiktoken.Encoding("bench", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})

    return run


def main() -> None:
    """Measure and print."""
    import mistral_common
    import tokenizers
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    vocabs = Path(os.environ["TOKDFA_DATA"]) / "vocabs"
    patterns: Any = json.loads((vocabs / "patterns.json").read_bytes())
    gpt2 = vocabs / "gpt2/tokenizer.json"
    tekken = Path(mistral_common.__file__).parent / "data/tekken_240911.json"
    rows: list[list[object]] = []
    peers: list[tuple[str, Path, Callable[[], object]]] = [
        ("tokenizers", gpt2, lambda: tokenizers.Tokenizer.from_file(str(gpt2))),
        ("mistral-common", tekken, lambda: Tekkenizer.from_file(tekken)),
    ]
    for name in ("cl100k", "o200k"):
        path = vocabs / f"{name}_base.tiktoken"
        peers.append(("tiktoken", path, load_with_tiktoken(path, patterns[name])))
    for library, path, peer in peers:
        measured = measure({"read": path.read_bytes, "load": load(path), "fold": fold(path), "peer": peer})
        seconds = {key: value.median for key, value in measured.items()}
        figures = [f"{seconds[key] * 1e3:.1f}" for key in ("read", "fold", "load", "peer")]
        rows.append([path.name, *figures, library, f"{seconds['peer'] / seconds['load']:.2f}"])
    columns = ["file", "read bytes ms", "fold ms", "load ms", "library ms", "library", "library / load"]
    caption = f"{environment('tiktoken', 'tokenizers', 'mistral-common')}; peak memory {peak_memory() / 1e6:,.0f} MB"
    print_table("Loading and folding, medians of five", columns, rows, caption)


if __name__ == "__main__":
    keep_tables(sys.argv)
    main()

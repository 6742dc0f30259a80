"""Searching side by side: patterns run on the ids, and decoding followed by RE2, `re` and `regex`.

Run from the top of the repository, with TOKDFA_DATA naming the folder of the vocabularies and corpora:
``python -m tests.benchmarks.bench_search [patterns|words|lift|memory] [repeats]``.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import numpy.typing as npt
import re2
import regex

import tokdfa
from tests.benchmarks.harness import environment, keep_tables, measure, peak_memory, print_table
from tokdfa.patterns.trie import TokenTrie
from tokdfa.searching.api import Searcher

CORPORA = ("english.txt", "python_code.txt", "multilingual.txt")
PATTERNS = (
    "[0-9]{4}",
    "Holmes",
    "[Cc]aptain|[Ss]ailor|harpoon",
    r"[A-Z][a-z]+ [A-Z][a-z]+",
    r"\b(?:def|class) [a-z_]+",
    r"[a-z0-9._]+@[a-z0-9]+\.[a-z]+",
    "[а-яё]{12,}",
    r"\p{Han}{4,}",
)


def data() -> Path:
    return Path(os.environ["TOKDFA_DATA"])


def ids_of(tokenizer: tokdfa.Tokenizer, corpus: str, times: int = 1) -> npt.NDArray[np.int32]:
    """Return the ids of a corpus."""
    text = (data() / "corpora" / corpus).read_text("utf-8")
    return np.tile(tokenizer.encode(text), times)


def spans_by_re2(pattern: str, longest: bool = True) -> Callable[[bytes], list[tuple[int, int]]]:
    options = re2.Options()
    options.longest_match = longest
    options.never_capture = True
    options.max_mem = 1 << 28
    program = re2.compile(pattern.encode(), options)
    return lambda text: [match.span() for match in program.finditer(text)]


def peers(pattern: str) -> dict[str, Callable[[bytes], object]]:
    """Return the ways to find a pattern in bytes; those that work on characters read the bytes as UTF-8 first."""
    by_regex = regex.compile(pattern)
    ways: dict[str, Callable[[bytes], object]] = {
        "RE2": spans_by_re2(pattern),
        "regex": lambda text: [match.span() for match in by_regex.finditer(text.decode())],
    }
    if r"\p" not in pattern:
        by_re = re.compile(pattern)
        ways["re"] = lambda text: [match.span() for match in by_re.finditer(text.decode())]
    return ways


def bench_patterns(repeats: int) -> None:
    """Print the speed of single patterns on all corpora."""
    tokenizer = tokdfa.load(data() / "vocabs/gpt2")
    rows: list[list[object]] = []
    for corpus in CORPORA:
        ids = ids_of(tokenizer, corpus)
        text = tokenizer.decode_bytes(ids)
        for pattern in PATTERNS:
            searcher = Searcher(tokenizer, pattern)
            spelled = peers(pattern)
            ways: dict[str, Callable[[], object]] = {"tokdfa": lambda s=searcher, i=ids: s.search(i)}  # type: ignore[misc]
            ways["decode"] = lambda i=ids: tokenizer.decode_bytes(i)  # type: ignore[misc]
            for name, way in spelled.items():
                ways[name] = lambda way=way, i=ids: way(tokenizer.decode_bytes(i))  # type: ignore[misc]
            measured = {name: m.median for name, m in measure(ways, repeats).items()}
            found = searcher.search(ids)
            assert [tuple(row[:2]) for row in found.rows.tolist()] == spelled["RE2"](text)
            best = min(measured[name] for name in spelled)
            ours = measured["tokdfa"]
            rows.append(
                [
                    corpus.split(".")[0], pattern, len(found), len(ids) / ours / 1e6, len(text) / ours / 1e6,
                    *(len(text) / measured[name] / 1e6 if name in measured else "-" for name in ("RE2", "re", "regex")),
                    len(text) / measured["decode"] / 1e6, f"{best / ours:.1f}",
                ]
            )  # fmt: skip
    print_table(
        "Searching for one pattern, ids of GPT-2; peers decode first; MB of text a second",
        ["corpus", "pattern", "matches", "Mtokens/s", "tokdfa", "RE2", "re", "regex", "decode alone", "× best"],
        rows,
        f"{environment('google-re2', 'regex')}; median of {repeats}; peak memory {peak_memory() / 1e6:.0f} MB",
    )


def word_lists(corpus: str, n_words: int) -> dict[str, list[str]]:
    """Return lists of words: the rarest long ones of a corpus, and such of the other corpora."""

    def count(name: str) -> Counter[str]:
        return Counter(regex.findall(r"\p{L}{6,}", (data() / "corpora" / name).read_text("utf-8")))

    def rarest(words: Counter[str]) -> list[str]:
        return sorted(words, key=lambda word: (words[word], word))[:n_words]

    own = count(corpus)
    others = sum((count(name) for name in CORPORA if name != corpus), Counter[str]())
    return {"its own rarest": rarest(own), "of other texts": rarest(Counter(others.keys() - own.keys()))}


def bench_words(repeats: int) -> None:
    """Print the speed of one word and of 10,000."""
    tokenizer = tokdfa.load(data() / "vocabs/gpt2")
    rows: list[list[object]] = []
    for corpus in CORPORA:
        ids = ids_of(tokenizer, corpus)
        for name, words in word_lists(corpus, 10_000).items():
            searchers = {n: Searcher(tokenizer, words[:n]) for n in (1, 1000, len(words))}
            ways = {n: (lambda s=s, i=ids: s.search(i)) for n, s in searchers.items()}  # type: ignore[misc]
            measured = {n: m.median for n, m in measure(ways, repeats).items()}  # type: ignore[arg-type, type-var]
            text = tokenizer.decode_bytes(ids)
            by_re2 = spans_by_re2("|".join(map(re.escape, words)))
            began = perf_counter()
            spans = by_re2(tokenizer.decode_bytes(ids))
            theirs = perf_counter() - began
            found = searchers[len(words)].search(ids)
            assert [tuple(row[:2]) for row in found.rows.tolist()] == spans
            most = measured[len(words)]
            rows.append(
                [
                    corpus.split(".")[0], name, len(words), len(found),
                    *(len(ids) / seconds / 1e6 for seconds in measured.values()),
                    len(text) / most / 1e6, len(text) / theirs / 1e6, f"{measured[1] / most:.2f}",
                ]
            )  # fmt: skip
    print_table(
        "Searching for words, ids of GPT-2",
        ["corpus", "words", "how many", "matches", "one, Mtokens/s", "1000", "all", "MB/s", "RE2, MB/s", "× one"],
        rows,
        f"{environment('google-re2')}; median of {repeats}; peak memory {peak_memory() / 1e6:.0f} MB",
    )


def bench_lift(repeats: int) -> None:
    """Print what it takes to lift patterns to the tokens of o200k and to list what their states allow."""
    tokenizer = tokdfa.load(data() / "vocabs/o200k_base.tiktoken", pretokenizer="none")
    dictionary = tokenizer.dictionary
    alphabet = dictionary.alphabet
    trie = TokenTrie.of(alphabet)
    rows: list[list[object]] = []
    for pattern in ("[0-9]{4}", r"(?:[a-z]{1,12}-){3}[a-z]{1,12}", '"[^"\\n]{0,46}"', r"(?s).{50}", r"\p{Lu}\p{Ll}+"):
        dfa = tokdfa.language(pattern, dictionary)
        seconds, held = [], 0
        for _ in range(repeats):
            tracemalloc.start()
            began = perf_counter()
            lifted = tokdfa.lift(dfa, alphabet, trie)
            moves = sum(len(lifted.move_arrays(state)[0]) for state in range(dfa.n_states))
            seconds.append(perf_counter() - began)
            held = tracemalloc.get_traced_memory()[0]
            tracemalloc.stop()
        rows.append([pattern, dfa.n_states, moves, 1000 * median(seconds), held / 1e6])
    print_table(
        "Lifting patterns to the 200,000 tokens of o200k, the moves of all states listed",
        ["pattern", "states", "moves", "ms", "MB held"],
        rows,
        f"{environment('numpy')}; median of {repeats}; peak memory {peak_memory() / 1e6:.0f} MB",
    )


def bench_memory(_: int) -> None:
    """Print the peak memory of searching streams of growing length, each in a process of its own."""
    rows: list[list[object]] = []
    for pattern in ("[0-9]{4}", r"\p{Lu}\p{Ll}+ \p{Lu}\p{Ll}+", "words"):
        peaks = []
        for times in (1, 8, 64):
            done = subprocess.run(
                [sys.executable, "-m", "tests.benchmarks.bench_search", "stream", pattern, str(times)],
                capture_output=True,
                text=True,
                check=True,
            )
            peaks.append(int(done.stdout))
        rows.append([pattern, *(peak / 1e6 for peak in peaks)])
    print_table(
        "Peak memory of a process that searches so many times a million ids, MB", ["pattern", "1", "8", "64"], rows
    )


def stream(pattern: str, times: int) -> None:
    """Search so many times a million ids, chunk by chunk, and print the peak of memory."""
    tokenizer = tokdfa.load(data() / "vocabs/gpt2", pretokenizer="none")
    text = (data() / "corpora" / "english.txt").read_text("utf-8")
    words = sorted(set(regex.findall(r"\p{L}{6,}", text)))[:10_000]
    block = tokdfa.load(data() / "vocabs/gpt2").encode(text[:1_000_000])
    chunks = (block for _ in range(times * 1_000_000 // len(block)))
    for _ in Searcher(tokenizer, words if pattern == "words" else pattern).iter_matches(chunks):
        pass
    print(peak_memory())


if __name__ == "__main__":
    keep_tables(sys.argv)
    what = sys.argv[1] if len(sys.argv) > 1 else "patterns"
    if what == "stream":
        stream(sys.argv[2], int(sys.argv[3]))
        sys.exit()
    globals()[f"bench_{what}"](int(sys.argv[2]) if len(sys.argv) > 2 else 5)

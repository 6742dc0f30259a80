"""Searching side by side: patterns run on the ids, and decoding followed by RE2, `re` and `regex`.

Run from the top of the repository, with TOKDFA_DATA naming the folder of the vocabularies and corpora:
``python -m tests.benchmarks.bench_search [patterns|decode|words] [repeats]``.

Peers run in their fastest documented way. The ids are decoded for them by the fastest decoder, which `decode` compares;
patterns are compiled beforehand and searched by `finditer`, in one thread. RE2 takes bytes and is spared its captures.
`re` and `regex` take bytes as well, or text made of them, whichever is faster; a pattern with more than ASCII means
symbols, and takes text. `words` runs two implementations of Aho and Corasick's algorithm: daachorse's on bytes, and
pyahocorasick's on text, as it takes no bytes.
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import ahocorasick
import daachorse
import gigatoken
import numpy as np
import numpy.typing as npt
import re2
import regex
import splintr
import tiktoken
import tokenizers

import tokdfa
from tests.benchmarks.harness import environment, keep_tables, measure, peak_memory, print_table
from tokdfa.jobs.searching.api import Searcher

CORPORA = ("english.txt", "python_code.txt", "multilingual.txt")
CLOCK = "processor time of one thread"
OF_WORDS = ["one, Mtokens/s", "1000", "all", "all / one", "MB/s", "RE2", "daachorse", "pyahocorasick", "× best"]
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


def peers(pattern: str) -> dict[str, Callable[[bytes], list[tuple[int, int]]]]:
    """Return the ways to find a pattern in bytes: those on bytes, and those that read the bytes as UTF-8 first."""
    ways = {"RE2": spans_by_re2(pattern)}
    engines: dict[str, Any] = {"regex": regex} if r"\p" in pattern else {"re": re, "regex": regex}
    for name, engine in engines.items():
        in_text = engine.compile(pattern)
        ways[f"{name}, text"] = lambda text, in_text=in_text: [m.span() for m in in_text.finditer(text.decode())]
        if pattern.isascii() and r"\p" not in pattern:
            in_bytes = engine.compile(pattern.encode())
            ways[f"{name}, bytes"] = lambda text, in_bytes=in_bytes: [m.span() for m in in_bytes.finditer(text)]
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
            measured = {name: m.median for name, m in measure(ways, repeats, process_time).items()}
            two = {name: ways[name] for name in ("tokdfa", "RE2")}
            at_rest = {name: m.median for name, m in measure(two, repeats, process_time, at_rest=True).items()}
            found = searcher.search(ids)
            expected = [tuple(row[:2]) for row in found.rows.tolist()]
            for name, way in spelled.items():
                if name == "RE2" or name.endswith("bytes"):
                    assert way(text) == expected, (name, pattern)
            fastest = {
                name: min((seconds for way, seconds in measured.items() if way.startswith(name)), default=None)
                for name in ("RE2", "re,", "regex")
            }
            best = min(seconds for seconds in fastest.values() if seconds is not None)
            ours = measured["tokdfa"]
            rows.append(
                [
                    corpus.split(".")[0], pattern, len(found), len(ids) / ours / 1e6, len(text) / ours / 1e6,
                    *("-" if seconds is None else len(text) / seconds / 1e6 for seconds in fastest.values()),
                    len(text) / measured["decode"] / 1e6, f"{measured['RE2'] / ours:.1f}", f"{best / ours:.1f}",
                    f"{at_rest['RE2'] / at_rest['tokdfa']:.1f}",
                ]
            )  # fmt: skip
    how = "RE2: finditer on bytes, longest_match, never_capture; re, regex: finditer on bytes or text, the faster; "
    how += "at rest: after the same call, otherwise after the others"
    print_table(
        "Searching for one pattern, ids of GPT-2; peers decode first; MB of text a second",
        [
            "corpus",
            "pattern",
            "matches",
            "Mtokens/s",
            "tokdfa",
            "RE2",
            "re",
            "regex",
            "decode alone",
            "× RE2",
            "× best",
            "× RE2 at rest",
        ],
        rows,
        f"{CLOCK}; ids decoded by tokdfa, the fastest; {how}; {environment('google-re2', 'regex')}; median of "
        f"{repeats}, in turn; peak memory {peak_memory() / 1e6:.0f} MB",
    )


def bench_decode(repeats: int) -> None:
    """Print the speed of decoders: from an array of ids, or of a list made of it, to bytes or text."""
    path = data() / "vocabs/gpt2/tokenizer.json"
    tokenizer = tokdfa.load(path)
    by_gigatoken: Any = gigatoken.Tokenizer(str(path))
    by_splintr: Any = splintr.from_json(str(path))
    by_tokenizers = tokenizers.Tokenizer.from_file(str(path))
    words = {word: number for number, word in by_gigatoken.vocab.items() if word != b"<|endoftext|>"}
    by_tiktoken = tiktoken.Encoding("gpt2", pat_str=r"\S+|\s+", mergeable_ranks=words, special_tokens={})
    rows: list[list[object]] = []
    for corpus in CORPORA:
        ids = ids_of(tokenizer, corpus).astype(np.uint32)
        text = tokenizer.decode_bytes(ids)
        ways: dict[str, Callable[[], bytes | str]] = {
            "tokdfa": lambda i=ids: tokenizer.decode_bytes(i),  # type: ignore[misc]
            "gigatoken": lambda i=ids: by_gigatoken.decode(i),  # type: ignore[misc]
            "splintr": lambda i=ids: by_splintr.decode(i.tolist()),  # type: ignore[misc]
            "tiktoken": lambda i=ids: by_tiktoken.decode_bytes(i.tolist()),  # type: ignore[misc]
            "tokenizers": lambda i=ids: by_tokenizers.decode(i.tolist(), skip_special_tokens=False),  # type: ignore[misc]
        }
        for name, way in ways.items():
            given = way()
            assert (given.encode() if isinstance(given, str) else given) == text, name
        measured = measure(ways, repeats, process_time)
        rows.append([corpus.split(".")[0], *(len(text) / 1e6 / each.median for each in measured.values())])
    how = "tokdfa: decode_bytes(array); gigatoken: decode(array); splintr: decode(list); tiktoken: decode_bytes(list)"
    versions = environment("gigatoken", "splintr-rs", "tiktoken", "tokenizers")
    columns = ["corpus", "tokdfa", "gigatoken", "splintr", "tiktoken", "tokenizers"]
    caption = f"{CLOCK}; {how}; tokenizers: decode(list); {versions}; median of {repeats}, in turn"
    print_table("Decoding, ids of GPT-2, MB of text a second", columns, rows, caption)


def word_lists(corpus: str, n_words: int) -> dict[str, list[str]]:
    """Return lists of words: the rarest long ones of a corpus, and such of the other corpora."""

    def count(name: str) -> Counter[str]:
        return Counter(regex.findall(r"\p{L}{6,}", (data() / "corpora" / name).read_text("utf-8")))

    def rarest(words: Counter[str]) -> list[str]:
        return sorted(words, key=lambda word: (words[word], word))[:n_words]

    own = count(corpus)
    others = sum((count(name) for name in CORPORA if name != corpus), Counter[str]())
    return {"its own rarest": rarest(own), "of other texts": rarest(Counter(others.keys() - own.keys()))}


def by_daachorse(words: list[str]) -> Callable[[bytes], list[tuple[int, int]]]:
    """Return the search by daachorse's automaton, leftmost longest on bytes."""
    known: Any = daachorse.DoubleArrayAhoCorasick(
        [word.encode() for word in words], daachorse.MATCH_KIND_LEFTMOST_LONGEST
    )
    return lambda text: [match[:2] for match in known.find(text)]


def by_pyahocorasick(words: list[str]) -> Callable[[bytes], list[tuple[int, int]]]:
    """Return the search by pyahocorasick's automaton, leftmost longest; it counts characters."""
    known: Any = ahocorasick.Automaton()
    for word in words:
        known.add_word(word, len(word))
    known.make_automaton()
    return lambda text: [(end + 1 - length, end + 1) for end, length in known.iter_long(text.decode())]


def bench_words(repeats: int) -> None:
    """Print the speed of one word and of 10,000."""
    tokenizer = tokdfa.load(data() / "vocabs/gpt2")
    rows: list[list[object]] = []
    for corpus in CORPORA:
        ids = ids_of(tokenizer, corpus)
        for name, words in word_lists(corpus, 10_000).items():
            searchers = {n: Searcher(tokenizer, words[:n]) for n in (1, 1000, len(words))}
            peers = {
                "RE2": spans_by_re2("|".join(map(re.escape, words))),
                "daachorse": by_daachorse(words),
                "pyahocorasick": by_pyahocorasick(words),
            }
            ways: dict[str, Callable[[], object]] = {}
            for n, searcher in searchers.items():
                ways[str(n)] = lambda s=searcher, i=ids: s.search(i)  # type: ignore[misc]
            for peer, way in peers.items():
                ways[peer] = lambda way=way, i=ids: way(tokenizer.decode_bytes(i))  # type: ignore[misc]
            measured = {name: m.median for name, m in measure(ways, repeats, process_time).items()}
            text = tokenizer.decode_bytes(ids)
            found = searchers[len(words)].search(ids)
            expected = [tuple(row[:2]) for row in found.rows.tolist()]
            assert peers["RE2"](text) == peers["daachorse"](text) == expected
            in_text = text.decode()
            spelled = [(len(in_text[:a].encode()), b - a) for a, b in peers["pyahocorasick"](text)[:3]]
            assert [start for start, _ in spelled] == [start for start, _ in expected[:3]]
            speeds = {peer: len(text) / measured[peer] / 1e6 for peer in peers}
            most = measured[str(len(words))]
            rows.append(
                [
                    corpus.split(".")[0], name, len(words), len(found),
                    *(len(ids) / measured[str(n)] / 1e6 for n in searchers),
                    measured["1"] / most, len(text) / most / 1e6, *speeds.values(),
                    f"{len(text) / most / 1e6 / max(speeds.values()):.1f}",
                ]
            )  # fmt: skip
    print_table(
        "Searching for words, ids of GPT-2; peers decode first",
        ["corpus", "words", "how many", "matches", *OF_WORDS],
        rows,
        f"{CLOCK}; ids decoded by tokdfa, the fastest; peers in MB/s; RE2: all words as one pattern, longest_match; "
        "daachorse: leftmost longest, bytes; pyahocorasick: iter_long, text; "
        f"{environment('google-re2', 'daachorse', 'pyahocorasick')}; median of {repeats}, in turn",
    )


if __name__ == "__main__":
    keep_tables(sys.argv)
    what = sys.argv[1] if len(sys.argv) > 1 else "patterns"
    globals()[f"bench_{what}"](int(sys.argv[2]) if len(sys.argv) > 2 else 5)

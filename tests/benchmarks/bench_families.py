"""Encoding and judging by tokenizers of every family, compared with gigatoken and the library that defines each file.

``TOKDFA_DATA=… TOKDFA_FAMILIES=… python -m tests.benchmarks.bench_families [TABLE…] [--family NAME…]``

The tables: encode, first, documents, judge, rollouts, load, process; all by default. `families` says which files there
are.
Each text is English, code, many languages, or English with a marker of a chat every 300 and 100 characters, on one
thread. gigatoken counts where it loads the file and gives the ids of the file's own library; where not, its cell says
so.
"""

from __future__ import annotations

import os

# Before any library is loaded that reads them.
os.environ |= {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}

import argparse
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np

import tokdfa
from tests.benchmarks.bench_rollouts import drifted, some
from tests.benchmarks.encode_peers import pattern_of
from tests.benchmarks.families import Family, families, texts
from tests.benchmarks.harness import environment, keep_tables, measure, print_table

LENGTH = 1_000_000
FIRST_LENGTH, JUDGED_LENGTH = 3_000_000, 300_000
REPEATS = 5
DOCUMENT = 500
SHARES = (0.01, 0.1)
ALONE = Path(__file__).with_name("one_process.py")

Row = list[object]


def beside(family: Family, text: str) -> dict[str, Any]:
    """Return the encoders of a family that give its library's ids, ours first; `None` is a peer with other ids."""
    expected = np.asarray(family.by_library(text), dtype=np.int64)
    ours = family.tokenizer.encode
    assert np.array_equal(ours(text), expected), family.name
    theirs = family.gigatoken
    if theirs is not None and not np.array_equal(np.asarray(theirs.encode(text), dtype=np.int64), expected):
        theirs = None
    return {"tokdfa": ours} | ({} if theirs is None else {"gigatoken": theirs.encode})


def compared(size: float, seconds: dict[str, float]) -> Row:
    """Return the speeds of ours and of gigatoken, and how many times as fast ours is."""
    ours = size / 1e6 / seconds["tokdfa"]
    if "gigatoken" not in seconds:
        return [ours, "-", "-"]
    return [ours, size / 1e6 / seconds["gigatoken"], seconds["gigatoken"] / seconds["tokdfa"]]


def medians(calls: dict[str, Callable[[], object]], repeats: int = REPEATS) -> dict[str, float]:
    """Return the seconds of the processor that each call takes at rest."""
    return {name: found.median for name, found in measure(calls, repeats, process_time, at_rest=True).items()}


def encode(family: Family) -> Iterator[Row]:
    """Yield the speeds of encoding one text, at rest."""
    for title, text in texts(family, LENGTH).items():
        size = len(text.encode())
        seconds = medians({name: partial(way, text) for name, way in beside(family, text).items()})
        # A second or more.
        (library,) = measure({"": partial(family.by_library, text)}, 1, process_time).values()
        own = [size / 1e6 / library.median, library.median / seconds["tokdfa"]]
        yield [family.name, title, *compared(size, seconds), family.library, *own]


def first(family: Family) -> Iterator[Row]:
    """Yield the speeds of encoding a long text with tokenizers that have just been loaded."""
    for title, text in texts(family, FIRST_LENGTH).items():
        size, seconds = len(text.encode()), dict[str, list[float]]()
        makers: dict[str, Callable[[], Any]] = {"tokdfa": family.load}
        if "gigatoken" in beside(family, text[:LENGTH]):
            makers["gigatoken"] = family.make_gigatoken
        for _ in range(3):
            for name, make in makers.items():
                fresh = make()
                began = process_time()
                fresh.encode(text)
                seconds.setdefault(name, []).append(process_time() - began)
        yield [family.name, title, *compared(size, {name: sorted(each)[1] for name, each in seconds.items()})]


def documents(family: Family) -> Iterator[Row]:
    """Yield the speeds of encoding many short documents in one call, on one thread and on two."""
    import gigatoken

    for title, text in texts(family, LENGTH).items():
        parts = [text[at : at + DOCUMENT] for at in range(0, len(text), DOCUMENT)]
        data, tokenizer = "\0".join(parts).encode(), family.tokenizer
        calls: dict[str, Callable[[], object]] = {"tokdfa": partial(tokdfa.encode_batch, tokenizer, parts, threads=1)}
        if "gigatoken" in beside(family, text):
            theirs: Any = family.gigatoken
            source = gigatoken.BytesSource(data, b"\0")
            calls["gigatoken"] = partial(theirs.encode_batch, source, parallel=False)
        yield [family.name, title, *compared(len(data), medians(calls))]


def judge(family: Family) -> Iterator[Row]:
    """Yield how many million ids a second are judged: ids from encode, and the same with some spoiled."""
    tokenizer = family.tokenizer
    for title, text in texts(family, JUDGED_LENGTH).items():
        ways, ids = beside(family, text), tokenizer.encode(text)
        # Some special tokens take text away that the library puts there again.
        usual = "canonical" if tokenizer.validate(ids) else "as encoded, not canonical"
        streams = {usual: ids} | {f"{share:.0%} spoiled": spoiled(tokenizer, ids, share) for share in SHARES}
        for kind, stream in streams.items():
            calls: dict[str, Callable[[], object]] = {"tokdfa": partial(tokenizer.validate, stream, all=True)}
            if "gigatoken" in ways:
                theirs: Any = family.gigatoken
                calls["gigatoken"] = partial(_round_trip, theirs, stream.astype(np.uint32))
            repeats = REPEATS if kind == usual else 3
            yield [family.name, title, kind, *compared(len(stream), medians(calls, repeats))]


def _round_trip(theirs: Any, ids: Any) -> bool:
    """Return whether ids are those that gigatoken gives for their text."""
    return np.array_equal(theirs.encode(theirs.decode(ids)), ids)


def spoiled(tokenizer: tokdfa.AnyTokenizer, ids: Any, share: float) -> Any:
    """Return ids with this share replaced by others of the same stream, which mean something."""
    source, out = np.random.default_rng(7), ids.copy()
    places = source.random(len(ids)) < share
    out[places] = source.choice(ids, int(places.sum()))
    return out


def rollouts(family: Family) -> Iterator[Row]:
    """Yield the seconds that checking 10,000 rollouts of 2,000 ids takes; 1 % have drifted."""
    tokenizer, source = family.tokenizer, np.random.default_rng(7)
    stream = drifted(tokenizer, tokenizer.encode(texts(family, LENGTH)["English"]), 1.3 * 0.01, source)
    streams = some(tokenizer, stream, source)
    tokdfa.check_rollouts(tokenizer, streams[:10], threads=1)
    began = process_time()
    tokdfa.check_rollouts(tokenizer, streams, threads=1)
    yield [family.name, process_time() - began]


def load(family: Family) -> Iterator[Row]:
    """Yield the milliseconds that loading takes, and how many times as long the library takes."""
    calls = {"tokdfa": family.load, "library": family.make_library, "gigatoken": family.make_gigatoken}
    if family.gigatoken is None:
        del calls["gigatoken"]
    found = {name: each.median * 1e3 for name, each in measure(calls, REPEATS, process_time).items()}
    ratio = found["tokdfa"] / found["library"]
    yield [family.name, found["tokdfa"], found["library"], ratio, found.get("gigatoken", "-")]


def process(family: Family) -> Iterator[Row]:
    """Yield the seconds and the peak memory of processes that load the file and encode one text."""
    data = Path(os.environ["TOKDFA_DATA"])
    ranks = [family.name, pattern_of(family.path, family.name)] if family.library == "tiktoken" else []
    given = [str(family.path), str(data / "corpora" / "english.txt"), str(LENGTH), *ranks]
    whose = ["tokdfa", family.library, *(["gigatoken"] if family.gigatoken is not None else [])]
    seconds: dict[str, list[float]] = {name: [] for name in whose}
    peaks: dict[str, list[float]] = {name: [] for name in whose}
    for _ in range(REPEATS):
        for name in whose:
            start = perf_counter()
            command = [sys.executable, str(ALONE), name, *given]
            peaks[name].append(float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout))
            seconds[name].append(perf_counter() - start)
    for unit, found in {"seconds": seconds, "peak, MB": peaks}.items():
        yield [
            family.name,
            unit,
            *(median(found[name]) if name in found else "-" for name in [*whose[:2], "gigatoken"]),
        ]


SPEEDS = ["tokdfa, MB/s", "gigatoken, MB/s", "times"]
TABLES: dict[str, tuple[Callable[[Family], Iterator[Row]], str, list[str]]] = {
    "encode": (encode, "encoding by family, at rest", ["text", *SPEEDS, "library", "its MB/s", "times"]),
    "first": (first, "encoding by family, the first text after loading", ["text", *SPEEDS]),
    "documents": (documents, f"encoding by family, documents of {DOCUMENT} characters", ["text", *SPEEDS]),
    "judge": (
        judge,
        "judging by family: validate(all=True), beside decoding, encoding and comparing with gigatoken",
        ["text", "ids", "tokdfa, M ids/s", "gigatoken, M ids/s", "times"],
    ),
    "rollouts": (
        rollouts,
        "checking 10,000 rollouts of 2,000 ids, 1 % drifted",
        ["tokdfa, s"],
    ),
    "load": (load, "loading by family", ["tokdfa, ms", "library, ms", "of it", "gigatoken, ms"]),
    "process": (
        process,
        f"processes by family: start, load, encode {LENGTH:,} characters of English",
        ["of", "tokdfa", "library", "gigatoken"],
    ),
}


def main() -> None:
    arguments = sys.argv[1:]
    keep_tables(arguments)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"of {', '.join(TABLES)}; all by default")
    parser.add_argument("--family", nargs="*", default=[])
    chosen = parser.parse_args(arguments)
    if unknown := {*chosen.tables} - {*TABLES}:
        parser.error(f"no such table: {', '.join(sorted(unknown))}")
    rows: dict[str, list[Row]] = {name: [] for name in chosen.tables or TABLES}
    for family in families(chosen.family):
        for name, found in rows.items():
            for row in TABLES[name][0](family):
                print(name, *row, sep="\t", file=sys.stderr, flush=True)
                found.append(row)
    for name, found in rows.items():
        repeats = f"medians of {REPEATS}, of first texts and spoiled ids of 3, processor time"
        caption = f"{repeats}; {environment('tokenizers', 'sentencepiece', 'gigatoken')}"
        print_table(TABLES[name][1], ["file", *TABLES[name][2]], found, caption)


if __name__ == "__main__":
    main()

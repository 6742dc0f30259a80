"""Streams of ids decoded one by one and in chunks, with 0, 1 and 1,000 stop strings, by tokenizers of several families.

``TOKDFA_DATA=… TOKDFA_FAMILIES=… python -m tests.benchmarks.bench_stream_decoder [--ids N] [--family NAME…]``

The ids are of prose in English. The stop strings are pairs of its words that it does not have: with a mark at the end,
which is rare, or of letters only. Times are processor time: "first" is one stream that builds the table of effects, the
others are medians of five streams that find it, the kinds in turn; so their ratios are free of the machine's load.
Memory is the peak while ten times as many ids come in chunks of 1,000. Next to it are the streams of tokenizers, one
by one, and for the ids of cl100k the bytes of tiktoken with an incremental decoder.
"""

from __future__ import annotations

import codecs
import os
import random
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from time import process_time

import numpy as np
import numpy.typing as npt
import tokenizers
from tokenizers.decoders import DecodeStream

import tokdfa
from tests.benchmarks import encode_peers
from tests.benchmarks.bench_validate import text_of
from tests.benchmarks.families import Family, asked, families
from tests.benchmarks.harness import environment, measure, print_table

FAMILIES = ["gpt2", "llama2", "gemma2", "bert", "unigram_json", "unigram_model", "cl100k"]
N_IDS = 1_000_000
SIZES = (1, 64, 1_000, 1 << 16)
REPEATS = 5
KINDS = {"none": 0, "1": 1, "1,000 with marks": 1_000, "1,000 of letters": 1_000}


def stop_strings(text: str, kind: str) -> list[str]:
    """Return pairs of words of a text that it does not have."""
    words, drawn, found = sorted({*text[:200_000].split()}), random.Random(kind), list[str]()
    mark = "" if "letters" in kind else "~"
    while len(found) < KINDS[kind]:
        pair = f"{drawn.choice(words)} {drawn.choice(words)}{mark}"
        found += [] if pair in text else [pair]
    return found


def stream(tokenizer: tokdfa.AnyTokenizer, stops: list[str], ids: npt.NDArray[np.int32], size: int) -> None:
    """Decode a stream in chunks; in chunks of 1, as integers."""
    feed = tokdfa.StreamDecoder(tokenizer, stops).feed
    for chunk in ids.tolist() if size == 1 else (ids[at : at + size] for at in range(0, len(ids), size)):
        feed(chunk)


def timed(job: Callable[[], object]) -> float:
    """Return the processor time of one call."""
    begin = process_time()
    job()
    return process_time() - begin


def peak_memory(tokenizer: tokdfa.AnyTokenizer, stops: list[str], ids: npt.NDArray[np.int32]) -> int:
    """Return the most bytes in use at once, beyond the ids, while they are decoded ten times as one stream."""
    decoder = tokdfa.StreamDecoder(tokenizer, stops)
    tracemalloc.start()
    for begin in range(0, 10 * len(ids), 1_000):
        at = begin % len(ids)
        decoder.feed(ids[at : at + 1_000])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def rows_of(family: Family, n_ids: int) -> tuple[list[list[object]], list[list[object]]]:
    """Return the rates, and the costs in times the cost without stop strings, of one family."""
    tokenizer, text = family.tokenizer, text_of(Path(os.environ["TOKDFA_DATA"]), "english")[: 8 * n_ids]
    ids = tokenizer.encode(text)[:n_ids]
    stops = {kind: stop_strings(text, kind) for kind in KINDS}
    rates: dict[str, list[object]] = {kind: [] for kind in KINDS}
    costs: dict[str, list[object]] = {kind: [] for kind in KINDS}
    stream(tokenizer, [], ids, 1 << 16)
    first = {kind: timed(lambda: stream(tokenizer, stops[kind], ids, 1)) for kind in KINDS}  # noqa: B023
    spent = {"first": first}
    for size in SIZES:
        jobs = {kind: (lambda kind=kind, size=size: stream(tokenizer, stops[kind], ids, size)) for kind in KINDS}
        spent[f"{size:,}"] = {kind: each.median for kind, each in measure(jobs, REPEATS, process_time).items()}
    for times in spent.values():
        for kind, seconds in times.items():
            rates[kind].append(len(ids) / seconds / 1e6)
            costs[kind].append(seconds / times["none"])
    peaks = {kind: peak_memory(tokenizer, stops[kind], ids) for kind in KINDS}
    return (
        [[family.name, kind, *rates[kind], peaks[kind] / 1e6] for kind in KINDS],
        [[family.name, kind, *costs[kind]] for kind in KINDS if kind != "none"],
    )


def by_peer(family: Family, n_ids: int) -> float | None:
    """Return the millions of ids a second of the library's own stream, one by one; None if it has none."""
    ids = family.tokenizer.encode(text_of(Path(os.environ["TOKDFA_DATA"]), "english")[: 8 * n_ids])[:n_ids].tolist()
    if family.library == "tiktoken":
        spell = encode_peers.made_tiktoken(family.path, family.name).decode_single_token_bytes
        read = codecs.getincrementaldecoder("utf-8")("replace").decode
        return len(ids) / timed(lambda: [read(spell(id)) for id in ids]) / 1e6
    if family.library != "tokenizers":
        return None
    peer, decoder = tokenizers.Tokenizer.from_file(str(family.path)), DecodeStream(skip_special_tokens=False)
    return len(ids) / timed(lambda: [decoder.step(peer, id) for id in ids]) / 1e6


def main() -> None:
    """Measure, and print the tables."""
    options = asked("bench_stream_decoder", N_IDS, FAMILIES)
    rates, costs, peers = list[list[object]](), list[list[object]](), list[list[object]]()
    for family in families(options.family):
        for table, rows in zip((rates, costs), rows_of(family, options.ids), strict=True):
            table += rows
        peers.append([family.name, family.library, by_peer(family, options.ids) or ""])
    columns = ["", "stop strings", "one by one, first", "one by one", *(f"chunks of {size:,}" for size in SIZES[1:])]
    caption = environment("tokenizers", "tiktoken")
    print_table("streams of ids decoded, M ids/s", [*columns, "memory, MB"], rates, caption)
    print_table("streams of ids decoded, times the cost without stop strings", columns, costs, caption)
    print_table("streams of ids decoded one by one by their libraries", ["", "library", "M ids/s"], peers, caption)


if __name__ == "__main__":
    main()

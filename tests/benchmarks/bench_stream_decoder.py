"""Decoding streams of ids, one by one and in chunks, with 0, 1 and 1,000 stop strings; peers next to it.

Run: TOKDFA_DATA=… python -m tests.benchmarks.bench_stream_decoder [FILE…] [--ids N]

FILE is a tokenizer.json; by default GPT-2's, and Llama-2's and Gemma's in the folder that TOKDFA_FAMILIES names.
"first" is a stream that builds the table, "again" one that finds it. Each time is the least of three in processor time,
except for the first stream. "memory" is the peak while ten times as many ids are decoded in chunks of 1,000, with 1,000
stop strings, by such a second stream. tiktoken's ids are decoded one by one to bytes, and these by an incremental
decoder.
"""

from __future__ import annotations

import argparse
import codecs
import os
import random
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import tiktoken
import tokenizers
from tokenizers.decoders import DecodeStream

import tokdfa

DATA = Path(os.environ["TOKDFA_DATA"])
FAMILIES = [
    Path(os.environ.get("TOKDFA_FAMILIES", "")) / name / "package" / "models" / "tokenizer.json"
    for name in ("llama2", "gemma2")
]
SIZES = (64, 1_000, 1 << 16)


def seconds(job: Callable[[], object], times: int = 3) -> float:
    """Return the least processor time of a job."""
    spent = []
    for _ in range(times):
        begun = time.process_time()
        job()
        spent.append(time.process_time() - begun)
    return min(spent)


def show(what: str, n: int, spent: float) -> None:
    """Print a rate."""
    print(f"  {what:<44}{n / spent / 1e6:9.2f} M ids/s")


def stop_strings(text: str, n: int) -> list[str]:
    """Return strings of two words of a text that it does not have."""
    words, drawn = sorted({*text[:200_000].split()}), random.Random(n)
    return [f"{drawn.choice(words)} {drawn.choice(words)}~" for _ in range(n)]


def peak_memory(tokenizer: tokdfa.AnyTokenizer, stops: list[str], ids: npt.NDArray[np.int32]) -> int:
    """Return the most bytes in use at once, beyond the ids, while they are decoded ten times as one stream."""
    peak = 0
    for times in (1, 10):
        decoder = tokdfa.StreamDecoder(tokenizer, stops)
        tracemalloc.start()
        for _ in range(times):
            for begin in range(0, len(ids), 1_000):
                decoder.feed(ids[begin : begin + 1_000])
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak


def measure(path: Path, text: str, n_ids: int) -> None:
    """Print the rates of one tokenizer."""
    tokenizer = tokdfa.load(path)
    ids = tokenizer.encode(text)[:n_ids]
    listed = ids.tolist()
    print(f"{path}: {len(ids):,} ids")
    for n in (0, 1, 1_000):
        stops = stop_strings(text, n)

        def one_by_one(stops: list[str] = stops) -> None:
            feed = tokdfa.StreamDecoder(tokenizer, stops).feed
            for id in listed:
                feed(id)

        show(f"one by one, {n:,} stop strings, first", len(ids), seconds(one_by_one, 1))
        show(f"one by one, {n:,} stop strings, again", len(ids), seconds(one_by_one))
        for size in SIZES:

            def in_chunks(stops: list[str] = stops, size: int = size) -> None:
                decoder = tokdfa.StreamDecoder(tokenizer, stops)
                for begin in range(0, len(ids), size):
                    decoder.feed(ids[begin : begin + size])

            show(f"chunks of {size:,}, {n:,} stop strings", len(ids), seconds(in_chunks))
    print(f"  memory: {peak_memory(tokenizer, stops, ids):,} bytes")
    peer = tokenizers.Tokenizer.from_file(str(path))

    def of_tokenizers() -> None:
        stream = DecodeStream(skip_special_tokens=False)
        for id in listed:
            stream.step(peer, id)

    show("tokenizers, DecodeStream", len(ids), seconds(of_tokenizers, 1))


def measure_tiktoken(text: str, n_ids: int) -> None:
    """Print the rate of tiktoken, next to ours for the same ids."""
    path = DATA / "vocabs" / "cl100k_base.tiktoken"
    tokenizer = tokdfa.load(path, pretokenizer="cl100k")
    ids = tokenizer.encode(text)[:n_ids].tolist()
    ranks = {tokenizer.decode_bytes([id]): id for id in range(100_256)}
    peer = tiktoken.Encoding("cl100k", pat_str=r"[\s\S]", mergeable_ranks=ranks, special_tokens={})

    def of_tiktoken() -> None:
        spell, read = peer.decode_single_token_bytes, codecs.getincrementaldecoder("utf-8")("replace").decode
        for id in ids:
            read(spell(id))

    def ours() -> None:
        feed = tokdfa.StreamDecoder(tokenizer).feed
        for id in ids:
            feed(id)

    print(f"{path}: {len(ids):,} ids")
    show("one by one", len(ids), seconds(ours))
    show("tiktoken, decode_single_token_bytes", len(ids), seconds(of_tiktoken))


def main() -> None:
    """Measure the tokenizers that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "files",
        nargs="*",
        type=Path,
        default=[DATA / "vocabs" / "gpt2" / "tokenizer.json", *filter(Path.is_file, FAMILIES)],
    )
    parser.add_argument("--ids", type=int, default=1_000_000)
    options = parser.parse_args()
    corpus = sorted((DATA / "corpora").rglob("*.txt"))[0]
    text = corpus.read_text(encoding="utf-8", errors="ignore")[: 8 * options.ids]
    for path in options.files:
        measure(path, text, options.ids)
    measure_tiktoken(text, options.ids)


if __name__ == "__main__":
    main()

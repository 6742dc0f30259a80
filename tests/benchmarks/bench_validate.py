"""Validation side by side: tokdfa, and peers that decode, encode again and compare.

Run from the top of the repository, with TOKDFA_DATA naming the folder of tokenizers and corpora:
``python -m tests.benchmarks.bench_validate``; with ``--stream GIGABYTES`` the growth of time and memory over a stream
that is generated on disk, instead.
"""

from __future__ import annotations

import argparse
import base64
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np
import numpy.typing as npt
import regex

import tokdfa
from tests.benchmarks.encode_peers import PEERS, Peer
from tests.benchmarks.harness import environment, keep_tables, measure, peak_memory, print_table
from tokdfa.stores import iter_ids

CORPORA = ("english.txt", "python_code.txt", "multilingual.txt")
TOKENIZERS = ("cl100k", "o200k")
LENGTH = 2_000_000


def _decoder(path: Path) -> Callable[[npt.NDArray[np.int32]], str]:
    """Return the fastest way to decode for peers that have none: joining bytes from a list."""
    rows = (line.split() for line in path.read_bytes().splitlines() if line)
    word_of = {int(rank): base64.b64decode(word) for word, rank in rows}
    words = [word_of.get(rank, b"") for rank in range(max(word_of) + 1)]
    return lambda ids: b"".join(map(words.__getitem__, ids.tolist())).decode("utf-8")


def throughput(path: Path, name: str, text: str) -> tuple[int, dict[str, float]]:
    """Return the number of ids, and the millions of them a second that each way judges."""
    tokenizer = tokdfa.load(path, pretokenizer=name)
    ids = tokenizer.encode(text)
    decode = _decoder(path)

    def ours() -> None:
        assert tokenizer.validate(ids)

    def by_encoding(peer: Peer) -> Callable[[], None]:
        encode = peer.make(path, name)

        def run() -> None:
            # Its own ids, if it does not have the file's: what is measured is the work.
            np.array_equal(ids, np.asarray(encode(decode(ids))))

        return run

    ways: dict[str, Callable[[], object]] = {"tokdfa": ours}
    ways |= {peer.name: by_encoding(peer) for peer in PEERS if peer.name != "tokdfa"}
    # The table of pairs is built when enough ids have come.
    for _ in range(1 + 9 * tokenizer.n_ids // len(ids)):
        ours()
    return len(ids), {way: len(ids) / 1e6 / measured.median for way, measured in measure(ways).items()}


def side_by_side(data: Path) -> None:
    """Print the throughput of all ways on all corpora."""
    rows: list[list[object]] = []
    for name in TOKENIZERS:
        for corpus in CORPORA:
            text = (data / "corpora" / corpus).read_text("utf-8")[:LENGTH]
            n_ids, speed = throughput(data / "vocabs" / f"{name}_base.tiktoken", name, text)
            best = max(value for way, value in speed.items() if way != "tokdfa")
            rows.append([name, corpus.removesuffix(".txt"), n_ids, *speed.values(), f"{speed['tokdfa'] / best:.1f}"])
    columns = ["tokenizer", "text", "ids", *(peer.name for peer in PEERS), "times the best"]
    packages = [peer.package for peer in PEERS if peer.package != "tokdfa"]
    caption = f"peers decode, encode and compare; {environment(*packages)}"
    print_table("Validation, million tokens a second, one thread, median of 5", columns, rows, caption)


def growth(data: Path, gigabytes: float) -> None:
    """Print time and memory over streams of growing length, mapped from a file."""
    name = "cl100k"
    tokenizer = tokdfa.load(data / "vocabs" / f"{name}_base.tiktoken", pretokenizer=name)
    text = (data / "corpora" / "english.txt").read_text("utf-8")
    # A stretch that can be repeated: it begins with a space and a letter, and ends where such a word began.
    borders = [match.start() + 1 for match in regex.finditer(r"\p{L} \p{L}", text)]
    ids = tokenizer.encode(text[borders[0] : borders[-1]]).astype(np.uint32)
    rows: list[list[object]] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stream.bin"
        total = int(gigabytes * 1e9 / 4)
        with path.open("wb") as file:
            for _ in range(-(-total // len(ids))):
                file.write(ids.tobytes())
        size = path.stat().st_size // 4
        for part in (size // 64, size // 16, size // 4, size):
            part_path = Path(folder) / "part.bin"
            if part < size:
                np.memmap(path, dtype=np.uint32, mode="r")[:part].tofile(part_path)
            began = perf_counter()
            verdict = tokenizer.validate(iter_ids(part_path if part < size else path, dtype="uint32"))
            seconds = perf_counter() - began
            assert verdict.tokens == part
            # A stream that is cut off may end wrongly, and only there.
            assert verdict or (verdict.index or 0) > part - 8
            rows.append([part * 4 / 1e9, part / 1e6, seconds, part / 1e6 / seconds, f"{_resident() / 1e6:.0f} MB"])
    caption = f"{environment('numpy')}; peak memory {peak_memory() / 1e6:.0f} MB, mapped pages of the file included"
    columns = ["GB", "million ids", "seconds", "million a second", "resident, file pages left out"]
    print_table("Validation of a stream on disk, cl100k, English, one thread", columns, rows, caption)


def _resident() -> int:
    """Return the bytes in memory that are this process's own."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) * 1024
    return 0


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--stream", type=float, metavar="GIGABYTES")
    arguments = parser.parse_args()
    data = Path(os.environ["TOKDFA_DATA"])
    if arguments.stream is None:
        side_by_side(data)
    else:
        growth(data, arguments.stream)


if __name__ == "__main__":
    keep_tables(sys.argv)
    main()

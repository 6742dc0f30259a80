"""Training against other trainers, each called in turn in one process; peak memory in a process of its own.

    TOKDFA_DATA=… python -m tests.benchmarks.bench_train [--case fra|english|mix|part] [--threads N] [--only NAME …]

With one thread the process is held to one processor; with more every trainer that has threads has as many. Each trains
in its fastest documented way: tokenizers, gigatoken, sentencepiece and subword-nmt read the file, sentencepiece without
a normalizer; rustbpe and bpeasy take strings, and are fastest on long ones, of 64 kB here, bpeasy all in one batch.
Everybody splits by GPT-2's pattern and starts from the 256 bytes but sentencepiece and subword-nmt, which start from
the characters of the words between spaces. Merges are compared with ours under the other's tie rule, fed with the units
that it reads.

The mix is the four corpora and then their lines in random orders, up to 100 MB. The part is the beginning of the
English sentences, short enough for the plain loops, which count all pairs afresh for every merge.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from tests.benchmarks.harness import Measurement, environment, keep_tables, print_table

CASES = {
    "fra": ("fra_eng_en.txt", 10_000),
    "english": ("english.txt", 32_000),
    "mix": (None, 32_000),
    "part": ("fra_eng_en.txt", 300),
}
BLOCK = 1 << 16
MIX_BYTES = 100_000_000
PART_BYTES = 500_000
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

# The tokens made, in the order of the merges.
Products = list[bytes]


def ours(path: str, merges: int, threads: int) -> Products:
    return trained(path, merges, threads, "huggingface", "file")


def trained(path: str, merges: int, threads: int, tie: Any, unit: Any) -> Products:
    """Return what we make under the rule of another trainer; `ids` is the least pair of ids, bytes by their values."""
    from tokdfa.training.api import Reading, count_corpus_pieces
    from tokdfa.training.greedy import train_greedy

    pieces = count_corpus_pieces(path, Reading(unit=unit), threads=threads)
    if tie != "ids":
        return [u + v for u, v in train_greedy(pieces, merges, tie=tie, count="overlapping")]
    # Characters are numbered in their order, which as Latin 1 is the order of the bytes.
    characters = {piece.decode("latin-1"): count for piece, count in pieces.items()}
    alphabet = bytes(range(256)).decode("latin-1")
    rules = train_greedy(characters, merges, tie="huggingface", count="overlapping", alphabet=alphabet)
    return [(u + v).encode("latin-1") for u, v in rules]


def plain(path: str, merges: int, threads: int) -> Products:
    """Train as minbpe does: all chunks in order, counted afresh for each merge, the first seen of the most frequent."""
    import regex

    text = Path(path).read_bytes().decode()
    chunks = [list(piece.encode()) for piece in regex.findall(GPT2, text)]
    words = [bytes([byte]) for byte in range(256)]
    while len(words) < 256 + merges:
        counts: dict[tuple[int, int], int] = {}
        for chunk in chunks:
            for pair in pairwise(chunk):
                counts[pair] = counts.get(pair, 0) + 1
        best = max(counts, key=counts.__getitem__)
        for number, chunk in enumerate(chunks):
            chunks[number] = _replaced(chunk, best, len(words))
        words.append(words[best[0]] + words[best[1]])
    return words[256:]


def plain_unique(path: str, merges: int, threads: int) -> Products:
    """Train likewise on unique chunks with their counts, looking only at those that have the pair; first seen wins."""
    from collections import Counter

    import regex

    text = Path(path).read_bytes().decode()
    counted = Counter(regex.findall(GPT2, text))
    chunks = [list(piece.encode()) for piece in counted]
    weights = list(counted.values())
    words = [bytes([byte]) for byte in range(256)]
    counts: Counter[tuple[int, int]] = Counter()
    where: dict[tuple[int, int], set[int]] = {}
    for number, chunk in enumerate(chunks):
        for pair in pairwise(chunk):
            counts[pair] += weights[number]
            where.setdefault(pair, set()).add(number)
    while len(words) < 256 + merges:
        most = max(counts.values())
        tied = [pair for pair, count in counts.items() if count == most]
        if len(tied) > 1:
            firsts = {pair: min(number for number in where[pair] if pair in pairwise(chunks[number])) for pair in tied}
            tied.sort(key=lambda pair: (firsts[pair], list(pairwise(chunks[firsts[pair]])).index(pair)))
        best = tied[0]
        for number in where[best]:
            chunk = chunks[number]
            for pair in pairwise(chunk):
                counts[pair] -= weights[number]
            chunks[number] = chunk = _replaced(chunk, best, len(words))
            for pair in pairwise(chunk):
                counts[pair] += weights[number]
                where.setdefault(pair, set()).add(number)
        del counts[best]
        words.append(words[best[0]] + words[best[1]])
    return words[256:]


def _replaced(chunk: list[int], pair: tuple[int, int], new: int) -> list[int]:
    out, at = [], 0
    while at < len(chunk):
        if at + 1 < len(chunk) and (chunk[at], chunk[at + 1]) == pair:
            out.append(new)
            at += 2
        else:
            out.append(chunk[at])
            at += 1
    return out


def theirs_tokenizers(path: str, merges: int, threads: int) -> Products:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    from tokdfa.regex.unicode.utf8 import BYTE_OF

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train(
        [path],
        trainers.BpeTrainer(vocab_size=256 + merges, min_frequency=2, show_progress=False, initial_alphabet=alphabet),
    )
    rows = json.loads(tokenizer.to_str())["model"]["merges"]
    parts = [row if isinstance(row, list) else row.split(" ") for row in rows]
    return [bytes(map(BYTE_OF.__getitem__, u + v)) for u, v in parts]


def blocks(path: str) -> Iterator[str]:
    """Yield a file in parts of some 64 kB; between parts no white space but one newline, so that no piece is cut."""
    with open(path, encoding="utf-8", newline="\n") as stream:
        block = stream.readlines(BLOCK)
        while block:
            follows = stream.readline()
            while follows and (follows[0].isspace() or block[-1][-2:-1].isspace() or not block[-1][:-1]):
                block.append(follows)
                follows = stream.readline()
            yield "".join(block)
            block = [follows, *stream.readlines(BLOCK)] if follows else []


def theirs_rustbpe(path: str, merges: int, threads: int) -> Products:
    import rustbpe

    tokenizer = rustbpe.Tokenizer()
    tokenizer.train_from_iterator(blocks(path), 256 + merges, pattern=GPT2)
    return [bytes(word) for word, rank in tokenizer.get_mergeable_ranks() if rank >= 256]


def theirs_gigatoken(path: str, merges: int, threads: int) -> Products:
    import gigatoken

    return [u + v for u, v in gigatoken.train_bpe(Path(path), 256 + merges, [])[1]]


def theirs_bpeasy(path: str, merges: int, threads: int) -> None:
    import bpeasy

    bpeasy.train_bpe(blocks(path), GPT2, 128, 256 + merges, batch_size=1 << 20)


def theirs_sentencepiece(path: str, merges: int, threads: int) -> None:
    import sentencepiece

    with tempfile.TemporaryDirectory() as folder:
        sentencepiece.SentencePieceTrainer.train(
            input=path, model_prefix=f"{folder}/m", vocab_size=256 + merges, model_type="bpe", num_threads=threads,
            hard_vocab_limit=False, character_coverage=1.0, minloglevel=2, max_sentence_length=1 << 20,
            normalization_rule_name="identity",
        )  # fmt: skip


def theirs_subword_nmt(path: str, merges: int, threads: int) -> None:
    from subword_nmt.learn_bpe import learn_bpe

    with open(path, encoding="utf-8") as lines:
        learn_bpe(lines, io.StringIO(), merges, num_workers=threads)


TRAINERS: dict[str, Callable[[str, int, int], Products | None]] = {
    "tokdfa": ours,
    "gigatoken": theirs_gigatoken,
    "rustbpe": theirs_rustbpe,
    "sentencepiece": theirs_sentencepiece,
    "tokenizers": theirs_tokenizers,
    "bpeasy": theirs_bpeasy,
    "subword-nmt": theirs_subword_nmt,
    "plain loop, unique chunks": plain_unique,
    "plain loop, as minbpe": plain,
}
PLAIN = [name for name in TRAINERS if name.startswith("plain")]
# A trainer in Python takes minutes for more than the sentences.
SLOW = ["subword-nmt"]
WAYS = {
    "gigatoken": "train_bpe(Path)",
    "rustbpe": "train_from_iterator(strings of 64 kB)",
    "sentencepiece": "train(input=file, normalization_rule_name=identity)",
    "tokenizers": "train([file])",
    "bpeasy": "train_bpe(strings of 64 kB, one batch)",
    "subword-nmt": "learn_bpe(file, num_workers=threads)",
}
# The tie rule and the unit of the trainers with a known rule.
RULES = {
    "tokdfa": ("huggingface", "file"),
    "gigatoken": ("huggingface", "file"),
    "tokenizers": ("huggingface", "line"),
    "rustbpe": ("ids", "file"),
    **dict.fromkeys(PLAIN, ("first-seen", "file")),
}


@contextlib.contextmanager
def silence() -> Any:
    """Discard the output of other libraries, from any language."""
    kept, nowhere = [os.dup(1), os.dup(2)], os.open(os.devnull, os.O_WRONLY)
    try:
        sys.stdout.flush()
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        yield
    finally:
        for place, handle in enumerate(kept, 1):
            os.dup2(handle, place)
            os.close(handle)
        os.close(nowhere)


def own_peak_memory() -> int:
    """Return the most bytes this process has held; getrusage includes its parent's when it forked."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def corpus(case: str, folder: Path) -> str:
    """Return the path of a corpus."""
    data = Path(os.environ["TOKDFA_DATA"]) / "corpora"
    name = CASES[case][0]
    if name is not None and case != "part":
        return str(data / name)
    out = folder / f"{case}.txt"
    if name is not None:
        out.write_bytes((data / name).read_bytes()[:PART_BYTES].rpartition(b"\n")[0] + b"\n")
        return str(out)
    text = b"".join(source.read_bytes() for source in sorted(data.glob("*.txt")))
    lines = text.splitlines(keepends=True)
    dice = random.Random(0)
    with out.open("wb") as stream:
        stream.write(text)
        while stream.tell() < MIX_BYTES:
            dice.shuffle(lines)
            stream.write(b"".join(lines)[: MIX_BYTES - stream.tell()].rpartition(b"\n")[0] + b"\n")
            if stream.tell() > MIX_BYTES - max(map(len, lines)):
                break
    return str(out)


def peaks(chosen: list[str], case: str, threads: int, path: str) -> dict[str, int]:
    """Return the most memory that each trainer takes in a process of its own, all that is imported included."""
    memory = {}
    for trainer in chosen:
        command = [sys.executable, "-m", "tests.benchmarks.bench_train", "--case", case, "--threads", str(threads)]
        done = subprocess.run([*command, "--peak", trainer, path], capture_output=True, check=True)
        memory[trainer] = int(done.stdout)
    return memory


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--case", choices=CASES, default="fra")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", nargs="*", help="these and tokdfa; by default all that end")
    parser.add_argument("--peak", nargs=2, metavar=("TRAINER", "PATH"), help="run one once and print its peak memory")
    options = parser.parse_args()
    case, threads = options.case, options.threads
    os.environ["RAYON_NUM_THREADS"] = str(threads)
    os.environ["TOKENIZERS_PARALLELISM"] = "true" if threads > 1 else "false"
    if threads == 1 and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    merges = CASES[case][1]
    if options.peak:
        with silence():
            TRAINERS[options.peak[0]](options.peak[1], merges, threads)
        print(own_peak_memory())
        return
    left_out = {"part": [], "fra": PLAIN}.get(case, PLAIN + SLOW)
    wanted = options.only or [name for name in TRAINERS if name not in left_out]
    chosen = [name for name in TRAINERS if name == "tokdfa" or name in wanted]
    with tempfile.TemporaryDirectory() as folder:
        path = corpus(case, Path(folder))
        # The first call of each does not count.
        results = {}
        seconds: dict[str, list[float]] = {name: [] for name in chosen}
        processor: dict[str, list[float]] = {name: [] for name in chosen}
        with silence():
            for repeat in range(options.repeats + 1):
                for name in chosen:
                    began, began_processor = perf_counter(), process_time()
                    found = TRAINERS[name](path, merges, threads)
                    if repeat == 0:
                        results[name] = found
                        continue
                    seconds[name].append(perf_counter() - began)
                    processor[name].append(process_time() - began_processor)
        memory = peaks(chosen, case, threads, path)
        size = os.path.getsize(path)
        rules = {RULES[name] for name in chosen if name in RULES}
        expected = {rule: trained(path, merges, threads, *rule) for rule in rules}
    # One thread is judged by its processor time: where other programs run as well, who runs long waits for them more.
    judged = processor if threads == 1 else seconds
    times = {name: Measurement(tuple(values)).median for name, values in judged.items()}
    rows: list[list[object]] = []
    for name in chosen:
        same = "its own rule" if results[name] is None else "yes" if results[name] == expected[RULES[name]] else "no"
        rows.append(
            [name, times[name], size / 1e6 / times[name], min(judged[name]),
             Measurement(tuple(seconds[name])).median, times[name] / times["tokdfa"], memory[name] / 2**20, same]
        )  # fmt: skip
    packages = [name for name in chosen if name != "tokdfa" and name not in PLAIN]
    clock = "processor time" if threads == 1 else "time by the clock"
    ways = "; ".join(f"{name}: {WAYS[name]}" for name in packages)
    print_table(
        f"{case}: {size:,} bytes, {merges:,} merges, {threads} thread(s)",
        [
            "trainer",
            f"median of {options.repeats}, s",
            "MB/s",
            "least, s",
            "by the clock, s",
            "× tokdfa",
            "peak MiB",
            "same merges",
        ],
        rows,
        f"{clock}, in turn; {ways}; {environment(*packages)}",
    )


if __name__ == "__main__":
    keep_tables(sys.argv)
    main()

"""How the processor time of every job grows with the size of ordinary text, or of the vocabulary, as that doubles.

``TOKDFA_DATA=… python -m tests.benchmarks.bench_growth [longest [jobs…]]``, 64 MB by default: a minute. With 1073741824
it goes to 1 GB in some ten minutes, as far as memory allows; ``--json figures/measurements/growth_jobs.json`` keeps the
tables for the figure. The text is the ASCII part of the corpora, so that a string has a byte a character, its
paragraphs in random orders and some of them with two letters exchanged, so that there are always new words. A job stops
where a run would take more than 30 seconds.

Time is processor time of the program and of the system on its behalf, in the fastest of three runs, or in one if that
takes long. A ratio compares the program's time for twice as much. The system spends its time almost only on
bringing new memory for results: next to it is the time that the system needs to bring as much memory as the run has
taken more of than was there, to a program that only writes zeros to it ("memory alone"). A virtual machine may take a
second for a gigabyte that its host has to find first, and a tenth of that when the machine itself has it free; so that
time is not a property of a job. The exit status is 1 if a ratio of two times above a tenth of a second is above 2.1.
Hostile texts are in `bench_hostile_growth`, numbers of merges and of symbols in `bench_train_growth`, sizes of
dictionaries in `bench_fold_growth`.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from functools import cache
from math import log
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias

import numpy as np

import tokdfa
from tests.benchmarks.harness import environment, keep_tables, print_table

FIRST = 1 << 20
LONGEST_RUN = 30.0
# A run that takes longer is not repeated twice, and one that takes longer still not once.
THREE_RUNS, TWO_RUNS = 1.0, 4.0
# Number of lines of a paragraph, and the share of paragraphs that are changed in each copy of the corpora.
LINES_EACH = 20
CHANGED = 0.03
MEASURABLE = 0.1
MOST = 2.1
# Bytes of memory for each byte of text, most of them for Unigram, where texts become strings of two bytes a character.
BYTES_EACH = 10
MERGES = 10_000
PIECES = 8_000

Work: TypeAlias = Callable[[], object]


def data() -> Path:
    return Path(os.environ["TOKDFA_DATA"])


@cache
def paragraphs() -> list[str]:
    """Return the corpora, of their symbols within ASCII, cut after every few lines."""
    texts = [path.read_bytes().decode("ascii", "ignore") for path in sorted((data() / "corpora").glob("*.txt"))]
    lines = "".join(texts).splitlines(keepends=True)
    return ["".join(lines[at : at + LINES_EACH]) for at in range(0, len(lines), LINES_EACH)]


class Longest:
    """The longest text that was asked for; all others are its beginnings."""

    text = ""

    def make(self, size: int) -> None:
        """Make a text of this number of bytes."""
        dice, parts, length = random.Random(1), [], 0
        while length < size:
            # Changed anew each time: changes upon changes would make a text of ever rarer words, and so of more tokens.
            mixed = paragraphs().copy()
            dice.shuffle(mixed)
            for place in dice.sample(range(len(mixed)), int(CHANGED * len(mixed)) if parts else 0):
                one, other = dice.sample("abcdefghiklmnoprstuvwy", 2)
                mixed[place] = mixed[place].translate({ord(one): other, ord(other): one})
            parts.append("".join(mixed))
            length += len(parts[-1])
        self.text = "".join(parts)[:size]


LONGEST = Longest()


def text_of(size: int) -> str:
    """Return a text of this number of bytes."""
    if len(LONGEST.text) < size:
        LONGEST.make(size)
    return LONGEST.text[:size]


@cache
def byte_pairs() -> Any:
    return tokdfa.load(data() / "vocabs/cl100k_base.tiktoken", pretokenizer="cl100k")


@cache
def word_pieces() -> Any:
    return tokdfa.load(data() / "vocabs/bert_uncased_vocab.txt")


@cache
def unigram() -> Any:
    """Return a Unigram tokenizer of the most frequent words and all symbols, scored by how frequent they are."""
    counts = Counter("\u2581" + word for paragraph in paragraphs() for word in paragraph.split())
    pieces = dict(counts.most_common(PIECES))
    pieces |= dict.fromkeys(sorted(set("".join([*paragraphs(), *pieces])) - pieces.keys()), 1)
    total = sum(pieces.values())
    vocab = [["<unk>", 0.0], *([piece, log(count / total)] for piece, count in pieces.items())]
    metaspace = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "never", "split": True}
    fields = {
        **dict.fromkeys(("truncation", "padding", "normalizer", "post_processor")),
        **{"version": "1.0", "added_tokens": [], "pre_tokenizer": metaspace, "decoder": metaspace},
        "model": {"type": "Unigram", "unk_id": 0, "vocab": vocab, "byte_fallback": False},
    }
    return tokdfa.load(json.dumps(fields).encode())


def on_text(tokenizer: Callable[[], Any]) -> Callable[[int, Path], Work]:
    """Return a job that encodes a text."""

    def begin(size: int, folder: Path) -> Work:
        text, known = text_of(size), tokenizer()
        return lambda: known.encode(text)

    return begin


def on_ids(
    work: Callable[[Any, Any], object], tokenizer: Callable[[], Any] = byte_pairs
) -> Callable[[int, Path], Work]:
    """Return a job on the ids of a text."""

    def begin(size: int, folder: Path) -> Work:
        known = tokenizer()
        ids = known.encode(text_of(size))
        return lambda: work(known, ids)

    return begin


def validated(tokenizer: Any, ids: Any) -> None:
    """Validate ids, and require that all are judged."""
    verdict = tokenizer.validate(ids)
    if not verdict:
        raise AssertionError(f"not canonical: {verdict.reason}")


def training(size: int, folder: Path) -> Work:
    path = folder / "text"
    path.write_text(text_of(size), encoding="ascii")
    return lambda: tokdfa.train(path, MERGES)


def comparing(size: int, folder: Path) -> Work:
    """Compare two spellings of one pattern over the first tokens of o200k."""
    ranks = (data() / "vocabs/o200k_base.tiktoken").read_bytes().splitlines(keepends=True)
    path = folder / "ranks.tiktoken"
    path.write_bytes(b"".join(ranks[:size]))
    sides = [tokdfa.load(path, pretokenizer=name) for name in ("cl100k", "llama3")]
    for side in sides:
        side.encode("warm")
    return lambda: tokdfa.compare(*sides)


JOBS: dict[str, Callable[[int, Path], Work]] = {
    "train": training,
    "encode": on_text(byte_pairs),
    "encode, WordPiece": on_text(word_pieces),
    "encode, Unigram": on_text(unigram),
    "decode": on_ids(lambda tokenizer, ids: tokenizer.decode_bytes(ids)),
    "validate": on_ids(validated),
    "validate, WordPiece": on_ids(validated, word_pieces),
    "validate, Unigram": on_ids(validated, unigram),
    "search": on_ids(lambda tokenizer, ids: tokenizer.search("zebra|[0-9]{7}", ids)),
    "replace": on_ids(lambda tokenizer, ids: tokdfa.Replacer(tokenizer, "zebra", "horse").replace(ids)),
    "compare": comparing,
}
# The job with a number of tokens as its size, and the first and last size.
TOKENS = {"compare": (12_500, 200_000)}


def fits(size: int) -> bool:
    """Return whether a text of this size and its results leave a quarter of the free memory."""
    path = Path("/proc/meminfo")
    if not path.exists():
        return True
    free = int(path.read_text(encoding="ascii").split("MemAvailable:")[1].split()[0]) * 1024
    return BYTES_EACH * size < free * 0.75


class Spent(NamedTuple):
    """The cost of a run: seconds of the program and of the system, pages that were brought, and bytes of memory.

    `new` are the bytes that the process held at most beyond those from before the run, `peak` all that it held, the
    longest text among it; None where the system does not say.
    """

    user: float
    system: float
    pages: int
    new: int | None
    peak: int | None


def spent(work: Work, expected: float) -> Spent:
    """Return what the fastest of three runs takes, of fewer where that takes long."""
    runs = []
    for _ in range(3 if expected < THREE_RUNS else 2 if expected < TWO_RUNS else 1):
        held = _forget_peak()
        before = getrusage(RUSAGE_SELF)
        result = work()
        after = getrusage(RUSAGE_SELF)
        peak = _bytes_of("VmHWM") if held is not None else None
        del result
        user, system = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
        new = None if peak is None or held is None else max(peak - held, 0)
        runs.append(Spent(user, system, after.ru_minflt - before.ru_minflt, new, peak))
    return min(runs, key=lambda run: run.user)


def memory_alone(size: int) -> float:
    """Return the time that the system takes to bring this number of bytes to a program that only writes zeros."""
    before = getrusage(RUSAGE_SELF).ru_stime
    np.empty(size, dtype=np.uint8).fill(0)
    return getrusage(RUSAGE_SELF).ru_stime - before


def _forget_peak() -> int | None:
    """Let the most bytes that the process has held begin anew, and return how many it holds; None if that fails."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return None
    return _bytes_of("VmRSS")


def _bytes_of(name: str) -> int:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split(f"{name}:")[1].split()[0]) * 1024


def main(longest: int, jobs: list[str]) -> int:
    """Measure and print; return 1 if something grows faster than in proportion."""
    worst = 0.0
    began = perf_counter()
    if fits(longest):
        # So that all sizes are beginnings of one text.
        text_of(longest)
    for job in jobs:
        rows: list[list[object]] = []
        before = 0.0
        first, last = TOKENS.get(job, (FIRST, longest))
        sizes = [first << doubling for doubling in range((last // first).bit_length())]
        for size in sizes:
            why = None if job in TOKENS or fits(size) else "it does not fit into memory"
            why = f"it would take {2 * before:.0f} s" if 2 * before > LONGEST_RUN else why
            if why is not None:
                rows.append([f"{size:,}", f"not run: {why}", *[""] * 6])
                break
            with tempfile.TemporaryDirectory() as folder:
                work = JOBS[job](size, Path(folder))
                run = spent(work, 2 * before)
                del work
            ratio = run.user / before if before else None
            if ratio is not None and before >= MEASURABLE:
                worst = max(worst, ratio)
            alone = "" if run.new is None else memory_alone(run.new)
            peak = "" if run.peak is None else run.peak / 1e6
            shown = [f"{ratio:.2f}" if ratio else "", size / 1e6 / (run.user + run.system)]
            rows.append([f"{size:,}", run.user, *shown, run.system, alone, run.pages, peak])
            before = run.user
        unit = "tokens" if job in TOKENS else "bytes"
        caption = f"processor time, the least of up to three runs; {environment('numpy')}"
        columns = [unit, "s", "ratio per doubling", f"M {unit}/s", "s of the system", "s of memory alone", "pages"]
        print_table(f"Growth: {job}", [*columns, "peak MB"], rows, caption)
    print(f"the largest ratio of times above {MEASURABLE} s: {worst:.2f}; {perf_counter() - began:.0f} s in all")
    return int(worst > MOST)


if __name__ == "__main__":
    keep_tables(sys.argv)
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1 << 26, sys.argv[2:] or list(JOBS)))

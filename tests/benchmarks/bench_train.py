"""Training against other trainers, each called in turn in one process; peak memory in a process of its own.

    TOKDFA_DATA=… python -m tests.benchmarks.bench_train [--threads N] [--case fra|english|mix] [--repeats N]

The corpora are read from files by all who can, and handed over as lines to the others. Everybody but sentencepiece
splits by GPT-2's pattern and starts from the 256 bytes.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

CASES = {"fra": ("fra_eng_en.txt", 10_000), "english": ("english.txt", 32_000), "mix": (None, 32_000)}
MIX_BYTES = 100_000_000
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

Merges = list[tuple[bytes, bytes]]


def ours(path: str, merges: int, threads: int) -> Merges:
    from tokdfa.train.from_corpus import Reading, count_corpus_pieces
    from tokdfa.train.greedy import train_greedy

    pieces = count_corpus_pieces(path, Reading(), threads=threads)
    return [tuple(rule) for rule in train_greedy(pieces, merges, tie="huggingface", count="overlapping")]  # type: ignore[misc]


def theirs_tokenizers(path: str, merges: int, threads: int) -> Merges:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    from tokdfa.tokenizers.formats.byte_alphabet import BYTE_OF

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train(
        [path],
        trainers.BpeTrainer(vocab_size=256 + merges, min_frequency=2, show_progress=False, initial_alphabet=alphabet),
    )
    rows = json.loads(tokenizer.to_str())["model"]["merges"]
    parts = [row if isinstance(row, list) else row.split(" ") for row in rows]
    return [(bytes(map(BYTE_OF.__getitem__, u)), bytes(map(BYTE_OF.__getitem__, v))) for u, v in parts]


def theirs_rustbpe(path: str, merges: int, threads: int) -> None:
    import rustbpe

    with open(path, encoding="utf-8", newline="\n") as lines:
        rustbpe.Tokenizer().train_from_iterator(lines, 256 + merges, pattern=GPT2)


def theirs_gigatoken(path: str, merges: int, threads: int) -> Merges:
    import gigatoken

    return gigatoken.train_bpe(Path(path), 256 + merges, [])[1]


def theirs_bpeasy(path: str, merges: int, threads: int) -> None:
    import bpeasy

    with open(path, encoding="utf-8", newline="\n") as lines:
        bpeasy.train_bpe(lines, GPT2, 128, 256 + merges)


def theirs_sentencepiece(path: str, merges: int, threads: int) -> None:
    import sentencepiece

    with tempfile.TemporaryDirectory() as folder:
        sentencepiece.SentencePieceTrainer.train(
            input=path, model_prefix=f"{folder}/m", vocab_size=256 + merges, model_type="bpe", num_threads=threads,
            hard_vocab_limit=False, character_coverage=1.0, minloglevel=2, max_sentence_length=1 << 20,
        )  # fmt: skip


TRAINERS: dict[str, Callable[[str, int, int], Merges | None]] = {
    "tokdfa": ours,
    "tokenizers": theirs_tokenizers,
    "rustbpe": theirs_rustbpe,
    "gigatoken": theirs_gigatoken,
    "sentencepiece": theirs_sentencepiece,
    "bpeasy": theirs_bpeasy,
}


@contextlib.contextmanager
def silence() -> Any:
    """Send what other libraries print, from whatever language, nowhere."""
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
    """Return the most bytes this process has held; what getrusage tells includes those of its parent when it forked."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def corpus(name: str | None, folder: Path) -> str:
    """Return the path of a corpus; the mix is the corpora and then the sources of the installed packages."""
    data = Path(os.environ["TOKDFA_DATA"]) / "corpora"
    if name is not None:
        return str(data / name)
    site = Path(json.__file__).parents[1]
    packages = [Path(path) for path in sys.path if path.endswith("site-packages")]
    sources = sorted(data.glob("*.txt")) + [path for root in (*packages, site) for path in sorted(root.rglob("*.py"))]
    out = folder / "mix.txt"
    with out.open("wb") as stream:
        for source in sources:
            with contextlib.suppress(UnicodeDecodeError, OSError):
                stream.write(source.read_bytes().decode().encode())
            if stream.tell() >= MIX_BYTES:
                break
    return str(out)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--case", choices=CASES, default="fra")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--without", nargs="*", default=[])
    parser.add_argument("--only", nargs=2, metavar=("TRAINER", "PATH"), help="run one once and print its peak memory")
    options = parser.parse_args()
    os.environ["RAYON_NUM_THREADS"] = str(options.threads)
    os.environ["TOKENIZERS_PARALLELISM"] = "true" if options.threads > 1 else "false"

    from tests.benchmarks.harness import environment, measure, print_table

    name, merges = CASES[options.case]
    if options.only:
        with silence():
            TRAINERS[options.only[0]](options.only[1], merges, options.threads)
        print(own_peak_memory())
        return
    with tempfile.TemporaryDirectory() as folder:
        path = corpus(name, Path(folder))
        chosen = {name: trainer for name, trainer in TRAINERS.items() if name not in options.without}
        with silence():
            results = {name: trainer(path, merges, options.threads) for name, trainer in chosen.items()}
            times = measure(
                {name: lambda t=trainer: t(path, merges, options.threads) for name, trainer in chosen.items()},  # type: ignore[misc]
                options.repeats,
            )
        memory = {}
        for trainer in chosen:
            command = [sys.executable, "-m", "tests.benchmarks.bench_train", "--case", options.case]
            command += ["--threads", str(options.threads), "--only", trainer, path]
            memory[trainer] = int(subprocess.run(command, capture_output=True, check=True).stdout)
        size = os.path.getsize(path)
    rows: list[list[object]] = []
    for trainer, timing in times.items():
        found = results[trainer]
        same = "" if found is None else "yes" if found == results["tokdfa"] else "no"
        rows.append(
            [trainer, timing.median, min(timing.seconds), timing.median / times["tokdfa"].median,
             memory[trainer] / 2**20, same]
        )  # fmt: skip
    print_table(
        f"{options.case}: {size:,} bytes, {merges:,} merges, {options.threads} thread(s)",
        ["trainer", f"median of {options.repeats}, s", "least, s", "× tokdfa", "peak MiB", "same merges"],
        rows,
        environment(*(name for name in chosen if name != "tokdfa")),
    )


if __name__ == "__main__":
    main()

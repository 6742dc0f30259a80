"""A training that is killed at any moment goes on to the same result, byte for byte.

What is kept is how far the corpus has been counted. Merging begins anew from the counted pieces: 32,000 merges of the
pieces of 100 MB take less than a second.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

# In each of four quarters.
KILLS = 25
MERGES = 30_000

# Tells, by files beside the checkpoint, what the process has begun.
PROGRAM = """
import sys
from pathlib import Path
import tokdfa.train.corpus, tokdfa.train.counting, tokdfa.train.greedy, tokdfa.train.output

tokdfa.train.corpus._BLOCK = 1 << 16

def marked(module, name, mark):
    function = getattr(module, name)
    def begun(*arguments, **options):
        Path(f"{marks}.{mark}").touch()
        return function(*arguments, **options)
    setattr(module, name, begun)

marks = sys.argv.pop(1)
marked(tokdfa.train.counting, "count_corpus", "counting")
marked(tokdfa.train.greedy, "train_greedy", "merging")
marked(tokdfa.train.output, "write_dictionary", "writing")
from tokdfa.cli import main
main()
"""
PHASES = ("writing", "merging", "counting")


def start(corpus: Path, out: Path, kept: Path, marks: Path) -> subprocess.Popen[bytes]:
    arguments = [corpus, "--merges", MERGES, "-o", out, "--checkpoint", kept, "--interval", 0.05, "--threads", 2]
    command = [sys.executable, "-c", PROGRAM, str(marks), "train", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


def phase_of(marks: Path) -> str:
    """Return what the last process was about, and forget it."""
    files = {phase: marks.with_name(f"{marks.name}.{phase}") for phase in PHASES}
    found = next((phase for phase, file in files.items() if file.exists()), "starting")
    for file in files.values():
        file.unlink(missing_ok=True)
    return found


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def whole_ones(folder: Path) -> dict[str, bytes]:
    return {name: data for name, data in contents(folder).items() if not name.startswith(".")}


@pytest.mark.slow
@pytest.mark.parametrize("quarter", range(4))
def test_killed_at_a_hundred_random_moments(tmp_path: Path, quarter: int) -> None:
    dice = random.Random(quarter)
    letters = "etaoinshrdlu" * 3 + "cmfwygpbvk"
    words = ["".join(dice.choices(letters, k=dice.randint(4, 12))) for _ in range(150_000)]
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for name in "abc":
        (corpus / name).write_text(" ".join(dice.choices(words, k=200_000)), encoding="utf-8")
    kept, marks = tmp_path / "kept", tmp_path / "marks"
    began = time.monotonic()
    assert start(corpus, tmp_path / "expected", tmp_path / "other", marks).wait() == 0
    whole = time.monotonic() - began
    assert phase_of(marks) == "writing"
    expected = contents(tmp_path / "expected")
    assert set(expected) == {"merges.txt", "vocab.json", "tokenizer.json"}

    killed: Counter[str] = Counter()
    resumed = complete = 0
    out = tmp_path / "out"
    while killed.total() < KILLS:
        resumed += kept.exists()
        process = start(corpus, out, kept, marks)
        try:
            assert process.wait(dice.uniform(0.2 * whole, 1.1 * whole)) == 0
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            killed[phase_of(marks)] += 1
            # Whatever is there under its name is whole.
            if out.exists():
                assert whole_ones(out).items() <= expected.items()
        else:
            complete += 1
            phase_of(marks)
            assert whole_ones(out) == expected
            assert not kept.exists()
            for path in out.iterdir():
                path.unlink()
    assert start(corpus, out, kept, marks).wait() == 0
    assert contents(out) == expected
    print(f"a run takes {whole:.1f} s; killed while {dict(killed)}; {resumed} resumed, {complete} complete")
    assert min(killed[phase] for phase in ("counting", "merging")) >= 2
    assert resumed > KILLS // 5

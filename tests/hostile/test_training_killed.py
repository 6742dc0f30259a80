"""A training that is killed at any moment continues to the same result, byte for byte."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.campaigns.evidence.tally import Tally
from tokdfa.training.corpus import BLOCK

KILLS = 100


def start(corpus: Path, out: Path, kept: Path) -> subprocess.Popen[bytes]:
    arguments = [corpus, "--merges", 4000, "-o", out, "--checkpoint", kept, "--interval", 0, "--threads", 2]
    return subprocess.Popen([sys.executable, "-m", "tokdfa", "train", *map(str, arguments)], stdout=subprocess.DEVNULL)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.slow
def test_killed_at_a_hundred_random_moments(tmp_path: Path, tally: Tally) -> None:
    dice = random.Random(9)
    letters = "etaoinshrdlu" * 3 + "cmfwygpbvk"
    words = ["".join(dice.choices(letters, k=dice.randint(1, 9))) for _ in range(20_000)]
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    # A file of several blocks, between files of one: it continues within the one and between the others.
    for number in range(40):
        n_words = 600_000 if number == 20 else 2_500
        (corpus / f"{number:02}").write_text(" ".join(dice.choices(words, k=n_words)), encoding="utf-8")
    assert (corpus / "20").stat().st_size > 2 * BLOCK
    kept = tmp_path / "kept"
    began = time.monotonic()
    assert start(corpus, tmp_path / "expected", tmp_path / "other").wait() == 0
    whole = time.monotonic() - began
    expected = contents(tmp_path / "expected")
    assert set(expected) == {"merges.txt", "vocab.json", "tokenizer.json"}

    kills = resumed = complete = 0
    while kills < KILLS:
        resumed += kept.exists()
        out = tmp_path / "out"
        process = start(corpus, out, kept)
        try:
            assert process.wait(dice.uniform(0.25 * whole, 1.1 * whole)) == 0
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            kills += 1
            # Whatever is there under its name is whole.
            if out.exists():
                assert {name: data for name, data in contents(out).items() if not name.startswith(".")}.items() <= (
                    expected.items()
                )
        else:
            complete += 1
            assert {name: data for name, data in contents(out).items() if not name.startswith(".")} == expected
            assert not kept.exists()
            for path in out.iterdir():
                path.unlink()
    assert start(corpus, out, kept).wait() == 0
    assert contents(out) == expected
    assert resumed > KILLS // 5
    assert complete > 0
    tally("crashes", "kills survived", kills)

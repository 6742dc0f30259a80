"""Random tokenizer.json files with any steps: encoding, decoding and verdicts match the tokenizers library."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable

import pytest

from tests.campaigns.evidence.tally import Tally
from tests.campaigns.standing.laws import decoding, streams, verdicts
from tests.support import random_files
from tests.support.families import of_tokenizer_json
from tests.support.seeds import seeds


def met_by_files(kind: str, chosen: Iterable[int]) -> Counter[str]:
    """Ask random files for the laws of texts, ids and verdicts; return the cases that were met."""
    met: Counter[str] = Counter()
    for seed in chosen:
        drawn = random.Random(seed)
        member = of_tokenizer_json(kind, random_files.KINDS[kind](drawn))
        if member is not None:
            met["files"] += 1
            for law in (streams, verdicts, decoding):
                met += law.check(member, drawn)
    return met


@pytest.mark.parametrize("kind", random_files.KINDS)
def test_random_files(kind: str) -> None:
    met = met_by_files(kind, range(30))
    assert met["files"] > 9, met
    assert min(met[case] for case in ("texts", "canonical", "spoiled", "repaired", "whole", "stopped")) > 9, met


@pytest.mark.slow
@pytest.mark.parametrize("kind", random_files.KINDS)
def test_many_random_files(kind: str, tally: Tally) -> None:
    chosen = seeds(1000)
    met = met_by_files(kind, chosen)
    print(kind, met, "of", len(chosen), "files")
    assert met["files"] > len(chosen) // 4
    tally("loading", "random cases", len(chosen))

"""Numbers as the library tokenizers reads them from its files."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.support.seeds import seeds
from tokdfa import UnigramTokenizer
from tokdfa.tokenizers.formats.json_text import as_serde_json
from tokdfa.tokenizers.formats.unigram import LARGEST_SCORE


def numbers(drawn: random.Random, n: int) -> list[str]:
    def digits(least: int, most: int) -> str:
        return "".join(drawn.choices("0123456789", k=drawn.randrange(least, most)))

    kinds = [
        lambda: repr(-drawn.random() * 20),
        lambda: repr(drawn.uniform(-1, 1) * 10.0 ** drawn.randrange(-300, 300)),
        lambda: f"{drawn.randrange(100)}.{digits(1, 40)}",
        lambda: f"-{drawn.randrange(1, 10)}{digits(0, 40)}",
        lambda: f"{drawn.randrange(1, 10)}{digits(0, 30)}.{digits(1, 30)}e{drawn.randrange(-360, 200)}",
        lambda: f"{drawn.randrange(2**63 - 5, 2**64 + 5)}{drawn.choice(['', 'e5', 'E-5', 'e+2', '.5'])}",
    ]
    return [drawn.choice(kinds)() for _ in range(n)]


def assert_numbers_by_serde(spelled: list[str]) -> int:
    """Return how many numbers are not the nearest ones."""
    from tokenizers import Tokenizer

    rows = ",".join(f'["{number}",{text}]' for number, text in enumerate(spelled))
    fields = '{"version":"1.0","added_tokens":[],"model":{"type":"Unigram","unk_id":0,"vocab":[' + rows + "]}}"
    read = [score for _, score in json.loads(Tokenizer.from_str(fields).to_str())["model"]["vocab"]]
    assert [as_serde_json(text) for text in spelled] == read
    # All at once, as far as they are written plainly and are scores.
    scores = [(text, score) for text, score in zip(spelled, read, strict=True) if abs(score) <= LARGEST_SCORE]
    for at in range(0, len(scores), 8):
        rows = scores[at : at + 8]
        model = {"type": "Unigram", "unk_id": 0, "vocab": [[str(number), 0] for number in range(len(rows))]}
        file = json.dumps({"version": "1.0", "decoder": {"type": "Fuse"}, "model": model})
        for number, (text, _) in enumerate(rows):
            file = file.replace(f'["{number}", 0]', f'["{number}", {text}]')
        tokenizer = tokdfa.load(file.encode())
        assert isinstance(tokenizer, UnigramTokenizer)
        found = tokenizer.model.scores
        assert found.tobytes() == np.array([score for _, score in rows]).tobytes()
    return sum(float(text) != score for text, score in zip(spelled, read, strict=True))


def test_as_the_library_reads_them() -> None:
    n_other = assert_numbers_by_serde(numbers(random.Random(1), 3000))
    assert n_other > 100
    odd = ["-0.0", "0e999", "1e-999", "0.1", "1e22", "123e-400", "-3", "18446744073709551616"]
    n_other = assert_numbers_by_serde(odd)
    assert n_other < 3


def test_out_of_range() -> None:
    assert as_serde_json("1e999") == float("inf")
    assert as_serde_json("-1e400") == -float("inf")


@pytest.mark.slow
def test_many_numbers(tally: Tally) -> None:
    for seed in seeds(50):
        assert_numbers_by_serde(numbers(random.Random(seed), 20_000))
    tally("loading", "random cases", 20_000 * len(seeds(50)))

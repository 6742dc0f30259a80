"""Tokenizers travel small, and are built once by each process."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import tokdfa
from tokdfa.integrations import metrics as module
from tokdfa.integrations.metrics import PerProcess, built_once, why_not_canonical

ROOT = Path(__file__).parents[3]


def test_copies_are_one() -> None:
    holder = PerProcess(tokdfa.default_tokenizer())
    assert copy.deepcopy([holder, holder])[1] is holder
    again = pickle.loads(pickle.dumps(holder))
    assert again is not holder
    assert again.tokenizer is holder.tokenizer
    # An equal one that was made anew has the tables of the first.
    twin = pickle.loads(pickle.dumps(tokdfa.default_tokenizer()))
    assert PerProcess(twin).tokenizer is holder.tokenizer


def test_a_few_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_built", {})
    tokenizer = tokdfa.default_tokenizer()
    made = []

    def make() -> tokdfa.Tokenizer:
        made.append(1)
        return tokenizer

    for name in "abcdabcdefa":
        assert built_once(name, make) is tokenizer
    assert len(made) == 7
    assert len(module._built) == 4


def test_what_is_sent_is_the_content() -> None:
    """No table is sent, even if some were built before; and another process gives the same verdicts."""
    tokenizer = tokdfa.default_tokenizer()
    fresh = len(pickle.dumps(PerProcess(tokenizer)))
    assert not tokenizer.validate([64, 261, 1193])
    assert tokenizer.dfa.states_minimal
    data = pickle.dumps(PerProcess(tokenizer))
    assert len(data) == fresh < 100_000
    program = (
        "import pickle, sys; holder = pickle.load(sys.stdin.buffer);"
        "print(bool(holder.tokenizer.validate([64, 261, 1193])), bool(holder.tokenizer.validate([64, 2513])))"
    )
    out = subprocess.run([sys.executable, "-c", program], input=data, capture_output=True, check=True, cwd=ROOT).stdout
    assert out.split() == [b"False", b"True"]


@pytest.mark.parametrize(
    ("name", "most"),
    [("gpt2", 1_400_000), ("cl100k_base.tiktoken", 2_700_000), ("mistral_v3.model", 2_100_000)],
)
def test_sizes_of_real_tokenizers(data: Path, name: str, most: int) -> None:
    tokenizer = tokdfa.load(data / "vocabs" / name)
    tokenizer.validate(tokenizer.encode("It was a dark night."))
    assert len(pickle.dumps(tokenizer)) < most


def test_kinds_of_violations_are_named() -> None:
    tokenizer = tokdfa.default_tokenizer()
    assert why_not_canonical(tokenizer, []) is None
    assert why_not_canonical(tokenizer, [64, 261, 1193]) == "pair"
    assert why_not_canonical(tokenizer, [1 << 20]) == "id-out-of-range"

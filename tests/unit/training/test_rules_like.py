"""Whole trainers by name: the options that they set, and the options that may be added."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from tests.support.commands import run
from tokdfa.base.errors import TrainingError
from tokdfa.training.api import train
from tokdfa.training.rules import DEFAULTS, GreedyRules, Trainer, resolve


def test_without_a_trainer_the_defaults_hold() -> None:
    assert resolve(None, {"tie": "oldest-pair"}) == {**DEFAULTS, "tie": "oldest-pair"}


@pytest.mark.parametrize("like", get_args(Trainer))
def test_every_trainer_counts_overlapping_pairs_and_says_everything(like: str) -> None:
    meant = resolve(like, {})
    assert meant.keys() == DEFAULTS.keys()
    assert meant["count"] == "overlapping"
    GreedyRules(meant["tie"], meant["count"], meant["min_frequency"], meant["max_token_length"])
    assert resolve(like, meant) == meant


@pytest.mark.parametrize(
    ("like", "name", "value"),
    [
        ("tokenizers", "tie", "first-seen"),
        ("tokenizers", "max_token_length", 5),
        ("rustbpe", "unit", "file"),
        ("minbpe", "min_frequency", 2),
        ("subword-nmt", "level", "byte"),
        ("sentencepiece", "count", "non-overlapping"),
    ],
)
def test_what_a_trainer_does_not_do_is_refused(like: str, name: str, value: object, tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match=like):
        resolve(like, {name: value})
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("low lower", encoding="utf-8")
    options = ["--" + name.replace("_", "-"), value]
    assert run("train", corpus, "--merges", 2, "-o", tmp_path / "merges.txt", "--like", like, *options) == 2


def test_an_unknown_trainer_is_refused() -> None:
    with pytest.raises(TrainingError, match="unknown trainer"):
        resolve("bpeasy", {})


def test_what_a_trainer_leaves_to_its_users_may_be_chosen() -> None:
    assert resolve("tokenizers", {"min_frequency": 3})["min_frequency"] == 3


def test_the_command_does_as_the_function(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("aaa aab\naaa aaa\n", encoding="utf-8")
    assert run("train", corpus, "--merges", 3, "-o", tmp_path / "a.tiktoken", "--like", "rustbpe") == 0
    made = [rule.product for rule in train(corpus, 3, like="rustbpe")]
    lines = (tmp_path / "a.tiktoken").read_bytes().splitlines()
    assert len(lines) == 256 + len(made)


def test_the_length_of_tokens_that_tokenizers_limits_is_another_one() -> None:
    with pytest.raises(TrainingError, match="tokenizers"):
        GreedyRules("huggingface", max_token_length=4)

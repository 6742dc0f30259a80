"""Tokenizers as hooks are given them, and examples that run."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import tokdfa
from tokdfa.integrations.metrics import as_tokenizer

MERGES = Path(tokdfa.__file__).parent / "tokenizers" / "data" / "default.merges.txt"


def test_paths_are_loaded_once() -> None:
    tokenizer = as_tokenizer(MERGES)
    assert as_tokenizer(MERGES) is tokenizer
    assert as_tokenizer(tokenizer) is tokenizer


@pytest.mark.parametrize("name", ["metrics", "trl", "verl", "openrlhf", "slime", "skyrl", "verifiers", "vllm"])
def test_examples(name: str) -> None:
    failed, tried = doctest.testmod(import_module(f"tokdfa.integrations.{name}"))
    assert failed == 0
    assert tried > 0

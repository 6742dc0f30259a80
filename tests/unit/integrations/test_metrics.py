"""Tokenizers as hooks are given them."""

from __future__ import annotations

from pathlib import Path

import tokdfa
from tokdfa.integrations.metrics import as_tokenizer

MERGES = Path(tokdfa.__file__).parent / "tokenizers" / "data" / "default.merges.txt"


def test_paths_are_loaded_once() -> None:
    tokenizer = as_tokenizer(MERGES)
    assert as_tokenizer(MERGES) is tokenizer
    assert as_tokenizer(tokenizer) is tokenizer

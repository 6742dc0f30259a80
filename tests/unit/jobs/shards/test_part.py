"""The flags of ids that a report counts."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.support.families import FAMILIES
from tokdfa.jobs.shards.part import FALLBACK, flags_of


@pytest.mark.parametrize("family", ["Llama-2", "Gemma", "BPE of SentencePiece"])
def test_bytes_that_a_tokenizer_falls_back_on_have_a_flag(family: str) -> None:
    n_found = 0
    for seed in range(6):
        member = FAMILIES[family](random.Random(seed))
        tokenizer = member.tokenizer
        flags = flags_of(tokenizer)
        found = set() if flags is None else set(np.flatnonzero(flags & FALLBACK).tolist())
        # No other token of these families is a part of a character, but some have U+FFFD itself.
        parts = {id for id in member.ids if tokenizer.decode_bytes([id]) == "\ufffd".encode()}
        parts -= {*(member.encode("\ufffd") or [])[-1:]} if len(parts) > 128 else set()
        assert parts <= found, seed
        assert all(len(tokenizer.decode_bytes([id])) <= 1 for id in found - parts), seed
        n_found += len(parts)
    assert n_found > 100

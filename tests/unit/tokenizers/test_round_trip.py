"""The ends of ids in their bytes, and stretches by these ends, over all families."""

from __future__ import annotations

import random

import numpy as np
import pytest

import tokdfa
from tests.support.families import FAMILIES
from tokdfa.jobs.rollouts.finding import finder_of


@pytest.mark.parametrize("family", FAMILIES)
def test_ends_are_in_the_bytes_of_the_ids(family: str) -> None:
    n_odd = 0
    for seed in range(4):
        drawn = random.Random(f"{family}-{seed}")
        tokenizer = FAMILIES[family](drawn).tokenizer
        known = np.flatnonzero(tokenizer.means_something).tolist()
        for n in range(8):
            ids = np.array(drawn.choices(known, k=n), dtype=np.int32)
            data, ends = tokenizer.round_trip.spelled(ids)
            assert data == tokenizer.decode_bytes(ids)
            assert (np.diff(ends, prepend=0) >= 0).all(), (seed, ids)
            assert ends[-1:].tolist() == [len(data)][:n], (seed, ids)
            n_odd += "\ufffd".encode() in data
    if family in ("Llama-2", "Gemma", "CLIP"):
        assert n_odd


def test_stretches_of_bytes_that_no_character_has_are_as_short_as_can_be() -> None:
    pieces = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), "\u2581", "a", "\ufffd"]
    tokenizer = tokdfa.load(
        {
            "model": {
                "type": "BPE",
                "vocab": {piece: id for id, piece in enumerate(pieces)},
                "merges": [],
                "unk_token": "<unk>",
                "byte_fallback": True,
            },
            "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"},
            "decoder": {
                "type": "Sequence",
                "decoders": [
                    {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "},
                    {"type": "ByteFallback"},
                    {"type": "Fuse"},
                ],
            },
        }
    )
    space, a, odd = (pieces.index(piece) for piece in ("\u2581", "a", "\ufffd"))
    ids = np.array([a, space, a, 0x80 + 1, 0x81 + 1, a], dtype=np.int32)
    found = finder_of(tokenizer).find(ids, np.array([0]), np.array([len(ids)]))
    assert found.bounds.tolist() == [[3, 4], [4, 5]]
    assert found.canonical.tolist() == [odd, odd]

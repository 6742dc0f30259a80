"""Streams of tokenizers that rewrite texts, judged in parts and as a whole."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tests.support.tokenizer_files import spell, tokenizer_json, vocabulary
from tests.support.tuned import validate_tuned
from tokdfa.jobs.validation.api import validate
from tokdfa.jobs.validation.window import Tuning
from tokdfa.tokenizers.tokenizer import Tokenizer


@pytest.fixture
def tokenizer(tmp_path: Path) -> Tokenizer:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(tokenizer_json(normalizer={"type": "NFC"})), encoding="utf-8")
    found = tokdfa.load(path)
    assert isinstance(found, Tokenizer)
    assert not found.is_plain
    return found


def test_the_tokens_that_are_not_utf8_are_those_and_no_others(tokenizer: Tokenizer) -> None:
    c3, ff = vocabulary()[spell(b"\xc3")], vocabulary()[spell(b"\xff")]
    the = tokenizer.encode("the").tolist()
    for ids, bad in (
        ([*the, c3], (c3,)),
        ([*the, c3, *the], (c3,)),
        ([*the, ff, ff, *the], (ff,)),
        ([c3, *the], (c3,)),
    ):
        verdict = validate(tokenizer, ids)
        found = verdict.witness
        assert found is not None
        assert (found.index, found.ids, found.canonical_ids) == (ids.index(bad[0]), bad, None)
        assert found.detected_at == found.index
        assert verdict.reason == f"the bytes {'c3' if bad == (c3,) else 'ff'} are not UTF-8, so no text has these ids"
    # An unfinished character of two tokens.
    e2, x82 = vocabulary()[spell(b"\xe2")], vocabulary()[spell(b"\x82")]
    found = validate(tokenizer, [*the, e2, x82, *the]).witness
    assert found is not None
    assert (found.ids, found.detected_at) == ((e2, x82), len(the) + 1)


@pytest.mark.parametrize("window", [2, 5, 1 << 15])
def test_parts_are_judged_as_the_whole_is(tokenizer: Tokenizer, window: int) -> None:
    ids = tokenizer.encode("the then the\n\n" * 30)
    e, accent = vocabulary()["e"], [vocabulary()[spell(bytes([byte]))] for byte in "\u0301".encode()]
    spoiled = np.insert(ids, 100, [e, *accent])
    whole = validate(tokenizer, spoiled, all=True)
    assert not whole
    tuning = Tuning(window=window)
    for size in (1, 7, len(spoiled)):
        assert validate_tuned(tokenizer, (ids[i : i + size] for i in range(0, len(ids), size)), tuning=tuning)
        chunks = (spoiled[i : i + size] for i in range(0, len(spoiled), size))
        found = validate_tuned(tokenizer, chunks, all=True, tuning=tuning)
        assert found.violations == whole.violations
        assert found.tokens == len(spoiled)

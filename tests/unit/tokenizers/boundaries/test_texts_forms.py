"""Places where normalized texts are cut: both sides are encoded by themselves, by the library as well."""

from __future__ import annotations

import json
import random
import unicodedata
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tokdfa
from tests.support.normalized import normalized_file, text
from tests.support.seeds import seeds
from tokdfa.base.errors import TokdfaError
from tokdfa.tokenizers.tokenizer import Tokenizer


def normalizing(folder: Path) -> Iterator[tuple[int, random.Random, Tokenizer, Any]]:
    """Yield random tokenizers that normalize, each with its seed and the library's own tokenizer."""
    tokenizers = pytest.importorskip("tokenizers")
    path = folder / "tokenizer.json"
    for seed in seeds(30):
        drawn = random.Random(seed)
        path.write_text(json.dumps(normalized_file(drawn)), encoding="utf-8")
        try:
            tokenizer = tokdfa.load(path)
        except TokdfaError:
            continue
        assert isinstance(tokenizer, Tokenizer)
        assert not tokenizer.is_plain
        if tokenizer.form is not None:
            yield seed, drawn, tokenizer, tokenizers.Tokenizer.from_file(str(path))


def test_both_sides_of_a_cut_are_encoded_by_themselves(tmp_path: Path) -> None:
    n_cuts = n_changed = 0
    for seed, drawn, tokenizer, theirs in normalizing(tmp_path):
        for _ in range(20):
            # Of any text, normalized or not.
            ids = tokenizer.read_in_form[0].encode(text(drawn))
            spelled = tokenizer.decode(ids)
            ends = np.cumsum([len(tokenizer.decode_bytes([id])) for id in ids.tolist()])
            encoded = tokenizer.encode(spelled).tolist()
            n_changed += encoded != ids.tolist()
            for place in np.flatnonzero(tokenizer.boundaries.always_cut(ids)).tolist():
                data = spelled.encode()
                left, right = data[: ends[place]].decode(), data[ends[place] :].decode()
                sides = [theirs.encode(side, add_special_tokens=False).ids for side in (left, right)]
                assert sides[0] + sides[1] == encoded, (seed, left, right)
                n_cuts += 1
    assert n_cuts > 300
    assert n_changed > 50


def test_a_stream_gives_the_ids_of_the_text_in_parts(tmp_path: Path) -> None:
    n_early = n_changed = 0
    for seed, drawn, tokenizer, theirs in normalizing(tmp_path):
        for _ in range(10):
            whole = "".join(text(drawn) for _ in range(drawn.randrange(1, 5)))
            stream, size = tokenizer.stream(), drawn.randrange(1, 9)
            parts = [stream.feed(whole[at : at + size]).tolist() for at in range(0, len(whole), size)]
            last = stream.finish().tolist()
            assert [*chain.from_iterable(parts), *last] == theirs.encode(whole, add_special_tokens=False).ids, (
                seed,
                whole,
            )
            n_early += sum(map(len, parts)) > len(last)
            n_changed += unicodedata.normalize("NFC", whole) != whole
    assert n_early > 50
    assert n_changed > 50

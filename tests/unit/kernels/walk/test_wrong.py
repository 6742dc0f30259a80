"""The parts with violations enclose them, and are cut off where pieces always end."""

from __future__ import annotations

import random
import weakref
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

import tokdfa
from tests.support.tokenizer_files import tiktoken_lines
from tokdfa.jobs.validation.engine import engine_of
from tokdfa.kernels.walk import walk as kernels
from tokdfa.tokenizers.tokenizer import Tokenizer

WORDS = [b"ab", b"abc", b" a", b" ab", b"\n\n", b"  ", b"\xc3\xa9", b"a\xc3", b"\xaaa", b"'s", b"12", b"x'"]


@pytest.fixture(scope="module", params=["gpt2_tiktoken", "cl100k", "o200k"])
def tokenizer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    path = tmp_path_factory.mktemp("ranks") / "small.tiktoken"
    ranks = {word: rank for rank, word in enumerate([*(bytes([byte]) for byte in range(256)), *WORDS])}
    path.write_bytes(tiktoken_lines(ranks))
    loaded = tokdfa.load(path, pretokenizer=request.param)
    assert isinstance(loaded, Tokenizer)
    return loaded


def test_what_is_outside_is_canonical_and_what_is_inside_is_not(tokenizer: Tokenizer) -> None:
    walk = engine_of(tokenizer).walk
    assert walk is not None
    drawn = random.Random(0)
    good = tokenizer.encode("ab  abc\n\nx's 12 aé ab'ab" * 30).tolist()
    streams = []
    for _ in range(200):
        begin = drawn.randrange(len(good))
        stream = good[begin : begin + drawn.choice([0, 3, 30, 700])]
        for _ in range(drawn.choice([0, 1, 3])):
            at = drawn.randrange(len(stream) + 1)
            stream[at : at + drawn.randrange(2)] = [drawn.randrange(256 + len(WORDS))]
        streams.append(stream)
    ends = np.cumsum([len(stream) for stream in streams])
    begins = np.append(0, ends[:-1])
    ids = np.array([id for stream in streams for id in stream], dtype=np.int32)
    found, size = walk.wrong_parts(ids, begins, ends)
    parts = found.tolist()
    assert size is None
    assert all(low < high for low, high in parts)
    assert all(high <= low for (_, high), (low, _) in pairwise(parts))
    n_wrong = 0
    for begin, end, stream in zip(begins.tolist(), ends.tolist(), streams, strict=True):
        own = [(low - begin, high - begin) for low, high in parts if begin <= low < end]
        verdict = tokenizer.validate(stream, all=True)
        assert bool(own) == (not verdict)
        n_wrong += bool(own)
        assert all(high <= len(stream) for _, high in own)
        if any(violation.canonical_ids is None for violation in verdict.violations):
            continue
        for violation in verdict.violations:
            low, high = violation.start, violation.start + len(violation.ids)
            assert any(first <= low and high <= last for first, last in own), (stream, own, violation)
    assert 50 < n_wrong < 190


def test_many_parts_make_room_for_themselves(tokenizer: Tokenizer) -> None:
    walk = engine_of(tokenizer).walk
    assert walk is not None
    # A word, and the same word spelled in a way that is not canonical.
    ids = np.array([*b"ab", *b"\n", *b"x" * 40, *b"\n"] * 500, dtype=np.int32)
    parts, _ = walk.wrong_parts(ids, np.array([0]), np.array([len(ids)]))
    assert len(parts) > 64
    assert len(parts) == 500


def test_tables_stay_while_c_reads_them_even_if_another_thread_replaces_them(monkeypatch: pytest.MonkeyPatch) -> None:
    class Tables:
        pointer = None

    made: list[weakref.ref[Tables]] = []

    def latest() -> Tables:
        tables = Tables()
        made.append(weakref.ref(tables))
        return tables

    are_there = []

    def read(*_: object) -> int:
        are_there.append(made[-1]() is not None)
        return kernels.DONE

    monkeypatch.setattr(kernels, "lib", SimpleNamespace(tokdfa_wrong_parts=read))
    begins, ends = np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64)
    kernels.wrong_parts(
        latest, Tables(), np.zeros(1, dtype=np.int32), (begins, ends),
        looks_back=(1, 0), is_open=False, initial=0, learn=lambda *_: None,
    )  # fmt: skip
    assert are_there == [True]

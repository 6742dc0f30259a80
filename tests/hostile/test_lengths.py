"""Lengths beyond 2**32 by arithmetic, on small arrays that say so, and depths of a million."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tokdfa
from tests.support.tokenizer_files import tiktoken_lines
from tokdfa.base.arrays import running_sum
from tokdfa.base.errors import FileFormatError, LimitExceededError, PatternError
from tokdfa.jobs.validation.engine import engine_of
from tokdfa.kernels.encode.events import BEGINS, EVENT_BITS
from tokdfa.kernels.encode.split import close
from tokdfa.kernels.library import lib, readable, writable
from tokdfa.kernels.merging.merging import check_lengths
from tokdfa.tokenizers.pretokenizers.pretokenizer import pretokenizer

FAR = (1 << 33) + 5
MILLION = 1_000_000


def rank_file(folder: Path) -> Any:
    path = folder / "x.tiktoken"
    path.write_bytes(tiktoken_lines())
    return tokdfa.load(path, pretokenizer="cl100k")


def vocab_file(folder: Path) -> Any:
    path = folder / "vocab.txt"
    path.write_bytes(b"[UNK]\nthe\na\n##b\nc\n##at\nab\n")
    return tokdfa.load(path)


@pytest.mark.parametrize("load", [rank_file, vocab_file, lambda _: tokdfa.default_tokenizer()])
def test_a_judge_far_down_a_stream(load: Callable[[Path], Any], tmp_path: Path) -> None:
    tokenizer = load(tmp_path)
    ids = tokenizer.encode("the cat ab the then the a\n the" * 9)
    drawn = np.random.default_rng(3)
    spoiled = ids
    while len(tokenizer.validate(spoiled, all=True).violations) < 2:
        spoiled = drawn.permutation(spoiled)
    begin = engine_of(tokenizer).stream_engines()

    def judged(first: int, byte: int) -> list[Any]:
        judge = begin(first, byte)
        checked = tokenizer.decoder.check(spoiled)
        return [*judge.feed(checked[:20]), *judge.feed(checked[20:]), *judge.finish()]

    near, far = judged(0, 0), judged(FAR, FAR << 9)
    assert near
    for one, other in zip(near, far, strict=True):
        assert (other.index, other.start) == (one.index + FAR, one.start + FAR)
        assert other.byte_offset == one.byte_offset + (FAR << 9)
        assert (one.ids, one.canonical_ids) == (other.ids, other.canonical_ids)


def test_sums_of_lengths() -> None:
    # Words of a terabyte each, and only the length is asked for.
    offsets = np.array([0, 1 << 40, 1 << 41], np.int64)
    numbers = np.array([0, 1, 0, -1, 1], np.int32)
    lengths = np.zeros(5, np.int64)
    total = lib.tokdfa_spelled_lengths(
        readable(offsets, np.int64), readable(numbers, np.int32), 5, writable(lengths, np.int64)
    )
    assert (total, lengths.tolist()) == (4 << 40, [1 << 40, 1 << 40, 1 << 40, 0, 1 << 40])
    for dtype in (np.uint8, np.int32, np.uint32):
        counts = np.full(1 << 9, np.iinfo(dtype).max, dtype)
        assert int(running_sum(counts)[-1]) == (1 << 9) * np.iinfo(dtype).max


def test_places_in_a_long_text() -> None:
    places = np.array([FAR, FAR + 3, FAR << 20], np.int64)
    begun = places << EVENT_BITS | BEGINS
    assert close(begun).tolist() == [[FAR, FAR + 3], [FAR + 3, FAR << 20]]


def test_a_piece_that_is_too_long_to_merge_is_refused() -> None:
    check_lengths(np.array([0, (1 << 31) - 1], np.int64))
    for offsets in ([0, 1 << 31], [0, 5, (1 << 32) + 9], [1 << 33, (1 << 33) + (1 << 31)]):
        with pytest.raises(LimitExceededError, match="too long to merge"):
            check_lengths(np.array(offsets, np.int64))


@pytest.mark.parametrize(
    "pattern",
    [
        "(?:" * MILLION + "a" + ")" * MILLION,
        "(" * MILLION,
        "[" * MILLION,
        "(?=" * MILLION + "a" + ")" * MILLION,
        "a" + "?" * MILLION,
        "a|" * MILLION + "a",
        "(?i:" * 9_000 + "a" + ")" * 9_000,
        "(a" * 9_000 + ")" * 9_000,
    ],
    ids=range(8),
)
def test_patterns_a_million_deep(pattern: str) -> None:
    began = time.process_time()
    with pytest.raises((PatternError, LimitExceededError)):
        pretokenizer(pattern)
    assert time.process_time() - began < 5


@pytest.mark.parametrize("opening", ["[", '{"a":', '{"model":[', '{"pre_tokenizer":{"pretokenizers":['])
def test_json_a_million_deep(opening: str, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(opening * MILLION)
    with pytest.raises(FileFormatError):
        tokdfa.load(path)


@pytest.mark.parametrize(("chain", "doublings"), [(400, 15), pytest.param(1_500, 20, marks=pytest.mark.slow)])
def test_a_chain_of_merges_and_tokens_of_up_to_a_million_bytes(chain: int, doublings: int, tmp_path: Path) -> None:
    words = [bytes([byte]) for byte in range(256)]
    words += [b"a" * n for n in range(2, chain)]
    # Each of these is twice the one before it.
    words += [b"b" * (1 << n) for n in range(1, doublings + 1)]
    path = tmp_path / "x.tiktoken"
    path.write_bytes(b"".join(base64.b64encode(word) + b" %d\n" % rank for rank, word in enumerate(words)))
    began = time.process_time()
    tokenizer = tokdfa.load(path, pretokenizer="none")
    ids = tokenizer.encode("b" * (3 << doublings) + "a" * (chain - 1))
    assert ids.tolist()[:3] == [len(words) - 1] * 3
    assert tokenizer.decode_bytes(ids) == b"b" * (3 << doublings) + b"a" * (chain - 1)
    assert tokenizer.validate(ids)
    assert time.process_time() - began < 40

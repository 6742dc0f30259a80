"""Parcels that several threads encode, whichever is done first, against texts encoded one by one."""

from __future__ import annotations

import random
from itertools import permutations

import numpy as np
import pytest

import tokdfa
from tokdfa.dictionary import Dictionary
from tokdfa.encoding import side_by_side
from tokdfa.encoding.side_by_side import _Result, encode_side_by_side
from tokdfa.encoding.special import Special
from tokdfa.kernels.encode.utf8 import FoundTexts, JoinedTexts
from tokdfa.splitting.pretokenizer import PreTokenizer
from tokdfa.splitting.steps import Split, Splitting
from tokdfa.tokenizers.formats.contents import Contents
from tokdfa.tokenizers.tokenizer import Tokenizer

BOUNDS = [0, 7, 7, 40, 41, 60]


@pytest.fixture(scope="module")
def tokenizer() -> tokdfa.Tokenizer:
    return tokdfa.default_tokenizer()


@pytest.fixture(scope="module")
def texts() -> list[str]:
    draw = random.Random(1)
    return ["".join(draw.choices(["the ", "man", "é", "\n", "", "中", "12"], k=draw.randrange(40))) for _ in range(60)]


def expected(tokenizer: tokdfa.Tokenizer, texts: list[str]) -> tuple[list[int], list[int]]:
    each = [tokenizer.encode(text).tolist() for text in texts]
    return [id for ids in each for id in ids], np.cumsum([0, *map(len, each)]).tolist()


def idle_of(tokenizer: tokdfa.Tokenizer):  # type: ignore[no-untyped-def]
    splitter = tokenizer._direct_splitter
    assert splitter is not None
    return lambda: tokenizer.piece_ids.idle_text_encoder(splitter)


@pytest.mark.parametrize("order", [*permutations(range(len(BOUNDS) - 1))][::7])
def test_parcels_that_are_done_in_any_order(
    order: tuple[int, ...], tokenizer: tokdfa.Tokenizer, texts: list[str]
) -> None:
    result = _Result(FoundTexts(texts), BOUNDS)
    idle = idle_of(tokenizer)
    assert all(result.encode(number, idle) for number in order)
    ids, offsets = result.all()
    assert (ids.tolist(), offsets.tolist()) == expected(tokenizer, texts)
    assert ids.base is None
    # Each parcel that waited for one before it had a room of its own.
    waited = sum(any(earlier not in order[:i] for earlier in range(order[i])) for i in range(len(order)))
    assert len(result._rooms) <= 1 + waited


@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("least", [1, 50, 1 << 16])
def test_any_number_of_threads_and_parcels(
    n_threads: int, least: int, tokenizer: tokdfa.Tokenizer, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(side_by_side, "parcel_size", lambda total, n_threads: least)
    for _ in range(5):
        found = tokenizer.encode_side_by_side(texts, n_threads)
        assert found is not None
        assert (found.ids.tolist(), found.offsets.tolist()) == expected(tokenizer, texts)


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("at", [0, 30, 59])
def test_one_text_that_is_refused_ends_it(
    n_threads: int, at: int, tokenizer: tokdfa.Tokenizer, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(side_by_side, "parcel_size", lambda total, n_threads: 50)
    joined = FoundTexts.joined
    asked = []

    def spoiled(found: FoundTexts, begin: int, end: int) -> JoinedTexts:
        asked.append(begin)
        parts = joined(found, begin, end)
        # Not UTF-8 where this text begins.
        if begin <= at < end:
            parts.data[parts.offsets[at - begin]] = 0xFF
        return parts

    monkeypatch.setattr(FoundTexts, "joined", spoiled)
    found = FoundTexts([*texts[:at], "no", *texts[at:]])
    assert encode_side_by_side(found, idle_of(tokenizer), n_threads) is None
    assert max(asked) <= at + 2 * n_threads * 50


def test_more_than_may_be_encoded_at_once(
    tokenizer: tokdfa.Tokenizer, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = FoundTexts(texts)
    n_bytes = int(found.offsets[-1])
    assert encode_side_by_side(found, idle_of(tokenizer), 2, most=n_bytes) is not None
    assert encode_side_by_side(found, idle_of(tokenizer), 2, most=n_bytes - 1) is None
    # Then they are encoded parcel by parcel.
    monkeypatch.setattr(type(tokenizer), "encode_side_by_side", lambda self, texts, n_threads: None)
    ids, offsets = tokdfa.encode_batch(tokenizer, texts, threads=2)
    assert (ids.tolist(), offsets.tolist()) == expected(tokenizer, texts)


def test_a_room_that_is_too_small_is_refused(tokenizer: tokdfa.Tokenizer) -> None:
    with idle_of(tokenizer)() as encoder, pytest.raises(ValueError, match="room for 3 ids, of 5 bytes"):
        encoder.run.encode_documents(FoundTexts(["a man"]).joined(0, 1), np.empty(3, dtype=np.int32))


def test_an_error_in_a_thread_reaches_the_caller(
    tokenizer: tokdfa.Tokenizer, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(side_by_side, "parcel_size", lambda total, n_threads: 50)

    def fail(found: FoundTexts, begin: int, end: int) -> JoinedTexts:
        raise MemoryError(end - begin)

    monkeypatch.setattr(FoundTexts, "joined", fail)
    with pytest.raises(MemoryError):
        encode_side_by_side(FoundTexts(texts), idle_of(tokenizer), 2)


def test_special_tokens_in_one_of_many_texts() -> None:
    dictionary = Dictionary([], bytes(range(256)))
    specials = (Special(300, "<s>"),)
    ids = np.arange(256, dtype=np.int32)
    contents = Contents(format="tiktoken", dictionary=dictionary, ids=ids, specials=specials, finds_specials=True)
    tokenizer = Tokenizer(contents, PreTokenizer(Splitting("tiktoken", (Split(r" ?[a-z]+|\s|[^a-z\s]+"),))))
    for at in (0, 999, 1_000, 2_500):
        given = [*["a man"] * at, "a<s>b", *["a man"] * (2_500 - at)]
        assert tokenizer.encode_side_by_side(given, 2) is None
        ids, offsets = tokdfa.encode_batch(tokenizer, given, threads=2)
        assert ids[offsets[at] : offsets[at + 1]].tolist() == [97, 300, 98]
        assert len(ids) == 3 + 5 * 2_500
    assert tokenizer.encode_side_by_side(["a man"] * 2_500, 2) is not None

"""WorkQueue that several threads encode, whichever is done first, against texts encoded one by one."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import ExitStack, nullcontext

import numpy as np
import pytest

import tokdfa
from tokdfa.automata.dictionary import Dictionary
from tokdfa.kernels.encode.pieces import AT_A_TIME, MANY_MISSED
from tokdfa.kernels.encode.texts import TextRun, WorkQueue
from tokdfa.kernels.encode.utf8 import FoundTexts
from tokdfa.kernels.library import lib
from tokdfa.tokenizers.encoding import text_encoder
from tokdfa.tokenizers.encoding.batches import EncodedDocuments
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.encoding.text_encoder import encode_side_by_side
from tokdfa.tokenizers.formats.contents import Contents
from tokdfa.tokenizers.models import byte_pair_texts
from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer
from tokdfa.tokenizers.pretokenizers.steps import Split, Splitting
from tokdfa.tokenizers.tokenizer import Tokenizer


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
    splitter = byte_pair_texts._splitter(tokenizer)
    assert splitter is not None
    return lambda: tokenizer.piece_ids.idle_text_encoder(splitter)


def assert_encoded(found: EncodedDocuments | None, tokenizer: tokdfa.Tokenizer, texts: list[str]) -> None:
    assert found is not None
    assert (found.ids.tolist(), found.offsets.tolist()) == expected(tokenizer, texts)
    assert found.ids.base is None


def calls_in_any_order(tokenizer: tokdfa.Tokenizer, texts: list[str], seed: int) -> Counter[int]:
    """Encode with three encoders in turn, and return how often each status is, and 100 plus the parcels held."""
    draw = random.Random(seed)
    parcels = WorkQueue(FoundTexts(texts), [0, *sorted(draw.choices(range(61), k=30)), 60])
    seen = Counter[int]()
    with ExitStack() as stack:
        encoders = [stack.enter_context(idle_of(tokenizer)()) for _ in range(3)]
        runs = [encoder.run._queue_run(parcels) for encoder in encoders]
        for run in runs:
            run.pointer.encoder.pieces.at_a_time = 1 << 14
        done: set[int] = set()
        while len(done) < len(runs) and seen.total() < 10_000:
            number = draw.choice([0, 0, 1, 2]) if seed % 2 else draw.randrange(3)
            run = runs[number].pointer
            # As if many pieces were new, for which the cache would grow.
            run.encoder.pieces.cache.n_missed = MANY_MISSED * draw.choice([0, 0, 1])
            status = lib.tokdfa_encode_queue(run, parcels.pointer)
            run.encoder.pieces.cache.n_missed = 0
            seen.update([status, 100 + run.n_held])
            if status == lib.TOKDFA_TOO_LARGE:
                assert encoders[number].run._encode_document(runs[number], parcels)
            if status == lib.TOKDFA_TOO_LONG:
                assert encoders[number].run._pieces.learn_long()
            if status == lib.TOKDFA_DONE:
                done.add(number)
        for run in runs:
            run.pointer.encoder.pieces.at_a_time = AT_A_TIME
    assert_encoded(EncodedDocuments(*parcels.result()), tokenizer, texts)
    return seen


def test_calls_of_several_threads_in_any_order(texts: list[str]) -> None:
    """Each call encodes a parcel or two, or begins one that is finished later, while others hold theirs."""
    # With tables of its own, which do not know long pieces yet.
    tokenizer = tokdfa.default_tokenizer.__wrapped__()
    seen = Counter[int]()
    for seed in range(12):
        seen += calls_in_any_order(tokenizer, [text * 100 for text in texts], seed)
    names = ("DONE", "PAUSED", "WAITS", "CROWDED", "TOO_LARGE", "TOO_LONG")
    assert {status for status in seen if status <= 0} == {getattr(lib, f"TOKDFA_{name}") for name in names}
    assert seen[lib.TOKDFA_WAITS] > 10
    assert seen[100 + lib.TOKDFA_MOST_HELD] > 10


@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("least", [1, 50, 1 << 16])
def test_any_number_of_threads_and_parcels(
    n_threads: int, least: int, tokenizer: tokdfa.Tokenizer, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_encoder, "_parcel_size", lambda total, n_threads: least)
    for _ in range(5):
        assert_encoded(tokenizer.encode_side_by_side(texts, n_threads), tokenizer, texts)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_documents_and_pieces_of_any_length(n_threads: int, tokenizer: tokdfa.Tokenizer, texts: list[str]) -> None:
    """Documents too long to be encoded together are encoded each by itself, amid the others."""
    long = "a single man in possession of a good fortune. " * 2_000
    given = [*texts, long, "x" * 70_000, "", *texts, "12" * 30_000, long, *texts]
    for _ in range(3):
        assert_encoded(tokenizer.encode_side_by_side(given, n_threads), tokenizer, given)
    # The tables for long pieces are wanted when the documents before are encoded.
    given = [*texts * 16, "x" * 9_000, *texts]
    assert sum(map(len, texts * 16)) > 1 << 15
    assert_encoded(tokdfa.default_tokenizer.__wrapped__().encode_side_by_side(given, n_threads), tokenizer, given)
    for none in ([], [""], ["", ""]):
        assert_encoded(tokenizer.encode_side_by_side(none, n_threads), tokenizer, none)


def test_room_for_large_parcels_is_not_kept(tokenizer: tokdfa.Tokenizer) -> None:
    for text, is_kept in (("a man " * 1_000, True), ("a man " * 200_000, False)):
        with idle_of(tokenizer)() as encoder:
            assert encoder.run.encode_queue(WorkQueue(FoundTexts([text]), [0, 1]))
            assert (encoder.run._run_of_queue is not None) == is_kept


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("at", [0, 30, 59])
def test_one_text_that_is_refused_ends_it(
    n_threads: int, at: int, tokenizer: tokdfa.Tokenizer, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_encoder, "_parcel_size", lambda total, n_threads: 50)
    spoiled = np.full(2, 0xFF, dtype=np.uint8)
    for _ in range(5):
        found = FoundTexts([*texts[:at], "no", *texts[at:]])
        found.addresses[at] = spoiled.ctypes.data
        assert encode_side_by_side(found, idle_of(tokenizer), n_threads) is None
    assert_encoded(tokenizer.encode_side_by_side(texts, n_threads), tokenizer, texts)


def test_more_than_may_be_encoded_at_once(
    tokenizer: tokdfa.Tokenizer, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = FoundTexts(texts)
    n_bytes = int(found.offsets[-1])
    assert encode_side_by_side(found, idle_of(tokenizer), 2, most=n_bytes) is not None
    assert encode_side_by_side(found, idle_of(tokenizer), 2, most=n_bytes - 1) is None
    # Then they are encoded parcel by parcel.
    monkeypatch.setattr(type(tokenizer), "encode_side_by_side", lambda self, texts, n_threads: None)
    assert_encoded(tokdfa.encode_batch(tokenizer, texts, threads=2), tokenizer, texts)


def test_an_encoder_that_remembers_nothing_encodes_nothing_here(texts: list[str]) -> None:
    assert encode_side_by_side(FoundTexts(texts), lambda: nullcontext(None), 2) is None


@pytest.mark.parametrize("bounds", [[], [0], [1, 60], [0, 59], [0, 40, 30, 60]])
def test_bounds_that_are_none_are_refused(bounds: list[int], texts: list[str]) -> None:
    with pytest.raises(ValueError, match="no bounds of parcels of 60 texts"):
        WorkQueue(FoundTexts(texts), bounds)


@pytest.mark.parametrize("n_threads", [1, 2, 4])
def test_an_error_in_a_thread_reaches_the_caller(
    n_threads: int, tokenizer: tokdfa.Tokenizer, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The threads that would wait for its documents stop as well."""
    monkeypatch.setattr(text_encoder, "_parcel_size", lambda total, n_threads: 50)

    def fail(run: TextRun, data: object, size: int) -> None:
        raise MemoryError(size)

    monkeypatch.setattr(TextRun, "_encode", fail)
    for at in (0, 30, 60):
        given = [*texts[:at], "long " * 10_000, *texts[at:]]
        with pytest.raises(MemoryError, match="50000"):
            tokenizer.encode_side_by_side(given, n_threads)


def test_special_tokens_in_one_of_many_texts() -> None:
    dictionary = Dictionary([], bytes(range(256)))
    specials = (Special(300, "<s>"),)
    ids = np.arange(256, dtype=np.int32)
    contents = Contents(format="tiktoken", dictionary=dictionary, ids=ids, specials=specials, finds_specials=True)
    tokenizer = Tokenizer(contents, PreTokenizer(Splitting("tiktoken", (Split(r" ?[a-z]+|\s|[^a-z\s]+"),))))
    for at in (0, 999, 1_000, 2_500):
        given = [*["a man"] * at, "a<s>b", *["a man"] * (2_500 - at)]
        assert tokenizer.encode_side_by_side(given, 2) is not None
        ids, offsets = tokdfa.encode_batch(tokenizer, given, threads=2)
        assert ids[offsets[at] : offsets[at + 1]].tolist() == [97, 300, 98]
        assert len(ids) == 3 + 5 * 2_500
    assert tokenizer.encode_side_by_side(["a man"] * 2_500, 2) is not None

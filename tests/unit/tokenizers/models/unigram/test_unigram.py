"""Unigram tokenizers against both libraries: encode, decode, validate."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.support import unigrams
from tests.support.editing import edited
from tests.support.seeds import seeds
from tests.support.tuned import tuned_validator, validate_tuned
from tokdfa import UnigramTokenizer
from tokdfa.base.errors import AlphabetError, UnsupportedFeatureError
from tokdfa.jobs.validation.window import DEFAULT, Tuning


def first_difference(ids: list[int], again: list[int]) -> int:
    different = (place for place, (a, b) in enumerate(zip(ids, again, strict=False)) if a != b)
    return next(different, min(len(ids), len(again)))


def judged(tokenizer: UnigramTokenizer, ids: list[int], again: list[int], tuning: Tuning) -> bool:
    """Check the verdict on ids, which the library encodes again as `again`."""
    verdict = validate_tuned(tokenizer, ids, tuning=tuning)
    assert bool(verdict) == (again == ids), (ids, again)
    if not verdict:
        assert verdict.index == first_difference(ids, again), (ids, again)
    return bool(verdict)


def assert_sentencepiece_agrees(
    chosen: range,
    n_texts: int,
    tuning: Tuning = DEFAULT,
    draw: Callable[[random.Random], bytes] = unigrams.changed_sentencepiece,
    judged_each: int = 1,
) -> Counter[str]:
    counts: Counter[str] = Counter()
    for seed in chosen:
        drawn = random.Random(seed)
        data = draw(drawn)
        encode, again, n_ids = unigrams.oracle_of_sentencepiece(data)
        try:
            tokenizer = tokdfa.load(data)
        except UnsupportedFeatureError as error:
            counts[error.what] += 1
            continue
        assert isinstance(tokenizer, UnigramTokenizer)
        counts["models"] += 1
        texts: dict[str, list[int]] = {}
        for _ in range(n_texts):
            text = unigrams.text(drawn)
            texts[text] = ids = encode(text)
            counts["texts"] += 1
            assert tokenizer.encode(text).tolist() == ids, (seed, text)
            if len(texts) % judged_each:
                continue
            for stream in (ids, edited(drawn, ids, range(n_ids), range(4))):
                counts["canonical"] += judged(tokenizer, stream, again(stream), tuning)
                counts["streams"] += 1
        check_together(tokenizer, texts)
    return counts


def assert_tokenizers_agree(
    chosen: range,
    n_texts: int,
    tuning: Tuning = DEFAULT,
    draw: Callable[[random.Random], dict[str, Any]] = unigrams.changed_tokenizers,
    judged_each: int = 1,
) -> Counter[str]:
    from tokenizers import Tokenizer

    counts: Counter[str] = Counter()
    for seed in chosen:
        drawn = random.Random(seed)
        data = json.dumps(draw(drawn)).encode()
        peer = Tokenizer.from_str(data.decode())
        try:
            tokenizer = tokdfa.load(data)
        except UnsupportedFeatureError as error:
            counts[error.what] += 1
            continue
        assert isinstance(tokenizer, UnigramTokenizer)
        counts["models"] += 1
        texts: dict[str, list[int]] = {}
        for _ in range(n_texts):
            text = unigrams.text(drawn)
            try:
                ids = peer.encode(text, add_special_tokens=False).ids
            except Exception:
                counts["refused"] += 1
                with pytest.raises(AlphabetError, match="a character that is no piece"):
                    tokenizer.encode(text)
                continue
            texts[text] = ids
            counts["texts"] += 1
            assert tokenizer.encode(text).tolist() == ids, (seed, text)
            if len(texts) % judged_each:
                continue
            for stream in (ids, edited(drawn, ids, range(len(tokenizer)), range(4))):
                decoded = peer.decode(stream, skip_special_tokens=False)
                assert tokenizer.decode(stream) == decoded, (seed, stream)
                counts["streams"] += 1
                try:
                    again = peer.encode(decoded, add_special_tokens=False).ids
                except Exception:
                    assert not tokenizer.validate(stream)
                    continue
                counts["canonical"] += judged(tokenizer, stream, again, tuning)
        check_together(tokenizer, texts)
    return counts


def check_together(tokenizer: UnigramTokenizer, texts: dict[str, list[int]]) -> None:
    """Check the encoding of several texts in one call."""
    ids, offsets = tokdfa.encode_batch(tokenizer, [*texts])
    assert [ids[start:stop].tolist() for start, stop in pairwise(offsets)] == [*texts.values()]


def test_models_of_sentencepiece() -> None:
    counts = assert_sentencepiece_agrees(range(10), 10)
    assert counts["models"] > 5
    assert 0.2 < counts["canonical"] / counts["streams"] < 0.8


def test_models_of_tokenizers() -> None:
    counts = assert_tokenizers_agree(range(30), 8)
    assert counts["refused"]
    assert 0.2 < counts["canonical"] / counts["streams"] < 0.8


def test_streams_are_judged_part_by_part() -> None:
    assert_sentencepiece_agrees(range(100, 106), 10, Tuning(window=3))
    assert_tokenizers_agree(range(100, 112), 6, Tuning(window=3))


def test_texts_come_in_parts() -> None:
    drawn = random.Random(8)
    n_early = 0
    for seed in range(20):
        data: bytes = unigrams.changed_sentencepiece(random.Random(seed))
        if seed % 2:
            data = json.dumps(unigrams.changed_tokenizers(random.Random(seed))).encode()
        tokenizer = tokdfa.load(data)
        for _ in range(6):
            text = " ".join(unigrams.text(drawn, 5) for _ in range(drawn.randrange(8)))
            stream = tokenizer.stream()
            try:
                expected = tokenizer.encode(text).tolist()
            except AlphabetError:
                continue
            found: list[int] = []
            at = 0
            while at < len(text):
                size = drawn.randrange(1, 6)
                found += stream.feed(text[at : at + size]).tolist()
                at += size
            n_early += bool(found)
            assert found + stream.finish().tolist() == expected, (seed, text)
    assert n_early > 5


@pytest.mark.parametrize("library", ["sentencepiece", "tokenizers"])
def test_long_streams_are_forgotten(library: str) -> None:
    if library == "sentencepiece":
        tokenizer = tokdfa.load(unigrams.trained_by_sentencepiece("identity", False, 0))
    else:
        fields = next(
            fields
            for number in range(20)
            if "Metaspace" in str((fields := json.loads(unigrams.trained_by_tokenizers(number)))["pre_tokenizer"])
        )
        metaspace = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
        tokenizer = tokdfa.load(fields | {"pre_tokenizer": metaspace, "decoder": metaspace})
    assert isinstance(tokenizer, UnigramTokenizer)
    assert tokenizer.boundaries.why_none is None
    text = "the cat and the hat the bat " * 6000
    ids = tokenizer.encode(text.strip())
    validator = tuned_validator(tokenizer, tuning=Tuning(window=1 << 10))
    for at in range(0, len(ids), 4096):
        assert not list(validator.feed(ids[at : at + 4096]))
        assert validator.n_kept < 9000
    assert not list(validator.finish())
    # One wrong token far on is found where it is.
    wrong = ids.copy()
    place = len(ids) * 3 // 4
    wrong[place] = ids[place - 1]
    again = tokenizer.encode(tokenizer.decode(wrong)).tolist()
    verdict = validate_tuned(tokenizer, wrong, tuning=Tuning(window=1 << 10))
    assert bool(verdict) == (again == wrong.tolist())
    assert verdict or verdict.index == first_difference(wrong.tolist(), again)


@pytest.mark.slow
@pytest.mark.parametrize("library", ["sentencepiece", "tokenizers"])
def test_any_models_agree_with_the_library(library: str, tally: Tally) -> None:
    if library == "sentencepiece":
        counts = assert_sentencepiece_agrees(seeds(2500), 50, draw=unigrams.any_sentencepiece, judged_each=4)
    else:
        counts = assert_tokenizers_agree(seeds(2500), 60, draw=unigrams.any_tokenizers, judged_each=4)
    print(library, dict(counts))
    tally("encoding", "random cases", counts["texts"])
    tally("validation", "spoiled inputs", counts["streams"])


def test_any_options() -> None:
    # Those with which texts end with a space, among others.
    counts = assert_sentencepiece_agrees(range(200, 211), 10, draw=unigrams.any_sentencepiece)
    assert counts["models"] == 11
    counts = assert_tokenizers_agree(range(200, 210), 10, draw=unigrams.any_tokenizers)
    assert counts["models"] > 6


def test_live_objects() -> None:
    from sentencepiece import SentencePieceProcessor
    from tokenizers import Tokenizer, decoders

    trained = Tokenizer.from_str(unigrams.trained_by_tokenizers(3))
    trained.decoder = decoders.Fuse()  # type: ignore[assignment]
    fields = trained.to_str()
    peer = Tokenizer.from_str(fields)
    live, read = tokdfa.load(peer), tokdfa.load(fields.encode())
    assert isinstance(live, UnigramTokenizer)
    assert isinstance(read, UnigramTokenizer)
    assert live.library == f"tokenizers=={__import__('tokenizers').__version__}"
    # The file is read as the library reads it, and the object has the values that the library has read.
    assert live.model.scores.tolist() == read.model.scores.tolist()
    assert live.fingerprint == read.fingerprint
    peer.model.alpha = 0.5  # type: ignore[attr-defined]
    with pytest.raises(UnsupportedFeatureError, match=r"with alpha the ids of a Unigram model are random: 0\.5"):
        tokdfa.load(peer)
    data = unigrams.trained_by_sentencepiece("identity", False, 0)
    processor = SentencePieceProcessor(model_proto=data)
    assert tokdfa.load(processor).encode("the cat").tolist() == processor.encode("the cat")


def test_versions_of_sentencepiece(tmp_path: Path) -> None:
    data = unigrams.trained_by_sentencepiece("identity", False, 0)
    new, old = tokdfa.load(data), tokdfa.load(data, unicode="sentencepiece==0.2.1")
    assert (new.semantics, old.semantics) == ("best sum in 32 bits", "best sum in 32 bits, rounded late")
    assert new.fingerprint != old.fingerprint


def test_a_long_text_loses_digits() -> None:
    from sentencepiece import SentencePieceProcessor

    data = unigrams.trained_by_sentencepiece("identity", False, 2)
    tokenizer, peer = tokdfa.load(data), SentencePieceProcessor(model_proto=data)
    drawn = random.Random(5)
    words = ["".join(drawn.choices("abcthe12", k=drawn.randrange(1, 9))) for _ in range(300)]
    text = " ".join(drawn.choices(words, k=50_000))
    ids = tokenizer.encode(text)
    assert ids.tolist() == peer.encode(text)
    assert bool(tokenizer.validate(ids)) == (peer.encode(peer.decode(ids.tolist())) == ids.tolist())
    # Words far on are encoded otherwise than alone.
    assert ids.tolist() != [id for word in text.split(" ") for id in tokenizer.encode(word).tolist()]

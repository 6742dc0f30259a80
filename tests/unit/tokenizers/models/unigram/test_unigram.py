"""Unigram tokenizers against both libraries: encode, decode, validate."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.campaigns.standing.laws import decoding, streams, verdicts
from tests.campaigns.standing.laws.verdicts import first_difference
from tests.support import unigrams
from tests.support.families import Member, of_model, of_tokenizer_json
from tests.support.seeds import seeds
from tests.support.tuned import tuned_validator, validate_tuned
from tokdfa import UnigramTokenizer
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.jobs.validation.window import Tuning

CHANGED: dict[str, Callable[[random.Random], Member | None]] = {
    "sentencepiece": lambda drawn: of_model("sentencepiece", unigrams.changed_sentencepiece(drawn)),
    "tokenizers": lambda drawn: of_tokenizer_json("tokenizers", unigrams.changed_tokenizers(drawn)),
}
# With any options, such as those with which texts end with a space.
ANY: dict[str, Callable[[random.Random], Member | None]] = {
    "sentencepiece": lambda drawn: of_model("sentencepiece", unigrams.any_sentencepiece(drawn)),
    "tokenizers": lambda drawn: of_tokenizer_json("tokenizers", unigrams.any_tokenizers(drawn)),
}


def met_by_models(draw: Callable[[random.Random], Member | None], chosen: Iterable[int]) -> Counter[str]:
    """Ask random models for the laws of texts, ids and verdicts; return the cases that were met."""
    met: Counter[str] = Counter()
    for seed in chosen:
        drawn = random.Random(seed)
        member = draw(drawn)
        if member is not None:
            assert isinstance(member.tokenizer, UnigramTokenizer)
            met["models"] += 1
            for law in (streams, verdicts, decoding):
                met += law.check(member, drawn)
    return met


@pytest.mark.parametrize("library", CHANGED)
def test_models_agree_with_the_library(library: str) -> None:
    met = met_by_models(CHANGED[library], range(20))
    assert met["models"] > 10
    assert min(met[case] for case in ("canonical", "spoiled", "repaired", "several violations", "in chunks")) > 4, met
    assert met["refused texts"] or library == "sentencepiece"


@pytest.mark.parametrize("library", ANY)
def test_models_with_any_options_agree_with_the_library(library: str) -> None:
    met = met_by_models(ANY[library], range(200, 211))
    assert met["models"] > 6
    assert met["repaired"] > 6


@pytest.mark.slow
@pytest.mark.parametrize("library", ANY)
def test_any_models_agree_with_the_library(library: str, tally: Tally) -> None:
    met = met_by_models(ANY[library], seeds(2500))
    print(library, dict(met))
    assert met["models"] > len(seeds(2500)) // 2
    tally("encoding", "random cases", met["texts"])
    tally("validation", "spoiled inputs", met["spoiled"])


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

"""SentencePiece models against the sentencepiece package."""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterable
from functools import cache
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.campaigns.standing.laws import decoding, streams, verdicts
from tests.support import sentencepieces
from tests.support.families import of_model
from tests.support.seeds import seeds
from tests.support.sentencepieces import RULES
from tokdfa import Tokenizer
from tokdfa.base.errors import FileFormatError, UnsupportedFeatureError
from tokdfa.jobs.validation.validator import Validator

pytest.importorskip("sentencepiece")
pb = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")


def met_by_models(chosen: Iterable[int]) -> Counter[str]:
    """Ask changed models for the laws of texts, ids and verdicts; return the cases that were met."""
    met: Counter[str] = Counter()
    for seed in chosen:
        drawn = random.Random(seed)
        member = of_model("BPE", sentencepieces.changed(drawn))
        if member is not None:
            met["models"] += 1
            for law in (streams, verdicts, decoding):
                met += law.check(member, drawn)
    return met


def test_changed_models_agree_with_the_library() -> None:
    met = met_by_models(range(24))
    assert met["models"] > 12
    assert min(met[case] for case in ("canonical", "spoiled", "repaired", "several violations", "in chunks")) > 10, met


def test_long_streams_are_forgotten(data: Path) -> None:
    tokenizer = mistral(data)
    validator = Validator(tokenizer)
    ids = tokenizer.encode("the quick brown fox jumps over the lazy dog" * 5000)
    for i in range(0, len(ids), 4096):
        assert not list(validator.feed(ids[i : i + 4096]))
        assert validator.n_kept < 40_000
    assert not list(validator.finish())


@pytest.mark.parametrize("byte_fallback", [True, False])
def test_documents_are_judged_each_for_itself(byte_fallback: bool, tmp_path: Path) -> None:
    data = sentencepieces.trained("identity", byte_fallback)
    path = tmp_path / "tokenizer.model"
    path.write_bytes(data)
    tokenizer = tokdfa.load(path)
    drawn = random.Random(5)
    n_wrong = 0
    for _ in range(20):
        documents = [tokenizer.encode(sentencepieces.text(drawn)).tolist() for _ in range(drawn.randrange(1, 6))]
        for ids in documents:
            if drawn.random() < 0.3 and len(ids) > 1:
                ids[:2] = ids[1::-1]
        starts = np.cumsum([0, *map(len, documents)])[:-1]
        packed = tokenizer.validate([*chain(*documents)], documents=starts, all=True)
        separator = int(tokenizer.special_ids[-1])
        # Documents with an id between them, in chunks.
        stream = [id for ids in documents for id in (separator, *ids)][1:]
        validator = Validator(tokenizer, documents=separator)
        parts = [list(validator.feed(stream[at : at + 3])) for at in range(0, len(stream), 3)]
        separated = [*chain(*parts), *validator.finish()]
        found = iter(zip(packed.violations, separated, strict=True))
        bytes_before = 0
        for number, (ids, start) in enumerate(zip(documents, starts.tolist(), strict=True)):
            for alone in tokenizer.validate(ids, all=True).violations:
                n_wrong += 1
                one, other = next(found)
                assert (one.index, one.start, one.byte_offset) == (
                    alone.index + start,
                    alone.start + start,
                    alone.byte_offset + bytes_before,
                )
                assert other.index == alone.index + start + number
                assert one.ids == other.ids == alone.ids
                assert one.canonical_ids == other.canonical_ids == alone.canonical_ids
            bytes_before += len(tokenizer.decode(ids).encode())
        assert next(found, None) is None
    assert n_wrong > 5


def test_without_the_packages_that_read_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.model"
    data = sentencepieces.trained("identity", True)
    monkeypatch.setitem(sys.modules, "google.protobuf.message", None)
    # They are needed only for models that are not written plainly.
    path.write_bytes(data)
    assert tokdfa.load(path).encode("the").tolist()
    path.write_bytes(data + b"\x1a\0")
    with pytest.raises(UnsupportedFeatureError, match=r"needs more packages.*pip install 'tokdfa\[sentencepiece\]'"):
        tokdfa.load(path)


@pytest.mark.slow
def test_many_changed_models(tally: Tally) -> None:
    met = met_by_models(seeds(600))
    print(met)
    assert met["models"] > len(seeds(600)) // 2
    tally("loading", "spoiled inputs", len(seeds(600)))


def test_the_table_of_characters(tmp_path: Path) -> None:
    # Code points on their own, and after a letter.
    data = sentencepieces.trained("nmt_nfkc", True)
    path = tmp_path / "x.model"
    path.write_bytes(data)
    tokenizer = tokdfa.load(path)
    encode, *_ = sentencepieces.oracle(data)
    points = [*range(1, 0xD800, 7), *range(0xE000, 0x3000, 7), *range(0x10000, 0x30000, 97), *range(0x300)]
    text = "\n".join(f"{chr(point)} e{chr(point)}" for point in points)
    assert tokenizer.encode(text).tolist() == encode(text)


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_the_table_of_characters_for_every_code_point(rule: str, tmp_path: Path) -> None:
    data = sentencepieces.trained(rule, True)
    path = tmp_path / "x.model"
    path.write_bytes(data)
    tokenizer = tokdfa.load(path)
    encode, *_ = sentencepieces.oracle(data)
    for begin in range(1, 0x110000, 4096):
        points = [point for point in range(begin, min(begin + 4096, 0x110000)) if not 0xD800 <= point < 0xE000]
        text = "\n".join(f"{chr(point)} e{chr(point)}" for point in points)
        assert tokenizer.encode(text).tolist() == encode(text), hex(begin)


def test_in_a_folder_and_in_a_stream(tmp_path: Path) -> None:
    data = sentencepieces.trained("identity", False)
    (tmp_path / "tokenizer.model").write_bytes(data)
    tokenizer = tokdfa.load(tmp_path)
    assert isinstance(tokenizer, Tokenizer)
    assert tokenizer.format == "sentencepiece"
    stream = tokenizer.stream()
    parts = [stream.feed("the c"), stream.feed("at"), stream.finish()]
    assert np.concatenate(parts).tolist() == tokenizer.encode("the cat").tolist()
    assert tokenizer.made_of != tokdfa.load(tmp_path, pretokenizer="gpt2").made_of


@pytest.mark.parametrize("rule", ["identity", "nmt_nfkc"])
@pytest.mark.parametrize("puts", [True, False])
@pytest.mark.parametrize("trims", [True, False])
def test_white_space_as_a_suffix(rule: str, puts: bool, trims: bool) -> None:
    model = pb.ModelProto()
    model.ParseFromString(sentencepieces.trained(rule, False))
    model.trainer_spec.treat_whitespace_as_suffix = True
    model.normalizer_spec.add_dummy_prefix, model.normalizer_spec.remove_extra_whitespaces = puts, trims
    data = model.SerializeToString()
    tokenizer, (encode, *_) = tokdfa.load(data), sentencepieces.oracle(data)
    # Soft hyphens are dropped by the second rule, so that there is nothing but a space after them.
    for text in ("", " ", "  ", "\u2581", "\xad", " \xad", "\xad ", "\u200b", "a", " a  b ", "a\u2581", "the cat and"):
        assert tokenizer.encode(text).tolist() == encode(text), text
    stream = tokenizer.stream()
    parts = [stream.feed("the c"), stream.feed("at "), stream.finish()]
    assert np.concatenate(parts).tolist() == encode("the cat ")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda model: setattr(model.trainer_spec, "model_type", 4), "a normal piece of several characters in a CHAR"),
        (lambda model: setattr(model.pieces[-1], "type", 5), "this type of piece is not modelled: 'UNUSED'"),
        (lambda model: setattr(model.pieces[-1], "score", float("nan")), "the score is not a number"),
        (lambda model: setattr(model.pieces[-1], "piece", model.pieces[-2].piece), "a duplicate piece"),
        (lambda model: setattr(model.pieces[-1], "piece", ""), "a piece must have 1 to 1024 characters"),
        (lambda model: setattr(model.pieces[-1], "type", 2), "a model must have exactly one unknown piece"),
        (lambda model: setattr(model.pieces[-1], "piece", "\u4e00\u4e01"), "a character that is not a piece itself"),
        (
            lambda model: setattr(model.normalizer_spec, "precompiled_charsmap", b"\1\0\0"),
            "character table is truncated",
        ),
        (lambda model: model.denormalizer_spec.ParseFromString(b"\x12\1a"), "for decoding is not modelled"),
        (
            lambda model: model.normalizer_spec.ParseFromString(b"\xc8\x3e\1"),
            "unknown fields",
        ),
        (lambda model: model.ClearField("pieces"), "has no pieces|format cannot be recognised"),
    ],
)
def test_what_is_refused(change: object, message: str, tmp_path: Path) -> None:
    model = pb.ModelProto()
    model.ParseFromString(sentencepieces.trained("identity", True))
    change(model)  # type: ignore[operator]
    path = tmp_path / "x.model"
    path.write_bytes(model.SerializeToString())
    with pytest.raises(FileFormatError, match=message):
        tokdfa.load(path)


@pytest.mark.parametrize("old", [b"the", b"unk_surface"])
def test_text_that_is_not_utf8(old: bytes, tmp_path: Path) -> None:
    model = pb.ModelProto()
    model.ParseFromString(sentencepieces.trained("identity", True))
    model.trainer_spec.unk_surface = "unk_surface"
    data = model.SerializeToString()
    assert old in data
    path = tmp_path / "x.model"
    path.write_bytes(data.replace(old, b"\xff" + old[1:]))
    with pytest.raises(FileFormatError, match=r"pieces\[\d+\]: the piece|trainer_spec: the unk_surface"):
        tokdfa.load(path)


def test_no_protocol_buffer(tmp_path: Path) -> None:
    path = tmp_path / "x.model"
    path.write_bytes(b"\n\xff\xff\xff")
    with pytest.raises(FileFormatError, match="not a SentencePiece model"):
        tokdfa.load(path)


CORPORA = ("english.txt", "multilingual.txt", "python_code.txt")


@cache
def mistral(data: Path) -> Tokenizer:
    tokenizer = tokdfa.load(data / "vocabs" / "mistral_v3.model")
    assert isinstance(tokenizer, Tokenizer)
    return tokenizer


@pytest.mark.parametrize("corpus", CORPORA)
def test_mistral_encodes_and_decodes_as_by_the_library(data: Path, corpus: str) -> None:
    path = data / "vocabs" / "mistral_v3.model"
    tokenizer = mistral(data)
    encode, decode, *_ = sentencepieces.oracle(path.read_bytes())
    text = (data / "corpora" / corpus).read_text(encoding="utf-8")[:30_000]
    ids = encode(text)
    assert tokenizer.encode(text).tolist() == ids
    assert tokenizer.decode(ids) == decode(ids)
    assert tokenizer.validate([1, *ids, 2])

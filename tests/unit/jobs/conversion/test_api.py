"""tokdfa.convert: a file is written only if every text keeps its ids."""

from __future__ import annotations

import errno
import json
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import tokenizers

import tokdfa
from tests.support import sentencepieces
from tests.support.conversions import NAMES, assert_is_right, converted
from tests.support.families import FAMILIES
from tests.support.seeds import seeds
from tests.support.tokenizer_files import added_token, as_bytes, tokenizer_json, vocabulary
from tokdfa import Conversion, Tokenizer
from tokdfa.base.errors import TokdfaError, UnsupportedFeatureError, WrongTypeError
from tokdfa.jobs.conversion import api
from tokdfa.tokenizers.formats.writers.draft import LostPart
from tokdfa.tokenizers.formats.writers.tokenizer_json import draft_of
from tokdfa.tokenizers.twins import with_specials

# The conversions that are written for every member of a family.
_UNIGRAM = "Unigram of tokenizers"
ALWAYS = {
    *(
        (family, "tokenizer.json")
        for family in ("ranks", "improper ranks", "bytes", "bytes, NFC", "Llama-2", "CLIP", "WordPiece", _UNIGRAM)
    ),
    *((family, "tiktoken") for family in ("ranks", "improper ranks", "bytes")),
}


# One of each kind; where no search decides, texts are tried for seconds.
SOME = [
    *dict.fromkeys(family for family, _ in ALWAYS),
    *("bytes, whole words", "bytes, prefix space", "prefix"),
]


@pytest.mark.parametrize(
    ("seed", "families"), [(0, SOME), *(pytest.param(seed, [*FAMILIES], marks=pytest.mark.slow) for seed in seeds(20))]
)
def test_what_is_written_has_the_ids_of_the_first_library(seed: int, families: list[str], tmp_path: Path) -> None:
    outcomes: Counter[tuple[str, bool | None]] = Counter()
    for family, target in ((family, target) for family in families for target in NAMES if target != "gguf"):
        drawn = random.Random(f"{family} {seed}")
        member = FAMILIES[family](drawn)
        folder = tmp_path / f"{family} {target}"
        folder.mkdir()
        found = converted(member.tokenizer, target, folder)
        outcomes[target, None if isinstance(found, TokdfaError) else bool(found)] += 1
        if isinstance(found, Conversion):
            assert_is_right(member, found, drawn, 5)
        assert bool(found) == bool([*folder.iterdir()]) or isinstance(found, TokdfaError)
        assert not isinstance(found, TokdfaError) or not [*folder.iterdir()]
        assert (family, target) not in ALWAYS or found, (family, found)
    # Each format can hold some, the others cannot hold some, and have no word for the rest.
    assert all(outcomes[target, True] for target in NAMES if target != "gguf")
    assert all(outcomes[target, answer] for target in ("tiktoken", "merges") for answer in (False, None))


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 60))])
def test_both_libraries_give_the_ids_of_a_unigram_witness(seed: int, tmp_path: Path) -> None:
    drawn = random.Random(seed)
    member = FAMILIES["Unigram of SentencePiece"](drawn)
    found = converted(member.tokenizer, "tokenizer.json", tmp_path)
    # The tokens with which SentencePiece begins and ends a text are found in texts by tokenizers only.
    assert isinstance(found, Conversion)
    assert found.witness is not None
    peer = tokenizers.Tokenizer.from_str(draft_of(member.tokenizer, "x").files["x"].decode())
    for sample in (str(found.witness.text), *(member.text(drawn) for _ in range(20))):
        assert found.tokenizer.encode(sample).tolist() == peer.encode(sample, add_special_tokens=False).ids, sample
    assert member.encode(str(found.witness.text)) == list(found.witness.tokens_a or ())
    assert list(found.witness.tokens_b or ()) == found.tokenizer.encode(str(found.witness.text)).tolist()


def without_user_defined_pieces(*, trims: bool) -> bytes:
    from sentencepiece import sentencepiece_model_pb2 as pb

    model: Any = pb.ModelProto()  # type: ignore[attr-defined]
    model.ParseFromString(sentencepieces.trained("identity", True))
    model.normalizer_spec.remove_extra_whitespaces = trims
    for id, piece in enumerate(model.pieces):
        if piece.type == piece.USER_DEFINED:
            piece.type, piece.piece = piece.CONTROL, f"<ctl{id}>"
    # llama.cpp makes any token of its characters.
    for character in sorted({*"<unk>("} - {piece.piece for piece in model.pieces}):
        model.pieces.add(piece=character, score=-1000.0)
    # The first one is made of the second, twice, and of the third.
    for number, piece in enumerate(("((((", "((", "(((")):
        model.pieces.add(piece=piece, score=-1001.0 - number)
    written: bytes = model.SerializeToString()
    return written


def loaded(data: bytes) -> Tokenizer:
    tokenizer = tokdfa.load(data)
    assert isinstance(tokenizer, Tokenizer)
    return tokenizer


@pytest.mark.parametrize("target", ["tokenizer.json", "gguf"])
def test_byte_pairs_of_sentencepiece_are_written_if_special_tokens_are_text(target: Any, tmp_path: Path) -> None:
    data = without_user_defined_pieces(trims=target == "tokenizer.json")
    tokenizer, peer = loaded(data), sentencepiece.SentencePieceProcessor(model_proto=data)
    found = tokdfa.convert(tokenizer, target, tmp_path / NAMES[target], special_tokens="plain")
    assert found, found
    assert tokenizer.merges is not None, "rules alone do not determine the tokens"
    if target == "tokenizer.json":
        # Mistral's runs of spaces have one score, and rules alone would give them other ids.
        assert len(json.loads(found.files[0].read_bytes())["model"]["merges"]) == len(tokenizer.merges.left)
    again, drawn = with_specials(tokdfa.load(found.files[0], **found.options), "plain"), random.Random(target)
    for _ in range(200):
        sample = "".join(drawn.choices([*sentencepieces.SYMBOLS, "(", "(((("], k=drawn.randrange(12)))
        assert again.encode(sample).tolist() == peer.encode(sample), sample
    # SentencePiece never finds its own special tokens in a text, and the libraries of both formats do.
    found = tokdfa.convert(tokenizer, target, tmp_path / NAMES[target])
    assert found.witness is not None
    assert found.witness.text == "<s>"


def byte_level(**changes: object) -> tokdfa.AnyTokenizer:
    return tokdfa.load(as_bytes(tokenizer_json(**changes)))


@pytest.mark.parametrize(
    ("target", "part", "changes"),
    [
        ("tiktoken", LostPart.NORMALIZER, {"normalizer": {"type": "NFC"}}),
        ("merges", LostPart.SPECIALS, {}),
        ("tiktoken", LostPart.FLAGS, {"added_tokens": [added_token(len(vocabulary()), "<x>", rstrip=True)]}),
    ],
)
def test_the_witness_comes_with_the_lost_part(target, part: LostPart, changes: dict, tmp_path: Path) -> None:
    tokenizer = byte_level(**changes)
    found = tokdfa.convert(tokenizer, target, tmp_path / "x.y")
    assert not found
    assert part in {loss.part for loss in found.causes}
    assert found.witness is not None
    assert tokenizer.encode(str(found.witness.text)).tolist() == list(found.witness.tokens_a or ())
    assert found.witness.tokens_a != found.witness.tokens_b
    assert found.files == ()
    assert not [*tmp_path.iterdir()]


def test_special_tokens_may_be_text(tmp_path: Path) -> None:
    found = tokdfa.convert(byte_level(), "merges", tmp_path / "merges.txt", special_tokens="plain")
    assert [path.name for path in found.files] == ["merges.txt", "vocab.json"]
    again = tokdfa.load(found.files[0], **found.options)
    assert again.encode("the<|end|>").tolist() != byte_level().encode("the<|end|>").tolist()
    assert again.encode("the then").tolist() == byte_level().encode("the then").tolist()


def test_only_some_texts_may_have_to_keep_their_ids(tmp_path: Path) -> None:
    tokenizer = byte_level(normalizer={"type": "Lowercase"})
    found = tokdfa.convert(tokenizer, "tiktoken", tmp_path / "x.tiktoken", texts="[a-z ]*")
    assert found
    assert found.reason == "every text that [a-z ]* matches has the same ids"
    again = tokdfa.load(found.files[0], **found.options)
    assert again.encode("the then").tolist() == tokenizer.encode("the then").tolist()
    assert again.encode("THE").tolist() != tokenizer.encode("THE").tolist()
    entries = tokdfa.load(b"[UNK]\na\n", format="vocab.txt")
    assert tokdfa.convert(entries, "tokenizer.json", tmp_path / "y", texts="a")


def test_options_load_the_file_that_was_written(tmp_path: Path) -> None:
    texts = [special.content for special in byte_level().specials]
    found = tokdfa.convert(byte_level(), "tiktoken", tmp_path / "ranks")
    again = tokdfa.load(found.files[0], **found.options)
    assert found.options.keys() == {"format", "pretokenizer", "specials"}
    assert [special.content for special in again.specials] == texts
    assert found.lost[-1].part is LostPart.NAMES


def test_models_without_a_word_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    unigram = {"model": {"type": "Unigram", "unk_id": 0, "vocab": [["?", 0], ["a", -1]]}, "decoder": {"type": "Fuse"}}
    for target in ("tiktoken", "merges"):
        with pytest.raises(UnsupportedFeatureError, match="Unigram"):
            tokdfa.convert(tokdfa.load(unigram), target, tmp_path / "x")  # type: ignore[arg-type]
    with pytest.raises(UnsupportedFeatureError, match="the formats are"):
        tokdfa.convert(byte_level(), "onnx", tmp_path / "x")  # type: ignore[arg-type]
    with pytest.raises(WrongTypeError, match="a tokenizer"):
        tokdfa.convert("tokenizer.json", "tiktoken", tmp_path / "x")  # type: ignore[arg-type]
    assert not [*tmp_path.iterdir()]


def test_undecided_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def undecided(*_: object, **__: object) -> None:
        raise UnsupportedFeatureError("neither a difference nor equivalence could be established")

    monkeypatch.setattr(api, "compare", undecided)
    with pytest.raises(UnsupportedFeatureError, match="neither"):
        tokdfa.convert(byte_level(), "tiktoken", tmp_path / "x")
    assert not [*tmp_path.iterdir()]


def test_a_full_disk_leaves_the_old_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.specials.json").write_text("old")
    synced = []

    def full(descriptor: int) -> None:
        synced.append(descriptor)
        if len(synced) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        tokdfa.convert(byte_level(), "tiktoken", tmp_path / "x")
    assert [path.name for path in tmp_path.iterdir()] == ["x.specials.json"]
    assert (tmp_path / "x.specials.json").read_text() == "old"

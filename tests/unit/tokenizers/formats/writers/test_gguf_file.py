"""GGUF files, as the package gguf reads them."""

from __future__ import annotations

import random
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import gguf
import pytest

import tokdfa
from tests.support.conversions import assert_is_right, converted
from tests.support.families import FAMILIES
from tests.support.gguf_files import PIECES, sentencepiece
from tests.support.gguf_files import gguf as gguf_bytes
from tests.support.llama_cpp import LlamaCpp, library
from tests.support.tokenizer_files import RULES, added_token, as_bytes, spell, tokenizer_json, vocabulary
from tokdfa import Conversion
from tokdfa.base.errors import AlphabetError, UnsupportedFeatureError
from tokdfa.tokenizers.formats.writers.draft import LostPart
from tokdfa.tokenizers.formats.writers.gguf_file import draft_of

_OF_WORDS = ("WordPiece", "Unigram of tokenizers", "Unigram of SentencePiece")
WHOLE = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}


def fields_of(data: bytes, folder: Path) -> dict[str, Any]:
    path = folder / "read.gguf"
    path.write_bytes(data)
    return {key: field.contents() for key, field in gguf.GGUFReader(path).fields.items()}


def test_the_package_reads_the_tokens_and_rules(tmp_path: Path) -> None:
    n_tokens = len(vocabulary())
    added = [added_token(n_tokens, "<|end|>"), added_token(n_tokens + 1, "<text>", special=False)]
    tokenizer = tokdfa.load(as_bytes(tokenizer_json(added_tokens=added)))
    read = fields_of(draft_of(tokenizer, "x.gguf").files["x.gguf"], tmp_path)
    assert read["general.architecture"] == "llama"
    assert read["tokenizer.ggml.model"] == "gpt2"
    assert read["tokenizer.ggml.pre"] == "gpt-2"
    assert read["tokenizer.ggml.tokens"] == [*vocabulary(), "<|end|>", "<text>"]
    assert read["tokenizer.ggml.token_type"] == [*[1] * n_tokens, 3, 4]
    assert read["tokenizer.ggml.merges"] == [f"{spell(left)} {spell(right)}" for left, right in RULES]


@pytest.mark.parametrize("family", ["bytes", "ranks", "BPE of SentencePiece", "Unigram of tokenizers", "WordPiece"])
def test_the_witness_is_right(family: str, tmp_path: Path) -> None:
    drawn = random.Random(family)
    member = FAMILIES[family](drawn)
    found = converted(member.tokenizer, "gguf", tmp_path)
    if isinstance(found, Conversion):
        assert_is_right(member, found, drawn, 0)
    assert bool([*tmp_path.iterdir()]) == (isinstance(found, Conversion) and bool(found))


def test_a_file_of_sentencepiece_is_written_again(tmp_path: Path) -> None:
    tokenizer = tokdfa.load(gguf_bytes(sentencepiece()))
    found = tokdfa.convert(tokenizer, "gguf", tmp_path / "again.gguf")
    assert found
    again = tokdfa.load(found.files[0])
    assert again.encode("the these\n\u4e2d").tolist() == tokenizer.encode("the these\n\u4e2d").tolist()
    read = fields_of(found.files[0].read_bytes(), tmp_path)
    assert read["tokenizer.ggml.tokens"][-len(PIECES) :] == [*PIECES]


def test_tables_of_llama_cpp_are_named_as_a_cause(tmp_path: Path) -> None:
    # A letter since Unicode 16, which llama.cpp does not know yet.
    rules = [(b"!", "\u1c89".encode()[:1])]
    found = tokdfa.convert(tokdfa.load(as_bytes(tokenizer_json(rules))), "gguf", tmp_path / "x.gguf")
    assert found.witness is not None
    assert found.witness.text == "!\u1c89"
    assert [loss.part for loss in found.causes] == [LostPart.TABLES]
    # All texts without such characters keep their ids, and then the file is written.
    assert found.kept is not None
    assert 4000 < found.kept.n_left_out < 5000
    again = tokdfa.convert(
        tokdfa.load(as_bytes(tokenizer_json(rules))), "gguf", tmp_path / "x.gguf", texts=found.kept.pattern
    )
    assert again
    # Without a pattern nothing depends on tables.
    whole = tokdfa.load(as_bytes(tokenizer_json(rules, pre_tokenizer=WHOLE)))
    assert LostPart.PRETOKENIZER in {loss.part for loss in draft_of(whole, "x").losses}


@pytest.mark.skipif(library() is None, reason="the library of llama.cpp is not here")
@pytest.mark.parametrize("family", ["bytes", "ranks", "BPE of SentencePiece", *_OF_WORDS])
@pytest.mark.parametrize("seed", range(4))
def test_llama_cpp_reads_drafts_as_they_are_read_here(family: str, seed: int, tmp_path: Path) -> None:
    drawn = random.Random(f"{family} {seed}")
    member, path = FAMILIES[family](drawn), tmp_path / "x.gguf"
    try:
        path.write_bytes(draft_of(member.tokenizer, path.name).files[path.name])
        read = tokdfa.load(path)
    except UnsupportedFeatureError:
        return
    peer = LlamaCpp(path)
    for sample in (member.text(drawn) for _ in range(100)):
        with suppress(AlphabetError):
            assert read.encode(sample).tolist() == peer.encode(sample), sample


def test_without_the_package_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gguf", None)
    with pytest.raises(UnsupportedFeatureError, match=r"pip install 'tokdfa\[gguf\]'"):
        draft_of(tokdfa.load(as_bytes(tokenizer_json())), "x.gguf")

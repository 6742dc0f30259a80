"""Real tokenizers of every format against their own libraries: ids, texts and verdicts."""

from __future__ import annotations

import json
import random
from functools import cache
from pathlib import Path

import pytest

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.support import real_tokenizers
from tests.support.editing import edited
from tests.support.real_tokenizers import CORPORA, Real, extra, family_files

QWEN_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
LLAMA3_PATTERN = QWEN_PATTERN.replace(r"\p{N}| ?", r"\p{N}{1,3}| ?")
FAMILIES = family_files()
"""Files by name that no package here may carry; see the benchmarks of families."""
SHARED = ("gpt2", "cl100k", "o200k", "mistral v3", "clip")
NAMES = (
    *SHARED,
    *("claude", "deepseek", "qwen", "llama3", "llama3 ranks", "mistral v1", "mistral v2", "mistral v7"),
    *("tekken 240718", "tekken 240911"),
    *sorted(FAMILIES),
)


@cache
def real(name: str, data: Path, folder: Path) -> Real:
    vocabs, litellm = data / "vocabs", ("litellm", "litellm_core_utils", "tokenizers")
    if name == "gpt2":
        return real_tokenizers.by_tokenizers(name, vocabs / "gpt2" / "tokenizer.json")
    if name == "clip":
        path = real_tokenizers.clip(vocabs / "clip_bpe_simple_vocab_16e6.txt.gz", folder)
        return real_tokenizers.by_tokenizers(name, path)
    if name in ("cl100k", "o200k"):
        pattern = json.loads((vocabs / "patterns.json").read_text(encoding="utf-8"))[name]
        return real_tokenizers.by_tiktoken(name, vocabs / f"{name}_base.tiktoken", pattern)
    if name in FAMILIES:
        return real_tokenizers.by_tokenizers(name, FAMILIES[name])
    if name in ("claude", "deepseek"):
        file = {"claude": "anthropic_tokenizer.json", "deepseek": "deepseek_tokenizer.json"}[name]
        return real_tokenizers.by_tokenizers(name, extra(*litellm, file))
    if name == "qwen":
        return real_tokenizers.by_tiktoken(name, extra("dashscope", "resources", "qwen.tiktoken"), QWEN_PATTERN)
    if name.startswith("llama3"):
        path, ranked = real_tokenizers.llama3(folder)
        if name == "llama3":
            return real_tokenizers.by_tokenizers(name, path)
        return real_tokenizers.by_tiktoken(name, ranked, LLAMA3_PATTERN)
    if name.startswith("tekken"):
        path = extra("mistral_common", "data", f"{name.replace(' ', '_')}.json")
        return real_tokenizers.by_mistral_common(name, path)
    files = {
        "mistral v1": "tokenizer.model.v1",
        "mistral v2": "mistral_instruct_tokenizer_240216.model.v2",
        "mistral v7": "mistral_instruct_tokenizer_241114.model.v7",
    }
    in_shared = name == "mistral v3"
    path = vocabs / "mistral_v3.model" if in_shared else extra("mistral_common", "data", files[name])
    return real_tokenizers.by_sentencepiece(name, path)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("llama3")


def check_verdict(peer: Real, ids: list[int]) -> bool:
    """Compare the verdict on ids with the library's; return it."""
    again = peer.encode(peer.decode(ids))
    verdict = peer.tokenizer.validate(ids)
    assert bool(verdict) == (again == ids), (peer.name, ids, again, verdict.reason)
    return bool(verdict)


def assert_texts_agree(peer: Real, count: int, seed: int, judge: int = 5) -> tuple[int, int]:
    """Compare random texts and, of every `judge`-th, the verdicts on its ids and on them after edits.

    Return the number of streams that were judged, and of those that were wrong.
    """
    drawn = random.Random(f"{peer.name} {seed}")
    judged = wrong = 0
    for number in range(count):
        # Most are short; long ones have many stretches between special tokens, and pieces that come again.
        text = real_tokenizers.text(drawn, peer.specials, longest=12 if number % 10 else 400)
        if number % 3 == 0:
            text += peer.decode(drawn.choices(peer.ids, k=drawn.randrange(1, 12)))
        ids = peer.encode(text)
        assert peer.tokenizer.encode(text).tolist() == ids, (peer.name, text)
        if number % judge == 0:
            for stream in (ids, edited(drawn, ids, peer.ids, range(1, 3))):
                judged += 1
                wrong += not check_verdict(peer, stream)
    return judged, wrong


def assert_corpus_agrees(peer: Real, text: str) -> None:
    ids = peer.encode(text)
    assert peer.tokenizer.encode(text).tolist() == ids, peer.name
    assert peer.tokenizer.decode(ids) == peer.decode(ids)
    check_verdict(peer, ids)


@pytest.mark.parametrize("name", SHARED)
def test_random_texts(name: str, data: Path, folder: Path) -> None:
    assert_texts_agree(real(name, data, folder), 80, seed=0)


def test_clip_from_its_own_file(data: Path, folder: Path) -> None:
    peer = real("clip", data, folder)
    source = data / "vocabs" / "clip_bpe_simple_vocab_16e6.txt.gz"
    tokenizer = tokdfa.load(source, pretokenizer="clip")
    drawn = random.Random(0)
    for _ in range(300):
        text = real_tokenizers.text(drawn, peer.specials)
        ids = peer.encode(text)
        assert tokenizer.encode(text).tolist() == ids, text
        assert tokenizer.decode(ids).rstrip() == peer.decode(ids).rstrip()
        for stream in (ids, edited(drawn, ids, peer.ids, range(1, 3))):
            again = peer.encode(peer.decode(stream))
            assert bool(tokenizer.validate(stream)) == (again == stream), (stream, again)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_many_random_texts(name: str, data: Path, folder: Path, tally: Tally) -> None:
    print(name, "streams and wrong ones:", assert_texts_agree(real(name, data, folder), 100_000, seed=1, judge=20))
    tally("encoding", "random cases", 100_000)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_corpora_are_encoded_and_judged_as_by_the_library(name: str, data: Path, folder: Path, tally: Tally) -> None:
    peer = real(name, data, folder)
    for corpus in CORPORA:
        assert_corpus_agrees(peer, (data / "corpora" / corpus).read_text(encoding="utf-8"))
    tally("encoding", "real texts", len(CORPORA))

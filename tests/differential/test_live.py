"""Live objects and rank files against their own libraries: ids, and verdicts with their index."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path

import numpy as np
import pytest

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.support.editing import edited
from tests.support.live import OF_TRANSFORMERS, REAL, SMALL, Live, any_text
from tests.support.seeds import seeds
from tests.support.tokenizer_files import added_token
from tokdfa import AnyTokenizer

WITHOUT = "transformers is not in the extra test: pip install --group live (torch is not needed)"
# Texts and spoiled streams in all; they are dealt out to ten parts, so that one can be repeated.
N_TEXTS, N_SPOILED, N_PARTS = 100_000, 20_000, 10


def made(name: str, request: pytest.FixtureRequest, folder: Path) -> Live:
    if name in SMALL:
        return SMALL[name](folder, folder)
    if name in OF_TRANSFORMERS:
        pytest.importorskip("transformers", reason=WITHOUT)
    return {**REAL, **OF_TRANSFORMERS}[name](request.getfixturevalue("data"), folder)


def compare_texts(peer: Live, tokenizer: AnyTokenizer, seed: int, numbers: range) -> list[list[int]]:
    """Compare the ids of texts, and return them."""
    drawn = random.Random(seed)
    streams = []
    for number in numbers:
        text = any_text(drawn, number, peer.texts)
        ids = peer.encode(text)
        assert tokenizer.encode(text).tolist() == ids, (seed, number, text)
        streams.append(ids)
    return streams


def compare_streams(peer: Live, tokenizer: AnyTokenizer, seed: int, streams: list[list[int]]) -> int:
    """Compare the verdicts on spoiled streams; return how many are not canonical."""
    drawn = random.Random(seed)
    wrong = 0
    for ids in streams:
        stream = edited(drawn, ids, peer.ids, exchanges=0.3)
        expected = peer.expected(stream)
        verdict = tokenizer.validate(stream)
        assert bool(verdict) == (None in expected), (seed, stream, expected)
        # A library's substitute for bytes that are not UTF-8 is encoded somehow; that is not an index.
        told = peer.decode is None or verdict.canonical_ids is not None
        assert verdict or not told or verdict.index in expected, (seed, stream, expected, verdict.index)
        wrong += not verdict
    return wrong


def assert_part_agrees(peer: Live, tokenizer: AnyTokenizer, seed: int, n_texts: int, n_spoiled: int) -> int:
    streams = compare_texts(peer, tokenizer, seed, range(seed * n_texts, (seed + 1) * n_texts))
    assert all(np.array_equal(peer.encode(""), ids) for ids in [tokenizer.encode("").tolist()])
    return compare_streams(peer, tokenizer, seed, [ids for ids in streams if ids][:n_spoiled])


@pytest.mark.parametrize("name", [*SMALL, *REAL, *OF_TRANSFORMERS])
def test_texts_and_streams(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    peer = made(name, request, tmp_path)
    tokenizer = tokdfa.load(peer.source, **peer.options)
    wrong = assert_part_agrees(peer, tokenizer, 7, 80, 40)
    assert wrong > 2


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SMALL, *REAL, *OF_TRANSFORMERS])
def test_many_texts_and_streams(name: str, request: pytest.FixtureRequest, tmp_path: Path, tally: Tally) -> None:
    peer = made(name, request, tmp_path)
    tokenizer = tokdfa.load(peer.source, **peer.options)
    began, wrong, parts = time.process_time(), 0, seeds(N_PARTS)
    for seed in parts:
        wrong += assert_part_agrees(peer, tokenizer, seed, N_TEXTS // N_PARTS, N_SPOILED // N_PARTS)
    n = len(parts)
    print(
        f"\n{name}: {n * N_TEXTS // N_PARTS:,} texts, {n * N_SPOILED // N_PARTS:,} spoiled streams, {wrong:,} of them "
        f"not canonical, {time.process_time() - began:.0f} s of CPU time"
    )
    tally("encoding", "random cases", n * N_TEXTS // N_PARTS)
    tally("validation", "spoiled inputs", n * N_SPOILED // N_PARTS)


def test_a_class_that_sets_its_own_pre_tokenizer(tmp_path: Path) -> None:
    # StarCoder2's file cuts digits apart; the class that transformers 5 loads it by does not.
    transformers = pytest.importorskip("transformers", reason=WITHOUT)
    if transformers.__version__.startswith("4."):
        pytest.skip("needs transformers 5")
    path = tmp_path / "tokenizer.json"
    tokdfa.default_dictionary().save(path, pretokenizer="gpt2")
    fields = json.loads(path.read_text())
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    steps = [{"type": "Digits", "individual_digits": True}, byte_level]
    # The class adds this token to a file that lacks it.
    fields["added_tokens"] = [added_token(len(fields["model"]["vocab"]), "<|endoftext|>")]
    path.write_text(json.dumps({**fields, "pre_tokenizer": {"type": "Sequence", "pretokenizers": steps}}))
    peer = transformers.GPT2Tokenizer.from_pretrained(tmp_path)
    of_class, of_file = tokdfa.load(peer), tokdfa.load(path)
    found = tokdfa.compare(of_class, of_file)
    assert not found
    assert found.witness is not None
    assert found.witness.text == " 1"
    assert of_class.encode(" 1").tolist() == peer.encode(" 1", add_special_tokens=False)
    assert tokdfa.compare(of_class, tokdfa.load({**fields, "pre_tokenizer": byte_level}))

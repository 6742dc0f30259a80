"""Streams judged by encoding their whole text again; special tokens that encoding never gives cut it, or do not."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tokdfa
from tests.support import commands, sentencepieces
from tests.support.tokenizer_files import added_token, as_bytes, tekken_json, tokenizer_json
from tokdfa import Dictionary
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.formats.contents import Contents
from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer
from tokdfa.tokenizers.pretokenizers.steps import Split, Splitting
from tokdfa.tokenizers.tokenizer import Tokenizer


def first_difference(ids: list[int], again: list[int]) -> int:
    differ = (i for i, (a, b) in enumerate(zip(ids, again, strict=False)) if a != b)
    return next(differ, min(len(ids), len(again)))


def check(tokenizer: Any, ids: list[int], again: list[int]) -> bool:
    verdict = tokenizer.validate(ids, literal=True)
    assert bool(verdict) == (ids == again), (ids, again)
    if not verdict:
        assert verdict.index == first_difference(ids, again), (ids, again)
    return bool(verdict)


def test_random_models_are_judged_as_the_library_answers(tmp_path: Path) -> None:
    pytest.importorskip("sentencepiece")
    path = tmp_path / "x.model"
    found = {True: 0, False: 0}
    for seed in range(20):
        drawn = random.Random(seed)
        path.write_bytes(data := sentencepieces.changed(drawn))
        try:
            tokenizer = tokdfa.load(path)
        except UnsupportedFeatureError:
            continue
        encode, decode, control, _ = sentencepieces.oracle(data)
        for _ in range(6):
            ids = encode(sentencepieces.text(drawn))
            check(tokenizer, ids, encode(decode(ids)))
            for _ in range(drawn.randrange(1, 4)):
                ids.insert(drawn.randrange(len(ids) + 1), drawn.choice(sorted(control)))
            assert not check(tokenizer, ids, encode(decode(ids)))
            found[bool(tokenizer.validate(ids))] += 1
    # By default the text between control pieces is judged separately.
    assert found[True] > 13
    assert found[False] > 3


def test_streams_of_mistral_are_judged_as_by_the_library(data: Path) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    path = data / "vocabs" / "mistral_v3.model"
    tokenizer = tokdfa.load(path)
    peer = sentencepiece.SentencePieceProcessor(model_file=str(path))
    drawn = random.Random(0)
    control = [id for id in range(len(peer)) if peer.is_control(id)]
    n_cut = 0
    for text in ["", "Hello", "the cat  sat\n", "é中\U0001f600", " a", "a </s> b"] * 3:
        ids = peer.encode(text)
        check(tokenizer, ids, peer.encode(peer.decode(ids)))
        ids.insert(drawn.randrange(len(ids) + 1), drawn.choice(control))
        assert not check(tokenizer, ids, peer.encode(peer.decode(ids)))
        n_cut += bool(tokenizer.validate(ids))
    assert n_cut > 5
    for ids in ([1, 29473, 1065], [2, 28705, 29716], [1, 23325], [23325, 2, 23325], [3, 4]):
        assert not check(tokenizer, ids, peer.encode(peer.decode(ids)))


def test_special_tokens_that_are_spelled_out(tmp_path: Path) -> None:
    path = tmp_path / "tekken.json"
    specials = [{"rank": 0, "token_str": "<a>", "is_control": True}, {"rank": 1, "token_str": "he", "is_control": True}]
    path.write_bytes(as_bytes(tekken_json(special_tokens=specials)))
    tokenizer = tokdfa.load(path)
    drawn = random.Random(1)
    n_cut = 0
    for _ in range(200):
        text = "".join(drawn.choices(["the", " t", "he", "\n", "<a>", "é"], k=drawn.randrange(6)))
        ids = tokenizer.encode(text).tolist()
        assert check(tokenizer, ids, ids)
        ids.insert(drawn.randrange(len(ids) + 1), drawn.choice(tokenizer.special_ids.tolist()[:2]))
        assert not check(tokenizer, ids, tokenizer.encode(tokenizer.decode(ids)).tolist())
        n_cut += bool(tokenizer.validate(ids))
    assert n_cut > 50


def test_where_special_tokens_are_found_there_is_no_difference(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(as_bytes(tokenizer_json(added_tokens=[added_token(263, "<|end|>")])))
    tokenizer = tokdfa.load(path)
    ids = tokenizer.encode("the<|end|>the").tolist()
    assert 263 in ids
    assert tokenizer.validate(ids, literal=True)
    assert tokenizer.validate(ids)


def test_the_index_of_what_cannot_be_encoded_is_that_of_the_first_token_that_cannot() -> None:
    # Spaces are dropped, and words end with </w>; c is a token, but c</w> is none.
    words = ["a", "b", "c", "a</w>", "b</w>"]
    dictionary = Dictionary([(("a",), ("b</w>",))], words)
    numbers = np.arange(len(dictionary.alphabet), dtype=np.int32)
    splitting = Splitting("tokenizers", (Split(r"\s", "removed"),))
    contents = Contents(format="clip", dictionary=dictionary, ids=numbers, suffix="</w>")
    tokenizer = Tokenizer(contents, PreTokenizer(splitting))
    a_end, b_end = words.index("a</w>"), words.index("b</w>")
    c, ab = words.index("c"), len(words)
    assert tokenizer.encode("ab cb").tolist() == [ab, c, b_end]
    for ids, index in (([c], 0), ([a_end, c], 1), ([ab, b_end, c], 2), ([ab, a_end, b_end, c], 3)):
        violations = tokenizer.validate(ids, all=True).violations
        assert [violation.index for violation in violations] == [index], ids
        assert violations[0].ids == (c,)
        assert "cannot be encoded" in violations[0].reason


def test_only_what_differs_is_told_of_where_the_bytes_are_the_same() -> None:
    # A space after the special token is dropped, so everything is encoded again, with the part before it on its own.
    dictionary = Dictionary([(b"a", b"b")], bytes(range(256)))
    contents = Contents(
        format="tiktoken",
        dictionary=dictionary,
        ids=np.arange(257, dtype=np.int32),
        specials=(Special(257, "<e>"),),
        finds_specials=False,
    )
    tokenizer = Tokenizer(contents, PreTokenizer(Splitting("tiktoken", (Split("[ab]+"),))))
    a, b, ab, space, special = *b"ab", 256, *b" ", 257
    for ids, expected in (
        ([a, b, ab, special, space], [(0, (a, b), (ab,))]),
        ([ab, a, b, special, space], [(1, (a, b), (ab,))]),
        ([a, b, ab, a, b, b, special, space], [(0, (a, b), (ab,)), (3, (a, b), (ab,))]),
    ):
        violations = tokenizer.validate(ids, all=True).violations
        found = [(violation.index, violation.ids, violation.canonical_ids) for violation in violations]
        assert found == [*expected, (len(ids) - 1, (space,), ())]


def test_windows_cannot_be_literal(tmp_path: Path) -> None:
    (tmp_path / "tekken.json").write_bytes(as_bytes(tekken_json()))
    tokenizer = tokdfa.load(tmp_path / "tekken.json")
    with pytest.raises(UnsupportedFeatureError, match="a window cannot be judged with special tokens taken literally"):
        tokenizer.validate([30], window=True, literal=True)


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tekken.json").write_bytes(as_bytes(tekken_json()))
    tokenizer = tokdfa.load(tmp_path / "tekken.json")
    special = int(tokenizer.special_ids[0])
    (tmp_path / "ids.json").write_text(json.dumps([*tokenizer.encode("the").tolist(), special]))
    files = [tmp_path / "tekken.json", tmp_path / "ids.json"]
    assert commands.run("validate", *files) == 0
    capsys.readouterr()
    page = tmp_path / "page.html"
    assert commands.run("validate", *files, "--literal", "--json", "--html", page) == 1
    violations = json.loads(capsys.readouterr().out)["violations"]
    assert violations[0]["index"] == len(tokenizer.encode("the"))
    assert "special tokens by the text that they decode to" in page.read_text("utf-8")
    assert commands.run("info", files[0]) == 0
    assert "their ids split a stream" in " ".join(capsys.readouterr().out.split())

"""Tokenizers that rewrite texts: questions other than encoding and decoding."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import tokdfa
from tests.support.tokenizer_files import added_token, as_bytes, spell, tokenizer_json, vocabulary
from tokdfa import Tokenizer
from tokdfa.base.errors import AlphabetError, TokenStreamError, UnsupportedFeatureError


def read(path: Path, **changes: Any) -> Tokenizer:
    file = path / "tokenizer.json"
    file.write_bytes(as_bytes(tokenizer_json(**changes)))
    tokenizer = tokdfa.load(file)
    assert isinstance(tokenizer, Tokenizer)
    return tokenizer


def over_characters(path: Path, **changes: Any) -> Tokenizer:
    metaspace = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
    model = tokenizer_json()["model"] | {
        "vocab": {"\u2581": 0, "a": 1, "b": 2, "\u2581a": 3, "?": 4},
        "merges": [["\u2581", "a"]],
        "unk_token": "?",
    }
    fields = {"model": model, "pre_tokenizer": metaspace, "decoder": metaspace, "added_tokens": []}
    return read(path, **(fields | changes))


def test_a_stream_gives_the_ids_before_the_last_place_where_its_text_is_cut(tmp_path: Path) -> None:
    tokenizer = over_characters(tmp_path)
    assert isinstance(tokenizer, Tokenizer)
    assert not tokenizer.is_plain
    stream = tokenizer.stream()
    parts = [stream.feed(part).tolist() for part in ("a b", "", "a", " a", " ")]
    assert parts == [[3, 0], [], [2], [1], [3]]
    assert stream.finish().tolist() == [0]
    assert stream.finish().tolist() == []


def test_a_stream_of_a_text_without_such_places_gives_all_ids_at_its_end(tmp_path: Path) -> None:
    tokenizer = read(tmp_path, normalizer={"type": "Replace", "pattern": {"Regex": "x"}, "content": "y"})
    assert isinstance(tokenizer, Tokenizer)
    assert not tokenizer.is_plain
    stream = tokenizer.stream()
    parts = [stream.feed("the e"), stream.feed("\u0301".encode()[:1]), stream.feed("\u0301".encode()[1:])]
    assert not any(len(part) for part in parts)
    assert stream.finish().tolist() == tokenizer.encode("the e\u0301").tolist()
    assert stream.finish().tolist() == []


def test_half_a_surrogate_pair(tmp_path: Path) -> None:
    with pytest.raises(AlphabetError, match="character 1: half of a surrogate pair"):
        read(tmp_path, normalizer={"type": "NFC"}).encode("a\ud800")


def test_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    tokenizer = read(tmp_path, normalizer={"type": "NFC"})
    broken = [*tokenizer.encode("the").tolist(), vocabulary()[spell(b"\xc3")]]
    with pytest.raises(TokenStreamError, match="within a character"):
        tokenizer.decode(broken)
    verdict = tokenizer.validate(broken)
    assert not verdict
    assert verdict.index == len(broken) - 1
    assert verdict.byte_offset == 3
    assert verdict.canonical_ids is None


def test_violations_have_canonical_ids(tmp_path: Path) -> None:
    tokenizer = over_characters(tmp_path)
    assert tokenizer.validate([3, 2])
    verdict = tokenizer.validate([3, 2, 0, 1, 2, 0], all=True)
    assert (verdict.index, verdict.canonical_ids, verdict.tokens) == (2, (3,), 6)
    assert [found.start for found in verdict.violations] == [2]
    assert "'▁' (0)" in verdict.reason
    # The space that the ids leave out is put in again: the text does not begin with a space.
    assert tokenizer.validate([1, 2]).canonical_ids == (3,)


def test_chunks_give_the_whole(tmp_path: Path) -> None:
    tokenizer = over_characters(tmp_path)
    ids = tokenizer.encode("a ab ba  b")
    chunks = (ids[i : i + 2] for i in range(0, len(ids), 2))
    assert tokenizer.validate(chunks)
    decoded = "".join(tokenizer.decoder.iter_text(ids[i : i + 1] for i in range(len(ids))))
    assert decoded == tokenizer.decode(ids) == "a ab ba  b"
    assert tokenizer.decode_bytes(ids) == b"a ab ba  b"
    assert tokenizer.decode([]) == ""


def test_searches_match_as_by_re(tmp_path: Path) -> None:
    tokenizer = over_characters(tmp_path)
    ids = tokenizer.encode("a ab a")
    for pattern in (" a", "a", "ab", r"\Aa", r"\A ", " "):
        expected = [match.span() for match in re.finditer(pattern, "a ab a")]
        assert [match[:2] for match in tokenizer.search(pattern, ids)] == expected
    steps = [
        {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0},
    ]
    fused = over_characters(tmp_path, decoder={"type": "Sequence", "decoders": steps})
    assert [match[:2] for match in fused.search("b? a|^a", ids)] == [(0, 1), (1, 3), (3, 6)]
    steps[3]["start"] = 2
    twice = over_characters(tmp_path, decoder={"type": "Sequence", "decoders": steps})
    with pytest.raises(UnsupportedFeatureError, match="decode the ids and work on the text"):
        twice.search("a", [3])
    tokenizer = read(tmp_path, normalizer={"type": "NFKC"})
    assert len(tokenizer.search("he", tokenizer.encode("the he"))) == 2


def test_other_normalizers_are_told_apart(tmp_path: Path) -> None:
    normalizers = [
        None,
        {"type": "NFC"},
        {"type": "NFD"},
        {"type": "Replace", "pattern": {"String": "a"}, "content": "b"},
    ]
    prints = {read(tmp_path, normalizer=normalizer).made_of for normalizer in normalizers}
    strips = [added_token(263, "<|end|>", lstrip=True), added_token(263, "<|end|>", rstrip=True)]
    prints |= {read(tmp_path, added_tokens=[token]).made_of for token in strips}
    assert len(prints) == 6


def test_what_is_left_out_is_named(tmp_path: Path) -> None:
    whole = [{"Sequence": {"id": "A", "type_id": 0}}]
    template: dict[str, Any] = {"type": "TemplateProcessing", "single": whole, "pair": [], "special_tokens": {}}
    assert read(tmp_path, post_processor=template).ignored == ("TemplateProcessing",)


def test_what_takes_a_run_of_bytes_as_one_token_is_refused(tmp_path: Path) -> None:
    by_character = {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}
    by_token = [
        {"type": "Replace", "pattern": {"String": "ab"}, "content": "b"},
        {"type": "Replace", "pattern": {"Regex": "a"}, "content": "b"},
        {"type": "Strip", "content": "a", "start": 1, "stop": 0},
        {"type": "ByteFallback"},
        {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True},
    ]
    first = {"type": "ByteFallback"}
    over_characters(tmp_path, decoder={"type": "Sequence", "decoders": [first, by_character]})
    for step in by_token:
        where = r"\$\.decoder\.decoders\[2\]\.type: this step after ByteFallback is not modelled"
        with pytest.raises(UnsupportedFeatureError, match=where):
            over_characters(tmp_path, decoder={"type": "Sequence", "decoders": [first, by_character, step]})
        if step != first:
            over_characters(tmp_path, decoder={"type": "Sequence", "decoders": [step, first]})

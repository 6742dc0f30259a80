"""Odd parts of byte pair files that people run: what tokenizers and tiktoken make of each is what is read."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tiktoken
import tokenizers

import tokdfa
from tests.support.family_files import LETTERS_OF_BYTES
from tests.support.tokenizer_files import (
    RANKS,
    RULES,
    TEXTS,
    added_token,
    merges_txt,
    spell,
    tiktoken_lines,
    tokenizer_json,
    vocabulary,
)
from tokdfa import Tokenizer
from tokdfa.base.errors import UnsupportedFeatureError

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
EMPTY = len(RANKS)


def library(fields: dict[str, Any]) -> Any:
    return tokenizers.Tokenizer.from_str(json.dumps(fields))


def whisper() -> dict[str, Any]:
    """A small tokenizer.json, as Whisper's multilingual models have one, with the ids of `RANKS`."""
    fields = tokenizer_json(added_tokens=[added_token(EMPTY + 1, "<|end|>")])
    fields["model"]["vocab"] = {spell(word): rank for word, rank in [*RANKS.items(), (b"", EMPTY)]}
    fields["model"]["unk_token"] = ""
    return fields


def of_files(folder: Path) -> Tokenizer:
    Path(folder, "vocab.json").write_text(json.dumps(whisper()["model"]["vocab"]))
    Path(folder, "merges.txt").write_text(merges_txt())
    return tokdfa.load(folder, pretokenizer="gpt2")


RANKED = {**RANKS, b"": EMPTY}
FORMS: dict[str, Callable[[Path], Any]] = {
    "rank file": lambda folder: tokdfa.load(tiktoken_lines(RANKED), format="tiktoken", pretokenizer="gpt2"),
    "ranks": lambda folder: tokdfa.load(RANKED, pretokenizer="gpt2"),
    "vocab.json and merges.txt": of_files,
    "tokenizer.json": lambda folder: tokdfa.load(whisper()),
    "tokenizers.Tokenizer": lambda folder: tokdfa.load(library(whisper())),
    "tiktoken.Encoding": lambda folder: tokdfa.load(
        tiktoken.Encoding("small", pat_str=GPT2, mergeable_ranks=RANKED, special_tokens={"<|end|>": EMPTY + 1})
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_an_empty_token_is_an_id_that_nothing_produces(form: str, tmp_path: Path) -> None:
    tokenizer = FORMS[form](tmp_path)
    peer = tiktoken.Encoding("small", pat_str=GPT2, mergeable_ranks=RANKED, special_tokens={})
    drawn = random.Random(form)
    for text in [text for text in TEXTS if "<|end|>" not in text]:
        ids = tokenizer.encode(text).tolist()
        assert ids == peer.encode_ordinary(text)
        at = drawn.randrange(len(ids) + 1)
        spoiled = [*ids[:at], EMPTY, *ids[at:]]
        assert tokenizer.decode(spoiled) == peer.decode(spoiled) == text
        violations = tokenizer.validate(spoiled, all=True).violations
        assert [violation.index for violation in violations] == [at]
        repaired = [*spoiled]
        for violation in reversed(violations):
            repaired[violation.start : violation.start + len(violation.ids)] = violation.canonical_ids
        assert repaired == ids
        assert tokenizer.validate(ids)
    assert EMPTY in {dead["id"] for dead in tokenizer.facts()["dead_token_examples"]}


def test_the_forms_of_a_tokenizer_with_an_empty_token_are_equivalent(tmp_path: Path) -> None:
    read = [make(tmp_path) for form, make in FORMS.items() if form not in ("tokenizer.json", "tokenizers.Tokenizer")]
    assert all(tokdfa.compare(read[0], other) for other in read[1:])


def test_of_equal_rules_the_last_one_counts() -> None:
    drawn = random.Random(5)
    changed = 0
    for as_strings in [False, True] * 40:
        competing = [*RULES, (b"t", b"h"), (b"e", b" "), (b"th", b"e")]
        fields = tokenizer_json(competing)
        rules = [[spell(u), spell(v)] for u, v in competing]
        drawn.shuffle(rules)
        for rule in drawn.sample(rules, 3):
            rules.insert(drawn.randrange(len(rules) + 1), rule)
        fields["model"]["merges"] = [" ".join(rule) for rule in rules] if as_strings else rules
        peer, tokenizer = library(fields), tokdfa.load(fields)
        fields["model"]["merges"] = [rule for at, rule in enumerate(rules) if rule not in rules[:at]]
        first = library(fields)
        for text in TEXTS:
            assert tokenizer.encode(text).tolist() == peer.encode(text).ids, (rules, text)
            changed += first.encode(text).ids != peer.encode(text).ids
    assert changed > 10


def test_lines_that_begin_with_version_are_no_rules(tmp_path: Path) -> None:
    lines = merges_txt().splitlines()
    for at in range(len(lines)):
        odd = [*lines[:at], "#version a b c", *lines[at:]]
        fields = tokenizer_json()
        fields["model"]["merges"] = odd
        Path(tmp_path, "merges.txt").write_text("\n".join(odd) + "\n")
        Path(tmp_path, "vocab.json").write_text(json.dumps(vocabulary()))
        peer, read = library(fields), (tokdfa.load(fields), tokdfa.load(tmp_path, pretokenizer="gpt2"))
        for text in [text for text in TEXTS if "<|end|>" not in text]:
            assert all(tokenizer.encode(text).tolist() == peer.encode(text).ids for tokenizer in read)
    Path(tmp_path, "merges.txt").write_text("\n".join([*lines[:3], "#version", *lines[3:], "ab"]))
    with pytest.raises(tokdfa.TokdfaError, match=rf"line {len(lines) + 2}: a rule must be two parts"):
        tokdfa.load(tmp_path)


def test_ids_of_added_tokens_are_those_that_the_library_assigns() -> None:
    drawn = random.Random(7)
    names = ["<a>", "<b>", "he", "<c>", " t"]
    met = {"other ids": 0, "an id of two tokens": 0}
    for _ in range(60):
        gap = drawn.choice([0, 0, 3])
        words = {word: id + gap * (id > 200) for word, id in vocabulary().items()}
        chosen = drawn.sample(names, 3)
        fields = tokenizer_json(added_tokens=[added_token(drawn.randrange(300), spell(n.encode())) for n in chosen])
        fields["model"]["vocab"] = words
        peer = library(fields)
        assigned = {id: token.content for id, token in peer.get_added_tokens_decoder().items()}
        if any(words.get(content, id) != id or (content not in words and id in words.values())
               for id, content in assigned.items()):  # fmt: skip
            met["an id of two tokens"] += 1
            with pytest.raises(UnsupportedFeatureError, match="which another token has"):
                tokdfa.load(fields)
            continue
        tokenizer = tokdfa.load(fields)
        assert {special.id: special.content for special in tokenizer.specials} == assigned
        written = {token["id"]: token["content"] for token in fields["added_tokens"]}
        assert ("ids of added tokens" in tokenizer.facts()["left_out"]) == (written != assigned)
        met["other ids"] += written != assigned
        text = "".join(f"the {content} " for content in assigned.values())
        assert tokenizer.encode(text).tolist() == peer.encode(text).ids
    assert min(met.values()) > 5, met


def test_ids_on_which_versions_of_the_library_differ_are_refused() -> None:
    # Version 0.20.3 gives <a> the id 401, version 0.23.3 the number of words.
    words = vocabulary()
    words["he"] = 400
    fields = tokenizer_json(added_tokens=[added_token(1000, "he"), added_token(1001, "<a>")])
    fields["model"]["vocab"] = words
    assert library(fields).token_to_id("<a>") in (401, len(words))
    with pytest.raises(UnsupportedFeatureError, match=f"the ids 401 and {len(words)}"):
        tokdfa.load(fields)
    fields["added_tokens"].reverse()
    assert tokdfa.load(fields).specials[0].id == len(words)


def test_ids_of_added_tokens_of_an_object_are_its_own() -> None:
    made = library(tokenizer_json(added_tokens=[]))
    made.add_tokens(["<a>", "<b>"])
    smaller = tokenizer_json(RULES[:3])["model"]
    made.model = tokenizers.models.BPE(vocab=smaller["vocab"], merges=[*map(tuple, smaller["merges"])])
    text = "the <a>the<b>"
    ids = made.encode(text).ids
    assert tokdfa.load(made).encode(text).tolist() == ids
    assert tokdfa.load(json.loads(made.to_str())).encode(text).tolist() == library(json.loads(made.to_str())).encode(
        text
    ).ids != ids  # fmt: skip


@pytest.mark.parametrize("content", LETTERS_OF_BYTES)
def test_letters_of_bytes_are_found_as_text_and_decode_to_bytes(content: str) -> None:
    fields = tokenizer_json(added_tokens=[added_token(263, content), added_token(264, "<|end|>")])
    peer, tokenizer = library(fields), tokdfa.load(fields)
    text = f"the{content}<|end|> {content}中the"
    ids = peer.encode(text).ids
    assert tokenizer.encode(text).tolist() == ids
    for part in [ids, *([id] for id in ids)]:
        assert tokenizer.decode_bytes(part).decode("utf-8", "replace") == peer.decode(part, skip_special_tokens=False)
    for given in (text, content, "退避 é", "naïve", "\u0011em", "í", " a "):
        ids = peer.encode(given).ids
        again = peer.encode(peer.decode(ids, skip_special_tokens=False)).ids
        assert bool(tokenizer.validate(ids)) == (again == ids)

"""Fingerprints depend on the ids that tokenizers give, not on the way their files are written."""

from __future__ import annotations

import copy
import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import tokdfa
from tests.support.dictionaries import proper_dictionaries
from tests.support.random_files import byte_file, character_file, wordpiece_file
from tests.support.seeds import seeds
from tests.support.tokenizer_files import (
    RULES,
    added_token,
    as_bytes,
    merges_txt,
    spell,
    tiktoken_lines,
    tokenizer_json,
    vocabulary,
)
from tokdfa import Dictionary, Fingerprint, Tokenizer
from tokdfa.base.errors import TokdfaError, UnsupportedFeatureError
from tokdfa.jobs.comparison.result import Outcome, Part
from tokdfa.tokenizers.fingerprint import PARTS, _in_order, hash_of
from tokdfa.tokenizers.formats.checked_dictionary import SymbolTokens
from tokdfa.tokenizers.formats.contents import Contents


def over_characters(dictionary: Dictionary) -> Tokenizer:
    """A tokenizer with ids computed from the spelling of the tokens."""
    ids = [sum(3**i * (1 + "abc".index(symbol)) for i, symbol in enumerate(word)) for word in dictionary.alphabet]
    return Tokenizer(Contents(format="", dictionary=dictionary, ids=np.array(ids, dtype=np.int32)))


def of(dictionary: Dictionary) -> Fingerprint:
    return tokdfa.fingerprint(over_characters(dictionary))


@settings(max_examples=60)
@given(proper_dictionaries("ab", 4), proper_dictionaries("ab", 4))
def test_it_is_that_of_the_correct_tokenizations(a: Dictionary, b: Dictionary) -> None:
    a, b = Dictionary(a, "ab"), Dictionary(b, "ab")
    same = of(a).parts["dictionary"] == of(b).parts["dictionary"]
    found = tokdfa.compare(a, b)
    if all(tokdfa.compare(d, d).checked[Part.SEMANTICS] is Outcome.SAME for d in (a, b)):
        assert same == bool(found)


def test_formats_and_settings(tmp_path: Path) -> None:
    files = {
        "merges.txt": merges_txt().encode(),
        "tokenizer.json": as_bytes(tokenizer_json(added_tokens=[])),
        "special.json": as_bytes(tokenizer_json()),
        "ranks.tiktoken": tiktoken_lines(),
    }
    found = {}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
        pretokenizer = None if name.endswith(".json") else "gpt2_tiktoken"
        found[name] = tokdfa.load(tmp_path / name, pretokenizer=pretokenizer).fingerprint
    assert found["merges.txt"] == found["tokenizer.json"]
    # The bytes of the rank file have other ids.
    assert len(set(found.values())) == 3
    assert RULES


@pytest.mark.parametrize("words", [[b"abc", b"ab"], [b"ab", b"abc"]])
def test_improper_ones_are_taken_as_they_are_written(tmp_path: Path, words: list[bytes]) -> None:
    ranks = {bytes([byte]): byte for byte in range(256)} | {word: 256 + i for i, word in enumerate(words)}
    fingerprints = set()
    for i in range(2):
        path = tmp_path / f"{i}.tiktoken"
        path.write_bytes(tiktoken_lines(dict(reversed(ranks.items())) if i else ranks))
        fingerprints.add(tokdfa.load(path, pretokenizer="gpt2").fingerprint)
    assert len(fingerprints) == 1


# Equal fingerprints


def varied(drawn: random.Random, file: dict[str, Any]) -> dict[str, Any]:
    """Return a file with one difference, which may not matter."""
    other = copy.deepcopy(file)
    model, vocab = other["model"], other["model"]["vocab"]
    way = drawn.randrange(9)
    merges = model["merges"]
    if way == 0 and len(merges) > 1:
        at = drawn.randrange(len(merges) - 1)
        merges[at], merges[at + 1] = merges[at + 1], merges[at]
    elif way == 1 and merges:
        del merges[drawn.randrange(len(merges))]
    elif way == 2:
        one, two = drawn.sample(sorted(vocab), 2)
        vocab[one], vocab[two] = vocab[two], vocab[one]
    elif way == 3:
        model["merges"] = [" ".join(pair) for pair in merges] if all(" " not in "".join(p) for p in merges) else merges
        other["model"] = dict(reversed(model.items()))
    elif way == 4:
        other["pre_tokenizer"] = split(drawn.choice(["[ab]+|[^ab]+", "[^ab]+|[ba]+", "a+|[^a]+", "[ab]|[^ab]+"]))
    elif way == 5:
        model["ignore_merges"] = True
    elif way == 6:
        other["added_tokens"] = [added_token(len(vocab), drawn.choice(["ab", "<e>"]), special=drawn.random() < 0.5)]
    elif way == 7:
        other["decoder"] = {"type": "Sequence", "decoders": [other["decoder"], {"type": "Fuse"}]}
    else:
        other["normalizer"] = {"type": drawn.choice(["NFC", "Lowercase"])}
    return other


def split(pattern: str) -> dict[str, Any]:
    steps = [
        {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False},
        {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False},
    ]
    return {"type": "Sequence", "pretokenizers": steps}


def small_file(drawn: random.Random) -> dict[str, Any]:
    words = [b"a", b"b", b" ", b"c"]
    rules: list[tuple[bytes, bytes]] = []
    for _ in range(drawn.randrange(1, 6)):
        rule = (drawn.choice(words), drawn.choice(words))
        if rule[0] + rule[1] not in words:
            rules.append(rule)
            words.append(rule[0] + rule[1])
    return tokenizer_json(rules, added_tokens=[], pre_tokenizer=split("[ab]+|[^ab]+"))


def test_equal_fingerprints_are_those_of_equivalent_tokenizers(tmp_path: Path) -> None:
    met: Counter[str] = Counter()
    path = tmp_path / "tokenizer.json"
    for seed in seeds(60):
        drawn = random.Random(seed)
        file = small_file(drawn)
        pair = []
        for fields in (file, varied(drawn, varied(drawn, file)) if seed % 2 else varied(drawn, file)):
            path.write_bytes(as_bytes(fields))
            try:
                pair.append(tokdfa.load(path))
            except TokdfaError:
                break
        if len(pair) < 2:
            continue
        a, b = pair
        one, other = map(tokdfa.fingerprint, pair)
        assert (one == other) == (one.value == other.value) == (not one.changed(other))
        try:
            is_equivalent = bool(tokdfa.compare(a, b))
        except UnsupportedFeatureError:
            met["undecided"] += 1
            is_equivalent = False
            assert one != other, seed
        if one == other:
            met["equal"] += 1
            met["written otherwise"] += a.made_of != b.made_of
            assert is_equivalent, seed
            assert a.n_ids == b.n_ids
            for _ in range(30):
                text = "".join(drawn.choices(["a", "b", "c", " ", "<e>", "é", "A", "e\u0301"], k=8))
                assert a.encode(text).tolist() == b.encode(text).tolist()
                ids = np.array(drawn.choices(np.flatnonzero(a.means_something).tolist(), k=5))
                assert a.decode_bytes(ids) == b.decode_bytes(ids)
                assert bool(a.validate(ids)) == bool(b.validate(ids))
        else:
            met["different"] += 1
            met["only the fingerprints"] += is_equivalent
    assert min(met["equal"], met["different"], met["written otherwise"]) > 8, met
    assert met["only the fingerprints"] > 1, met


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"rules": RULES[:-1]}, "dictionary"),
        ({"ids": 1}, "ids"),
        ({"pre_tokenizer": split("[ab]+|[^ab]+")}, "pretokenizer"),
        ({"normalizer": {"type": "NFC"}}, "normalizer"),
        ({"added_tokens": [added_token(len(vocabulary()), "<|end|>", lstrip=True)]}, "specials"),
        ({"added_tokens": [added_token(len(vocabulary()), "<|fin|>")]}, "specials"),
        ({"added_tokens": []}, "specials"),
    ],
)
def test_a_part_that_changed_is_named(tmp_path: Path, changes: dict[str, Any], part: str) -> None:
    base = tokenizer_json(added_tokens=[added_token(len(vocabulary()), "<|end|>")])
    file = copy.deepcopy(base)
    if changes.pop("rules", None):
        # The token stays, but nothing makes it.
        del file["model"]["merges"][-1]
    if changes.pop("ids", None):
        vocab = file["model"]["vocab"]
        vocab["a"], vocab["b"] = vocab["b"], vocab["a"]
    file |= changes
    prints = []
    for fields in (base, file):
        path = tmp_path / "tokenizer.json"
        path.write_bytes(as_bytes(fields))
        prints.append(tokdfa.fingerprint(tokdfa.load(path)))
    assert prints[0].changed(prints[1]) == (part,)
    assert prints[0].value != prints[1].value
    assert prints[0].changed(prints[0]) == ()


def test_changed_symbols_and_decoders_are_named(tmp_path: Path) -> None:
    file = tokenizer_json([], pre_tokenizer=None, decoder={"type": "Fuse"}, added_tokens=[])
    file["model"] |= {"vocab": {"a": 0, "b": 1, "ab": 2, "<unk>": 3}, "merges": [["a", "b"]], "unk_token": "<unk>"}
    strip = {"type": "Strip", "content": "a", "start": 1, "stop": 0}
    changes = [{}, {"fuse_unk": True}, {"decoder": strip}]
    prints = []
    for change in changes:
        fields = copy.deepcopy(file)
        (fields["model"] if "fuse_unk" in change else fields).update(change)
        path = tmp_path / "tokenizer.json"
        path.write_bytes(as_bytes(fields))
        prints.append(tokdfa.fingerprint(tokdfa.load(path)))
    assert prints[0].changed(prints[1]) == ("symbols",)
    assert prints[0].changed(prints[2]) == ("decoder",)


# The same everywhere


def test_the_embedded_tokenizer_has_always_had_this_fingerprint() -> None:
    found = tokdfa.fingerprint(tokdfa.default_tokenizer())
    assert found.value == "3118b8f4eea16cf0a8e9e26ff98ab9c0d7ed668b92f63adbe8276207312810d7"
    assert str(found) == tokdfa.default_tokenizer().fingerprint == found.value
    assert tuple(found.parts) == PARTS


_PROGRAM = """
import sys, tokdfa
for path in sys.argv[1:]:
    print(tokdfa.load(path).fingerprint)
"""


def test_it_is_the_same_in_every_process(tmp_path: Path) -> None:
    paths = []
    found = []
    for seed in range(12):
        drawn = random.Random(seed)
        path = tmp_path / str(seed) / "tokenizer.json"
        path.parent.mkdir()
        path.write_bytes(as_bytes([byte_file, character_file, wordpiece_file][seed % 3](drawn)))
        try:
            found.append(tokdfa.load(path).fingerprint)
        except TokdfaError:
            continue
        paths.append(str(path))
    assert len(found) > 6
    root = Path(tokdfa.__file__).parents[1]
    for hash_seed in ("0", "1"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(root)}
        command = [sys.executable, "-c", _PROGRAM, *paths]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stdout.split() == found


# Real ones


@pytest.mark.parametrize("name", ["cl100k", "gpt2"])
def test_ranks_and_rules_of_real_tokenizers_have_the_same(name: str, data: Path, tmp_path: Path) -> None:
    file = json.loads((data / "vocabs" / "gpt2" / "tokenizer.json").read_bytes())
    if name == "gpt2":
        words = {word: id for word, id in file["model"]["vocab"].items() if word != "<|endoftext|>"}
        of = {"tokenizer.json": as_bytes({**file, "added_tokens": []})}
        of["merges.txt"] = (data / "vocabs" / "gpt2" / "merges.txt").read_bytes()
        byte_of = {spell(bytes([byte])): byte for byte in range(256)}
        of["gpt2.tiktoken"] = tiktoken_lines({bytes(byte_of[c] for c in word): id for word, id in words.items()})
        file["model"]["vocab"] = words
        of["tokenizer.json"] = as_bytes({**file, "added_tokens": []})
        (tmp_path / "vocab.json").write_bytes(as_bytes(words))
        options = {"merges.txt": "merges+vocab"}
        pattern = "gpt2_tiktoken"
    else:
        path = data / "vocabs" / "cl100k_base.tiktoken"
        known = tokdfa.load(path, pretokenizer="none")
        merges = [[spell(bytes(u)), spell(bytes(v))] for u, v in known.dictionary]
        vocab = {
            spell(bytes(word)): id
            for word, id in zip(known.dictionary.alphabet, known.token_to_id.tolist(), strict=False)
        }
        fields = tokenizer_json([], added_tokens=[], pre_tokenizer=split(_CL100K))
        fields["model"] |= {"vocab": vocab, "merges": merges, "ignore_merges": True}
        of = {"tokenizer.json": as_bytes(fields), "cl100k.tiktoken": path.read_bytes().rstrip() + b"\n"}
        options = {}
        pattern = "llama3"
    found = {}
    for file_name, content in of.items():
        (tmp_path / file_name).write_bytes(content)
    for file_name in of:
        place = tmp_path if file_name in options else tmp_path / file_name
        how = {"format": options[file_name]} if file_name in options else {}
        how |= {} if file_name.endswith(".json") else {"pretokenizer": pattern}
        # The ranks are known by their hash, and would bring special tokens, which the others do not have.
        how |= {"specials": {}} if file_name.endswith(".tiktoken") else {}
        found[file_name] = tokdfa.fingerprint(tokdfa.load(place, **how))
    (first, *others) = found.values()
    assert [first.changed(other) for other in others] == [()] * len(others), list(found)


# The pattern that files of cl100k have; tiktoken's own has changed since, and cuts some white space otherwise.
_CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def test_tokens_are_in_the_order_of_their_words() -> None:
    """Also where a symbol of several characters begins with another one, or with the least character."""
    symbols = ["b", "a", "<", "<0x0A>", "\0", "\U0001f600", "\uffff"]
    tokens = ["ab", "<a", "<<", "aa", "a\0", "\0a", "\U0001f600a", "\uffff\uffff", "<a<"]
    for kind, known in (("symbols", symbols), ("characters", [each for each in symbols if len(each) == 1])):
        words = SymbolTokens(kind, known, tokens)
        assert (
            [words[number] for number in range(len(words))] == [*words] == [*SymbolTokens(kind, known, tokens)._words]
        )
        for alphabet in (words, words.followed_by([("a", "?")] if kind == "symbols" else ["a?"])):
            numbers = [*range(len(alphabet))]
            assert _in_order(alphabet, numbers) == sorted(numbers, key=alphabet.__getitem__)


def test_an_iterator_is_hashed_as_the_list_of_its_items() -> None:
    for items in ([], ["a"], [(1, "é"), b"x", "\ud800"]):
        assert hash_of(1, iter(items), "z") == hash_of(1, items, "z")

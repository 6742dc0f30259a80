"""A real vocabulary with NFC and Qwen's pattern before it, as Qwen has them, against the library tokenizers."""

from __future__ import annotations

import json
import random
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.support.normalized import SYMBOLS
from tests.support.real_tokenizers import SYMBOLS as HARD
from tests.support.seeds import seeds
from tokdfa.base.errors import TokenStreamError
from tokdfa.jobs.validation.engines.reencoding import TextComparison
from tokdfa.jobs.validation.window import Tuning
from tokdfa.regex.unicode import SCALARS
from tokdfa.tokenizers.pretokenizers.steps import NAMED
from tokdfa.tokenizers.tokenizer import Tokenizer

CORPORA = ("english.txt", "multilingual.txt")


@pytest.fixture(scope="module")
def pair(data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Tokenizer]:
    tokenizers = pytest.importorskip("tokenizers")
    file = json.loads((data / "vocabs" / "gpt2" / "tokenizer.json").read_bytes())
    split = {"type": "Split", "pattern": {"Regex": NAMED["qwen2"].steps[0].pattern}, "behavior": "Isolated"}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    file["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [{**split, "invert": False}, level]}
    file["normalizer"] = {"type": "NFC"}
    for token in file["added_tokens"]:
        token["normalized"] = False  # U+0338 would be joined with the end of it
    path = tmp_path_factory.mktemp("qwen") / "tokenizer.json"
    path.write_text(json.dumps(file), "utf-8")
    loaded = tokdfa.load(path)
    assert isinstance(loaded, Tokenizer)
    assert not loaded.is_plain
    assert loaded.form == "NFC"
    return tokenizers.Tokenizer.from_file(str(path)), loaded


@cache
def corpus(data: Path, name: str) -> str:
    return (data / "corpora" / name).read_text("utf-8")


def text(drawn: random.Random, data: Path) -> str:
    """Return a text: hard symbols, any code points, or a part of a corpus with marks put into it."""
    way = drawn.randrange(3)
    if way == 0:
        return "".join(drawn.choices([*SYMBOLS, *HARD, "<|endoftext|>"], k=drawn.randrange(16)))
    if way == 1:
        ranges = drawn.choices(SCALARS, k=8)
        block = drawn.randrange(0x110) << 8
        codes = [drawn.randint(*pair) for pair in ranges] + [block + drawn.randrange(256) for _ in range(8)]
        return "".join(chr(code) for code in codes if not 0xD800 <= code < 0xE000)
    source = corpus(data, drawn.choice(CORPORA))
    begin = drawn.randrange(len(source))
    parts = [*source[begin : begin + drawn.randrange(80)]]
    for _ in range(drawn.randrange(3)):
        parts.insert(drawn.randrange(len(parts) + 1), drawn.choice(SYMBOLS))
    return "".join(parts)


def check(pair: tuple[Any, Tokenizer], data: Path, seed: int, n_texts: int) -> dict[str, int]:
    theirs, tokenizer = pair
    drawn = random.Random(seed)
    ids_of_tokens = np.flatnonzero(tokenizer.means_something).tolist()
    met = {"canonical": 0, "not canonical": 0, "not UTF-8": 0}
    for number in range(n_texts):
        source = text(drawn, data)
        encoded = theirs.encode(source, add_special_tokens=False).ids
        assert tokenizer.encode(source).tolist() == encoded, source.encode("unicode_escape")
        if number % 10:
            continue
        given = drawn.choice([encoded, tokenizer.read_in_form[0].encode(source).tolist()])
        for _ in range(drawn.randrange(3)):
            place = drawn.randrange(len(given) + 1)
            given = [*given[:place], *drawn.choices(ids_of_tokens, k=drawn.randrange(2)), *given[place + 1 :]]
        ids = np.array(given, dtype=np.int32)
        found = tokenizer.validate(ids, all=True)
        judge = TextComparison(tokenizer.round_trip, tuning=Tuning(window=1 << 40))
        assert [*found.violations] == [*judge.feed(ids), *judge.finish()], given
        try:
            canonical = theirs.encode(tokenizer.decode(ids), add_special_tokens=False).ids
        except TokenStreamError:
            met["not UTF-8"] += 1
            assert not found
            continue
        met["canonical" if found else "not canonical"] += 1
        assert bool(found) == (canonical == given), given
        if not found:
            equal = (i for i, (a, b) in enumerate(zip(given, canonical, strict=False)) if a != b)
            assert found.index == next(equal, min(len(given), len(canonical)))
    return met


def test_texts_and_spoiled_streams(pair: tuple[Any, Tokenizer], data: Path) -> None:
    met: dict[str, int] = {}
    for seed in seeds(2):
        for kind, count in check(pair, data, seed, 1_000).items():
            met[kind] = met.get(kind, 0) + count
    assert min(met.values()) > 5, met


@pytest.mark.slow
def test_many_texts_and_spoiled_streams(pair: tuple[Any, Tokenizer], data: Path, tally: Tally) -> None:
    met = check(pair, data, 1_000, 100_000)
    tally("encoding", "random cases", 100_000)
    tally("validation", "spoiled inputs", sum(met.values()))
    assert min(met.values()) > 500, met

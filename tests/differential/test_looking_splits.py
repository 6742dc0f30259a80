"""Tokenizers with split patterns that look around: verdicts on ids match the library's on encoding their text."""

from __future__ import annotations

import json
import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import tokdfa
from tests.support.editing import edited
from tests.support.live import Live, any_text
from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer
from tokdfa.tokenizers.pretokenizers.steps import NAMED, Split, Splitting
from tokdfa.tokenizers.tokenizer import Tokenizer

LLAMA3 = NAMED["llama3"].steps[0].pattern
GPT2 = NAMED["gpt2"].steps[0].pattern
PATTERNS = {
    "SuperBPE": [r"\p{N}+", r"(?=(\d{3})+(?!\d))"],
    "Tiny Aya": [r"\d{1,3}(?=(?:\d{3})*\b)", LLAMA3],
    "Bengali": [r"(?<=[\u0980-\u09ff]):", GPT2],
    "lines": [r"(?<!\n)^ |(?:\r?\n)+(?!\r?\n)", GPT2],
    "addresses": [r"(?=http)[^\s]+", LLAMA3],
    "where it ended": [r"\A\p{Nd}{3}|\G\p{Nd}{3}", GPT2],
}
PARTS = [
    "1",
    "12",
    "123",
    "1234567",
    "a1",
    " ",
    "\n",
    "\r\n",
    "  ",
    "\u0985:",
    ":",
    "http://a",
    "htt",
    "'s",
    "٣٤",
    "x\n\n",
]


@cache
def live(name: str, data: Path) -> tuple[Tokenizer, Live]:
    tokenizers = pytest.importorskip("tokenizers")
    fields: dict[str, Any] = json.loads((data / "vocabs" / "gpt2" / "tokenizer.json").read_text("utf-8"))
    steps = [
        {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
        for pattern in PATTERNS[name]
    ]
    spell = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    fields["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [*steps, spell]}
    peer = tokenizers.Tokenizer.from_str(json.dumps(fields))
    ours = tokdfa.load(fields)
    text, offsets = ours.id_spellings
    spelled, bounds = text.tobytes(), offsets.tolist()
    special = {token["id"] for token in fields.get("added_tokens", ())}
    words = {id: spelled[bounds[id] : bounds[id + 1]] for id in range(len(bounds) - 1) if id not in special}
    return ours, Live(peer, lambda text: peer.encode(text, add_special_tokens=False).ids, sorted(words), words)


def check(name: str, data: Path, n_texts: int, seed: int) -> int:
    """Judge ids of random texts, edited ones, and random ids; return the number that were not canonical."""
    ours, library = live(name, data)
    assert ours.pretokenizer.splitter is not None
    drawn = random.Random(f"{name} {seed}")
    wrong = 0
    # Edits that are likely to matter: ids of short words.
    short = [id for id, word in (library.words or {}).items() if len(word) <= 3]
    for number in range(n_texts):
        text = "".join(drawn.choices(PARTS, k=drawn.randrange(1, 12))) + any_text(drawn, drawn.randrange(0x1100))[:4]
        ids = library.encode(text)
        assert ours.encode(text).tolist() == ids, text
        streams = [ids, edited(drawn, ids, short, exchanges=0.3), drawn.choices(short, k=drawn.randrange(1, 8))]
        for stream in streams[: 3 if number % 4 == 0 else 2]:
            expected = library.expected(stream)
            assert tokdfa.validate(ours, stream).index in expected, (text, stream)
            wrong += expected != {None}
    return wrong


def test_ids_are_judged_as_by_the_library(data: Path) -> None:
    assert check("Tiny Aya", data, 60, 0) > 10


@pytest.mark.slow
@pytest.mark.parametrize("name", PATTERNS)
def test_ids_are_judged_as_by_the_library_at_length(name: str, data: Path) -> None:
    assert check(name, data, 5_000, 1) > 1_000


@pytest.mark.parametrize("name", PATTERNS)
def test_streams_are_cut_as_whole_texts(name: str) -> None:
    cutter = PreTokenizer(Splitting("tokenizers", tuple(map(Split, PATTERNS[name]))))
    splitter = cutter.splitter
    assert splitter is not None
    drawn = random.Random(name)
    for size in range(1, 65):
        text = "".join(drawn.choices(PARTS, k=20)) + "1" * drawn.randrange(100)
        data = text.encode()
        stream = splitter.stream()
        spans = [span for at in range(0, len(data), size) for span in stream.feed(data[at : at + size])]
        spans += [*stream.finish()]
        assert [data[start:end].decode() for start, end in spans] == cutter.split_backtracking(text), (size, text)

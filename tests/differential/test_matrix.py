"""Validation against encode∘decode of each file's own library: corpora, spoiled streams, and difficult short texts.

TOKDFA_EXTRA names a folder with the tokenizers that are not among the shared data, TOKDFA_MATRIX a factor for how many
streams there are, 1 by default.
"""

from __future__ import annotations

import base64
import json
import os
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.support.editing import edit_at
from tests.support.extra import extra_file, llama3_json, ranks_of, write_json, write_tiktoken
from tests.support.real_tokenizers import clip
from tokdfa.jobs.validation.api import validate
from tokdfa.tokenizers.pretokenizers.steps import NAMED
from tokdfa.tokenizers.tokenizer import Tokenizer

CORPORA = ("english.txt", "python_code.txt", "multilingual.txt", "fra_eng_en.txt")
BY_BYTES = ("gpt2", "cl100k", "o200k", "llama3", "llama3 ranks", "qwen2", "tekken", "deepseek")
NAMES = (*BY_BYTES, "claude", "mistral v3", "clip")
N_TEXTS, N_SPOILED = 1_000_000, 100_000
# A run of one of them takes minutes.
N_PARTS = 4
BATCH = 2_000
FRAGMENTS = (
    *(" ", "  ", "   ", "\n", "\n\n", "\r\n", "\t", "\x0b", "\x1c", "\x85", "\xa0", "\u3000"),
    *("0", "1", "2", "12", "345", "6789", "\u0661", "\u00b2", "'", "'s", "'S", "'ll", "'RE", "\u2019", "'\u017f"),
    *("\u017f", "\u0295", "\u02b0", "\u01c5", "\u0301", "\u0345", "\u094d", "\u200d", "\ufe0f"),
    *("a", "b", "A", "The", " the", "Hello", "中", "中文", "ひ", "Ab", "é", "É", "ß"),
    *("\U0001f600", "\U0001f44d\U0001f3fd", "\U0002ebf0", "\ue000", "\x00", "\x7f"),
    *("!", "?", "//", "/", "...", "_", "-", "€", "<|endoftext|>", "<|end", "<|eot_id|>", "<s>", "</s>", "|>"),
)


@dataclass(frozen=True)
class Own:
    """A tokenizer as tokdfa loads it, and its own library's functions from texts to ids and back.

    If decoding spells ids one after the other, it is left to :class:`Judge`.
    """

    tokenizer: Tokenizer
    encode: Callable[[Sequence[str]], list[list[int]]]
    decode: Callable[[Sequence[list[int]]], list[str]] | None = None


def by_tiktoken(ranks: dict[bytes, int], pattern: str) -> Callable[[Sequence[str]], list[list[int]]]:
    tiktoken = pytest.importorskip("tiktoken")
    encoding = tiktoken.Encoding("own", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return lambda texts: list(map(encoding.encode_ordinary, texts))


def by_tokenizers(path: Path) -> Callable[[Sequence[str]], list[list[int]]]:
    peer = pytest.importorskip("tokenizers").Tokenizer.from_file(str(path))
    return lambda texts: [encoded.ids for encoded in peer.encode_batch(list(texts), add_special_tokens=False)]


def rewriting(name: str, data: Path, folder: Path) -> Own:
    if name == "mistral v3":
        sentencepiece = pytest.importorskip("sentencepiece")
        path = data / "vocabs" / "mistral_v3.model"
        model = sentencepiece.SentencePieceProcessor(model_file=str(path), num_threads=1)
        return Own(tokdfa.load(path), model.encode, model.decode)
    if name == "claude":
        path = extra_file("anthropic_tokenizer.json")
    else:
        path = clip(data / "vocabs" / "clip_bpe_simple_vocab_16e6.txt.gz", folder)
    peer = pytest.importorskip("tokenizers").Tokenizer.from_file(str(path))
    return Own(tokdfa.load(path), by_tokenizers(path), lambda s: peer.decode_batch(list(s), skip_special_tokens=False))


def ranks_in(path: Path) -> dict[bytes, int]:
    rows = (line.split() for line in path.read_bytes().splitlines() if line)
    return {base64.b64decode(word): int(rank) for word, rank in rows}


def own(name: str, data: Path, folder: Path) -> Own:
    if name not in BY_BYTES:
        return rewriting(name, data, folder)
    if name in ("cl100k", "o200k"):
        path = data / "vocabs" / f"{name}_base.tiktoken"
        pattern = json.loads((data / "vocabs" / "patterns.json").read_text("utf-8"))[name]
        return Own(tokdfa.load(path, pretokenizer=name), by_tiktoken(ranks_in(path), pattern))
    if name in ("llama3 ranks", "qwen2"):
        # These files are read by tiktoken, with patterns that are spelled for it.
        pattern = NAMED[name.split()[0]].steps[0].pattern
        if name == "qwen2":
            path = extra_file("qwen.tiktoken")
        else:
            model: Any = llama3_json()["model"]
            path = write_tiktoken(ranks_of(model["vocab"]), folder / "llama3.tiktoken")
        return Own(tokdfa.load(path, pretokenizer=pattern), by_tiktoken(ranks_in(path), pattern))
    if name == "tekken":
        path = extra_file("tekken_240911.json")
        tokenizer = tokdfa.load(path)
        file = json.loads(path.read_bytes())
        n_specials = file["config"]["default_num_special_tokens"]
        size = file["config"]["default_vocab_size"] - n_specials
        ranks = {base64.b64decode(row["token_bytes"]): row["rank"] for row in file["vocab"][:size]}
        encode = by_tiktoken(ranks, file["config"]["pattern"])
        return Own(tokenizer, lambda texts: [[id + n_specials for id in ids] for ids in encode(texts)])
    if name == "gpt2":
        path = data / "vocabs" / "gpt2" / "tokenizer.json"
    elif name == "llama3":
        path = write_json(llama3_json(), folder / "tokenizer.json")
    else:
        path = extra_file("deepseek_tokenizer.json")
    return Own(tokdfa.load(path), by_tokenizers(path))


def apart(ids: list[int], others: list[int]) -> int | None:
    """Return the first place where two sequences differ; None if they are the same."""
    if ids == others:
        return None
    short = min(len(ids), len(others))
    return next((k for k in range(short) if ids[k] != others[k]), short)


class Judge:
    """Compares verdict and index of many streams at a time, each a document of a stream."""

    def __init__(self, peer: Own) -> None:
        self.peer = peer
        text, offsets = peer.tokenizer.id_spellings
        spelled, bounds = text.tobytes(), offsets.tolist()
        self.words = [spelled[low:high] for low, high in pairwise(bounds)]
        ids = np.flatnonzero(peer.tokenizer.id_to_token >= 0).tolist()
        self.id_of = {self.words[id]: id for id in ids}
        self.least = list(self.id_of.values())[:256]
        self.wrong = 0

    def expected(self, streams: Sequence[list[int]]) -> list[set[int | None]]:
        """Return for each stream the index: where the ids and their text's ids part, None if they do not.

        Where bytes are not UTF-8, the text before them may be encoded otherwise as well.
        """
        if self.peer.decode is not None:
            encoded = self.peer.encode(self.peer.decode(streams))
            return [{apart(ids, again)} for ids, again in zip(streams, encoded, strict=True)]
        texts: list[str] = []
        bad: list[int | None] = []
        for ids in streams:
            pieces = [self.words[id] for id in ids]
            try:
                texts.append(b"".join(pieces).decode())
                bad.append(None)
            except UnicodeDecodeError as error:
                texts.append(b"".join(pieces)[: error.start].decode())
                bad.append(next(i for i, end in enumerate(accumulate(map(len, pieces))) if end > error.start))
        indices: list[set[int | None]] = []
        for ids, again, token in zip(streams, self.peer.encode(texts), bad, strict=True):
            index = apart(ids, again)
            indices.append({index} if token is None else {token} if index is None else {token, min(index, token)})
        return indices

    def found(self, streams: Sequence[list[int]]) -> list[int | None]:
        starts = np.cumsum([0, *map(len, streams)])
        verdict = validate(self.peer.tokenizer, np.concatenate(streams), documents=starts[:-1], all=True)
        found: list[int | None] = [None] * len(streams)
        for violation in verdict.violations:
            document = int(np.searchsorted(starts, violation.start, side="right")) - 1
            if found[document] is None:
                found[document] = violation.index - int(starts[document])
        return found

    def assert_judged_alike(self, streams: Sequence[list[int]]) -> None:
        expected = self.expected(streams)
        if self.peer.decode is None:
            for ids, ours, theirs in zip(streams, self.found(streams), expected, strict=True):
                assert ours in theirs, ids
        else:
            for ids, theirs in zip(streams, expected, strict=True):
                verdict = self.peer.tokenizer.validate(ids)
                assert bool(verdict) == (None in theirs), ids
                # Libraries put something else for bytes that are not UTF-8, and that is encoded somehow.
                assert verdict or verdict.canonical_ids is None or verdict.index in theirs, ids
        self.wrong += sum(None not in theirs for theirs in expected)

    def spoil(self, ids: list[int], source: random.Random) -> list[int]:
        """Return the ids with one edit."""
        kind, place = (
            source.choice(["split", "merge", "swap", "replace", "replace", "drop"]),
            source.randrange(len(ids)),
        )
        among = source.choice([ids, self.least])
        return edit_at(source, ids, place, kind, self.words, self.id_of, among) or ids


@pytest.fixture(scope="module", params=NAMES)
def judge(request: pytest.FixtureRequest, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Judge:
    return Judge(own(request.param, data, tmp_path_factory.mktemp("own")))


def amount(number: int) -> int:
    return int(number * float(os.environ.get("TOKDFA_MATRIX", "1")))


@pytest.mark.slow
@pytest.mark.parametrize("file", CORPORA)
def test_corpora_are_judged_as_by_the_library(judge: Judge, file: str, data: Path, tally: Tally) -> None:
    with (data / "corpora" / file).open(encoding="utf-8", newline="") as text:
        (ids,) = judge.peer.encode([text.read()])
    verdict = judge.peer.tokenizer.validate(ids)
    assert verdict.tokens == len(ids)
    assert verdict.index in judge.expected([ids])[0], verdict.reason
    assert verdict or judge.peer.decode is not None
    tally("validation", "real texts", 1)


@pytest.mark.slow
def test_spoiled_streams(judge: Judge, data: Path, tally: Tally) -> None:
    source = random.Random(2)
    corpora = [(data / "corpora" / file).read_text("utf-8") for file in CORPORA]
    done = 0
    while done < amount(N_SPOILED):
        texts = []
        for _ in range(BATCH):
            text = source.choice(corpora)
            begin = source.randrange(len(text))
            texts.append(text[begin : begin + source.randint(5, 120)])
        streams = [judge.spoil(ids, source) for ids in judge.peer.encode(texts) if ids]
        judge.assert_judged_alike(streams)
        done += len(streams)
    print(f"\n{judge.peer.tokenizer}: {done:,} spoiled streams, {judge.wrong:,} of them not canonical")
    assert judge.wrong > done // 4
    tally("validation", "spoiled inputs", done)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(N_PARTS))
def test_short_texts_of_difficult_symbols(judge: Judge, part: int, tally: Tally) -> None:
    source = random.Random(3 + part)
    done, wrong = 0, judge.wrong
    while done < amount(N_TEXTS) // N_PARTS:
        texts = ["".join(source.choices(FRAGMENTS, k=source.randint(1, 10))) for _ in range(BATCH)]
        # One in ten is spoiled: the library's ids have to pass as well.
        streams = [
            judge.spoil(ids, source) if source.random() < 0.1 else ids for ids in judge.peer.encode(texts) if ids
        ]
        # Spelled by other ids than their specials' own, and byte by byte.
        if judge.peer.decode is None:
            streams += [[judge.id_of[bytes([byte])] for byte in text.encode()] for text in texts[:20]]
        judge.assert_judged_alike([stream for stream in streams if stream])
        done += len(streams)
    print(f"\n{judge.peer.tokenizer}: {done:,} short texts, {judge.wrong - wrong:,} of the streams not canonical")
    tally("validation", "random cases", done)

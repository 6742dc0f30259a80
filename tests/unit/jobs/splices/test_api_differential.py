"""Answers about real tokenizers against their libraries: each "no" confirmed, each "yes" tried with random pairs.

``TOKDFA_PAIRS`` is the number of random pairs over all tokenizers, and TOKDFA_EXTRA the folder of further tokenizers.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

import tokdfa
from tests.campaigns.evidence.tally import Tally
from tests.support.extra import extra_file, llama3_json
from tests.support.libraries import ranks
from tokdfa.base.errors import LimitExceededError, UnsupportedFeatureError
from tokdfa.tokenizers.pretokenizers.steps import NAMED

NAMES = ("gpt2", "cl100k", "o200k", "llama3", "qwen2.5", "mistral3")
PAIRS = int(os.environ.get("TOKDFA_PAIRS", "1000000"))

# Ends and beginnings of texts; questions about all pairs of these.
BEFORE = ["cat", "\n", ".", "a ", "1", "\u4e2d", "\U0001f600", "\u00e9", "\n\n"]
AFTER = [" sat", "a", "- ", "\n", "1", "\u4e2d", " ", "'s", "\u0301"]

Encode = Callable[[Sequence[str]], list[list[int]]]


def _real(name: str, data: Path) -> tuple[tokdfa.AnyTokenizer, Encode, Encode]:
    """Return a tokenizer, its library's encoding of texts, and its encoding of texts that follow others."""
    vocabs = data / "vocabs"
    if name in ("cl100k", "o200k"):
        tiktoken = pytest.importorskip("tiktoken")
        file = vocabs / f"{name}_base.tiktoken"
        pattern = NAMED[name].steps[0].pattern
        encoding = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks(file), special_tokens={})
        return tokdfa.load(file, pretokenizer=name), encoding.encode_ordinary_batch, encoding.encode_ordinary_batch
    if name == "mistral3":
        library = pytest.importorskip("sentencepiece")
        path = vocabs / "mistral_v3.model"
        model = library.SentencePieceProcessor(model_file=str(path))
        fields = pytest.importorskip("sentencepiece.sentencepiece_model_pb2").ModelProto()
        fields.ParseFromString(path.read_bytes())
        fields.normalizer_spec.add_dummy_prefix = False
        later = library.SentencePieceProcessor(model_proto=fields.SerializeToString())
        return tokdfa.load(path), lambda texts: model.encode([*texts]), lambda texts: later.encode([*texts])
    peer = pytest.importorskip("tokenizers")
    content: Any
    if name == "gpt2":
        content = json.loads((vocabs / "gpt2" / "tokenizer.json").read_text("utf-8"))
    elif name == "llama3":
        content = llama3_json()
    else:
        content = json.loads(extra_file("qwen/tokenizer.json").read_text("utf-8"))
    tokenizer = peer.Tokenizer.from_str(json.dumps(content))

    def encode(texts: Sequence[str]) -> list[list[int]]:
        found = tokenizer.encode_batch([*texts], add_special_tokens=False)
        return [encoding.ids for encoding in found]

    return tokdfa.load(content), encode, encode


def _texts(tokenizer: tokdfa.AnyTokenizer) -> list[str]:
    """Return the texts of the tokens that are UTF-8."""
    found = []
    for id in range(tokenizer.n_ids):
        if tokenizer.means_something[id]:
            try:
                found.append(tokenizer.decode([id, id])[len(tokenizer.decode([id])) :])
            except tokdfa.TokdfaError:
                continue
    return [text for text in found if text]


def _pair(random: Random, before: str, after: str, texts: list[str], across: list[str]) -> tuple[str, str]:
    """Return texts that end and begin so, made of tokens; often of one that has both sides of the seam."""
    left, right = before, after
    if across and random.random() < 0.6:
        token = random.choice(across)
        place = token.find(before[-1] + after[0]) + 1
        # A token in which the two meet may extend beyond them.
        if token[:place].endswith(before):
            left = token[:place]
        if token[place:].startswith(after):
            right = token[place:]
    u = "".join(random.choice(texts) for _ in range(random.randrange(3))) + left
    return u, right + "".join(random.choice(texts) for _ in range(random.randrange(3)))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_answers_about_real_tokenizers(name: str, data: Path, tally: Tally) -> None:
    random = Random(name)
    tokenizer, starts, continues = _real(name, data)
    met: Counter[str] = Counter()
    proven: list[tuple[str, str]] = []
    for before in BEFORE:
        for after in AFTER:
            try:
                verdict = tokdfa.splice(tokenizer, before=before, after=after)
            except (UnsupportedFeatureError, LimitExceededError):
                met["undecided"] += 1
                continue
            if verdict:
                met["yes"] += 1
                proven.append((before, after))
                continue
            found = verdict.witness
            assert found is not None
            met["no"] += 1
            first, whole = starts([found.before, found.before + found.after])
            (second,) = continues([found.after]) if found.before else starts([found.after])
            assert first + second != whole
            assert (first, second, whole) == ([*found.ids_before], [*found.ids_after], [*found.ids])
            assert found.before.endswith(before)
            assert found.after.startswith(after)
    print(name, dict(met))
    assert min(met["yes"], met["no"]) > 5, met
    texts = _texts(tokenizer)
    across = {pair: [text for text in texts if pair in text] for pair in {u[-1] + v[0] for u, v in proven}}
    for _ in range(0, PAIRS // len(NAMES), 10_000):
        batch = []
        for _ in range(10_000):
            before, after = random.choice(proven)
            batch.append(_pair(random, before, after, texts, across[before[-1] + after[0]]))
        firsts, seconds = starts([u for u, _ in batch]), continues([v for _, v in batch])
        wholes = starts([u + v for u, v in batch])
        for pair, first, second, whole in zip(batch, firsts, seconds, wholes, strict=True):
            assert first + second == whole, pair
        met["pairs"] += len(batch)
    print(name, dict(met))
    tally("splices", "real texts", met["yes"] + met["no"])

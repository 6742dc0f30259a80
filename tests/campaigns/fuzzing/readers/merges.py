"""merges.txt, alone and with vocab.json: the ids match the tokenizers library.

An input begins with a byte that chooses the format. With a vocabulary, it follows the rules after three zero bytes.
"""

from __future__ import annotations

import json
import random

import tokenizers

import tokdfa
from tests.campaigns.fuzzing.readers.json_changes import change_json, edited
from tests.campaigns.fuzzing.readers.target import Target, folder, must_agree
from tests.support.tokenizer_files import vocabulary
from tokdfa.base.errors import TokdfaError

FORMATS = ("merges", "merges-bytes", "merges-characters", "merges+vocab")
BETWEEN = b"\0\0\0"
TEXTS = ["", "the then a", "aaaaaaab\n\n  1é", "ab abab b", "中\U0001f600 \0", "lower"]


def check(data: bytes) -> bool:
    format = FORMATS[data[0] % len(FORMATS)] if data else FORMATS[0]
    rules, _, vocab = data[1:].partition(BETWEEN)
    path = folder() / "merges.txt"
    path.write_bytes(rules)
    path.with_name("vocab.json").write_bytes(vocab)
    try:
        tokenizer = tokdfa.load(path, format=format)
    except TokdfaError:
        return False
    if format == "merges+vocab" or (format in ("merges", "merges-bytes") and tokenizer.is_bytewise):
        peer = _peer(rules, vocab if format == "merges+vocab" else None, tokenizer.is_bytewise)

        def encode(text: str) -> list[int] | None:
            ids: list[int] = peer.encode(text).ids
            return ids

        must_agree(lambda text: tokenizer.encode(text).tolist(), encode, TEXTS)
        return True
    # No library numbers such tokens; but a text comes back, unless it has the mark of the end of a word.
    for text in TEXTS:
        try:
            ids = tokenizer.encode(text)
        except TokdfaError:
            continue
        assert tokenizer.suffix is not None or tokenizer.decode(ids) == text, text
    return True


def _peer(rules: bytes, vocab: bytes | None, is_bytewise: bool) -> tokenizers.Tokenizer:
    lines = rules.decode().removesuffix("\n").split("\n")
    if "#version" in lines[0]:
        del lines[0]
    pairs = [tuple(line.split(" ")) for line in lines if line and not line.startswith("#version")]
    if vocab is None:
        ids = vocabulary([])
        for u, v in pairs:
            ids.setdefault(u + v, len(ids))
        for part in (part for pair in pairs for part in pair):
            ids.setdefault(part, len(ids))
    else:
        ids = json.loads(vocab)
    suffix = {"end_of_word_suffix": "</w>"} if any(v.endswith("</w>") for _, v in pairs) else {}
    peer = tokenizers.Tokenizer(tokenizers.models.BPE(ids, pairs, **suffix))
    if is_bytewise:
        peer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return peer


def change(data: bytes, drawn: random.Random) -> bytes:
    if not data or drawn.random() < 0.05:
        return bytes([drawn.randrange(len(FORMATS))]) + data[1:]
    rules, between, vocab = data[1:].partition(BETWEEN)
    if between and drawn.random() < 0.4:
        return data[:1] + rules + BETWEEN + change_json(vocab, drawn, {})
    lines = rules.decode("utf-8", "replace").split("\n")
    for _ in range(drawn.choice((1, 1, 2, 4))):
        at, other = drawn.randrange(len(lines)), drawn.randrange(len(lines))
        kind = drawn.randrange(7)
        if kind == 0:
            lines[at], lines[other] = lines[other], lines[at]
        elif kind == 1 and len(lines) > 1:
            del lines[at]
        elif kind == 2:
            parts = drawn.choice(lines).split(" ")
            lines.insert(at, "".join(parts) + " " + drawn.choice(lines[other].split(" ")))
        elif kind == 3:
            lines.insert(at, lines[other])
        elif kind == 4:
            lines[at] = " ".join(reversed(lines[at].split(" ")))
        else:
            lines[at] = edited(lines[at], drawn)
    return data[:1] + "\n".join(lines).encode("utf-8", "replace") + between + vocab


TARGET = Target(check, change)

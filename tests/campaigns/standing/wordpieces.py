"""WordPiece: ids of texts alone, together and one after the other, and verdicts, match the library."""

from __future__ import annotations

import json
import random
from collections import Counter
from contextlib import suppress
from itertools import pairwise
from typing import Any

import tokenizers

import tokdfa
from tests.support.editing import edited
from tests.support.random_files import bert_text, wordpiece_file
from tokdfa.base.errors import AlphabetError, FileFormatError, TokenStreamError, UnsupportedFeatureError


class Peer:
    """The library, which gives None for texts that it cannot encode."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.tokenizer = tokenizers.Tokenizer.from_str(json.dumps(fields))

    def encode(self, text: str) -> list[int] | None:
        """Return the ids of a text."""
        try:
            return self.tokenizer.encode(text, add_special_tokens=False).ids
        except BaseException as error:
            if "Missing" not in str(error) and type(error).__name__ != "PanicException":
                raise
            return None

    def decode(self, ids: list[int]) -> str:
        """Return the text of ids."""
        return self.tokenizer.decode(ids, skip_special_tokens=False)


def check(drawn: random.Random) -> Counter[str]:
    """Compare a random vocabulary on random texts."""
    met: Counter[str] = Counter()
    fields = wordpiece_file(drawn)
    try:
        tokenizer = tokdfa.load(json.dumps(fields).encode())
        peer = Peer(fields)
    except (UnsupportedFeatureError, FileFormatError):
        return met + Counter(["refused"])
    contents = tuple(token["content"] for token in fields["added_tokens"])
    vocabulary = sorted({*fields["model"]["vocab"].values(), *(token["id"] for token in fields["added_tokens"])})
    known = []
    for _ in range(5):
        text = "".join(bert_text(drawn, contents) for _ in range(drawn.choice([1, 1, 1, 4, 40])))
        expected = peer.encode(text)
        if expected is None:
            continue
        try:
            assert tokenizer.encode(text).tolist() == expected, text
        except AlphabetError:
            met["a symbol would be lost"] += 1
            continue
        known.append((text, expected))
        met["texts"] += 1
        met["not ASCII"] += not text.isascii()
        met["an added token"] += any(content in text for content in contents)
        spoiled = edited(drawn, expected, vocabulary, range(3))
        for stream in (expected[:60], spoiled[:60]):
            judge(tokenizer, peer, stream, met)
    batch = tokdfa.encode_batch(tokenizer, [text for text, _ in known], threads=drawn.randrange(1, 3))
    rows = [batch.ids[begin:end].tolist() for begin, end in pairwise(batch.offsets.tolist())]
    assert rows == [ids for _, ids in known], known
    met["documents in one call"] += len(rows)
    return met


def judge(tokenizer: tokdfa.AnyTokenizer, peer: Peer, ids: list[int], met: Counter[str]) -> None:
    """Compare a verdict with the library's ids for the text."""
    back = peer.decode(ids)
    again = peer.encode(back)
    if again is None:
        return
    verdict = tokenizer.validate(ids)
    with suppress(TokenStreamError):
        assert tokenizer.decode(ids) == back, ids
    assert bool(verdict) == (again == ids), (ids, back, again)
    if not verdict:
        different = (i for i, (a, b) in enumerate(zip(ids, again, strict=False)) if a != b)
        assert verdict.index == next(different, min(len(ids), len(again))), (ids, back, again)
    met["canonical" if verdict else "spoiled"] += 1

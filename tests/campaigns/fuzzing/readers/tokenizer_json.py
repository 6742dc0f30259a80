"""tokenizer.json, with BPE and WordPiece models: the ids match the tokenizers library."""

from __future__ import annotations

import json
import random
from typing import Any

import tokenizers

import tokdfa
from tests.campaigns.fuzzing.readers.json_changes import Parts, change_json
from tests.campaigns.fuzzing.readers.target import Target, folder, must_agree
from tests.support import random_files, random_steps
from tokdfa.base.errors import TokdfaError

TEXTS = ["", "the a", "ab  <x>\n", "é e\u0301\u2581 a", "aaaab 12!", "\U0001f600中</w> ##a", "[SEP]a ABC<|end|>the"]


def check(data: bytes) -> bool:
    path = folder() / "tokenizer.json"
    path.write_bytes(data)
    try:
        tokenizer = tokdfa.load(path)
    except TokdfaError:
        return False
    try:
        peer = tokenizers.Tokenizer.from_str(data.decode())
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            return True
        # Steps left to the caller are not checked as the library checks them.
        if not tokenizer.ignored:
            raise AssertionError(f"the library refuses it: {error}") from None
        return True

    def encode(text: str) -> list[int] | None:
        try:
            ids: list[int] = peer.encode(text, add_special_tokens=False).ids
        except BaseException as error:
            if isinstance(error, (KeyboardInterrupt, SystemExit)):
                raise
            return None
        return ids

    must_agree(lambda text: tokenizer.encode(text).tolist(), encode, TEXTS)
    # Without a decoder the library puts spaces between tokens, where tokdfa has the bytes that ByteLevel gives them.
    for text in TEXTS[1:3] if json.loads(data).get("decoder") else ():
        ids = encode(text)
        if ids is None:
            continue
        try:
            back = tokenizer.decode(ids)
        except TokdfaError:
            continue
        expected = peer.decode(ids, skip_special_tokens=False)
        assert back == expected, (text, ids, back, expected)
    return True


def _file(drawn: random.Random) -> dict[str, Any]:
    return random_files.KINDS[drawn.choice(list(random_files.KINDS))](drawn)


PARTS: Parts = {
    "normalizer": random_steps.normalizer,
    "pre_tokenizer": random_steps.pre_tokenizer,
    "decoder": lambda drawn: random_steps.decoder(drawn, drawn.choice([None, "</w>"])),
    "added_tokens": lambda drawn: random_steps.added_tokens(drawn, {"a": 0, "b": 1}),
    "post_processor": lambda drawn: _file(drawn)["post_processor"],
    "model": lambda drawn: _file(drawn)["model"],
}

# A machine of splitting may take the 20 seconds of its budget before the text is split another way.
TARGET = Target(check, lambda data, drawn: change_json(data, drawn, PARTS), seconds=30.0)

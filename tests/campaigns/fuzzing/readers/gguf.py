"""GGUF files: any file read encodes texts to ids that spell them; llama.cpp itself aborts on many spoiled files.

Every head that is accepted is whole: with its last byte gone it is refused.
"""

from __future__ import annotations

import random
import struct

import tokdfa
from tests.campaigns.fuzzing.readers.json_changes import edited
from tests.campaigns.fuzzing.readers.target import Target, folder
from tokdfa.base.errors import TokdfaError
from tokdfa.tokenizers.formats.gguf_head import GGUFHead
from tokdfa.tokenizers.tokenizer import Tokenizer

TEXTS = ["", "the then a", "aaaa\n\n  1é", "中\U0001f600 <a>", "x<|end|>y  \u00a0z", "they're 12345 \r\n"]
NUMBERS = (0, 1, 2, 3, 4, 5, 6, 8, 9, 255, 1 << 16, (1 << 24) + 1, 1 << 31, (1 << 32) - 1, 1 << 60, (1 << 64) - 1)
NAMES = (b"gpt2", b"llama", b"bert", b"t5", b"default", b"gpt-2", b"llama-bpe", b"qwen2", b"falcon", b"deepseek-llm")


def check(data: bytes) -> bool:
    path = folder() / "x.gguf"
    path.write_bytes(data)
    try:
        tokenizer = tokdfa.load(path, format="gguf")
    except TokdfaError:
        return False
    end = GGUFHead(data, path).end
    try:
        GGUFHead(data[: end - 1], path)
    except TokdfaError:
        pass
    else:
        raise AssertionError("a head without its last byte is read")
    for text in TEXTS:
        try:
            ids = tokenizer.encode(text)
        except TokdfaError:
            continue
        # A token for a byte that is of a special type is encoded as the byte, and decoded as its letter.
        specials = {special.id for special in tokenizer.specials}
        if isinstance(tokenizer, Tokenizer) and tokenizer.is_bytewise and not specials.intersection(ids.tolist()):
            assert tokenizer.decode(ids) == text, (text, ids)
    return True


def change(data: bytes, drawn: random.Random) -> bytes:
    kind = drawn.randrange(8)
    at = drawn.randrange(len(data) + 1)
    if kind == 0:
        layout, bits = drawn.choice((("<I", 32), ("<Q", 64)))
        number = (drawn.choice(NUMBERS) + drawn.randrange(-1, 2)) % (1 << bits)
        return data[:at] + struct.pack(layout, number) + data[at + bits // 8 :]
    if kind == 1:
        at = drawn.choice((4, 8, 16))
        return data[:at] + struct.pack("<Q", drawn.choice(NUMBERS)) + data[at + 8 :]
    if kind == 2:
        return data[:at]
    return _with_other_string(data, drawn)


def _with_other_string(data: bytes, drawn: random.Random) -> bytes:
    """Return the file with a string of it changed, its length, too."""
    for _ in range(20):
        at = drawn.randrange(24, max(len(data), 25))
        (length,) = struct.unpack_from("<Q", data.ljust(at + 8, b"\0"), at)
        if 0 < length < 64 and at + 8 + length <= len(data):
            word = data[at + 8 : at + 8 + length]
            new = drawn.choice(
                (edited(word.decode("utf-8", "replace"), drawn).encode(), drawn.choice(NAMES), word + word)
            )
            return data[:at] + struct.pack("<Q", len(new)) + new + data[at + 8 + length :]
    return data


TARGET = Target(check, change, longest=1 << 15)

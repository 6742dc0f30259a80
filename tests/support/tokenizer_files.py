"""Small tokenizer files of every format, valid ones, to be loaded or spoiled."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Sequence
from typing import Any

# GPT-2's byte alphabet, written down once more: printable characters of Latin-1 represent themselves.
_PRINTABLE = [*range(33, 127), *range(161, 173), *range(174, 256)]
SPELLED = {byte: chr(byte) for byte in _PRINTABLE}
SPELLED |= {byte: chr(256 + i) for i, byte in enumerate(byte for byte in range(256) if byte not in SPELLED)}
GPT2_BYTES = list(SPELLED)

RULES = [(b" ", b"t"), (b"h", b"e"), (b" t", b"he"), (b"\xc3", b"\xa9"), (b"a", b"a"), (b"aa", b"aa"), (b"\n", b"\n")]
TEXTS = ["", "the then the\n\n\naaaaaaa", "é aé\x00", " t h e", "x<|end|>y", "the<|end|>the", "\U0001f600"]


def spell(word: bytes) -> str:
    return "".join(SPELLED[byte] for byte in word)


def vocabulary(rules: Sequence[tuple[bytes, bytes]] = RULES) -> dict[str, int]:
    words = [*(bytes([byte]) for byte in GPT2_BYTES), *(u + v for u, v in rules)]
    return {spell(word): id for id, word in enumerate(dict.fromkeys(words))}


def merges_txt(rules: Iterable[tuple[bytes, bytes]] = RULES) -> str:
    return "#version: 0.2\n" + "".join(f"{spell(u)} {spell(v)}\n" for u, v in rules)


def tokenizer_json(rules: Sequence[tuple[bytes, bytes]] = RULES, **changes: Any) -> dict[str, Any]:
    """A byte-level tokenizer.json with one special token; `changes` replace or add top-level fields."""
    vocab = vocabulary(rules)
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [added_token(len(vocab), "<|end|>")],
        "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        "post_processor": None,
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": vocab,
            "merges": [[spell(u), spell(v)] for u, v in rules],
        },
        **changes,
    }


def added_token(id: int, content: str, **changes: Any) -> dict[str, Any]:
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": id, "content": content, **flags, "special": True, **changes}


def ranks(words: Iterable[bytes] = (u + v for u, v in RULES)) -> dict[bytes, int]:
    return {word: rank for rank, word in enumerate([*(bytes([byte]) for byte in range(256)), *words])}


RANKS = ranks()


def tiktoken_lines(ranked: dict[bytes, int] = RANKS) -> bytes:
    return b"".join((base64.b64encode(word) or b"=") + b" %d\n" % rank for word, rank in ranked.items())


def rwkv_lines(tokens: dict[bytes, int]) -> bytes:
    """The vocabulary of RWKV with these tokens: texts are written as strings, and other bytes as bytes."""
    lines = []
    for token, id in tokens.items():
        try:
            written = repr(token.decode())
        except UnicodeDecodeError:
            written = repr(token)
        lines.append(f"{id} {written} {len(token)}\n")
    return "".join(lines).encode()


def tekken_json(ranked: dict[bytes, int] = RANKS, n_specials: int = 20, **changes: Any) -> dict[str, Any]:
    return {
        "config": {
            "pattern": r"\p{L}+|[^\p{L}]+",
            "num_vocab_tokens": len(ranked),
            "default_vocab_size": len(ranked) + n_specials,
            "default_num_special_tokens": n_specials,
            "version": "v3",
        },
        "vocab": [
            {"rank": rank, "token_bytes": base64.b64encode(word).decode(), "token_str": None}
            for word, rank in ranked.items()
        ],
        **changes,
    }


def as_bytes(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()

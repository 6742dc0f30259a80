"""Tokenizers that are not among the shared data, from a folder that TOKDFA_EXTRA names."""

from __future__ import annotations

import base64
import json
import os
import re
from pathlib import Path

import pytest

_CHARACTERS = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_OTHERS = [byte for byte in range(256) if byte not in _CHARACTERS]
BYTE_OF = {chr(byte): byte for byte in _CHARACTERS} | {chr(256 + i): byte for i, byte in enumerate(_OTHERS)}


def extra_folder() -> Path:
    """Return the folder, or skip the test."""
    folder = os.environ.get("TOKDFA_EXTRA")
    if not folder:
        pytest.skip("TOKDFA_EXTRA names no folder with further tokenizers")
    return Path(folder)


def extra_file(pattern: str) -> Path:
    """Return the first file of that name in the folder, or skip the test."""
    found = sorted(extra_folder().rglob(pattern))
    if not found:
        pytest.skip(f"no {pattern} in TOKDFA_EXTRA")
    return found[0]


def llama3_json() -> dict[str, object]:
    """Return Llama-3's tokenizer.json, from the packed tokens and merges of llama3-tokenizer-js."""
    packed = extra_file("data-converted.js").read_text("utf-8")
    blobs = re.findall(r'"([A-Za-z0-9+/=]{1000,})"', packed)
    tokens = base64.b64decode(blobs[0]).decode("utf-8").split("\n")
    data = base64.b64decode(blobs[1])
    numbers, value, bits = [], 0, 0
    for byte in data:
        value, bits = value << 8 | byte, bits + 8
        if bits >= 17:
            bits -= 17
            numbers.append(value >> bits)
            value &= (1 << bits) - 1
    pairs = zip(numbers[::2], numbers[1::2], strict=False)
    # The rest at the end are zeros, and no token is "!!" twice.
    merges = [f"{tokens[left]} {tokens[right]}" for left, right in pairs]
    while merges and merges[-1] == f"{tokens[0]} {tokens[0]}":
        merges.pop()
    pattern = (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
        r"|\s*[\r\n]+|\s+(?!\S)|\s+"
    )
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    names = ["<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>"]
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False) | {"special": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": len(tokens) + i, "content": name, **flags} for i, name in enumerate(names)],
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, byte_level]},
        "post_processor": None,
        "decoder": {**byte_level, "add_prefix_space": True, "use_regex": True},
        "model": {
            "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
            "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": True,
            "vocab": {token: number for number, token in enumerate(tokens)}, "merges": merges,
        },
    }  # fmt: skip


def ranks_of(vocabulary: dict[str, int]) -> dict[bytes, int]:
    """Return the ranks of a vocabulary in the byte alphabet."""
    return {bytes(BYTE_OF[character] for character in token): rank for token, rank in vocabulary.items()}


def write_tiktoken(ranks: dict[bytes, int], path: Path) -> Path:
    """Write ranks as a .tiktoken file."""
    path.write_text("".join(f"{base64.b64encode(word).decode()} {rank}\n" for word, rank in ranks.items()))
    return path


def write_json(file: dict[str, object], path: Path) -> Path:
    """Write a tokenizer.json."""
    path.write_text(json.dumps(file))
    return path

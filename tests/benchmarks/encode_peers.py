"""Byte pair encoders side by side: how each is made from a .tiktoken file, and the function from text to ids."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

__all__ = ["PEERS", "Peer", "as_tokenizers", "pattern_of", "ranks"]

Encode = Callable[[str], Sequence[int]]


class Peer(NamedTuple):
    """An encoder: its name, its distribution, how it is made from the file and the name of a pattern."""

    name: str
    package: str
    make: Callable[[Path, str], Encode]


def pattern_of(path: Path, name: str) -> str:
    """Return the pattern of this name, as tiktoken spells it."""
    patterns: Any = json.loads((path.parent / "patterns.json").read_bytes())
    return str(patterns[name])


def ranks(path: Path) -> dict[bytes, int]:
    rows = (line.split() for line in path.read_bytes().splitlines() if line)
    return {base64.b64decode(word): int(rank) for word, rank in rows}


def _tokdfa(path: Path, name: str) -> Encode:
    import tokdfa

    return tokdfa.load(path, pretokenizer=name).encode


def _gigatoken(path: Path, name: str) -> Encode:
    import gigatoken

    return gigatoken.Tokenizer.from_tiktoken(path, pretokenizer=name, special_tokens={}).encode


def _splintr(path: Path, name: str) -> Encode:
    import splintr

    # Its own spelling: it does not read possessive quantifiers.
    pattern = {"cl100k": splintr.CL100K_BASE_PATTERN, "o200k": splintr.O200K_BASE_PATTERN}[name]
    encode = splintr.Tokenizer.from_bytes(path.read_bytes(), pattern, {}).encode_flat
    return lambda text: np.frombuffer(encode(text), dtype=np.uint32)


def _tiktoken(path: Path, name: str) -> Encode:
    import tiktoken

    # As tiktoken.load does, without its cache; the array is what the others return.
    encoding = tiktoken.Encoding(name, pat_str=pattern_of(path, name), mergeable_ranks=ranks(path), special_tokens={})
    return lambda text: np.array(encoding.encode_ordinary(text), dtype=np.uint32)


def as_tokenizers(path: Path, name: str) -> Any:
    """Return a tokenizer of tokenizers: the ranks as vocabulary and rules.

    The rule of a token is what the ranks below make of it.
    """
    import tokenizers
    from tokenizers import decoders, models, pre_tokenizers

    import tokdfa
    from tokdfa.encoding.byte_alphabet import CHARACTER_OF
    from tokdfa.splitting.named import NAMED

    tokenizer = tokdfa.load(path, pretokenizer="none")
    words = ["".join(CHARACTER_OF[byte] for byte in word) for word in map(bytes, tokenizer.dictionary.alphabet)]
    rules = tokenizer.dictionary
    merges = [(words[u], words[v]) for u, v in zip(rules.left.tolist(), rules.right.tolist(), strict=True)]
    vocab = dict(zip(words, tokenizer.token_to_id.tolist(), strict=False))
    theirs = tokenizers.Tokenizer(models.BPE(vocab, merges, ignore_merges=True))
    # Oniguruma reads {1,3}+ and $ in another way; Llama-3's pattern is cl100k's in its spelling.
    pattern = NAMED["llama3" if name == "cl100k" else name].steps[0].pattern
    split = pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated")
    theirs.pre_tokenizer = pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(False, use_regex=False)])
    theirs.decoder = decoders.ByteLevel()
    return theirs


def _tokenizers(path: Path, name: str) -> Encode:
    theirs = as_tokenizers(path, name)
    # Offsets, which nobody asks for, are left out.
    return lambda text: theirs.encode_batch_fast([text], add_special_tokens=False)[0].ids


PEERS = [
    Peer("tokdfa", "tokdfa", _tokdfa),
    Peer("gigatoken", "gigatoken", _gigatoken),
    Peer("splintr", "splintr-rs", _splintr),
    Peer("tiktoken", "tiktoken", _tiktoken),
    Peer("tokenizers", "tokenizers", _tokenizers),
]

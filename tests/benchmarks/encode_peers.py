"""Byte pair encoders side by side: each is made from a .tiktoken file and encodes in its fastest documented way.

Ways that were tried and are slower: `encode_raw`, `encode_rayon` and the PCRE2 engine of splintr; `encode_to_numpy` of
tiktoken; `encode` of tokenizers.
"""

from __future__ import annotations

import atexit
import base64
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, NamedTuple

import numpy as np

__all__ = [
    "BATCHES",
    "PEERS",
    "WAYS",
    "Encode",
    "Peer",
    "as_tokenizers",
    "batch_tokdfa",
    "made_gigatoken",
    "made_tiktoken",
    "pattern_of",
    "ranks",
]

Encode = Callable[[str], Sequence[int]]
Batch = Callable[[], object]


class Peer(NamedTuple):
    """An encoder: its name, its distribution, its way in words, how it is made from the file and a pattern's name."""

    name: str
    package: str
    way: str
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


def made_gigatoken(path: Path, name: str) -> Any:
    import gigatoken

    return gigatoken.Tokenizer.from_tiktoken(path, pretokenizer=name, special_tokens={})


def _gigatoken(path: Path, name: str) -> Encode:
    encode: Encode = made_gigatoken(path, name).encode
    return encode


def _made_splintr(path: Path, name: str) -> Any:
    import splintr

    # Its own spelling: it does not read possessive quantifiers. Its compiler of patterns is on by default.
    pattern = {"cl100k": splintr.CL100K_BASE_PATTERN, "o200k": splintr.O200K_BASE_PATTERN}[name]
    return splintr.Tokenizer.from_bytes(path.read_bytes(), pattern, {})


def _splintr(path: Path, name: str) -> Encode:
    encode = _made_splintr(path, name).encode_flat
    return lambda text: np.frombuffer(encode(text), dtype=np.uint32)


def made_tiktoken(path: Path, name: str) -> Any:
    import tiktoken

    # As tiktoken.load does, without its cache.
    return tiktoken.Encoding(name, pat_str=pattern_of(path, name), mergeable_ranks=ranks(path), special_tokens={})


def _tiktoken(path: Path, name: str) -> Encode:
    encode: Encode = made_tiktoken(path, name).encode_ordinary
    return encode


def as_tokenizers(path: Path, name: str) -> Any:
    """Return a tokenizer of tokenizers: the ranks as vocabulary and rules.

    The rule of a token merges the two tokens into which the lower ranks split it.
    """
    import tokenizers
    from tokenizers import decoders, models, pre_tokenizers

    import tokdfa
    from tokdfa.regex.unicode.utf8 import CHARACTER_OF
    from tokdfa.tokenizers.pretokenizers.steps import NAMED

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
    Peer("tokdfa", "tokdfa", "encode", _tokdfa),
    Peer("gigatoken", "gigatoken", "encode", _gigatoken),
    Peer("splintr", "splintr-rs", "encode_flat", _splintr),
    Peer("tiktoken", "tiktoken", "encode_ordinary", _tiktoken),
    Peer("tokenizers", "tokenizers", "encode_batch_fast([text])", _tokenizers),
]
WAYS = "; ".join(f"{peer.name}: {peer.way}" for peer in PEERS)


def batch_tokdfa(path: Path, name: str, documents: list[str], threads: int) -> Batch:
    import tokdfa

    tokenizer = tokdfa.load(path, pretokenizer=name)
    return lambda: tokdfa.encode_batch(tokenizer, documents, threads=threads)


def _batch_gigatoken(path: Path, name: str, documents: list[str], threads: int) -> Batch:
    import gigatoken

    # All documents in one buffer, which it cuts itself.
    encode, data = made_gigatoken(path, name).encode_batch, "\0".join(documents).encode()
    return lambda: encode(gigatoken.BytesSource(data, b"\0"), parallel=threads > 1)


def _list_gigatoken(path: Path, name: str, documents: list[str], threads: int) -> Batch:
    encode = made_gigatoken(path, name).encode_batch
    return lambda: encode(documents, parallel=threads > 1)


def _files_gigatoken(path: Path, name: str, documents: list[str], threads: int) -> Batch:
    import gigatoken

    encode = made_gigatoken(path, name).encode_files
    with NamedTemporaryFile(suffix=".txt", delete=False) as file:
        file.write("\0".join(documents).encode())
    atexit.register(Path(file.name).unlink)
    return lambda: encode(gigatoken.TextFileSource([file.name], separator=b"\0"), parallel=threads > 1)


def _batch_splintr(path: Path, name: str, documents: list[str], threads: int) -> Batch:
    encode = _made_splintr(path, name).encode_batch_flat
    return lambda: encode(documents)


def _batch_tiktoken(path: Path, name: str, documents: list[str], threads: int) -> Batch:
    encode = made_tiktoken(path, name).encode_ordinary_batch
    return lambda: encode(documents, num_threads=threads)


def _loop_tiktoken(path: Path, name: str, documents: list[str], threads: int) -> Batch:
    encode = made_tiktoken(path, name).encode_ordinary
    return lambda: [encode(document) for document in documents]


def _batch_tokenizers(path: Path, name: str, documents: list[str], threads: int) -> Batch:
    encode = as_tokenizers(path, name).encode_batch_fast
    return lambda: encode(documents, add_special_tokens=False)


# Many documents in one call. Those of rayon read the number of threads from the environment; a loop has one.
BATCHES: dict[str, Callable[[Path, str, list[str], int], Batch]] = {
    "tokdfa, encode_batch": batch_tokdfa,
    "gigatoken, encode_batch(BytesSource)": _batch_gigatoken,
    "gigatoken, encode_batch(list)": _list_gigatoken,
    "gigatoken, encode_files": _files_gigatoken,
    "splintr, encode_batch_flat": _batch_splintr,
    "tiktoken, encode_ordinary_batch": _batch_tiktoken,
    "tiktoken, encode_ordinary each": _loop_tiktoken,
    "tokenizers, encode_batch_fast": _batch_tokenizers,
}

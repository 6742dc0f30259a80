"""The checker of certificates, loaded from its file alone, and small tokenizers with certificates."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import random
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import tokdfa
from tests.support.tokenizer_files import as_bytes, merges_txt, ranks, tiktoken_lines, tokenizer_json, vocabulary
from tokdfa import Tokenizer

SOURCE = Path(tokdfa.__file__).with_name("check.py")
TABLES = SOURCE.parent / "regex" / "unicode" / "data"
# Few letters, so that tokens meet; patterns that cut them in several ways. The first two are one function.
PATTERNS = (
    *(r" ?\p{L}++| ?[^\s\p{L}]++|\s++$|\s+(?!\S)|\s", r" ?\p{L}+| ?[^\s\p{L}]+|\s+(?!\S)|\s+"),
    *(r"'(?i:[st])|[ab]+|[^ab]", r"(?i:'s|'t)|a+|b+|[^ab]", r"\s*[\r\n]+|\s+|\S{1,3}", r"[\s\S]+"),
)


def load_checker() -> ModuleType:
    """Return the checker, imported from its file and not as a part of tokdfa."""
    spec = importlib.util.spec_from_file_location("standing_alone", SOURCE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rules_of(drawn: random.Random, letters: bytes = b"ab s'", most: int = 8) -> list[tuple[bytes, bytes]]:
    """Return rules of a proper dictionary over few bytes."""
    tokens = [bytes([letter]) for letter in letters]
    rules: list[tuple[bytes, bytes]] = []
    for _ in range(drawn.randint(1, most)):
        left, right = drawn.choice(tokens), drawn.choice(tokens)
        if left + right not in tokens and len(left + right) < 7:
            rules.append((left, right))
            tokens.append(left + right)
    return rules


def write_ranks(path: Path, rules: Sequence[tuple[bytes, bytes]], pattern: str) -> tuple[Tokenizer, Path]:
    """Write the words that rules make as ranks; return the tokenizer and its file."""
    path.write_bytes(tiktoken_lines(ranks([u + v for u, v in rules])))
    return _loaded(path, pretokenizer=pattern), path


def write_merges(folder: Path, rules: Sequence[tuple[bytes, bytes]], pattern: str) -> tuple[Tokenizer, Path]:
    """Write rules as merges.txt and vocab.json."""
    folder.mkdir()
    path = folder / "merges.txt"
    path.write_text(merges_txt(rules), encoding="utf-8")
    (folder / "vocab.json").write_text(json.dumps(vocabulary(rules)), encoding="utf-8")
    return _loaded(folder, pretokenizer=pattern), path


def write_json(path: Path, rules: Sequence[tuple[bytes, bytes]], pattern: str, **model: Any) -> tuple[Tokenizer, Path]:
    """Write rules as a tokenizer.json with one Split and ByteLevel."""
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    content = tokenizer_json(rules, pre_tokenizer={"type": "Sequence", "pretokenizers": [split, byte_level]})
    content["added_tokens"] = []
    content["model"] |= model
    path.write_bytes(as_bytes(content))
    return _loaded(path), path


def _loaded(path: Path, **options: Any) -> Tokenizer:
    tokenizer = tokdfa.load(path, **options)
    assert isinstance(tokenizer, Tokenizer)
    return tokenizer


def digest(path: Path) -> str:
    """Return the hash of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()

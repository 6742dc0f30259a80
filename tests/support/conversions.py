"""The libraries of the formats that `tokdfa.convert` writes, on the files that it wrote."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tokenizers

from tests.support.families import Member
from tests.support.llama_cpp import LlamaCpp, library
from tests.support.tokenizer_files import spell
from tokdfa import Conversion, convert
from tokdfa.base.errors import TokdfaError
from tokdfa.tokenizers.formats.writers.rank_file import snippet
from tokdfa.tokenizers.pretokenizers.pretokenizer import pretokenizer
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.tokenizer import Tokenizer

NAMES = {"tokenizer.json": "tokenizer.json", "tiktoken": "some.tiktoken", "merges": "merges.txt", "gguf": "some.gguf"}
Encode = Callable[[str], list[int]]


def converted(tokenizer: AnyTokenizer, target: Any, folder: Path, **options: Any) -> Conversion | TokdfaError:
    """Return the conversion, or the error with which it is refused or left undecided."""
    try:
        return convert(tokenizer, target, folder / NAMES[target], **options)
    except TokdfaError as error:
        return error


def by_library(found: Conversion, tokenizer: AnyTokenizer) -> Encode | None:
    """Return the encoding of texts by the library of a format, special tokens found; None without llama.cpp's."""
    path = found.files[0]
    if found.target == "tokenizer.json":
        peer = tokenizers.Tokenizer.from_file(str(path))
        return lambda text: list(peer.encode(text, add_special_tokens=False).ids)
    if found.target == "tiktoken":
        names: dict[str, Any] = {}
        assert isinstance(tokenizer, Tokenizer)
        exec(snippet(tokenizer, str(path)), names)
        return lambda text: list(names["encoding"].encode(text, allowed_special="all"))
    if found.target == "merges":
        return _by_merges(path, found.options["pretokenizer"])
    return None if library() is None else LlamaCpp(path).encode


def _by_merges(path: Path, name: str) -> Encode:
    """Merge pieces by `tokenizers`, which reads the two files."""
    model = tokenizers.models.BPE.from_file(str(path.with_name("vocab.json")), str(path))
    split = None if name == "none" else pretokenizer(name)
    vocabulary = json.loads(path.with_name("vocab.json").read_bytes())
    is_bytewise = all(spell(bytes([byte])) in vocabulary for byte in range(0x80))

    def encode(text: str) -> list[int]:
        pieces = [text] if split is None else split.split_backtracking(text)
        spelled = (spell(piece.encode()) if is_bytewise else piece for piece in pieces)
        return [token.id for piece in spelled for token in (model.tokenize(piece) if piece else ())]

    return encode


def assert_is_right(member: Member, found: Conversion, drawn: random.Random, n_texts: int) -> None:
    """Compare both libraries on texts if there is a file, and on the witness if there is none."""
    if not found:
        assert found.witness is not None
        assert not found.files
        text, ids, _ = found.witness
        assert isinstance(text, str)
        assert ids is None or member.encode(text) == list(ids), (member.family, found)
        return
    encode = by_library(found, member.tokenizer)
    for text in (member.text(drawn) for _ in range(n_texts if encode is not None else 0)):
        expected = member.encode(text)
        if expected is not None and encode is not None:
            assert encode(text) == expected, (member.family, found.target, text)

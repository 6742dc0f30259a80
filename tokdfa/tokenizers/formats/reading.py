"""The reader of each format of tokenizer files."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tokdfa.tokenizers.formats.files import content

if TYPE_CHECKING:
    from tokdfa.tokenizers.formats.files import AnyContents
    from tokdfa.tokenizers.formats.json_text import JsonObject
    from tokdfa.tokenizers.formats.written import PlainWords


def read_as(data: bytes, path: Path, format: str, *, of_object: bool = False) -> AnyContents:
    """Read the content of a tokenizer file; `path` is for messages, except where a second file is next to it.

    `of_object` is whether a library has just written it, rather than read it.
    """
    with _without_collector():
        return _read(data, path, format, of_object)


@contextmanager
def _without_collector() -> Iterator[None]:
    """Keep the garbage collector away from millions of new strings, since all of them are kept."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _read(data: bytes, path: Path, format: str, of_object: bool) -> AnyContents:
    """Read a file by the reader of its format, imported only then."""
    if format == "vocab.txt":
        from tokdfa.tokenizers.formats.wordpiece import read_vocab_txt

        return read_vocab_txt(data, path)
    if format == "gguf":
        from tokdfa.tokenizers.formats.gguf import read_gguf

        return read_gguf(data, path)
    if format == "tekken":
        from tokdfa.tokenizers.formats.tiktoken import read_tekken

        return read_tekken(data, path)
    if format == "tiktoken":
        from tokdfa.tokenizers.formats.tiktoken import read_tiktoken

        return read_tiktoken(data, path)
    if format == "sentencepiece":
        from tokdfa.tokenizers.formats.sentencepiece import read_sentencepiece

        return read_sentencepiece(data, path)
    if format == "tokenizer.json":
        return _read_json(data, path, of_object)
    if format == "merges+vocab":
        from tokdfa.tokenizers.formats.vocabulary import read_vocabulary_and_merges

        beside = path.with_name("vocab.json")
        return read_vocabulary_and_merges(content(beside), data, beside, path)
    from tokdfa.tokenizers.formats.merges import read_clip, read_merges

    if format == "clip":
        return read_clip(data, path)
    bytewise = {"merges": None, "merges-bytes": True, "merges-characters": False}[format]
    return read_merges(data, path, bytewise=bytewise)


def _read_json(data: bytes, path: Path, of_object: bool) -> AnyContents:
    # A plain search first, because it is much faster; decoders and tokens may have these names as well.
    names = [name for name in ("WordPiece", "Unigram") if f'"{name}"'.encode("ascii") in data]
    if names:
        from tokdfa.tokenizers.formats.json_text import as_serde_json, parse_object
        from tokdfa.tokenizers.formats.written import read_plain_words

        # The numbers that the library has just written are its numbers in memory; it reads those in files otherwise.
        number = float if of_object else as_serde_json
        for name in names:
            plain = read_plain_words(data, path, number, scored=name == "Unigram")
            if plain is not None and _kind_of_model(plain.top) == name:
                return _read_kind(plain.top, plain, of_object)
        top = parse_object(data, path, number=number)
        if _kind_of_model(top) in names:
            return _read_kind(top, None, of_object)
    from tokdfa.tokenizers.formats.tokenizer_json import read_tokenizer_json

    return read_tokenizer_json(data, path)


def _read_kind(top: JsonObject, plain: PlainWords | None, of_object: bool) -> AnyContents:
    """Read a tokenizer.json with a WordPiece or Unigram model, and its vocabulary from `plain` if that is given."""
    if _kind_of_model(top) == "WordPiece":
        from tokdfa.tokenizers.formats.wordpiece import read_wordpiece_json

        return read_wordpiece_json(top, plain)
    from tokdfa.tokenizers.formats.unigram import read_unigram_json

    return read_unigram_json(top, plain, of_object=of_object)


def _kind_of_model(top: JsonObject) -> str | None:
    """Return the kind of the model, if the file gives one."""
    model = top.fields.get("model")
    kind = model.get("type") if isinstance(model, dict) else None
    return kind if isinstance(kind, str) else None

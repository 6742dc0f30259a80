"""Objects of other libraries, recognised by their attributes and turned into the input of the readers of files.

Nothing is imported and no attribute is set. Behaviour of an object beyond its parts (a text reversed, special tokens
that are split up, a subclass in Python that changes texts) is refused where its attributes show it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tokdfa.base.errors import FileFormatError, WrongTypeError
from tokdfa.tokenizers.decoder import spellings
from tokdfa.tokenizers.formats.contents import LARGEST_ID, AnyContents, Contents
from tokdfa.tokenizers.formats.files import LARGEST_FILE, named, unpacked
from tokdfa.tokenizers.formats.live_clip import read_clip
from tokdfa.tokenizers.formats.live_merging import read_merging
from tokdfa.tokenizers.formats.live_object import IN_RUST, Live, installed
from tokdfa.tokenizers.formats.live_sentencepiece import read_over_processor, read_processor
from tokdfa.tokenizers.formats.live_wordpiece import read_longest
from tokdfa.tokenizers.formats.ranks import from_ranks
from tokdfa.tokenizers.formats.reading import detect, read_as
from tokdfa.tokenizers.formats.tiktoken import as_published, check_ids, specials_of
from tokdfa.tokenizers.pretokenizers.steps import Split, Splitting

_TAKEN = (
    "a path, bytes, a file object, a dict of the fields of a JSON file or of bytes and ranks, or a tokenizer of "
    "tokenizers, transformers, tiktoken, mistral-common or sentencepiece"
)
_LIBRARIES = ("tokenizers", "tiktoken", "sentencepiece")


def read_object(source: Any, format: str | None = None) -> AnyContents:
    """Read an object that is a tokenizer, or that has the content of a tokenizer file.

    `format` is one of `FORMATS`, for bytes and file objects; it is detected by default.
    """
    whole = Live(source, Path(named(source)))
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _read_bytes(bytes(source), whole.path, format)
    if isinstance(source, Mapping):
        return _read_mapping(whole, format)
    inner = Live(None if isinstance(source, type) else source, whole.path)
    for _ in range(_DEEPEST):
        for names, (own, read) in _READERS.items():
            values = [inner.get(name) for name in names]
            if not any(value is None for value in values):
                if own is not None and format not in (None, own):
                    raise whole.fault(f"the object is of the format {own}", FileFormatError, value=format)
                library = _library_of([inner.value, *values])
                return replace(read(inner, values[0], format), library=library)
        inner = next((part for name in _WITHIN if (part := inner.part(name)).value is not None), Live(None, whole.path))
    hint = f"tokdfa.load takes {_TAKEN}"
    if not isinstance(source, type) and callable(whole.get("convert_tokens_to_ids")):
        what = "a tokenizer in Python with neither a SentencePiece model, nor byte pairs, nor words as BERT has them"
        whole.defined_by("_tokenize", set(), what, f"load its files, or {IN_RUST}")
    raise WrongTypeError("not a tokenizer, nor the content of a tokenizer file", value=source, hint=hint)


def _library_of(parts: list[Any]) -> str | None:
    """Return the library and version of an object, or of the first of its parts where they are known."""
    for kind in (kind for part in parts for kind in type(part).__mro__):
        name = str(kind.__module__).partition(".")[0]
        if name in _LIBRARIES:
            number = getattr(sys.modules.get(name), "__version__", None) or installed(name)
            return f"{name}=={number}" if isinstance(number, str) else None
    return None


# The content of files


def _read_bytes(data: bytes, path: Path, format: str | None) -> AnyContents:
    data = unpacked(data, path)
    if not data:
        raise FileFormatError("there is nothing in it", where=str(path))
    format = format or detect(data, path)
    if format == "merges+vocab":
        hint = "give the path of the folder that has both"
        raise FileFormatError("this format has two files", value=format, where=str(path), hint=hint)
    return read_as(data, path, format)


def _read_file(source: Live, read: Any, format: str | None) -> AnyContents:
    name = source.get("name")
    if isinstance(name, str) and name:
        source = Live(source.value, Path(name))
    try:
        data = read(LARGEST_FILE + 1)
    except UnicodeDecodeError as error:
        raise source.fault(f"not text: {error}", FileFormatError, hint="open it with mode 'rb'") from None
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")
    return _read_bytes(source.checked(data, bytes, "content"), source.path, format)


def _read_mapping(whole: Live, format: str | None) -> AnyContents:
    source, path = whole.value, whole.path
    if source and all(isinstance(key, bytes) for key in source):
        if format not in (None, "tiktoken"):
            raise whole.fault("the object is of the format tiktoken", FileFormatError, value=format)
        return as_published(_ranked(source, path), lambda: source, path)
    try:
        data = json.dumps(dict(source), allow_nan=False).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        what = f"neither the fields of a JSON file nor bytes and ranks: {error}"
        raise whole.fault(what, FileFormatError) from None
    return _read_bytes(data, path, format)


# tokenizers, and transformers over it


def _read_tokenizer(source: Live, to_str: Any, _: str | None) -> AnyContents:
    _check_splits(source, "encode_special_tokens")
    text = source.checked(source.ask(to_str, "JSON"), str, "JSON")
    model = source.part("model")
    for name in ("alpha", "nbest_size"):
        if isinstance(value := model.get(name), (int, float)):
            what = f"with {name} the ids of a Unigram model are random"
            raise source.fault(what, value=value, hint="set it to None before loading")
    return read_as(text.encode("utf-8", "surrogatepass"), source.path, "tokenizer.json", of_object=True)


def _read_fast(source: Live, backend: Any, format: str | None) -> AnyContents:
    _check_splits(source, "split_special_tokens")
    inner = Live(backend, source.path)
    if (to_str := inner.get("to_str")) is None:
        raise source.fault("a backend that is no tokenizers.Tokenizer", value=backend)
    return _read_tokenizer(inner, to_str, format)


def _check_splits(source: Live, flag: str) -> None:
    if source.get(flag):
        what = f"special tokens that are split up in a text, by {flag}, are not modelled"
        raise source.fault(what, value=True, hint="set it to False before loading")


# tiktoken, and mistral-common over it


def _ranked(ranks: Mapping[Any, Any], path: Path, first_id: int = 0, format: str = "tiktoken") -> Contents:
    words, numbers = list(ranks.keys()), list(ranks.values())
    for word, rank in zip(words, numbers, strict=True):
        if type(word) is not bytes:
            raise FileFormatError("a token must be bytes", value=word, where=str(path))
        if type(rank) is not int or not 0 <= rank <= LARGEST_ID:
            what = f"the rank of {word!r} must be an integer from 0 to {LARGEST_ID}"
            raise FileFormatError(what, value=rank, where=str(path))
    if not words:
        raise FileFormatError("there are no ranks", where=str(path))
    if len(set(numbers)) < len(numbers):
        seen: dict[int, bytes] = {}
        word, rank = next((word, rank) for word, rank in ranks.items() if seen.setdefault(rank, word) != word)
        raise FileFormatError(f"{word!r} has the same rank as {seen[rank]!r}", value=rank, where=str(path))
    return from_ranks(spellings(words), np.array(numbers, dtype=np.int64), path, format, first_id=first_id)


def _read_encoding(source: Live, ranks: Any, _: str | None) -> Contents:
    contents = _ranked(source.checked(ranks, dict, "_mergeable_ranks"), source.path)
    pattern, pairs = source.of("_pat_str", str), source.of("_special_tokens", dict)
    decode = source.get("decode")
    specials = specials_of(
        pairs, str(source.path), decoded=lambda id: source.ask(lambda: decode([id]), f"text of {id}")
    )
    check_ids(contents, specials, str(source.path))
    return replace(contents, splitting=Splitting("tiktoken", (Split(pattern),)), specials=specials)


def _read_tekken(source: Live, rows: Any, _: str | None) -> Contents:
    n_specials, encoding = source.of("num_special_tokens", int), source.part("_model")
    ranks, pattern = encoding.of("_mergeable_ranks", dict), encoding.of("_pat_str", str)
    contents = _ranked(ranks, source.path, n_specials, "tekken")
    pairs: dict[Any, Any] = {}
    for row in source.checked(rows, list, "_all_special_tokens"):
        text = row.get("token_str") if isinstance(row, Mapping) and row.get("rank") == len(pairs) else None
        if not isinstance(text, str) or text in pairs:
            what = f"the special token of rank {len(pairs)} is expected here, with a text of its own"
            raise source.fault(what, value=row)
        pairs[text] = len(pairs)
    if len(pairs) != n_specials:
        raise source.fault(f"{n_specials} special tokens are expected", FileFormatError, value=len(pairs))
    specials = specials_of(pairs, str(source.path))
    return replace(contents, splitting=Splitting("tiktoken", (Split(pattern),)), specials=specials)


_Reader = Callable[[Live, Any, "str | None"], AnyContents]

# The attributes by which an object is recognised, its format, and its reader, which gets the first of them.
_READERS: dict[tuple[str, ...], tuple[str | None, _Reader]] = {
    ("backend_tokenizer",): ("tokenizer.json", _read_fast),
    ("to_str",): ("tokenizer.json", _read_tokenizer),
    ("_mergeable_ranks",): ("tiktoken", _read_encoding),
    # Objects of transformers may have the first of these, with another meaning.
    ("_all_special_tokens", "_model", "num_special_tokens"): ("tekken", _read_tekken),
    ("serialized_model_proto",): ("sentencepiece", read_processor),
    ("sp_model",): ("sentencepiece", read_over_processor),
    ("nlp", "bpe_ranks", "encoder", "byte_encoder", "pat"): (None, read_clip),
    ("fix_text", "bpe_ranks", "encoder", "byte_encoder", "pat"): (None, read_clip),
    ("bpe_ranks", "encoder", "byte_encoder", "pat"): (None, read_merging),
    ("vocab", "wordpiece_tokenizer"): (None, read_longest),
    ("read",): (None, _read_file),
}
# Attributes by which mistral-common, and transformers over it, hold the recognised object; they are nested three deep.
_WITHIN = ("instruct_tokenizer", "tokenizer", "_model")
_DEEPEST = 5

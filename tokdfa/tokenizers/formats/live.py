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
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tokdfa.base.errors import FileFormatError, UnsupportedFeatureError, WrongTypeError
from tokdfa.tokenizers.decoder import spellings
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.formats.contents import LARGEST_ID, Contents
from tokdfa.tokenizers.formats.files import LARGEST_FILE, detect, is_wanted, named, unpacked
from tokdfa.tokenizers.formats.live_merges import asked, attribute, given, read_merges
from tokdfa.tokenizers.formats.ranks import from_ranks
from tokdfa.tokenizers.formats.reading import read_as
from tokdfa.tokenizers.formats.tiktoken import as_published, specials_of
from tokdfa.tokenizers.pretokenizers.steps import Split, Splitting

if TYPE_CHECKING:
    from tokdfa.tokenizers.formats.files import AnyContents
    from tokdfa.tokenizers.formats.unigram import UnigramContents

_TAKEN = (
    "a path, bytes, a file object, a dict of the fields of a JSON file or of bytes and ranks, or a tokenizer of "
    "tokenizers, transformers, tiktoken, mistral-common or sentencepiece"
)
# transformers' tokenizers in Python that give a text to their SentencePiece model as it is.
_ALWAYS_AS_IT_IS = {"GemmaTokenizer", "MBartTokenizer", "MBart50Tokenizer", "NllbTokenizer", "PLBartTokenizer"}
_LIBRARIES = ("tokenizers", "tiktoken", "sentencepiece")
_AS_IT_IS_IF_LEGACY = {"LlamaTokenizer", "SentencePieceBackend"}


def read_object(source: Any, format: str | None = None) -> AnyContents:
    """Read an object that is a tokenizer, or that has the content of a tokenizer file.

    `format` is one of `FORMATS`, for bytes and file objects; it is detected by default.
    """
    path = Path(named(source))
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _read_bytes(bytes(source), path, format)
    if isinstance(source, Mapping):
        return _read_mapping(source, path, format)
    inner = None if isinstance(source, type) else source
    for _ in range(_DEEPEST):
        for names, read in _READERS.items():
            values = [attribute(inner, name, path) for name in names]
            if not any(value is None for value in values):
                contents = read(inner, values[0], path, format)
                return replace(contents, library=_library_of([inner, *values]))
        inner = next((found for name in _WITHIN if (found := attribute(inner, name, path)) is not None), None)
    hint = f"tokdfa.load takes {_TAKEN}"
    if not isinstance(source, type) and callable(attribute(source, "convert_tokens_to_ids", path)):
        what = "a tokenizer in Python with neither a SentencePiece model nor byte pairs as GPT-2 has them"
        hint = "load its files, or the tokenizer with a backend in Rust"
        raise UnsupportedFeatureError(what, where=str(path), hint=hint)
    raise WrongTypeError("not a tokenizer, nor the content of a tokenizer file", value=source, hint=hint)


def _library_of(parts: list[Any]) -> str | None:
    """Return the library and version of an object, or of the first of its parts where they are known."""
    for kind in (kind for part in parts for kind in type(part).__mro__):
        name = str(kind.__module__).partition(".")[0]
        if name in _LIBRARIES:
            number = getattr(sys.modules.get(name), "__version__", None) or _installed(name)
            return f"{name}=={number}" if isinstance(number, str) else None
    return None


def _installed(name: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _refuse_format(format: str | None, own: str, path: Path) -> None:
    if not is_wanted(format, own):
        raise FileFormatError(f"the object is of the format {own}", value=format, where=str(path))


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


def _read_file(source: Any, read: Any, path: Path, format: str | None) -> AnyContents:
    name = attribute(source, "name", path)
    if isinstance(name, str) and name:
        path = Path(name)
    try:
        data = read(LARGEST_FILE + 1)
    except UnicodeDecodeError as error:
        raise FileFormatError(f"not text: {error}", where=str(path), hint="open it with mode 'rb'") from None
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")
    return _read_bytes(given(data, bytes, "content", path), path, format)


def _read_mapping(source: Mapping[Any, Any], path: Path, format: str | None) -> AnyContents:
    if source and all(isinstance(key, bytes) for key in source):
        _refuse_format(format, "tiktoken", path)
        return as_published(_ranked(source, path), lambda: source, path)
    try:
        data = json.dumps(dict(source), allow_nan=False).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        what = f"neither the fields of a JSON file nor bytes and ranks: {error}"
        raise FileFormatError(what, where=str(path)) from None
    return _read_bytes(data, path, format)


# tokenizers, and transformers over it


def _read_tokenizer(source: Any, to_str: Any, path: Path, format: str | None) -> AnyContents:
    _refuse_format(format, "tokenizer.json", path)
    if attribute(source, "encode_special_tokens", path):
        what = "special tokens that are split up in a text, by encode_special_tokens, are not modelled"
        raise UnsupportedFeatureError(what, value=True, where=str(path), hint="set it to False before loading")
    text = given(asked(to_str, "JSON", path), str, "JSON", path)
    model = attribute(source, "model", path)
    for name in ("alpha", "nbest_size"):
        value = attribute(model, name, path)
        if isinstance(value, (int, float)):
            what = f"with {name} the ids of a Unigram model are random"
            raise UnsupportedFeatureError(what, value=value, where=str(path), hint="set it to None before loading")
    return read_as(text.encode("utf-8", "surrogatepass"), path, "tokenizer.json", of_object=True)


def _read_fast(source: Any, backend: Any, path: Path, format: str | None) -> AnyContents:
    if attribute(source, "split_special_tokens", path):
        what = "special tokens that are split up in a text, by split_special_tokens, are not modelled"
        raise UnsupportedFeatureError(what, value=True, where=str(path), hint="set it to False before loading")
    to_str = attribute(backend, "to_str", path)
    if to_str is None:
        raise UnsupportedFeatureError("a backend that is no tokenizers.Tokenizer", value=backend, where=str(path))
    return _read_tokenizer(backend, to_str, path, format)


# tiktoken


def _ranked(ranks: Mapping[Any, Any], path: Path, first_id: int = 0, format: str = "tiktoken") -> Contents:
    words, numbers = list(ranks.keys()), list(ranks.values())
    for word, rank in zip(words, numbers, strict=True):
        if type(word) is not bytes or not word:
            raise FileFormatError("a token must be bytes, one or more", value=word, where=str(path))
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


def _read_encoding(source: Any, ranks: Any, path: Path, format: str | None) -> Contents:
    _refuse_format(format, "tiktoken", path)
    contents = _ranked(given(ranks, dict, "_mergeable_ranks", path), path)
    pattern = given(attribute(source, "_pat_str", path), str, "_pat_str", path)
    pairs = given(attribute(source, "_special_tokens", path), dict, "_special_tokens", path)
    specials = specials_of(
        pairs, str(path), decoded=lambda id: asked(lambda: source.decode([id]), f"text of {id}", path)
    )
    taken = set(contents.ids.tolist())
    for special in specials:
        if special.id in taken:
            what = f"the id of the special token {special.content!r} is that of a token"
            raise FileFormatError(what, value=special.id, where=str(path))
    return replace(contents, splitting=Splitting("tiktoken", (Split(pattern),)), specials=specials)


# mistral-common


def _read_tekken(source: Any, rows: Any, path: Path, format: str | None) -> Contents:
    _refuse_format(format, "tekken", path)
    n_specials = given(attribute(source, "num_special_tokens", path), int, "num_special_tokens", path)
    encoding = attribute(source, "_model", path)
    ranks = given(attribute(encoding, "_mergeable_ranks", path), dict, "_mergeable_ranks", path)
    pattern = given(attribute(encoding, "_pat_str", path), str, "_pat_str", path)
    contents = _ranked(ranks, path, n_specials, "tekken")
    pairs: dict[Any, Any] = {}
    for row in given(rows, list, "_all_special_tokens", path):
        text = row.get("token_str") if isinstance(row, Mapping) and row.get("rank") == len(pairs) else None
        if not isinstance(text, str) or text in pairs:
            what = f"the special token of rank {len(pairs)} is expected here, with a text of its own"
            raise UnsupportedFeatureError(what, value=row, where=str(path))
        pairs[text] = len(pairs)
    if len(pairs) != n_specials:
        raise FileFormatError(f"{n_specials} special tokens are expected", value=len(pairs), where=str(path))
    return replace(contents, splitting=Splitting("tiktoken", (Split(pattern),)), specials=specials_of(pairs, str(path)))


# SentencePiece, and transformers over it


def _read_processor(source: Any, proto: Any, path: Path, format: str | None) -> Contents | UnigramContents:
    _refuse_format(format, "sentencepiece", path)
    for name in ("_reverse", "_enable_sampling"):
        if attribute(source, name, path):
            raise UnsupportedFeatureError(f"the option {name[1:]} is not modelled", value=True, where=str(path))
    data = given(asked(proto, "model", path), bytes, "model", path)
    if not data:
        raise FileFormatError("no model has been loaded into the processor", where=str(path))
    contents = cast("Contents | UnigramContents", read_as(data, path, "sentencepiece"))
    encode = attribute(source, "encode", path)
    _check_order(source, encode, contents, path)
    adds = len(asked(lambda: encode(""), "ids of the empty text", path)) > 0
    return replace(contents, ignored=(*contents.ignored, "bos and eos")) if adds else contents


def _check_order(source: Any, encode: Any, contents: Contents | UnigramContents, path: Path) -> None:
    """Refuse a processor that reverses the pieces by extra options of older versions, which no attribute shows."""
    piece_of = attribute(source, "id_to_piece", path)
    letters = [*filter(str.islower, contents.characters)][:2]
    ids = asked(lambda: encode(" ".join(letters)), "ids of a text", path)
    spelled = "".join(asked(lambda: [*map(piece_of, ids)], "pieces of a text", path))
    if len(letters) == 2 and [letter for letter in spelled if letter in letters] == letters[::-1]:
        raise UnsupportedFeatureError("the extra option reverse is not modelled", value="reverse", where=str(path))


def _read_slow(source: Any, model: Any, path: Path, format: str | None) -> Contents:
    """Read the SentencePiece model of a tokenizer in Python, with the ids that this one has for its pieces."""
    how = attribute(type(source), "_tokenize", path)
    kind, _, _ = str(getattr(how, "__qualname__", "")).partition(".")
    if not str(getattr(how, "__module__", "")).startswith("transformers.") or kind not in (
        _ALWAYS_AS_IT_IS | _AS_IT_IS_IF_LEGACY
    ):
        what = "a tokenizer in Python that may change texts before its SentencePiece model sees them"
        hint = "load its sp_model, or the tokenizer with a backend in Rust"
        raise UnsupportedFeatureError(what, value=kind or type(source).__name__, where=str(path), hint=hint)
    if kind in _AS_IT_IS_IF_LEGACY and not attribute(source, "legacy", path):
        hint = "load its file, or the tokenizer with a backend in Rust"
        raise UnsupportedFeatureError("legacy=False is not modelled", value=False, where=str(path), hint=hint)
    if attribute(source, "do_lower_case", path):
        raise UnsupportedFeatureError("do_lower_case is not modelled", value=True, where=str(path))
    proto = attribute(model, "serialized_model_proto", path)
    if proto is None:
        raise UnsupportedFeatureError("its sp_model is no SentencePieceProcessor", value=model, where=str(path))
    contents = _read_processor(model, proto, path, format)
    if not isinstance(contents, Contents):
        what = "a tokenizer in Python over a Unigram model, which may give pieces other ids, is not modelled"
        hint = "load its sp_model, or the tokenizer with a backend in Rust"
        raise UnsupportedFeatureError(what, value=kind, where=str(path), hint=hint)
    words = (*contents.dictionary.alphabet, *contents.extra)
    number_of = attribute(source, "convert_tokens_to_ids", path)
    pieces = [*map("".join, words)]
    controls = [special.content for special in contents.specials]
    numbers = asked(lambda: list(number_of([*pieces, *controls])), "ids", path)
    ids = [given(id, int, "id of a piece", path) for id in numbers]
    own, of_controls = ids[: len(pieces)], ids[len(pieces) :]
    if len(set(own)) < len(own) or not 0 <= min(own) <= max(own) <= LARGEST_ID:
        raise UnsupportedFeatureError("two pieces share an id, or have none", where=str(path))
    unknown = contents.fallback.unknown if contents.fallback is not None else None
    if unknown is not None and attribute(source, "unk_token_id", path) != own[pieces.index(unknown)]:
        raise UnsupportedFeatureError("what is unknown does not get the id of the unknown piece", where=str(path))
    specials = {id: text for text, id in zip(controls, of_controls, strict=True)}
    added = attribute(source, "added_tokens_decoder", path)
    for id, token in given(added, dict, "added_tokens_decoder", path).items():
        if given(id, int, "id of an added token", path) in own:
            continue
        text = given(attribute(token, "content", path), str, "added token", path)
        if not attribute(token, "special", path) and id not in specials:
            what = "an added token that is not special, which is found in texts, is not modelled"
            raise UnsupportedFeatureError(what, value=text, where=str(path))
        if unknown is not None and text and set(text).isdisjoint(pieces):
            # It gets its id where it stands in a text, because unknown characters are looked up as a token.
            what = "an added token of characters that are unknown to the model is not modelled"
            raise UnsupportedFeatureError(what, value=text, where=str(path))
        specials[id] = text
    taken = specials.keys() & set(own)
    if taken or any(not 0 <= id <= LARGEST_ID for id in specials):
        raise UnsupportedFeatureError("a control piece has the id of another piece", where=str(path))
    return replace(
        contents,
        ids=np.array(own, dtype=np.int32),
        specials=tuple(Special(id, text, normalized="") for id, text in sorted(specials.items())),
    )


_Reader = Callable[[Any, Any, Path, str | None], "AnyContents"]

# The attributes by which an object is recognised, and its reader, which gets the first of them.
_READERS: dict[tuple[str, ...], _Reader] = {
    ("backend_tokenizer",): _read_fast,
    ("to_str",): _read_tokenizer,
    ("_mergeable_ranks",): _read_encoding,
    # Objects of transformers may have the first of these, with another meaning.
    ("_all_special_tokens", "_model", "num_special_tokens"): _read_tekken,
    ("serialized_model_proto",): _read_processor,
    ("sp_model",): _read_slow,
    ("bpe_ranks", "encoder", "byte_encoder", "pat"): read_merges,
    ("read",): _read_file,
}
# Attributes by which mistral-common, and transformers over it, hold the recognised object; they are nested three deep.
_WITHIN = ("instruct_tokenizer", "tokenizer", "_model")
_DEEPEST = 5

"""Objects of other libraries, recognised by their attributes and turned into the input of the readers of files.

Nothing is imported and no attribute is set. Behaviour of an object beyond its parts (a text reversed, special tokens
that are split up, a subclass in Python that changes texts) is refused where its attributes show it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from tokdfa.automata.semantics import agrees_with_leftmost
from tokdfa.base.errors import FileFormatError, UnsupportedFeatureError, WrongTypeError
from tokdfa.regex.unicode.utf8 import CHARACTER_OF
from tokdfa.regex.unicode.versions import resolve
from tokdfa.tokenizers.decoder import spellings
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.formats.contents import LARGEST_ID, AnyContents, Contents, Rewriting
from tokdfa.tokenizers.formats.files import LARGEST_FILE, named, unpacked
from tokdfa.tokenizers.formats.ranks import from_ranks
from tokdfa.tokenizers.formats.reading import detect, read_as
from tokdfa.tokenizers.formats.tiktoken import as_published, check_ids, specials_of
from tokdfa.tokenizers.normalizers.sentencepiece import SPACE, SentencePieceNormalizer
from tokdfa.tokenizers.normalizers.steps import SpaceBeforeWord
from tokdfa.tokenizers.pretokenizers.steps import Split, Splitting

if TYPE_CHECKING:
    from tokdfa.tokenizers.decoding import DecodeSentencePiece
    from tokdfa.tokenizers.formats.unigram import UnigramContents

T = TypeVar("T")
_TAKEN = (
    "a path, bytes, a file object, a dict of the fields of a JSON file or of bytes and ranks, or a tokenizer of "
    "tokenizers, transformers, tiktoken, mistral-common or sentencepiece"
)
_LIBRARIES = ("tokenizers", "tiktoken", "sentencepiece")
# transformers' tokenizers in Python that give a text to their SentencePiece model as it is: always, or if `legacy`.
_ALWAYS_AS_IT_IS = {"GemmaTokenizer", "MBartTokenizer", "MBart50Tokenizer", "NllbTokenizer", "PLBartTokenizer"}
_AS_IT_IS_IF_LEGACY = {"LlamaTokenizer", "SentencePieceBackend", "T5Tokenizer"}
# Classes with GPT-2's code: their methods split, spell and merge, and change nothing else.
_AS_GPT2 = {
    *("BartTokenizer", "BlenderbotTokenizer", "CodeGenTokenizer", "DebertaTokenizer", "GPT2Tokenizer", "LEDTokenizer"),
    *("LongformerTokenizer", "MvpTokenizer", "RobertaTokenizer", "WhisperTokenizer"),
}
# Those of them that can put a space before a text that begins with none.
_SPACE_BEFORE_WORD = {
    *("BartTokenizer", "BlenderbotTokenizer", "DebertaTokenizer", "LEDTokenizer", "LongformerTokenizer"),
    *("MvpTokenizer", "RobertaTokenizer"),
}
# The normalizer of a SentencePiece model that only writes spaces as their sign.
_AS_WRITTEN = SentencePieceNormalizer(None, puts_space=False, trims_spaces=False, shows_spaces=True)
_NOTHING: Any = object()
_NOT_SPECIAL = "an added token that is not special, which is found in texts, is not modelled"
_IN_RUST = "the tokenizer with a backend in Rust"


class Live:
    """An object of another library, or a part of one. `path` is its name in messages."""

    def __init__(self, value: Any, path: Path) -> None:
        self.value, self.path = value, path

    def ask(self, question: Callable[[], T], name: str) -> T:
        """Return the answer of the object, or raise UnsupportedFeatureError if it fails."""
        try:
            return question()
        except Exception as error:
            raise self.fault(f"the object cannot give its {name}: {error}") from error

    def get(self, name: str) -> Any:
        """Return an attribute; None if there is none. An object may compute it, and fail to."""
        return self.ask(lambda: getattr(self.value, name, None), name)

    def part(self, name: str) -> Live:
        """Return an attribute as an object."""
        return Live(self.get(name), self.path)

    def of(self, name: str, kind: type[T]) -> T:
        """Return an attribute of a type."""
        return self.checked(self.get(name), kind, name)

    def checked(self, value: object, kind: type[T], name: str) -> T:
        """Return a value, or raise FileFormatError if it is of another type."""
        if not isinstance(value, kind) or isinstance(value, bool) is not (kind is bool):
            what = f"the {name} of the object must be of type {kind.__name__}"
            raise self.fault(what, FileFormatError, value=value)
        return value

    def fault(
        self,
        what: str,
        error: type[FileFormatError] = UnsupportedFeatureError,
        *,
        value: object = _NOTHING,
        hint: str | None = None,
    ) -> FileFormatError:
        """Return the error that says why the object is refused."""
        shown = {} if value is _NOTHING else {"value": value}
        return error(what, where=str(self.path), hint=hint, **shown)

    def check_off(self, *names: str) -> None:
        """Refuse an object with an option that is not modelled."""
        for name in names:
            if self.get(name):
                raise self.fault(f"the option {name.lstrip('_')} is not modelled for it", value=True)

    def defined_by(self, method: str, classes: set[str], what: str, hint: str) -> str:
        """Return the class of transformers that defines a method of the object; refuse all but some classes."""
        found = Live(type(self.value), self.path).get(method)
        kind, _, _ = str(getattr(found, "__qualname__", "")).partition(".")
        if not str(getattr(found, "__module__", "")).startswith("transformers.") or kind not in classes:
            raise self.fault(what, value=kind or type(self.value).__name__, hint=hint)
        return kind

    def ids(self, tokens: list[str], name: str) -> list[int]:
        """Return the ids that a tokenizer gives for tokens or pieces."""
        convert = self.get("convert_tokens_to_ids")
        ids = [self.checked(id, int, f"id of a {name}") for id in self.ask(lambda: list(convert(tokens)), "ids")]
        if len(ids) != len(tokens) or not all(0 <= id <= LARGEST_ID for id in ids):
            raise self.fault(f"a {name} without an id from 0 to {LARGEST_ID}")
        return ids

    def added_tokens(self) -> Iterator[tuple[int, str, bool]]:
        """Yield the added tokens of a tokenizer: id, text, and whether it is special."""
        for id, token in self.of("added_tokens_decoder", dict).items():
            one = Live(token, self.path)
            text = one.checked(one.get("content"), str, "added token")
            yield self.checked(id, int, "id of an added token"), text, bool(one.get("special"))


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
        what = "a tokenizer in Python with neither a SentencePiece model nor byte pairs as GPT-2 has them"
        raise whole.fault(what, hint=f"load its files, or {_IN_RUST}")
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


# SentencePiece, and transformers over it


def _read_processor(source: Live, proto: Any, _: str | None) -> Contents | UnigramContents:
    source.check_off("_reverse", "_enable_sampling")
    data = source.checked(source.ask(proto, "model"), bytes, "model")
    if not data:
        raise source.fault("no model has been loaded into the processor", FileFormatError)
    contents = cast("Contents | UnigramContents", read_as(data, source.path, "sentencepiece"))
    encode, piece_of = source.get("encode"), source.get("id_to_piece")
    # Extra options of older versions reverse the pieces, which no attribute shows.
    letters = [*filter(str.islower, contents.characters)][:2]
    ids = source.ask(lambda: encode(" ".join(letters)), "ids of a text")
    spelled = "".join(source.ask(lambda: [*map(piece_of, ids)], "pieces of a text"))
    if len(letters) == 2 and [letter for letter in spelled if letter in letters] == letters[::-1]:
        raise source.fault("the extra option reverse is not modelled", value="reverse")
    adds = len(source.ask(lambda: encode(""), "ids of the empty text")) > 0
    return replace(contents, ignored=(*contents.ignored, "bos and eos")) if adds else contents


def _read_slow(source: Live, model: Any, format: str | None) -> Contents | UnigramContents:
    """Read the SentencePiece model of a tokenizer in Python, with the ids that this one has for its pieces."""
    what = "a tokenizer in Python that may change texts before its SentencePiece model sees them"
    hint = f"load its sp_model, or {_IN_RUST}"
    kind = source.defined_by("_tokenize", _ALWAYS_AS_IT_IS | _AS_IT_IS_IF_LEGACY, what, hint)
    source.check_off("do_lower_case")
    inner = Live(model, source.path)
    if (proto := inner.get("serialized_model_proto")) is None:
        raise source.fault("its sp_model is no SentencePieceProcessor", value=model)
    contents = _read_processor(inner, proto, format)
    if kind in _AS_IT_IS_IF_LEGACY and not source.get("legacy"):
        contents = _after_unknown(source, contents, kind)
    if not isinstance(contents, Contents):
        return _over_unigram(source, contents)
    pieces = [*map("".join, (*contents.dictionary.alphabet, *contents.extra))]
    controls = [special.content for special in contents.specials]
    ids = source.ids([*pieces, *controls], "piece")
    own, specials = ids[: len(pieces)], dict(zip(ids[len(pieces) :], controls, strict=True))
    if len(set(own)) < len(own):
        raise source.fault("two pieces share an id, or have none")
    unknown = contents.fallback.unknown if contents.fallback is not None else None
    if unknown is not None and source.get("unk_token_id") != own[pieces.index(unknown)]:
        raise source.fault("what is unknown does not get the id of the unknown piece")
    for id, text, is_special in source.added_tokens():
        if id in own:
            continue
        if not is_special and id not in specials:
            raise source.fault(_NOT_SPECIAL, value=text)
        if unknown is not None and text and set(text).isdisjoint(pieces):
            # It gets its id where it stands in a text, because unknown characters are looked up as a token.
            raise source.fault("an added token of characters that are unknown to the model is not modelled", value=text)
        specials[id] = text
    if specials.keys() & set(own) or any(not 0 <= id <= LARGEST_ID for id in specials):
        raise source.fault("a control piece has the id of another piece")
    return replace(
        contents,
        ids=np.array(own, dtype=np.int32),
        specials=tuple(Special(id, text, normalized="") for id, text in sorted(specials.items())),
    )


def _after_unknown(source: Live, contents: Contents | UnigramContents, kind: str) -> Contents:
    """Return the contents for ``legacy=False``, which encodes a text after the name of the unknown token.

    With a space before the text, a dummy prefix of the model has the same effect, if no piece spans the two.
    """
    unknown = str(source.get("unk_token"))
    rewriting = contents.rewriting
    if kind != "LlamaTokenizer" or not isinstance(contents, Contents) or rewriting is None or not unknown:
        hint = f"load its file, or {_IN_RUST}"
        raise source.fault("legacy=False is not modelled for this class or model", value=kind, hint=hint)
    if rewriting.normalizer != _AS_WRITTEN:
        what = "with legacy=False, only a model that leaves its texts as they are is modelled"
        raise source.fault(what, value=rewriting.normalizer, hint=f"load its file, or {_IN_RUST}")
    pieces = map("".join, (*contents.dictionary.alphabet, *contents.extra))
    if piece := next((piece for piece in pieces if unknown[-1] + SPACE in piece), None):
        raise source.fault("with legacy=False, this piece may cover the end of the unknown token", value=piece)
    puts = source.of("add_prefix_space", bool)
    (step,) = cast("tuple[DecodeSentencePiece]", rewriting.decoding)
    normalizer = replace(_AS_WRITTEN, puts_space=puts)
    return replace(contents, rewriting=Rewriting(normalizer, (replace(step, drops_first=puts),)))


def _over_unigram(source: Live, contents: UnigramContents) -> UnigramContents:
    """Return the contents of a tokenizer in Python over a Unigram model, which must leave the ids as they are."""
    n_pieces = len(contents.model.pieces)
    if source.ids([*contents.model.pieces], "piece") != [*range(n_pieces)]:
        raise source.fault("a tokenizer in Python that gives pieces of a Unigram model other ids is not modelled")
    specials = {special.id: special for special in contents.specials}
    for id, text, is_special in source.added_tokens():
        if id < n_pieces and contents.model.pieces[id] == text:
            continue
        if not is_special or not n_pieces <= id <= LARGEST_ID:
            raise source.fault(_NOT_SPECIAL if not is_special else "an added token with the id of a piece", value=text)
        specials[id] = Special(id, text, normalized="")
    known = {*contents.characters}
    for special in specials.values():
        if known.isdisjoint(special.content):
            # It gets its id where it stands in a text, because unknown characters are looked up as a piece.
            what = "an added or control token of characters that are unknown to the model is not modelled"
            raise source.fault(what, value=special.content)
    return replace(contents, specials=tuple(specials[id] for id in sorted(specials)))


# Tokenizers of transformers 4 that merge byte pairs in Python, as GPT-2's does. They split by a pattern of the module
# `regex`, spell the bytes of a piece in GPT-2's alphabet, and merge in rounds: all occurrences of the best pair, then
# again from the top. On proper dictionaries whose parts never meet too late that is leftmost merging.


def _read_merging(source: Live, ranks: Any, format: str | None) -> Contents:
    """Read such a tokenizer: its rules (`ranks`), the ids that it has for tokens, its pattern and special tokens."""
    if format is not None:
        raise source.fault("a tokenizer in Python has no format", FileFormatError, value=format)
    kinds: dict[str, str] = {}
    for name in ("_tokenize", "bpe", "prepare_for_tokenization", "_convert_token_to_id"):
        what = f"a tokenizer in Python whose method {name} may do something else than GPT-2's"
        kinds[name] = source.defined_by(name, _AS_GPT2, what, f"load its files, or {_IN_RUST}")
    source.check_off("do_lower_case")
    puts_space = bool(source.get("add_prefix_space"))
    if puts_space and kinds["prepare_for_tokenization"] not in _SPACE_BEFORE_WORD:
        what = "add_prefix_space, which puts a space before every text here, so that no ids are canonical"
        raise source.fault(what, value=True, hint=f"set it to False, or load {_IN_RUST}")
    if source.get("byte_encoder") != CHARACTER_OF:
        raise source.fault("a byte alphabet that is not GPT-2's is not modelled")
    added: dict[int, str] = {}
    for id, text, is_special in source.added_tokens():
        if not is_special:
            raise source.fault(_NOT_SPECIAL, value=text)
        if not 0 <= id <= LARGEST_ID:
            raise source.fault(f"an id must be from 0 to {LARGEST_ID}", FileFormatError, value=id)
        added[id] = text
    texts = {*added.values()}
    tokens = [source.checked(token, str, "token") for token in source.of("encoder", dict) if token not in texts]
    contents = _merging(source, tokens, _pairs(source, source.checked(ranks, dict, "bpe_ranks")))
    if len(contents.dictionary.alphabet.symbols) < len(CHARACTER_OF):
        raise source.fault("bytes without a token, which become the unknown token")
    ids = source.ids(tokens, "token")
    if len(set(ids)) < len(ids):
        raise source.fault("two tokens share an id, or have none")
    if added.keys() & set(ids):
        raise source.fault("a special token has the id of a token")
    table = resolve(f"regex=={_installed('regex')}").name
    number = contents.ids
    return replace(
        contents,
        format="merges+vocab",
        ids=np.where(number >= 0, np.array(ids, dtype=np.int32)[number], np.int32(-1)),
        splitting=Splitting("tiktoken", (Split(_pattern(source)),), unicode=table),
        specials=tuple(Special(id, text) for id, text in sorted(added.items())),
        finds_specials=False,
        rewriting=Rewriting(SpaceBeforeWord()) if puts_space else None,
    )


def _pairs(source: Live, ranks: Mapping[Any, Any]) -> list[list[str]]:
    """Return the rules in order."""
    for pair, rank in ranks.items():
        is_pair = isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(part, str) for part in pair)
        if not is_pair or type(rank) is not int:
            what = "a rule must be a pair of tokens, with an integer"
            raise source.fault(what, FileFormatError, value=(pair, rank))
    if len(set(ranks.values())) < len(ranks):
        raise source.fault("two rules with one priority are not modelled")
    return [[*pair] for pair in sorted(ranks, key=lambda pair: ranks[pair])]


def _merging(source: Live, tokens: list[str], pairs: list[list[str]]) -> Contents:
    """Return the contents with these tokens, numbered in their order, and rules; refuse merging that rounds change."""
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    model = {"type": "BPE", "vocab": {token: number for number, token in enumerate(tokens)}, "merges": pairs}
    fields = json.dumps({"model": model, "pre_tokenizer": level, "decoder": level}).encode("ascii")
    contents = cast("Contents", read_as(fields, source.path, "tokenizer.json"))
    if not contents.dictionary.properness() or not agrees_with_leftmost(contents.dictionary):
        what = "rules on which merging in rounds, as this tokenizer does it, may differ from leftmost merging"
        raise source.fault(what, hint=f"load {_IN_RUST}")
    return contents


def _pattern(source: Live) -> str:
    compiled = source.part("pat")
    if type(compiled.value).__module__ not in ("_regex", "regex", "regex._regex"):
        raise source.fault("a pattern that is not one of the module regex", value=compiled.value)
    flags = compiled.checked(compiled.get("flags"), int, "flags of the pattern")
    import regex

    if flags != int(regex.UNICODE | regex.VERSION0):
        raise source.fault("flags of the pattern are not modelled", value=flags)
    return compiled.of("pattern", str)


_Reader = Callable[[Live, Any, "str | None"], AnyContents]

# The attributes by which an object is recognised, its format, and its reader, which gets the first of them.
_READERS: dict[tuple[str, ...], tuple[str | None, _Reader]] = {
    ("backend_tokenizer",): ("tokenizer.json", _read_fast),
    ("to_str",): ("tokenizer.json", _read_tokenizer),
    ("_mergeable_ranks",): ("tiktoken", _read_encoding),
    # Objects of transformers may have the first of these, with another meaning.
    ("_all_special_tokens", "_model", "num_special_tokens"): ("tekken", _read_tekken),
    ("serialized_model_proto",): ("sentencepiece", _read_processor),
    ("sp_model",): ("sentencepiece", _read_slow),
    ("bpe_ranks", "encoder", "byte_encoder", "pat"): (None, _read_merging),
    ("read",): (None, _read_file),
}
# Attributes by which mistral-common, and transformers over it, hold the recognised object; they are nested three deep.
_WITHIN = ("instruct_tokenizer", "tokenizer", "_model")
_DEEPEST = 5

"""tiktoken: files of ranks, a line a token; their special tokens, which they do not name; and encodings by name."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tokdfa.base.errors import FileFormatError, MissingFileError, UnsupportedFeatureError, WrongTypeError
from tokdfa.base.suggestions import names_beside, nearest
from tokdfa.kernels.spelling.lookup import WordTable
from tokdfa.kernels.spelling.model import LARGEST_RANK, read_rank_lines
from tokdfa.tokenizers.decoder import Spellings, spellings, words_of
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.formats import encodings
from tokdfa.tokenizers.formats.contents import LARGEST_ID, Contents
from tokdfa.tokenizers.formats.files import content, is_wanted
from tokdfa.tokenizers.formats.json_text import JsonObject, check_surrogates, parse_object
from tokdfa.tokenizers.formats.ranks import from_ranks
from tokdfa.tokenizers.pretokenizers.steps import NAMED, Split, Splitting

if TYPE_CHECKING:
    from tokdfa.tokenizers.formats.files import AnyContents

_FAULTS = {
    1: "not a character of base64",
    2: "base64 of the wrong length",
    3: "a rank without a token",
    4: "no rank after the token",
    5: "a rank must be written in decimal digits",
    6: "unexpected text after the rank",
    7: f"a rank must be at most {LARGEST_RANK}",
}
_SHOWN = 24


def with_specials(contents: AnyContents, given: Mapping[str, int] | str | Path) -> AnyContents:
    """Return the contents of a rank file with special tokens.

    They are given as ids by text; as the name of one of tiktoken's encodings; or as a JSON file with an object of texts
    and ids, or with ``added_tokens_decoder`` as in a ``tokenizer_config.json``; there, tokens that are not
    ``"special": true`` are text.
    """
    where, texts = "specials", frozenset[Any]()
    if isinstance(given, str) and given in encodings.ENCODINGS:
        pairs: dict[Any, Any] = dict(encodings.ENCODINGS[given].specials)
    elif isinstance(given, (str, Path)):
        where, (pairs, texts) = str(given), _in_file(Path(given))
    elif isinstance(given, Mapping):
        pairs = dict(given)
    else:
        raise WrongTypeError(
            "special tokens must be a dict of texts and ids, a file, or the name of an encoding", value=given
        )
    if contents.format != "tiktoken":
        raise UnsupportedFeatureError(
            "special tokens can be given for rank files only; this one has its own", value=contents.format, where=where
        )
    contents = cast("Contents", contents)
    specials = tuple(replace(special, is_text=special.content in texts) for special in specials_of(pairs, where))
    taken = set(contents.ids.tolist()).intersection(special.id for special in specials)
    if taken:
        one = next(special for special in specials if special.id in taken)
        raise FileFormatError(
            f"the id of the special token {one.content!r} is that of a token", value=one.id, where=where
        )
    return replace(contents, specials=specials)


def specials_of(
    pairs: Mapping[Any, Any], where: str, *, decoded: Callable[[int], str] | None = None
) -> tuple[Special, ...]:
    """Return special tokens, given as ids by text, checked.

    `decoded` returns the text to which an id decodes; it is called if several special tokens share it.
    """
    of_id: dict[int, list[str]] = {}
    # Members of an enumeration of strings become plain ones.
    pairs = {str.__str__(text) if isinstance(text, str) else text: id for text, id in pairs.items()}
    for text, id in pairs.items():
        if not isinstance(text, str) or not text:
            what = "the text of a special token must be a string of one character or more"
            raise FileFormatError(what, value=text, where=where)
        check_surrogates(text, where)
        if type(id) is not int or not 0 <= id <= LARGEST_ID:
            what = f"the id of the special token {text!r} must be an integer from 0 to {LARGEST_ID}"
            raise FileFormatError(what, value=id, where=where)
        of_id.setdefault(id, []).append(text)
    is_harmony = pairs == encodings.ENCODINGS["o200k_harmony"].specials
    last: dict[int, str] = {}
    for id, texts in of_id.items():
        if len(texts) == 1:
            last[id] = texts[0]
        elif is_harmony:
            # tiktoken decodes a shared id to the one that its table of hashes puts last.
            last[id] = "<|endofprompt|>"
        elif decoded is not None and (text := decoded(id)) in texts:
            last[id] = text
        else:
            what = f"{texts[0]!r} and {texts[1]!r} share an id, and which of them it decodes to is not defined"
            raise UnsupportedFeatureError(what, value=id, where=where, hint="give one of them")
    # An id that several texts share decodes to the last one.
    ordered = sorted(pairs.items(), key=lambda pair: (pair[1], pair[0] == last[pair[1]]))
    return tuple(Special(id, text) for text, id in ordered)


def _in_file(path: Path) -> tuple[dict[Any, Any], frozenset[Any]]:
    """Return the texts and ids in a JSON file, and the texts that are not control tokens."""
    if not path.exists():
        what = "neither a file nor the name of an encoding"
        raise FileFormatError(what, value=str(path), hint=f"the encodings are {', '.join(encodings.ENCODINGS)}")
    top = parse_object(content(path), path)
    rows = top.object("added_tokens_decoder") if "added_tokens_decoder" in top.fields else None
    if rows is None:
        return top.fields, frozenset()
    pairs: dict[Any, Any] = {}
    texts = set()
    for id, row in rows.fields.items():
        if not (id.isascii() and id.isdecimal()) or not isinstance(row, dict):
            raise rows.wrong(id, "an id and its token are expected")
        token = JsonObject(row, f"{rows.where}.{id}", path)
        text = token.get("content", str)
        if text in pairs:
            raise FileFormatError("a duplicate special token", value=text, where=rows.place(id))
        pairs[text] = int(id) if len(id) < 10 else -1
        # As AddedToken of tokenizers has it.
        if not token.get("special", bool, False):
            texts.add(text)
    return pairs, frozenset(texts)


def read_tiktoken(data: bytes, path: Path) -> Contents:
    """Read a ``.tiktoken`` file, or one of ranks by another name.

    The lines may be in any order. A file of ranks that tiktoken publishes gets the pattern and the specials that
    tiktoken gives to it; other files record neither.
    """
    if data.startswith(b"\xef\xbb\xbf"):
        raise FileFormatError("the file begins with a byte order mark", where=f"{path}, line 1")
    text, offsets, ranks, lines, fault, place = read_rank_lines(data)
    if fault:
        if data[place : place + 1] == b"\r":
            what, hint = "a carriage return; lines must end with a line feed alone", "convert the line endings"
        else:
            what, hint = _FAULTS[fault], None
        shown = data[place : place + _SHOWN].split(b"\n")[0]
        raise FileFormatError(what, value=shown, where=f"{path}, line {lines[-1]}, byte {place}", hint=hint)
    if not len(ranks):
        raise FileFormatError("the file has no tokens", where=str(path))
    words = Spellings(text, offsets)
    at = WordTable(text, offsets).again
    if at >= 0:
        every = words_of(words)
        first = lines[every.index(every[at])]
        raise FileFormatError(f"the same token as in line {first}", value=every[at], where=f"{path}, line {lines[at]}")
    order = np.argsort(ranks, kind="stable")
    again = np.flatnonzero(np.diff(ranks[order]) == 0)
    if len(again):
        one, other = order[again[0]], order[again[0] + 1]
        raise FileFormatError(
            f"the same rank as in line {lines[one]}", value=int(ranks[other]), where=f"{path}, line {lines[other]}"
        )
    contents = from_ranks(words, ranks, path, "tiktoken", first_id=0)
    # tiktoken recognises the published files by their SHA-256.
    published = encodings.PUBLISHED.get(hashlib.sha256(data).hexdigest())
    if published is not None:
        return _as_encoding(contents, published, path)
    return as_published(contents, lambda: dict(zip(words_of(words), ranks.tolist(), strict=True)), path)


def as_published(contents: Contents, ranks_of: Callable[[], Mapping[bytes, int]], path: Path) -> Contents:
    """Return contents with the pattern and specials of the encoding that has these ranks, as they are if none has.

    `ranks_of` returns the ranks; it is called only if an encoding has as many.
    """
    n_ranks = int(np.count_nonzero(contents.ids >= 0))
    if all(n_ranks != encoding.n_ranks for encoding in encodings.PUBLISHED.values()):
        return contents
    # As tiktoken writes them; another program may have changed their order and line ends.
    ranked = sorted((rank, word) for word, rank in ranks_of().items())
    lines = b"".join(base64.b64encode(word) + b" %d\n" % rank for rank, word in ranked)
    published = encodings.PUBLISHED.get(hashlib.sha256(lines).hexdigest())
    return contents if published is None else _as_encoding(contents, published, path)


def _as_encoding(contents: Contents, encoding: encodings.Encoding, path: Path) -> Contents:
    """Return contents with the pattern and the specials of an encoding."""
    specials = specials_of(encoding.specials, str(path))
    return replace(contents, specials=specials, splitting=NAMED[encoding.pretokenizer])


def read_encoding(name: str) -> Contents | None:
    """Return the contents of an encoding as tiktoken has it, its pre-tokenizer included; None if no file is here."""
    found = encodings.published_file(name)
    if found is None:
        return None
    # Several encodings have the same ranks, and differ in their specials.
    path, data = found
    return replace(read_tiktoken(data, path), specials=specials_of(encodings.ENCODINGS[name].specials, name))


def read_by_name(path: str | Path, format: str | None = None) -> Contents:
    """Return the contents of the encoding of tiktoken that a path with nothing there names."""
    name = str(path)
    if name in encodings.ENCODINGS and is_wanted(format, "tiktoken"):
        if (contents := read_encoding(name)) is not None:
            return contents
        what = "no such file or folder; it is the name of an encoding whose file is not on this machine"
        raise MissingFileError(what, where=name, hint=f"this command gets it: {encodings.how_to_get(name)}")
    raise MissingFileError("no such file or folder", where=name, hint=_hint(Path(path), name))


def _hint(path: Path, name: str) -> str:
    if path.name == name:
        if (encoding := encodings.encoding_of_model(name)) is not None:
            return f"the models {name} use the encoding {encoding}: give that name"
        if (near := nearest(name, [*names_beside(path), *encodings.ENCODINGS])) is not None:
            return f"did you mean {near}?"
    elif (near := nearest(path.name, names_beside(path))) is not None:
        return f"did you mean {path.with_name(near)}?"
    elif re.fullmatch(r"[\w.-]+/[\w.-]+", name, re.ASCII) and not path.parent.exists():
        return _hub_hint(name)
    elif not path.parent.is_dir():
        return f"there is no folder {path.parent} either"
    return (
        "give the path of a tokenizer.json, tekken.json, .model, .gguf, .tiktoken, merges.txt or vocab.txt file, of a "
        f"folder with one, or one of {', '.join(encodings.ENCODINGS)}"
    )


def _hub_hint(name: str) -> str:
    """Return where the tokenizer of a model on the Hugging Face hub is in the hub's cache, or how to get it."""
    home = Path(os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "huggingface"))
    cache = Path(os.environ.get("HF_HUB_CACHE") or home / "hub").expanduser()
    found = sorted(cache.glob(f"models--{name.replace('/', '--')}/snapshots/*/tokenizer.json"))
    if found:
        return f"names of models are not looked up; its tokenizer is here: {found[-1]}"
    return (
        "names of models are not looked up; if this is one of the Hugging Face hub, "
        f"hf download {name} tokenizer.json prints the path of its tokenizer"
    )


_FIELDS = [
    "config",
    "vocab",
    "special_tokens",
    "version",
    "type",
    "image",
    "audio",
    "multimodal",
    "model_settings_builder",
]
_CONFIG_FIELDS = ["pattern", "num_vocab_tokens", "default_vocab_size", "default_num_special_tokens", "version"]
_TOKEN_FIELDS = {"rank", "token_bytes", "token_str"}

# Files up to version 7 may leave out the special tokens; mistral-common then uses these.
_OLD_VERSIONS = ("v1", "v2", "v3", "v7")
_VERSIONS = (*_OLD_VERSIONS, "v11", "v13", "v15")
_OLD_SPECIALS = [
    "<unk>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CALLS]",
    "[IMG]",
    "<pad>",
    "[IMG_BREAK]",
    "[IMG_END]",
    "[PREFIX]",
    "[MIDDLE]",
    "[SUFFIX]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[TOOL_CONTENT]",
]


def read_tekken(data: bytes, path: Path) -> Contents:
    """Read a tekken.json.

    The ids of the special tokens come first. The configuration gives the number of ranked tokens that are used.
    """
    # mistral-common also reads the file with Python's json.
    top = parse_object(data, path, last_key_counts=True)
    top.only(_FIELDS)
    config = top.required("config", "the configuration is missing")
    config.only(_CONFIG_FIELDS)
    config.refuse_unless("version", _VERSIONS, "an unknown version of the format")
    n_ids = config.get("default_vocab_size", int)
    n_specials = config.get("default_num_special_tokens", int)
    vocabulary = top.get("vocab", list)
    if not 0 <= n_specials < n_ids <= min(len(vocabulary) + n_specials, LARGEST_ID):
        raise config.wrong(
            "default_vocab_size",
            f"{n_specials} special tokens and {len(vocabulary)} ranked ones do not make up this number of ids",
        )
    specials = _read_specials(top, config.get("version", str), n_specials)
    words = _read_words(vocabulary[: n_ids - n_specials], top)
    pattern = config.get("pattern", str)
    contents = from_ranks(spellings(words), np.arange(len(words), dtype=np.int64), path, "tekken", first_id=n_specials)
    return replace(contents, splitting=Splitting("tiktoken", (Split(pattern),)), specials=specials)


def _read_words(entries: list[Any], top: JsonObject) -> list[bytes]:
    place = top.place("vocab")
    words = [_read_word(entry, rank, f"{place}[{rank}]") for rank, entry in enumerate(entries)]
    if len(set(words)) < len(words):
        seen: dict[bytes, int] = {}
        again = next(rank for rank, word in enumerate(words) if seen.setdefault(word, rank) != rank)
        what = f"the same token as that of rank {seen[words[again]]}"
        raise FileFormatError(what, value=words[again], where=f"{top.place('vocab')}[{again}].token_bytes")
    return words


def _read_word(entry: Any, rank: int, where: str) -> bytes:
    if not isinstance(entry, dict) or entry.keys() != _TOKEN_FIELDS:
        what = f"a token must have the fields {', '.join(sorted(_TOKEN_FIELDS))}"
        raise FileFormatError(what, value=entry, where=where)
    if type(entry["rank"]) is not int or entry["rank"] != rank:
        raise FileFormatError(f"the rank {rank} is expected here", value=entry["rank"], where=f"{where}.rank")
    try:
        word = base64.b64decode(entry["token_bytes"], validate=True)
    except (binascii.Error, TypeError, ValueError):
        raise FileFormatError("not base64", value=entry["token_bytes"], where=f"{where}.token_bytes") from None
    if not word or (rank < 256 and word != bytes([rank])):
        what = f"the byte {rank} is expected here" if rank < 256 else "an empty token"
        raise FileFormatError(what, value=word, where=f"{where}.token_bytes")
    return word


def _read_specials(top: JsonObject, version: str, n_specials: int) -> tuple[Special, ...]:
    """Return the special tokens, of the file or of old versions, and fillers up to their number."""
    contents: list[str] = []
    if top.fields.get("special_tokens") is None:
        if version not in _OLD_VERSIONS:
            what = f"a file of version {version} must list its special tokens"
            raise FileFormatError(what, where=top.place("special_tokens"))
        contents = list(_OLD_SPECIALS)
    for token in top.objects("special_tokens") if top.fields.get("special_tokens") is not None else ():
        content = token.get("token_str", str)
        if not content:
            # It would split a stream without being in its text, so no position in the text would show it.
            raise token.unmodelled("token_str", "a special token without text")
        # mistral-common looks specials up by their position in the list but reports their rank.
        if token.get("rank", int) != len(contents):
            raise token.unmodelled("rank", f"the special token of rank {len(contents)} is expected here")
        contents.append(content)
    if len(contents) > n_specials:
        what = f"more than {n_specials} special tokens"
        raise FileFormatError(what, value=len(contents), where=top.place("special_tokens"))
    contents.extend(f"<SPECIAL_{id}>" for id in range(len(contents), n_specials))
    if len(set(contents)) < len(contents):
        again = next(content for id, content in enumerate(contents) if content in contents[:id])
        raise FileFormatError("a duplicate special token", value=again, where=top.place("special_tokens"))
    return tuple(Special(id, content) for id, content in enumerate(contents))

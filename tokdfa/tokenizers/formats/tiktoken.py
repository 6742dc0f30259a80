"""tiktoken: files of ranks, a line a token; their special tokens, which they do not name; and encodings by name.

The file of an encoding is looked for on this machine; nothing is downloaded.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from tokdfa.base.errors import FileFormatError, MissingFileError, UnsupportedFeatureError, WrongTypeError
from tokdfa.base.files import open_named
from tokdfa.base.suggestions import names_beside, nearest
from tokdfa.kernels.spelling.lookup import WordTable
from tokdfa.kernels.spelling.model import LARGEST_RANK, read_rank_lines
from tokdfa.regex.unicode.utf8 import BYTE_OF, GPT2_ORDER
from tokdfa.tokenizers.decoder import Spellings, words_of
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.formats.contents import LARGEST_ID, AnyContents, Contents
from tokdfa.tokenizers.formats.files import content
from tokdfa.tokenizers.formats.json_text import JsonObject, check_surrogates, parse_object
from tokdfa.tokenizers.formats.ranks import from_ranks
from tokdfa.tokenizers.formats.tiktoken_encodings import ENCODINGS, GPT2_RULES, MODELS, PUBLISHED, SHIPPED, Encoding
from tokdfa.tokenizers.pretokenizers.steps import NAMED

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
_LARGEST_RANKS = 1 << 24


def with_specials(contents: AnyContents, given: Mapping[str, int] | str | Path) -> AnyContents:
    """Return the contents of a rank file with special tokens.

    They are given as ids by text; as the name of one of tiktoken's encodings; or as a JSON file with an object of texts
    and ids, or with ``added_tokens_decoder`` as in a ``tokenizer_config.json``; there, tokens that are not
    ``"special": true`` are text.
    """
    where, texts = "specials", frozenset[Any]()
    if isinstance(given, str) and given in ENCODINGS:
        pairs: dict[Any, Any] = dict(ENCODINGS[given].specials)
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
    check_ids(contents, specials, where)
    return replace(contents, specials=specials)


def check_ids(contents: Contents, specials: Iterable[Special], where: str) -> None:
    """Raise FileFormatError if a special token has the id of a token."""
    taken = set(contents.ids.tolist())
    for special in specials:
        if special.id in taken:
            what = f"the id of the special token {special.content!r} is that of a token"
            raise FileFormatError(what, value=special.id, where=where)


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
    is_harmony = pairs == ENCODINGS["o200k_harmony"].specials
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
        raise FileFormatError(what, value=str(path), hint=f"the encodings are {', '.join(ENCODINGS)}")
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
            raise FileFormatError("a duplicate special token", value=text, where=rows.at(id))
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
    text, offsets, ranks, lines, fault, at = read_rank_lines(data)
    if fault:
        what, hint, shown = _FAULTS[fault], None, data[at : at + _SHOWN].split(b"\n")[0]
        if data[at : at + 1] == b"\r":
            what, hint = "a carriage return; lines must end with a line feed alone", "convert the line endings"
        raise FileFormatError(what, value=shown, where=f"{path}, line {lines[-1]}, byte {at}", hint=hint)
    if not len(ranks):
        raise FileFormatError("the file has no tokens", where=str(path))
    words = Spellings(text, offsets)
    again = WordTable(text, offsets).again
    if again >= 0:
        every = words_of(words)
        what = f"the same token as in line {lines[every.index(every[again])]}"
        raise FileFormatError(what, value=every[again], where=f"{path}, line {lines[again]}")
    order = np.argsort(ranks, kind="stable")
    equal = np.flatnonzero(np.diff(ranks[order]) == 0)
    if len(equal):
        one, other = order[equal[0]], order[equal[0] + 1]
        what = f"the same rank as in line {lines[one]}"
        raise FileFormatError(what, value=int(ranks[other]), where=f"{path}, line {lines[other]}")
    contents = from_ranks(words, ranks, path, "tiktoken", first_id=0)
    # tiktoken recognises the published files by their SHA-256.
    published = PUBLISHED.get(hashlib.sha256(data).hexdigest())
    if published is not None:
        return _as_encoding(contents, published, path)
    return as_published(contents, lambda: dict(zip(words_of(words), ranks.tolist(), strict=True)), path)


def as_published(contents: Contents, ranks_of: Callable[[], Mapping[bytes, int]], path: Path) -> Contents:
    """Return contents with the pattern and specials of the encoding that has these ranks, as they are if none has.

    `ranks_of` returns the ranks; it is called only if an encoding has as many.
    """
    n_ranks = int(np.count_nonzero(contents.ids >= 0))
    if all(n_ranks != encoding.n_ranks for encoding in PUBLISHED.values()):
        return contents
    # As tiktoken writes them; another program may have changed their order and line ends.
    ranked = sorted((rank, word) for word, rank in ranks_of().items())
    lines = b"".join(base64.b64encode(word) + b" %d\n" % rank for rank, word in ranked)
    published = PUBLISHED.get(hashlib.sha256(lines).hexdigest())
    return contents if published is None else _as_encoding(contents, published, path)


def _as_encoding(contents: Contents, encoding: Encoding, path: Path) -> Contents:
    """Return contents with the pattern and the specials of an encoding."""
    specials = specials_of(encoding.specials, str(path))
    return replace(contents, specials=specials, splitting=NAMED[encoding.pretokenizer])


def read_encoding(name: str) -> Contents | None:
    """Return the contents of an encoding as tiktoken has it, its pre-tokenizer included; None if no file is here.

    Files are looked for in tiktoken's cache (the folder that ``TIKTOKEN_CACHE_DIR`` or ``DATA_GYM_CACHE_DIR`` names,
    otherwise ``data-gym-cache`` in the folder for temporary files), in the caches that come with installed packages,
    in the folder that ``TIKTOKEN_ENCODINGS_BASE`` names, and in the working folder. Only the published file counts: its
    SHA-256 is checked, as tiktoken does.
    """
    encoding = ENCODINGS[name]
    for path, data in _candidates(encoding):
        if hashlib.sha256(data).hexdigest() == encoding.sha256:
            # Several encodings have the same ranks, and differ in their specials.
            return replace(read_tiktoken(data, path), specials=specials_of(encoding.specials, name))
    return None


def read_by_name(name: str, format: str | None = None) -> Contents:
    """Return the contents of the encoding of tiktoken that a path with nothing there names."""
    if name in ENCODINGS and format in (None, "tiktoken"):
        if (contents := read_encoding(name)) is not None:
            return contents
        what = "no such file or folder; it is the name of an encoding whose file is not on this machine"
        raise MissingFileError(what, where=name, hint=f"this command gets it: {how_to_get(name)}")
    if not name:
        raise MissingFileError("no path of a tokenizer", value=name, hint=_hint(name))
    raise MissingFileError("no such file or folder", where=name, hint=_hint(name))


def _hint(name: str) -> str:
    path = Path(name)
    if path.name == name:
        if (encoding := encoding_of_model(name)) is not None:
            return f"the models {name} use the encoding {encoding}: give that name"
        if (near := nearest(name, [*names_beside(path), *ENCODINGS])) is not None:
            return f"did you mean {near}?"
    elif (near := nearest(path.name, names_beside(path))) is not None:
        return f"did you mean {path.with_name(near)}?"
    elif re.fullmatch(r"[\w.-]+/[\w.-]+", name, re.ASCII) and not path.parent.exists():
        return _hub_hint(name)
    elif not path.parent.is_dir():
        return f"there is no folder {path.parent} either"
    return (
        "give the path of a tokenizer.json, tekken.json, .model, .gguf, .tiktoken, merges.txt or vocab.txt file, of a "
        f"folder with one, or one of {', '.join(ENCODINGS)}"
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


def encoding_of_model(name: str) -> str | None:
    """Return the encoding that a model of OpenAI's uses, by the beginning of its name; None for other names."""
    return next((MODELS[start] for start in sorted(MODELS, key=len, reverse=True) if name.startswith(start)), None)


def how_to_get(name: str) -> str:
    """Return the command that fetches the file of an encoding to where :func:`published_file` finds it."""
    if _installed("tiktoken", "tiktoken") is not None and os.environ.get("TIKTOKEN_CACHE_DIR") != "":
        return f"""python -c "import tiktoken; tiktoken.get_encoding('{name}')\""""
    return f"curl -O {ENCODINGS[name].url}"


def _candidates(encoding: Encoding) -> Iterator[tuple[Path, bytes]]:
    """Yield candidates for the file of an encoding, with their content."""
    caches, base = list(_caches()), os.environ.get("TIKTOKEN_ENCODINGS_BASE")
    cached = [folder / _key(encoding.url) for folder in caches]
    for path in (*cached, *([Path(base, encoding.file)] if base else ()), Path(encoding.file)):
        if (data := _content(path)) is not None:
            yield path, data
    for folder in caches if encoding is ENCODINGS["gpt2"] else ():
        path = folder / _key(GPT2_RULES)
        if (data := _content(path)) is not None:
            yield path, _ranked(data)


def _key(url: str) -> str:
    """Return the name in tiktoken's cache of the file with an address."""
    return hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest()


def _caches() -> Iterator[Path]:
    chosen = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR"))
    if chosen is None:
        import tempfile

        yield Path(tempfile.gettempdir(), "data-gym-cache")
    elif chosen:
        yield Path(chosen)
    for package, folder in SHIPPED.items():
        if (path := _installed(package, folder)) is not None:
            yield path


def _installed(package: str, name: str) -> Path | None:
    """Return where a file or folder of an installed package is, which is not imported; None without the package."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        return Path(str(distribution(package).locate_file(name)))
    except PackageNotFoundError:
        return None


def _content(path: Path) -> bytes | None:
    try:
        with open_named(path) as file:
            return file.read(_LARGEST_RANKS)
    except OSError:
        return None


def _ranked(rules: bytes) -> bytes:
    """Return the rank file that GPT-2's rules amount to: the bytes, and then the products; nothing for other files."""
    try:
        pairs = [line.split() for line in rules.decode().split("\n")[1:-1]]
        words = [bytes(BYTE_OF[letter] for letter in left + right) for left, right in pairs]
    except (ValueError, KeyError):
        return b""
    ranked = enumerate([*(bytes([byte]) for byte in GPT2_ORDER), *words])
    return b"".join(b"%s %d\n" % (base64.b64encode(word), rank) for rank, word in ranked)

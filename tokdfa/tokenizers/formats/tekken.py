"""tekken.json, the format of mistral-common."""

from __future__ import annotations

import base64
import binascii
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tokdfa.base.errors import FileFormatError
from tokdfa.tokenizers.decoder import spellings
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.formats.contents import LARGEST_ID, Contents
from tokdfa.tokenizers.formats.json_text import JsonObject, parse_object
from tokdfa.tokenizers.formats.ranks import from_ranks
from tokdfa.tokenizers.pretokenizers.steps import Split, Splitting

_FIELDS = [
    *("config", "vocab", "special_tokens", "version", "type"),
    *("image", "audio", "multimodal", "model_settings_builder"),
]
_CONFIG_FIELDS = ["pattern", "num_vocab_tokens", "default_vocab_size", "default_num_special_tokens", "version"]
_TOKEN_FIELDS = {"rank", "token_bytes", "token_str"}

# Files up to version 7 may leave out the special tokens; mistral-common then uses these.
_OLD_VERSIONS = ("v1", "v2", "v3", "v7")
_VERSIONS = (*_OLD_VERSIONS, "v11", "v13", "v15")
_OLD_SPECIALS = (
    *("<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]"),
    *("[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]"),
    *("[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]"),
)


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
        what = f"{n_specials} special tokens and {len(vocabulary)} ranked ones do not make up this number of ids"
        raise config.wrong("default_vocab_size", what)
    specials = _read_specials(top, config.get("version", str), n_specials)
    where, pattern = top.at("vocab"), config.get("pattern", str)
    words = [_read_word(row, rank, f"{where}[{rank}]") for rank, row in enumerate(vocabulary[: n_ids - n_specials])]
    if len(set(words)) < len(words):
        seen: dict[bytes, int] = {}
        again = next(rank for rank, word in enumerate(words) if seen.setdefault(word, rank) != rank)
        what = f"the same token as that of rank {seen[words[again]]}"
        raise FileFormatError(what, value=words[again], where=f"{where}[{again}].token_bytes")
    contents = from_ranks(spellings(words), np.arange(len(words), dtype=np.int64), path, "tekken", first_id=n_specials)
    return replace(contents, splitting=Splitting("tiktoken", (Split(pattern),)), specials=specials)


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
    is_listed = top.fields.get("special_tokens") is not None
    if not is_listed and version not in _OLD_VERSIONS:
        raise FileFormatError(
            f"a file of version {version} must list its special tokens", where=top.at("special_tokens")
        )
    contents = [] if is_listed else [*_OLD_SPECIALS]
    for token in top.objects("special_tokens") if is_listed else ():
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
        raise FileFormatError(what, value=len(contents), where=top.at("special_tokens"))
    contents.extend(f"<SPECIAL_{id}>" for id in range(len(contents), n_specials))
    if len(set(contents)) < len(contents):
        again = next(content for id, content in enumerate(contents) if content in contents[:id])
        raise FileFormatError("a duplicate special token", value=again, where=top.at("special_tokens"))
    return tuple(Special(id, content) for id, content in enumerate(contents))

"""tiktoken's rank files: one line per token, with its bytes in base64, a space and its rank."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from tokdfa.errors import FileFormatError
from tokdfa.kernels.spelling.lookup import WordTable
from tokdfa.kernels.spelling.model import LARGEST_RANK, read_rank_lines
from tokdfa.splitting.named import NAMED
from tokdfa.tokenizers.decoder import Spellings, words_of
from tokdfa.tokenizers.formats.contents import Contents
from tokdfa.tokenizers.formats.encodings import PUBLISHED, Encoding
from tokdfa.tokenizers.formats.ranks import from_ranks
from tokdfa.tokenizers.formats.specials import specials_of

__all__ = ["as_published", "read_tiktoken"]

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


def read_tiktoken(data: bytes, path: Path) -> Contents:
    """Read a ``.tiktoken`` file, or one of ranks by another name.

    The lines may be in any order. A file of ranks that tiktoken publishes gets the pattern and the specials that
    tiktoken gives to it; other files record neither.

    Raises
    ------
    FileFormatError
        If a line is not a token and a rank, a token or a rank occurs twice, or a byte has no rank.
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
    published = PUBLISHED.get(hashlib.sha256(data).hexdigest())
    if published is not None:
        return _as_encoding(contents, published, path)
    return as_published(contents, lambda: dict(zip(words_of(words), ranks.tolist(), strict=True)), path)


def as_published(contents: Contents, ranks_of: Callable[[], Mapping[bytes, int]], path: Path) -> Contents:
    """Return contents with the pattern and specials of the encoding that has these ranks, as they are if none has.

    `ranks_of` returns the ranks; it is called only if their number is that of an encoding.
    """
    n_ranks = int(np.count_nonzero(contents.ids >= 0))
    if all(n_ranks != encoding.n_ranks for encoding in PUBLISHED.values()):
        return contents
    # As tiktoken writes them, whose order and line ends another program may have changed.
    ranked = sorted((rank, word) for word, rank in ranks_of().items())
    lines = b"".join(base64.b64encode(word) + b" %d\n" % rank for rank, word in ranked)
    published = PUBLISHED.get(hashlib.sha256(lines).hexdigest())
    return contents if published is None else _as_encoding(contents, published, path)


def _as_encoding(contents: Contents, encoding: Encoding, path: Path) -> Contents:
    """Return contents with the pattern and the specials of an encoding."""
    specials = specials_of(encoding.specials, str(path))
    return replace(contents, specials=specials, splitting=NAMED[encoding.pretokenizer])

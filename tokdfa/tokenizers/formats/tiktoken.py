"""tiktoken's rank files: one line per token, with its bytes in base64, a space and its rank."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from tokdfa.encoding.special import Special
from tokdfa.errors import FileFormatError
from tokdfa.kernels.encode.rank_lines import LARGEST_RANK, read_rank_lines
from tokdfa.tokenizers.formats.contents import Contents
from tokdfa.tokenizers.formats.ranks import from_ranks

__all__ = ["read_tiktoken"]

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

# tiktoken recognises the published files by their SHA-256 and gives them these tokens.
_PUBLISHED_SPECIALS = {
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7": {
        "<|endoftext|>": 100257,
        "<|fim_prefix|>": 100258,
        "<|fim_middle|>": 100259,
        "<|fim_suffix|>": 100260,
        "<|endofprompt|>": 100276,
    },
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d": {
        "<|endoftext|>": 199999,
        "<|endofprompt|>": 200018,
    },
    "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069": {"<|endoftext|>": 50256},
    "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930": {"<|endoftext|>": 50256},
}


def read_tiktoken(data: bytes, path: Path) -> Contents:
    """Read a ``.tiktoken`` file.

    The lines may be in any order. The specials are those that tiktoken gives to the published file; other files have
    none.

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
    buffer = text.tobytes()
    ends = offsets.tolist()
    words = [buffer[start:end] for start, end in pairwise(ends)]
    if len(set(words)) < len(words):
        seen: dict[bytes, int] = {}
        at = next(i for i, word in enumerate(words) if seen.setdefault(word, i) != i)
        raise FileFormatError(
            f"the same token as in line {lines[seen[words[at]]]}", value=words[at], where=f"{path}, line {lines[at]}"
        )
    order = np.argsort(ranks, kind="stable")
    again = np.flatnonzero(np.diff(ranks[order]) == 0)
    if len(again):
        one, other = order[again[0]], order[again[0] + 1]
        raise FileFormatError(
            f"the same rank as in line {lines[one]}", value=int(ranks[other]), where=f"{path}, line {lines[other]}"
        )
    contents = from_ranks(words, ranks, path, "tiktoken", first_id=0)
    specials = _PUBLISHED_SPECIALS.get(hashlib.sha256(data).hexdigest(), {})
    return replace(contents, specials=tuple(Special(id, content) for content, id in specials.items()))

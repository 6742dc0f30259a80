r"""RWKV's World vocabularies: a line for each token, its id, the token as Python writes it, and its length in bytes.

11 '\n' 1
300 ' the' 4
129 b'\x80' 1
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from tokdfa.base.errors import FileFormatError
from tokdfa.tokenizers.formats.contents import LARGEST_ID, Rewriting, SplitContents, check_bytes

LINE = re.compile(
    r"""(?P<id>[0-9]{1,8}) (?P<token>b?'(?:[^'\\\n]|\\.)*'|b?"(?:[^"\\\n]|\\.)*") (?P<length>[0-9]{1,8})"""
)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LongestMatchContents(SplitContents):
    """The contents of the file of a tokenizer that takes the longest token; `tokens` has the bytes of each id."""

    algorithm: ClassVar[str] = "longest match"
    own_splitting: ClassVar[str | None] = "texts that are not split"
    is_plain: ClassVar[bool] = False
    says_splitting: ClassVar[bool] = True
    drops_unknown: ClassVar[bool] = False
    rewriting: ClassVar[Rewriting] = Rewriting()

    tokens: tuple[bytes, ...]


def read_rwkv(data: bytes, path: Path) -> LongestMatchContents:
    """Read a vocabulary of RWKV, as its own tokenizer in Python does."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileFormatError(
            "not UTF-8", value=data[error.start : error.end], where=f"{path}, byte {error.start}"
        ) from None
    lines = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")
    rows = [LINE.fullmatch(line) for line in lines]
    where = [f"{path}, line {number}" for number in range(1, len(lines) + 1)]
    known: dict[int, bytes] = {}
    seen: set[bytes] = set()
    for line, row, at in zip(lines, rows, where, strict=True):
        if row is None:
            what = "a line must be an id, a token as Python writes it, and its length"
            raise FileFormatError(what, value=line, where=at)
        id, token = int(row["id"]), _token(row["token"], at)
        if len(token) != int(row["length"]) or not token:
            raise FileFormatError(f"the token has {len(token)} bytes", value=line, where=at)
        if id > LARGEST_ID:
            raise FileFormatError(f"an id must be at most {LARGEST_ID}", value=id, where=at)
        if id in known or token in seen:
            raise FileFormatError("the id or the token is there twice", value=line, where=at)
        known[id] = token
        seen.add(token)
    check_bytes((token[0] for token in known.values() if len(token) == 1), path)
    return LongestMatchContents(format="rwkv", tokens=tuple(known.get(id, b"") for id in range(max(known) + 1)))


def _token(literal: str, where: str) -> bytes:
    """Return the bytes of a literal of a string or of bytes."""
    try:
        value = ast.literal_eval(literal)
        return value if isinstance(value, bytes) else str(value).encode("utf-8")
    except (SyntaxError, ValueError) as error:  # a UnicodeEncodeError is one
        raise FileFormatError(f"not a literal of Python: {error}", value=literal, where=where) from None

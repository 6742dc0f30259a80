"""The content of files: unpacked, of limited size, and as text."""

from __future__ import annotations

import zlib
from os import PathLike, fstat
from pathlib import Path

from tokdfa.base.errors import FileFormatError, LimitExceededError
from tokdfa.base.files import open_named
from tokdfa.tokenizers.formats.gguf_head import MAGIC, read_head

LARGEST_FILE = 1 << 28


def named(source: object) -> str:
    """Return the name of a source in messages: a path as it is, an object by its type."""
    if isinstance(source, (str, PathLike)):
        return str(source)
    kind = type(source)
    return f"<{kind.__module__.partition('.')[0]}.{kind.__qualname__}>".replace("builtins.", "")


def content(path: Path) -> bytes:
    """Return the content of a file, unpacked if it is gzip; of a GGUF file only the head, before its tensors."""
    with open_named(path) as file:
        size = fstat(file.fileno()).st_size
        if file.peek(len(MAGIC))[: len(MAGIC)] == MAGIC:
            return read_head(file, path, size)
        # `read` allocates a buffer of the whole size asked for. Only files on a disk have a size.
        if not size and not file.peek(1):
            return b""
        return unpacked(file.read(min(size or LARGEST_FILE, LARGEST_FILE) + 1), path)


def unpacked(data: bytes, path: Path) -> bytes:
    """Return `data`, unpacked if it is gzip."""
    if len(data) <= LARGEST_FILE and data.startswith(b"\x1f\x8b"):
        import gzip
        from io import BytesIO

        try:
            with gzip.open(BytesIO(data)) as file:
                data = file.read(LARGEST_FILE + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise FileFormatError(f"damaged gzip: {error}", where=str(path)) from None
    if len(data) > LARGEST_FILE:
        raise LimitExceededError(f"larger than {LARGEST_FILE} bytes", where=str(path))
    return data


def decode_utf8(data: bytes, path: Path) -> str:
    """Return `data` as text; FileFormatError with line and offset where it is not UTF-8, or begins with a BOM."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        at = error.start
        line = data.count(b"\n", 0, at) + 1
        where = f"{path}, line {line}, byte {at}"
        raise FileFormatError("not UTF-8", value=data[at : at + 4], where=where) from None
    if text.startswith("\ufeff"):
        raise FileFormatError("the file begins with a byte order mark", where=f"{path}, line 1")
    return text

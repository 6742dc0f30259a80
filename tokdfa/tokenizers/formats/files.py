"""The file of a folder that holds the tokenizer, its content and its format."""

from __future__ import annotations

import re
import zlib
from os import PathLike, fstat
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from tokdfa.base.errors import FileFormatError, LimitExceededError
from tokdfa.tokenizers.formats.contents import Contents
from tokdfa.tokenizers.formats.gguf_head import MAGIC, read_head

if TYPE_CHECKING:
    from tokdfa.tokenizers.formats.unigram import UnigramContents
    from tokdfa.tokenizers.formats.wordpiece import WordPieceContents

# Names for --format. "merges" distinguishes the two alphabets of merges.txt itself.
FORMATS = (
    "tokenizer.json",
    "tekken",
    "tiktoken",
    "sentencepiece",
    "merges+vocab",
    "merges",
    "merges-bytes",
    "merges-characters",
    "clip",
    "vocab.txt",
    "gguf",
)

LARGEST_FILE = 1 << 28
_GZIP = b"\x1f\x8b"
# Some have a version at the end, as in tokenizer.model.v3.
_MODEL_NAME = re.compile(r"\.model(\.\w+)?$")
# Lines of a rank file: base64 of one byte or more, a space and digits. A rule with a number as its second part may look
# the same; eight in a row do not.
_BASE64 = rb"(?=[^=])(?:[A-Za-z0-9+/]{4})*+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?+"
_OBJECT = re.compile(rb"\s*+\{")
_RANK_LINES = re.compile(rb"(?:\r?\n)*+(?:%s [0-9]{1,10}(?:\r?\n|\Z)){8}" % _BASE64)


def find(path: str | Path, format: str | None) -> tuple[bytes, Path, str]:
    """Return the content of a tokenizer file, or of the one in a folder, with its path and its format."""
    path = Path(path)
    if path.is_dir():
        path, format = _in_folder(path, format)
    elif path.name == "vocab.json":
        path, format = path.with_name("merges.txt"), format or "merges+vocab"
    data = content(path)
    if not data:
        raise FileFormatError("the file is empty", where=str(path))
    return data, path, format or detect(data, path)


def named(source: object) -> str:
    """Return the name of a source in messages: a path as it is, an object by its type."""
    if isinstance(source, (str, PathLike)):
        return str(source)
    kind = type(source)
    return f"<{kind.__module__.partition('.')[0]}.{kind.__qualname__}>".replace("builtins.", "")


def check_format(format: str | None) -> None:
    """Raise FileFormatError unless `format` is None or one of `FORMATS`."""
    if not is_wanted(format, *FORMATS):
        raise FileFormatError("unknown format", value=format, hint=f"the formats are {', '.join(FORMATS)}")


def is_wanted(asked: str | None, *formats: str | None) -> bool:
    """Return whether one of some formats is the one that is asked for; None asks for any."""
    return asked is None or asked in formats


def content(path: Path) -> bytes:
    """Return the content of a file, unpacked if it is gzip; of a GGUF file only the head, before its tensors."""
    with path.open("rb") as file:
        if file.peek(len(MAGIC))[: len(MAGIC)] == MAGIC:
            return read_head(file, path, fstat(file.fileno()).st_size)
        # `read` allocates a buffer of the whole size asked for. Only files on a disk have a size.
        size = fstat(file.fileno()).st_size
        if not size and not file.peek(1):
            return b""
        return unpacked(file.read(min(size or LARGEST_FILE, LARGEST_FILE) + 1), path)


def unpacked(data: bytes, path: Path) -> bytes:
    """Return `data`, unpacked if it is gzip."""
    if len(data) <= LARGEST_FILE and data.startswith(_GZIP):
        try:
            import gzip
            from io import BytesIO

            with gzip.open(BytesIO(data)) as file:
                data = file.read(LARGEST_FILE + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise FileFormatError(f"damaged gzip: {error}", where=str(path)) from None
    if len(data) > LARGEST_FILE:
        raise LimitExceededError(f"larger than {LARGEST_FILE} bytes", where=str(path))
    return data


def _in_folder(folder: Path, format: str | None) -> tuple[Path, str | None]:
    names = {entry.name for entry in folder.iterdir()}
    ranked = sorted(name for name in names if name.endswith(".tiktoken"))
    if (
        len(ranked) > 1
        and is_wanted(format, "tiktoken")
        and not names & {"tokenizer.json", "tekken.json", "merges.txt"}
    ):
        what = "this folder has several .tiktoken files"
        raise FileFormatError(what, value=ranked, where=str(folder), hint="give the path of one of them")
    merges = ("merges", "merges-bytes", "merges-characters")
    candidates: list[tuple[str, tuple[str | None, ...]]] = [
        ("tokenizer.json", ("tokenizer.json",)),
        ("tekken.json", ("tekken",)),
        # Llama-3 and GLM-4 have ranks in a file of that name; its content tells.
        ("tokenizer.model", (None, "sentencepiece", "tiktoken")),
        ("tiktoken.model", ("tiktoken",)),
        ("spiece.model", ("sentencepiece",)),
        ("sentencepiece.bpe.model", ("sentencepiece",)),
        ("merges.txt", ("merges+vocab",) if "vocab.json" in names else merges),
        *((name, ("tiktoken",)) for name in ranked),
        ("merges.txt", merges),
        ("vocab.txt", ("vocab.txt",)),
    ]
    for name, formats in candidates:
        if name in names and is_wanted(format, *formats):
            return folder / name, format or formats[0]
    wanted = "tokenizer" if format is None else f"file of the format {format}"
    raise FileFormatError(f"there is no {wanted} in this folder", where=str(folder), hint="give the path of the file")


def detect(data: bytes, path: Path) -> str:
    """Return the format of a file, judging by its first bytes and then by its name."""
    from tokdfa.tokenizers.formats.merges import CLIP_HEADER

    name = path.name.removesuffix(".gz")
    if name.endswith((".jsonl", ".ndjson", ".parquet", ".arrow", ".feather")):
        what = "this is a file of records, not of a tokenizer"
        raise FileFormatError(what, where=str(path), hint="for rollouts: tokdfa rollouts TOK FILE")
    if data.startswith(MAGIC):
        return "gguf"
    if data.startswith(CLIP_HEADER.encode()):
        return "clip"
    if _OBJECT.match(data):
        key = b'"default_num_special_tokens"'
        # A plain search first, because it is much faster.
        return "tekken" if key in data and re.search(key + rb"\s*:", data) else "tokenizer.json"
    if name.endswith(".tiktoken"):
        return "tiktoken"
    if data.startswith(b"#version") or name.endswith(("merges.txt", ".bpe", ".merges")):
        return "merges"
    if _RANK_LINES.match(data):
        return "tiktoken"
    # A protocol buffer that begins with a piece.
    if (_MODEL_NAME.search(name) and data.startswith(b"\n")) or _begins_with_piece(data):
        return "sentencepiece"
    if name.endswith(".json"):
        return "tokenizer.json"
    if name.endswith("vocab.txt"):
        return "vocab.txt"
    is_ids = data.startswith(b"\x93NUMPY") or path.suffix in (".npy", ".bin")
    raise FileFormatError(
        "the format cannot be recognised from the content or the name of the file",
        where=str(path),
        hint="this is a file of ids; a tokenizer is expected here"
        if is_ids
        else f"give --format: {', '.join(FORMATS)}",
    )


def _begins_with_piece(data: bytes) -> bool:
    """Return whether the data begin as a SentencePiece model: field 1, a message of a string and a score."""
    if data[:1] != b"\n":
        return False
    # The lengths of the first pieces are below 128, one byte each; the score is a float, field 2.
    piece = data[2 : 2 + data[1]] if len(data) > 1 and data[1] < 0x80 else b""
    return len(piece) > 6 and piece[0] == 0x0A and piece[2 + piece[1] : 3 + piece[1]] == b"\x15"


AnyContents: TypeAlias = "Contents | UnigramContents | WordPieceContents"
"""The contents of the file of a tokenizer of any algorithm."""

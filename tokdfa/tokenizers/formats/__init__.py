"""Tokenizer files of every format. Untrusted bytes stop here: none are ever unpickled or run.

`read` below determines the format and calls its module: `tokenizer_json`, `tekken`, `tiktoken`, `sentencepiece`,
`merges`, `vocabulary` (vocab.json beside merges.txt) and `wordpiece`. Each returns the same shape, `contents`, or
refuses with the line or the JSON path. Shared: `json_text` (strict JSON with places), `pre_tokenizer` and `text_steps`
(the components of a tokenizer.json), `left_out` (what of it is read and not applied), `ranks` (rules out of ranked
words), `charsmap` (SentencePiece's table of characters). `by_name` answers for what is not
a path: the `encodings` of tiktoken, or what was meant.

Used by: `tokenizers.loading`.

Cost: one pass over the file; files over 256 MB are refused.
"""

from __future__ import annotations

import re
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from tokdfa.errors import FileFormatError, LimitExceededError
from tokdfa.tokenizers.formats.contents import Contents

if TYPE_CHECKING:
    from tokdfa.tokenizers.formats.wordpiece import WordPieceContents

__all__ = ["FORMATS", "read"]

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
)

_LARGEST_FILE = 1 << 28
# Some have a version behind, as in tokenizer.model.v3.
_MODEL_NAME = re.compile(r"\.model(\.\w+)?$")


def read(path: str | Path, format: str | None = None) -> Contents | WordPieceContents:
    """Read a tokenizer file, or the tokenizer in a folder.

    In a folder ``tokenizer.json`` comes first, then ``tekken.json``, ``tokenizer.model``, ``vocab.json`` with
    ``merges.txt``, a single ``.tiktoken`` file, ``merges.txt`` alone, and ``vocab.txt``.

    Parameters
    ----------
    path : str or Path
        If there is nothing there, the name of an encoding; see
        :func:`~tokdfa.tokenizers.formats.by_name.read_by_name`.
    format : str, optional
        One of `FORMATS`; detected from content and name by default.

    Raises
    ------
    MissingFileError
        If there is no such file, and no such encoding on this machine; the error says what was meant, or how to get it.
    FileFormatError
        If the file is not what it claims to be, or no format is recognised; the error says where.
    UnsupportedFeatureError
        If it asks for something that is not modelled exactly.
    LimitExceededError
        If it is larger than 256 MiB, unpacked.
    OSError
        If it cannot be read.
    """
    if format is not None and format not in FORMATS:
        raise FileFormatError("unknown format", value=format, hint=f"the formats are {', '.join(FORMATS)}")
    if not Path(path).exists():
        from tokdfa.tokenizers.formats.by_name import read_by_name

        return read_by_name(path, format)
    return _read(*_find(path, format))


def _is_wordpiece(data: bytes, path: Path, format: str) -> bool:
    # A plain search first, because it is much faster; decoders and tokens may have this name as well.
    if format != "tokenizer.json" or b'"WordPiece"' not in data:
        return format == "vocab.txt"
    from tokdfa.tokenizers.formats.json_text import parse_object

    model = parse_object(data, path).fields.get("model")
    return isinstance(model, dict) and model.get("type") == "WordPiece"


def _find(path: str | Path, format: str | None) -> tuple[bytes, Path, str]:
    """Return the content of a file, its path and its format."""
    path = Path(path)
    if path.is_dir():
        path, format = _in_folder(path, format)
    elif path.name == "vocab.json":
        path, format = path.with_name("merges.txt"), format or "merges+vocab"
    data = _content(path)
    if not data:
        raise FileFormatError("the file is empty", where=str(path))
    return data, path, format or _detect(data, path)


def _read(data: bytes, path: Path, format: str) -> Contents | WordPieceContents:
    # One function per format, imported only when it is used.
    if format == "vocab.txt":
        from tokdfa.tokenizers.formats.wordpiece import read_vocab_txt

        return read_vocab_txt(data, path)
    if _is_wordpiece(data, path, format):
        from tokdfa.tokenizers.formats.wordpiece import read_wordpiece_json

        return read_wordpiece_json(data, path)
    if format == "tokenizer.json":
        from tokdfa.tokenizers.formats.tokenizer_json import read_tokenizer_json

        return read_tokenizer_json(data, path)
    if format == "tekken":
        from tokdfa.tokenizers.formats.tekken import read_tekken

        return read_tekken(data, path)
    if format == "tiktoken":
        from tokdfa.tokenizers.formats.tiktoken import read_tiktoken

        return read_tiktoken(data, path)
    if format == "sentencepiece":
        from tokdfa.tokenizers.formats.sentencepiece import read_sentencepiece

        return read_sentencepiece(data, path)
    if format == "merges+vocab":
        from tokdfa.tokenizers.formats.vocabulary import read_vocabulary_and_merges

        beside = path.with_name("vocab.json")
        return read_vocabulary_and_merges(_content(beside), data, beside, path)
    from tokdfa.tokenizers.formats.merges import read_clip, read_merges

    if format == "clip":
        return read_clip(data, path)
    bytewise = {"merges": None, "merges-bytes": True, "merges-characters": False}[format]
    return read_merges(data, path, bytewise=bytewise)


def _content(path: Path) -> bytes:
    """Return the content of a file, unpacked if it is gzip."""
    with path.open("rb") as file:
        data = file.read(_LARGEST_FILE + 1)
    if data.startswith(b"\x1f\x8b"):
        try:
            import gzip

            with gzip.open(path) as file:
                data = file.read(_LARGEST_FILE + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise FileFormatError(f"damaged gzip: {error}", where=str(path)) from None
    if len(data) > _LARGEST_FILE:
        raise LimitExceededError(f"larger than {_LARGEST_FILE} bytes", where=str(path))
    return data


def _in_folder(folder: Path, format: str | None) -> tuple[Path, str | None]:
    names = {entry.name for entry in folder.iterdir()}
    ranked = sorted(name for name in names if name.endswith(".tiktoken"))
    if len(ranked) > 1 and format in (None, "tiktoken") and not names & {"tokenizer.json", "tekken.json", "merges.txt"}:
        raise FileFormatError(
            "there are several .tiktoken files", value=ranked, where=str(folder), hint="give the path of one of them"
        )
    merges = ("merges", "merges-bytes", "merges-characters")
    candidates = [
        ("tokenizer.json", ("tokenizer.json",)),
        ("tekken.json", ("tekken",)),
        ("tokenizer.model", ("sentencepiece",)),
        ("merges.txt", ("merges+vocab",) if "vocab.json" in names else merges),
        *((name, ("tiktoken",)) for name in ranked),
        ("merges.txt", merges),
        ("vocab.txt", ("vocab.txt",)),
    ]
    for name, formats in candidates:
        if name in names and (format is None or format in formats):
            return folder / name, format or formats[0]
    wanted = "tokenizer" if format is None else f"file of the format {format}"
    raise FileFormatError(f"there is no {wanted} in this folder", where=str(folder), hint="give the path of the file")


def _detect(data: bytes, path: Path) -> str:
    """Return the format of a file, judging by its first bytes and then by its name."""
    from tokdfa.tokenizers.formats.merges import CLIP_HEADER

    name = path.name.removesuffix(".gz")
    if data.startswith(CLIP_HEADER.encode()):
        return "clip"
    if data.lstrip()[:1] == b"{":
        key = b'"default_num_special_tokens"'
        # A plain search first, because it is much faster.
        return "tekken" if key in data and re.search(key + rb"\s*:", data) else "tokenizer.json"
    if name.endswith(".tiktoken"):
        return "tiktoken"
    # A protocol buffer whose first field is a piece.
    if _MODEL_NAME.search(name) and data.startswith(b"\n"):
        return "sentencepiece"
    if data.startswith(b"#version") or name.endswith(("merges.txt", ".bpe", ".merges")):
        return "merges"
    if name.endswith(".json"):
        return "tokenizer.json"
    if name.endswith("vocab.txt"):
        return "vocab.txt"
    # A line of a rank file is base64, a space and digits; a rule whose second part is a number looks the same.
    raise FileFormatError(
        "the format cannot be recognised from content or name",
        where=str(path),
        hint=f"give --format: {', '.join(FORMATS)}",
    )

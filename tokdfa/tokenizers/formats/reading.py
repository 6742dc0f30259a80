"""The formats of tokenizer files: the reader of each, and how one is recognised in a folder and by its content."""

from __future__ import annotations

import gc
import re
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, cast

from tokdfa.base.errors import FileFormatError
from tokdfa.tokenizers.formats.contents import AnyContents
from tokdfa.tokenizers.formats.files import content
from tokdfa.tokenizers.formats.gguf_head import MAGIC

READERS = {
    "tokenizer.json": ("tokenizer_json", "read_tokenizer_json"),
    "tekken": ("tekken", "read_tekken"),
    "tiktoken": ("tiktoken", "read_tiktoken"),
    "sentencepiece": ("sentencepiece", "read_sentencepiece"),
    "merges+vocab": ("vocabulary", "read_vocabulary_and_merges"),
    # Distinguishes the two alphabets itself.
    "merges": ("merges", "read_merges"),
    "merges-bytes": ("merges", "read_merges_of_bytes"),
    "merges-characters": ("merges", "read_merges_of_characters"),
    "clip": ("merges", "read_clip"),
    "vocab.txt": ("wordpiece", "read_vocab_txt"),
    "gguf": ("gguf", "read_gguf"),
    "rwkv": ("rwkv", "read_rwkv"),
}
"""The reader of each format, by the name that ``--format`` takes: its module, imported on first use, and its name."""

FORMATS = (*READERS,)

IN_PARTS, WHOLE, AS_THE_FILE = "in bounded memory", "as a whole", "as the file"
"""How streams are judged: part by part, or by encoding the text of all of them again."""


class Readable(NamedTuple):
    """Something that can be read: files or objects, their formats by name, the standard, and how streams are judged.

    The standard is the library that is right by definition.
    """

    what: str
    formats: tuple[str, ...]
    standard: str
    streams: str = IN_PARTS


READ = (
    Readable("tokenizer.json, BPE over bytes (GPT-2, Llama-3, Qwen)", ("tokenizer.json",), "tokenizers"),
    Readable("tokenizer.json, BPE over characters (Llama-2, Gemma, NLLB)", ("tokenizer.json",), "tokenizers"),
    Readable("tokenizer.json, BPE with steps that change or drop more", ("tokenizer.json",), "tokenizers", WHOLE),
    Readable("tokenizer.json, Unigram (XLM-R, T5)", ("tokenizer.json",), "tokenizers"),
    Readable("tokenizer.json, WordPiece (BERT, MPNet)", ("tokenizer.json",), "tokenizers"),
    Readable("tokenizer.json, WordPiece with other steps, WordLevel", ("tokenizer.json",), "tokenizers", WHOLE),
    Readable("vocab.txt of WordPiece", ("vocab.txt",), "tokenizers"),
    Readable(".model, spiece.model: SentencePiece BPE and CHAR", ("sentencepiece",), "sentencepiece"),
    Readable(".model, spiece.model: SentencePiece Unigram", ("sentencepiece",), "sentencepiece"),
    Readable(".model, spiece.model: SentencePiece WORD", ("sentencepiece",), "sentencepiece", WHOLE),
    Readable(".tiktoken, tiktoken.model, any file of ranks", ("tiktoken",), "tiktoken"),
    Readable("a name such as cl100k_base", ("tiktoken",), "tiktoken"),
    Readable("tekken.json", ("tekken",), "mistral-common"),
    Readable(".gguf of llama.cpp, byte pairs, SentencePiece and WordPiece", ("gguf",), "llama.cpp"),
    Readable("rwkv_vocab_v20230424.txt of RWKV World", ("rwkv",), "rwkv"),
    Readable("merges.txt with vocab.json", ("merges+vocab",), "tokenizers"),
    Readable("merges.txt", ("merges", "merges-bytes", "merges-characters"), "tokenizers"),
    Readable("CLIP's vocabulary", ("clip",), "transformers", WHOLE),
)
"""Files and folders, as TOK and in :func:`tokdfa.load`."""

OBJECTS = (
    Readable("tokenizers.Tokenizer", ("tokenizer.json",), "tokenizers", AS_THE_FILE),
    Readable(
        "tokenizers of transformers 4 and 5",
        ("tokenizer.json", "merges+vocab", "sentencepiece", "tekken"),
        "transformers",
        AS_THE_FILE,
    ),
    Readable("tiktoken.Encoding", ("tiktoken",), "tiktoken"),
    Readable("MistralTokenizer, Tekkenizer", ("tekken", "sentencepiece"), "mistral-common", AS_THE_FILE),
    Readable("SentencePieceProcessor", ("sentencepiece",), "sentencepiece", AS_THE_FILE),
)
"""Objects in memory, in :func:`tokdfa.load` only; so are bytes, file objects and dicts of all formats of one file."""

# The formats of some files in folders, the first file first; None if the content tells.
_MERGES = ("merges", "merges-bytes", "merges-characters")
_IN_FOLDERS: dict[str, tuple[str | None, ...]] = {
    "tokenizer.json": ("tokenizer.json",),
    "tekken.json": ("tekken",),
    # Llama-3 and GLM-4 have ranks in a file of that name.
    "tokenizer.model": (None, "sentencepiece", "tiktoken"),
    "tiktoken.model": ("tiktoken",),
    "spiece.model": ("sentencepiece",),
    "sentencepiece.bpe.model": ("sentencepiece",),
}
# Some have a version at the end, as in tokenizer.model.v3.
_MODEL_NAME = re.compile(r"\.model(\.\w+)?$")
_TOKENIZER_NAME = re.compile(r"tok.*\.json$|tekken.*\.json$|\.tiktoken$|\.gguf$|" + _MODEL_NAME.pattern)
# Lines of a rank file: base64 of one byte or more, a space and digits. A rule with a number as its second part may look
# the same; eight in a row do not.
_BASE64 = rb"(?=[^=])(?:[A-Za-z0-9+/]{4})*+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?+"
_RANK_LINES = re.compile(rb"(?:\r?\n)*+(?:%s [0-9]{1,10}(?:\r?\n|\Z)){8}" % _BASE64)
# An id, a literal of Python in quotes, and a length.
_RWKV_LINE = re.compile(rb"""[0-9]{1,8} b?(?:'[^\n]{1,4096}'|"[^\n]{1,4096}") [0-9]{1,8}\r?\n""")
_OBJECT = re.compile(rb"\s*+\{")
_TEKKEN = b'"default_num_special_tokens"'


def read_as(data: bytes, path: Path, format: str, **options: bool) -> AnyContents:
    """Read the content of a tokenizer file; `path` is for messages, except where a second file is next to it."""
    module, name = READERS[format]
    reader = getattr(import_module(f"tokdfa.tokenizers.formats.{module}"), name)
    # Millions of new strings are not garbage: all of them are kept.
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return cast("AnyContents", reader(data, path, **options))
    finally:
        if was_enabled:
            gc.enable()


def check_format(format: str | None) -> None:
    """Raise FileFormatError unless `format` is None or one of `FORMATS`."""
    if format not in (None, *FORMATS):
        raise FileFormatError("unknown format", value=format, hint=f"the formats are {', '.join(FORMATS)}")


def find(path: Path, format: str | None) -> tuple[bytes, Path, str]:
    """Return the content of a tokenizer file, or of the one in a folder, with its path and its format."""
    if path.is_dir():
        path, format = _in_folder(path, format)
    elif path.name == "vocab.json":
        path, format = path.with_name("merges.txt"), format or "merges+vocab"
    data = content(path)
    if not data:
        raise FileFormatError("the file is empty", where=str(path))
    return data, path, format or detect(data, path)


def find_several(folder: Path) -> list[Path]:
    """Return the tokenizers among the files and folders of a folder that is not one itself; none if it is."""
    if not folder.is_dir() or _is_named_tokenizer(folder):
        return []
    return [entry for entry in sorted(folder.iterdir()) if _is_named_tokenizer(entry)]


def _is_named_tokenizer(path: Path) -> bool:
    """Return whether a file has a name of tokenizers, or a folder has a tokenizer."""
    if not path.is_dir():
        return _TOKENIZER_NAME.search(path.name) is not None
    try:
        _in_folder(path, None)
    except FileFormatError:
        return False
    return True


def _in_folder(folder: Path, format: str | None) -> tuple[Path, str | None]:
    names = {entry.name for entry in folder.iterdir()}
    ranked = sorted(name for name in names if name.endswith(".tiktoken"))
    is_ranked = format in (None, "tiktoken") and not names & {"tokenizer.json", "tekken.json", "merges.txt"}
    if len(ranked) > 1 and is_ranked:
        what = "this folder has several .tiktoken files"
        raise FileFormatError(what, value=ranked, where=str(folder), hint="give the path of one of them")
    candidates: list[tuple[str, tuple[str | None, ...]]] = [
        *_IN_FOLDERS.items(),
        ("merges.txt", ("merges+vocab",) if "vocab.json" in names else _MERGES),
        *((name, ("tiktoken",)) for name in ranked),
        ("merges.txt", _MERGES),
        ("vocab.txt", ("vocab.txt",)),
    ]
    for name, formats in candidates:
        if name in names and (format is None or format in formats):
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
    if _RWKV_LINE.match(data):
        return "rwkv"
    if data.startswith(CLIP_HEADER.encode()):
        return "clip"
    if _OBJECT.match(data):
        # A plain search first, because it is much faster.
        return "tekken" if _TEKKEN in data and re.search(_TEKKEN + rb"\s*:", data) else "tokenizer.json"
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
    hint = "this is a file of ids; a tokenizer is expected here" if is_ids else f"give --format: {', '.join(FORMATS)}"
    what = "the format cannot be recognised from the content or the name of the file"
    raise FileFormatError(what, where=str(path), hint=hint)


def _begins_with_piece(data: bytes) -> bool:
    """Return whether the data begin as a SentencePiece model: field 1, a message of a string and a score."""
    if data[:1] != b"\n":
        return False
    # The lengths of the first pieces are below 128, one byte each; the score is a float, field 2.
    piece = data[2 : 2 + data[1]] if len(data) > 1 and data[1] < 0x80 else b""
    return len(piece) > 6 and piece[0] == 0x0A and piece[2 + piece[1] : 3 + piece[1]] == b"\x15"

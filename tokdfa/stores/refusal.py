"""What is not a file of ids: the error that says so, and what to do with it instead."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

from tokdfa.errors import TokdfaError, TokenStreamError

__all__ = ["RECORDS", "SUFFIXES", "names_another_format", "refusal"]

SUFFIXES = (".npy", ".bin", ".json", ".txt")
"""The suffixes of files of nothing but ids."""

RECORDS = (".jsonl", ".ndjson", ".parquet", ".arrow", ".feather", ".mds", ".ds", ".npz", ".tar")
"""The suffixes of other stores."""

_PACKED = {".gz": "zcat", ".zst": "zstdcat", ".bz2": "bzcat", ".xz": "xzcat"}
_TENSORS = (".pt", ".pth", ".safetensors")
_NUMBERS = re.compile(r"\[?\s*\d+(?:[\s,]+\d+)*\s*\]?", re.ASCII)
_MOST_ENTRIES = 10_000
_NOT_NPY = {*SUFFIXES, *RECORDS, *_PACKED, *_TENSORS, ".zstd", ".br", ".snappy", ".idx", ".csv", ".tsv"} - {".npy"}


def names_another_format(path: Path) -> bool:
    """Return whether the name of a file promises another format than .npy."""
    return path.suffix.lower() in _NOT_NPY


def refusal(path: Path) -> TokdfaError | OSError:
    """Return the error about a path from which no ids can be read, because of what it is or how its name ends.

    Parameters
    ----------
    path : Path
        A folder, a file with another suffix than those of ids, or nothing that exists.

    Returns
    -------
    TokdfaError or OSError
        A FileNotFoundError if nothing is there, unless the path is itself a list of numbers.
    """
    if path.is_dir():
        return _of_folder(path)
    if not path.exists():
        if _NUMBERS.fullmatch(str(path)):
            hint = f"give - for standard input, such as: echo {_words(str(path))} | tokdfa validate TOK -"
            return TokenStreamError("ids are read from a file or standard input", value=str(path), hint=hint)
        return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    return TokenStreamError(
        "no ids can be read from a file with this suffix", value=path.suffix, where=str(path), hint=_hint(path)
    )


def _of_folder(path: Path) -> TokenStreamError:
    with os.scandir(path) as entries:
        found = {
            Path(entry.name).suffix.lower()
            for entry, _ in zip(entries, range(_MOST_ENTRIES), strict=False)
            if entry.is_file()
        }
    known = sorted(found & {*SUFFIXES, *RECORDS})
    if not known:
        hint = f"no {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]} file is in it"
    else:
        dtype = " --dtype uint16" if known == [".bin"] else ""
        hint = f"tokdfa validate TOK {path}{dtype} checks all files in it"
    return TokenStreamError("this is a folder, and ids are read from one file at a time", where=str(path), hint=hint)


def _hint(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes] or [""]
    last = suffixes[-1]
    inner = suffixes[-2] if last in _PACKED and len(suffixes) > 1 else last
    if last in _PACKED and inner in (".txt", ".json", ".bin"):
        dtype = " --dtype uint16" if inner == ".bin" else ""
        return f"unpack it: {_PACKED[last]} {path} | tokdfa validate TOK -{dtype}"
    if last in _TENSORS:
        return "write the ids as one array of integers: numpy.save('ids.npy', array)"
    return f"use {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}, another store, or - for standard input"


def _words(numbers: str) -> str:
    return " ".join(re.findall(r"\d+", numbers, re.ASCII)[:8])

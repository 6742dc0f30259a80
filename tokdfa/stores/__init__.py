"""Token streams on disk: reading ids from files of several formats, in chunks, in constant memory.

`iter_ids` below chooses the reader by the name of the file. `binary` reads raw integers and the data of ``.npy``
files, whose headers `npy` checks; `text` reads integers as text and as JSON. `tuning` sets how much is read at a
time, and `refusal` says what to do with what is not a file of ids.

Used by: the commands that take IDS.

Cost: 46 to 58 M ids a second from ``.npy``; chunks of 262,144 ids, whatever the size of the file.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO

from tokdfa.arrays import IntegerArray
from tokdfa.errors import TokenStreamError
from tokdfa.stores.binary import dtype_of, iter_bin, iter_npy, iter_stream
from tokdfa.stores.refusal import SUFFIXES, refusal
from tokdfa.stores.text import iter_json, iter_text, iter_text_or_json
from tokdfa.stores.tuning import DEFAULT, Tuning

__all__ = ["iter_ids"]


def iter_ids(source: str | Path, *, dtype: str | None = None, tuning: Tuning = DEFAULT) -> Iterator[IntegerArray]:
    """Yield the ids of a file, chunk by chunk.

    Parameters
    ----------
    source : str or Path
        A file, whose name gives its format: ``.npy``; ``.bin``, raw integers of the given `dtype`; ``.json``, one flat
        array of integers; ``.txt``, integers separated by white space. ``-`` is standard input: raw integers with
        `dtype`, otherwise text, which is an array if it begins with a bracket, and else integers separated by white
        space.
    dtype : str, optional
        The integer type of raw data, as numpy names it: ``uint16``, ``uint32``, ``>u2`` …
    tuning : Tuning, optional
        How much is read at a time.

    Yields
    ------
    integer array
        One-dimensional, not empty, of any width. It is not checked whether they are ids of a tokenizer. For an empty
        array in a ``.npy`` or ``.json`` file nothing is yielded.

    Raises
    ------
    TokenStreamError
        If the file is not what its name says, holds anything but integers, ends in the middle of one, or is empty;
        the error says where. In ``.json`` and text this is raised only when the place is reached.
    OSError
        If the file cannot be read.
    """
    if str(source) == "-":
        if dtype is not None:
            return iter_stream(sys.stdin.buffer, dtype_of(dtype), "standard input", tuning=tuning)
        return iter_text_or_json(sys.stdin.buffer, "standard input", tuning=tuning)
    path = Path(source)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES or path.is_dir():
        raise refusal(path)
    if suffix == ".bin":
        if dtype is None:
            raise TokenStreamError(
                "a .bin file does not record the type of its integers",
                where=str(path),
                hint="give --dtype, such as uint16",
            )
        return iter_bin(path, dtype_of(dtype), tuning=tuning)
    if dtype is not None:
        raise TokenStreamError(
            "a dtype can be given only for .bin files and standard input", value=dtype, where=str(path)
        )
    if suffix == ".npy":
        return iter_npy(path, tuning=tuning)
    if suffix == ".json":
        return _of_file(path, partial(iter_json, tuning=tuning))
    return _of_file(path, partial(iter_text, tuning=tuning))


def _of_file(path: Path, read: Callable[[BinaryIO, str], Iterator[IntegerArray]]) -> Iterator[IntegerArray]:
    # A missing file is reported now; a file is kept open only while it is read.
    with path.open("rb"):
        pass

    def chunks() -> Iterator[IntegerArray]:
        yield from read(path.open("rb"), str(path))

    return chunks()

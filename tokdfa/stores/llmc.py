"""Token files of llm.c and modded-nanogpt: a header of 256 integers, and then the ids.

Notes
-----
The header is 256 times i32: the magic number, 20240520 for u16 (version 1) or 20240801 for u32 (version 7); the
version; the number of ids. 20240522 is a file of evaluations, which is no stream. Each document begins with the id that
ends texts, so the boundaries of documents are not recorded apart.
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from tokdfa.base.errors import TokenStreamError
from tokdfa.stores.raw import RawStore
from tokdfa.stores.store import Dtype, Problem

__all__ = ["is_llmc", "open_llmc"]

_HEADER = 1024
_DTYPES = {20240520: (1, "<u2"), 20240801: (7, "<u4")}
_EVALUATION = 20240522


def is_llmc(head: bytes) -> bool:
    """Return whether a file with these first bytes is a token file."""
    return len(head) >= 12 and _fields(head)[0] in (*_DTYPES, _EVALUATION) and 0 <= _fields(head)[1] < 256


def open_llmc(path: Path) -> RawStore:
    """Open a token file."""
    with path.open("rb") as stream:
        head = stream.read(_HEADER)
        size = stream.seek(0, 2)
    magic, version, count = _fields(head)
    if magic == _EVALUATION:
        what = "a file of evaluations, and not a stream of ids"
        raise TokenStreamError(what, where=str(path), hint="give a file of tokens")
    expected_version, name = _DTYPES[magic]
    dtype: Dtype = np.dtype(name)
    problems = []
    if version != expected_version:
        problems.append(Problem(str(path), f"version {version} is not that of magic number {magic}"))
    # The count is 32 bits, and modded-nanogpt's writer refuses more than 2**31 ids.
    expected = _HEADER + count * dtype.itemsize
    if size != expected:
        what = f"the header says {count} ids, so {expected} bytes, and the file has {size}"
        problems.append(Problem(str(path), what))
    n_ids = max(min(count, (size - _HEADER) // dtype.itemsize), 0)
    return RawStore(path, "llm.c", path, dtype, _HEADER, n_ids, problems=problems)


def _fields(head: bytes) -> tuple[int, int, int]:
    magic, version, count = struct.unpack("<3i", head[:12])
    return magic, version, count

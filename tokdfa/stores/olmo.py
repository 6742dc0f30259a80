"""Dolma and OLMo: raw integers in ``X.npy``, which is no NPY file, and their documents in ``X.csv.gz``.

Notes
-----
As dolma's tokens command and OLMo-core write and read them. The lines of the .csv.gz are
``start,end[,id,source,location]``, counted in ids. Nothing records the type of the integers; if the documents are
known, the number of ids and the size of the file give it.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tokdfa.base.arrays import Int64Array
from tokdfa.base.errors import TokenStreamError
from tokdfa.stores.raw import Boundaries, RawStore
from tokdfa.stores.store import Dtype, Problem

__all__ = ["open_olmo"]

_BY_SIZE = {1: "u1", 2: "<u2", 4: "<u4", 8: "<u8"}
_BLOCK = 1 << 20


def open_olmo(path: Path, dtype: Dtype | None = None) -> RawStore:
    """Open raw integers, with the documents in the file beside it if there is one."""
    beside = path.with_suffix(".csv.gz")
    size = path.stat().st_size
    problems: list[Problem] = []
    boundaries = n_by_documents = None
    if beside.is_file():
        starts, n_by_documents = _read(beside, problems)
        boundaries = Boundaries(len(starts), lambda first, n: starts[first : first + n])
    if dtype is None:
        per_id = size / n_by_documents if n_by_documents else 0
        if per_id not in _BY_SIZE:
            raise TokenStreamError(
                "not a complete .npy file of integers: it does not begin like a .npy file",
                where=str(path),
                hint="if these are raw integers, as OLMo writes them, give --dtype, such as uint16",
            )
        dtype = np.dtype(_BY_SIZE[int(per_id)])
    count, rest = divmod(size, dtype.itemsize)
    if rest:
        problems.append(Problem(str(path), f"the file ends in the middle of a {dtype.name}, after {size} bytes"))
    if n_by_documents is not None and n_by_documents != count and not problems:
        what = f"the last document ends at id {n_by_documents}, and there are {count}"
        problems.append(Problem(str(beside), what))
    files = (path,) if boundaries is None else (path, beside)
    return RawStore(path, "OLMo", path, dtype, 0, count, boundaries=boundaries, files=files, problems=problems)


def _read(path: Path, problems: list[Problem]) -> tuple[Int64Array, int]:
    """Return the starts of the documents, 8 bytes each, and the end of the last one; none if something is wrong."""
    parts: list[Int64Array] = [np.empty(0, dtype=np.int64)]
    end = number = 0

    def wrong(line: int, what: str) -> tuple[Int64Array, int]:
        problems.append(Problem(f"{path}, line {line}", what))
        return parts[0], 0

    try:
        for lines in _blocks(path):
            rows = []
            for line in lines:
                number += 1
                first, _, rest = line.partition(b",")
                second = rest.partition(b",")[0].strip()
                if not (first.isdigit() and second.isdigit() and len(first) < 19 and len(second) < 19):
                    # A first line may name the columns.
                    if number > 1 or not line.lower().startswith(b"start"):
                        return wrong(number, "it does not begin with two numbers")
                    continue
                begin, stop = int(first), int(second)
                if begin != end or stop < begin:
                    return wrong(number, f"a document from {begin} to {stop} follows one that ends at {end}")
                rows.append(begin)
                end = stop
            parts.append(np.array(rows, dtype=np.int64))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        return wrong(number + 1, f"the file is cut short or damaged: {error}")
    return np.concatenate(parts), end


def _blocks(path: Path) -> Iterator[list[bytes]]:
    with gzip.open(path, "rb") as stream:
        rest = b""
        while block := stream.read(_BLOCK):
            lines = (rest + block).split(b"\n")
            rest = lines.pop()
            yield [line for line in lines if line.strip()]
        if rest.strip():
            yield [rest]

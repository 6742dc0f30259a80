"""Datatrove and nanotron: ``X.ds`` with the ids, and beside it ``.index``, ``.loss`` and ``.metadata``.

Notes
-----
As datatrove's ``TokenizedFile`` writes them: ``.index`` has the end of each document in ids, as u64; ``.loss`` one
byte an id; ``.metadata`` three lines, the tokenizer with the size of an id after ``|`` (2 bytes if it is missing), the
number of ids, and the same for people. A nanoset is a folder of such files.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tokdfa.base.arrays import Int64Array
from tokdfa.base.errors import TokenStreamError
from tokdfa.stores.raw import Boundaries, IntegerFile, RawStore
from tokdfa.stores.store import Dtype, Problem

__all__ = ["open_datatrove"]

_SIZES = {2: "<u2", 4: "<u4"}
_LONGEST_METADATA = 1 << 16


def open_datatrove(path: Path, dtype: Dtype | None = None) -> RawStore:
    """Open a .ds file; without .metadata, `dtype` or the number of ids in .index says how many bytes an id has."""
    metadata, index, loss = (path.with_name(path.name + suffix) for suffix in (".metadata", ".index", ".loss"))
    problems: list[Problem] = []
    count = None
    if metadata.is_file():
        with metadata.open("rb") as stream:
            lines = stream.read(_LONGEST_METADATA).decode("utf-8", "replace").splitlines()
        size = (lines[0] if lines else "").rpartition("|")[2] if "|" in (lines[0] if lines else "") else "2"
        if dtype is None and size in ("2", "4"):
            dtype = np.dtype(_SIZES[int(size)])
        elif size not in ("2", "4"):
            problems.append(Problem(str(metadata), f"an id has 2 or 4 bytes, and here {size!r}"))
        if len(lines) < 2 or not (lines[1].isascii() and lines[1].isdecimal()):
            problems.append(Problem(str(metadata), "the second line is not the number of ids"))
        else:
            count = int(lines[1])
    n_bytes = path.stat().st_size
    documents = _index(index, problems) if index.is_file() else None
    if dtype is None:
        n_ids = None if documents is None or not documents.count else int(documents.read(documents.count - 1, 1)[0])
        size_of_id = n_bytes / n_ids if n_ids else 0
        if size_of_id not in _SIZES:
            what = "a .ds file without .metadata does not record the type of its integers"
            raise TokenStreamError(what, where=str(path), hint="give --dtype, such as uint16")
        dtype = np.dtype(_SIZES[int(size_of_id)])
    n_ids, rest = divmod(n_bytes, dtype.itemsize)
    if rest:
        problems.append(Problem(str(path), f"the file ends in the middle of an id, after {n_bytes} bytes"))
    if count is not None and count != n_ids:
        problems.append(Problem(str(metadata), f"it says {count} ids, and {path.name} has {n_ids}"))
    if documents is not None:
        problems += _of_ends(documents, n_ids)
    has_mask = loss.is_file()
    if has_mask and loss.stat().st_size != n_ids:
        problems.append(Problem(str(loss), f"it has {loss.stat().st_size} bytes for {n_ids} ids"))
    return RawStore(
        path,
        "datatrove",
        path,
        dtype,
        0,
        n_ids,
        boundaries=None if documents is None else _boundaries(documents),
        mask=loss if has_mask else None,
        files=(path, *(file for file in (index, loss, metadata) if file.is_file())),
        problems=problems,
    )


def _boundaries(ends: IntegerFile) -> Boundaries:
    """Return where documents begin, given where they end."""

    def starts_from(first: int, n: int) -> Int64Array:
        n = min(n, ends.count - first)
        if first > 0:
            return ends.read(first - 1, n)
        return np.concatenate((np.zeros(min(n, 1), dtype=np.int64), ends.read(0, n - 1)))

    return Boundaries(ends.count, starts_from)


def _index(path: Path, problems: list[Problem]) -> IntegerFile:
    count, rest = divmod(path.stat().st_size, 8)
    if rest:
        problems.append(Problem(str(path), f"it ends in the middle of entry {count}"))
    return IntegerFile(path, "<u8", 0, count)


def _of_ends(ends: IntegerFile, n_ids: int) -> list[Problem]:
    """Return where the ends of documents do not rise, or go past the ids or not as far."""
    last = 0
    for first, part in ends.iter_parts():
        wrong = np.flatnonzero((np.diff(part, prepend=last) < 0) | (part > n_ids))
        if len(wrong):
            at = int(wrong[0])
            before = part[at - 1] if at else last
            past = part[at] >= before
            what = f"it ends at id {part[at]}, " + (
                f"and there are {n_ids}" if past else f"before the document before it, at {before}"
            )
            return [Problem(f"{ends.path}, document {first + at}", what)]
        last = int(part[-1])
    if last != n_ids:
        return [Problem(str(ends.path), f"the last document ends at id {last}, and there are {n_ids}")]
    return []

"""Raw integers with their documents in another file: Megatron, datatrove and nanotron, Dolma and OLMo.

Megatron: ``PREFIX.bin`` with the ids, and ``PREFIX.idx`` with their type, sequences and documents. The layout follows
``megatron/core/datasets/indexed_dataset.py``; datatrove and NeMo Curator write it too. Integers are little-endian::

    0        9 bytes  MMIDIDX and two zero bytes
    9        u64      version, 1
    17       u8       type: 1 u8, 2 i8, 3 i16, 4 i32, 5 i64, 6 f64, 7 f32, 8 u16
    18       u64      S, the number of sequences
    26       u64      D, the number of entries of the index of documents: one more than there are documents
    34       i32[S]   the lengths of the sequences, in ids
    34+4S    i64[S]   the bytes of .bin at which they begin
    34+12S   i64[D]   the first sequence of each document, and S at the end
    34+12S+8D  i8[S]  modes, only of multimodal data: 0 is text

Datatrove and nanotron: ``X.ds`` with the ids, and next to it ``.index``, ``.loss`` and ``.metadata``. As datatrove's
``TokenizedFile`` writes them: ``.index`` has the end of each document in ids, as u64; ``.loss`` one byte an id;
``.metadata`` three lines, the tokenizer with the size of an id after ``|`` (2 bytes if it is missing), the number of
ids, and the same for people. A nanoset is a folder of such files.

Dolma and OLMo: raw integers in ``X.npy``, which is not an NPY file, and their documents in ``X.csv.gz``. As dolma's
tokens command and OLMo-core write and read them. The lines of the .csv.gz are ``start,end[,id,source,location]``,
counted in ids. Nothing records the type of the integers; if the documents are known, the number of ids and the size of
the file give it.
"""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tokdfa.base.arrays import Int64Array
from tokdfa.base.errors import TokenStreamError, UnsupportedFeatureError
from tokdfa.base.files import open_named, read_named
from tokdfa.stores.raw import Boundaries, IntegerFile, RawStore
from tokdfa.stores.store import Dtype, Problem, UnrecordedTypeError

MAGIC = b"MMIDIDX\0\0"
_HEAD = struct.Struct("<9sQBQQ")
_DTYPES = {1: "<u1", 2: "<i1", 3: "<i2", 4: "<i4", 5: "<i8", 8: "<u2"}
_FLOATS = {6: "float64", 7: "float32"}


def open_megatron(path: Path) -> RawStore:
    """Open a dataset by its .idx or its .bin file; sequences that are not text are refused."""
    index, data = path.with_suffix(".idx"), path.with_suffix(".bin")
    with open_named(index) as stream:
        head, size = stream.read(_HEAD.size), stream.seek(0, 2)
    if len(head) < _HEAD.size or not head.startswith(MAGIC):
        raise TokenStreamError("not an index of Megatron: its header is missing or cut short", where=str(index))
    _, version, code, n_sequences, n_entries = _HEAD.unpack(head)
    if version != 1:
        raise TokenStreamError("not a version of Megatron's index", value=version, where=str(index))
    if code not in _DTYPES:
        raise TokenStreamError("ids must be integers", value=_FLOATS.get(code, f"code {code}"), where=str(index))
    dtype: Dtype = np.dtype(_DTYPES[code])
    n_bytes = data.stat().st_size
    expected = _HEAD.size + 12 * n_sequences + 8 * n_entries
    files = (data, index)
    if size not in (expected, expected + n_sequences):
        what = f"the index has {size} bytes instead of {expected}, for {n_sequences} sequences and {n_entries} entries"
        problems = [Problem(str(index), what)]
        return RawStore(path, "Megatron", IntegerFile(data, dtype, 0, 0), files=files, problems=problems)
    lengths = IntegerFile(index, "<i4", _HEAD.size, n_sequences)
    offsets = IntegerFile(index, "<i8", _HEAD.size + 4 * n_sequences, n_sequences)
    entries = IntegerFile(index, "<i8", _HEAD.size + 12 * n_sequences, n_entries)
    problems = _of_sequences(lengths, offsets, dtype.itemsize, n_bytes, data) + _of_documents(entries, n_sequences)
    if size > expected:
        for first, modes in IntegerFile(index, "<i1", expected, n_sequences).iter_parts():
            for at in np.flatnonzero(modes)[:1].tolist():
                where = f"{index}, sequence {first + at}"
                raise UnsupportedFeatureError("a sequence that is not text", value=f"mode {modes[at]}", where=where)
    boundaries = _boundaries(entries, offsets, dtype.itemsize, n_bytes)
    ids = IntegerFile(data, dtype, 0, n_bytes // dtype.itemsize)
    return RawStore(path, "Megatron", ids, boundaries=boundaries, files=files, problems=problems)


def _boundaries(entries: IntegerFile, offsets: IntegerFile, size: int, n_bytes: int) -> Boundaries:
    """Return where documents begin: at the offsets of their first sequences."""
    count = max(entries.count - 1, 0)

    def starts_from(first: int, n: int) -> Int64Array:
        sequences = entries.read(first, min(n, count - first))
        if not len(sequences):
            return sequences
        low, high = int(sequences[0]), int(sequences[-1])
        # A sequence number equal to the number of sequences belongs to an empty document at the end.
        found = offsets.read(low, high + 1 - low)
        found = np.append(found, np.full(high + 1 - low - len(found), n_bytes, dtype=np.int64))
        starts: Int64Array = found[sequences - low] // size
        return starts

    return Boundaries(count, starts_from)


def _of_sequences(lengths: IntegerFile, offsets: IntegerFile, size: int, n_bytes: int, data: Path) -> list[Problem]:
    """Return where lengths and offsets contradict each other, or the size of the data."""
    end = 0
    for first, part in lengths.iter_parts():
        begins = offsets.read(first, len(part))
        negative = np.flatnonzero(part < 0)
        if len(negative):
            return [Problem(f"{lengths.path}, sequence {first + int(negative[0])}", "its length is negative")]
        expected = end + size * (np.cumsum(part) - part)
        wrong = np.flatnonzero(begins != expected)
        if len(wrong):
            at = int(wrong[0])
            what = f"it begins at byte {begins[at]} instead of {expected[at]}"
            return [Problem(f"{offsets.path}, sequence {first + at}", what)]
        end += size * int(part.sum())
    if end != n_bytes:
        return [Problem(str(data), f"the file has {n_bytes} bytes, and {end} by its index")]
    return []


def _of_documents(entries: IntegerFile, n_sequences: int) -> list[Problem]:
    """Return where the index of documents does not rise from the first sequence to the last."""
    if not entries.count:
        return [Problem(str(entries.path), "the index of documents is empty")]
    last = 0
    for first, part in entries.iter_parts():
        wrong = np.flatnonzero(np.diff(part, prepend=last) < 0)
        if first == 0 and part[0] != 0:
            return [Problem(f"{entries.path}, document 0", f"it begins with sequence {part[0]} instead of 0")]
        if len(wrong):
            at = int(wrong[0])
            what = f"it begins with sequence {part[at]}, before the document before it"
            return [Problem(f"{entries.path}, document {first + at}", what)]
        last = int(part[-1])
    if last != n_sequences:
        what = f"the last document ends with sequence {last}, and there are {n_sequences}"
        return [Problem(f"{entries.path}, document {entries.count - 1}", what)]
    return []


def has_one_sequence_each(index: Path) -> bool:
    """Return whether each document of an index is one sequence."""
    with open_named(index) as stream:
        _, _, _, n_sequences, n_entries = _HEAD.unpack(stream.read(_HEAD.size))
    entries = IntegerFile(index, "<i8", _HEAD.size + 12 * n_sequences, n_entries)
    counted = ((part == first + np.arange(len(part))).all() for first, part in entries.iter_parts())
    return n_entries == n_sequences + 1 and all(counted)


def megatron_index(index: Path, n_ids: int, starts: Int64Array, size: int) -> Iterator[bytes]:
    """Yield an index like this one, for as many ids of `size` bytes, with a sequence for each document."""
    with open_named(index) as stream:
        magic, version, code, n_sequences, _ = _HEAD.unpack(stream.read(_HEAD.size))
        n_bytes = stream.seek(0, 2)
    n = len(starts)
    lengths = np.diff(starts, append=n_ids)
    if n and int(lengths.max()) >= 1 << 31:
        raise TokenStreamError("too many ids in a document", value=int(lengths.max()), where=str(index))
    yield _HEAD.pack(magic, version, code, n, n + 1)
    yield lengths.astype("<i4").tobytes()
    yield (starts * size).astype("<i8").tobytes()
    yield np.arange(n + 1, dtype="<i8").tobytes()
    # All modes are 0; see open_megatron.
    yield bytes(n if n_bytes > _HEAD.size + 12 * n_sequences + 8 * (n_sequences + 1) else 0)


_SIZES = {2: "<u2", 4: "<u4"}
_LONGEST_METADATA = 1 << 16


def open_datatrove(path: Path, dtype: Dtype | None = None) -> RawStore:
    """Open a .ds file; without .metadata, `dtype` or the number of ids in .index says how many bytes an id has."""
    metadata, index, loss = (path.with_name(path.name + suffix) for suffix in (".metadata", ".index", ".loss"))
    problems: list[Problem] = []
    count = None
    if metadata.is_file():
        with open_named(metadata) as stream:
            lines = [*stream.read(_LONGEST_METADATA).decode("utf-8", "replace").splitlines(), "", ""]
        _, bar, size = lines[0].rpartition("|")
        size = size if bar else "2"
        if dtype is None and size in ("2", "4"):
            dtype = np.dtype(_SIZES[int(size)])
        elif size not in ("2", "4"):
            problems.append(Problem(str(metadata), f"an id has 2 or 4 bytes, and here {size!r}"))
        if not (lines[1].isascii() and lines[1].isdecimal()):
            problems.append(Problem(str(metadata), "the second line is not the number of ids"))
        else:
            count = int(lines[1])
    n_bytes = path.stat().st_size
    documents = None
    if index.is_file():
        n_documents, rest = divmod(index.stat().st_size, 8)
        if rest:
            problems.append(Problem(str(index), f"it ends in the middle of entry {n_documents}"))
        documents = IntegerFile(index, "<u8", 0, n_documents)
    if dtype is None:
        n_ids = None if documents is None or not documents.count else int(documents.read(documents.count - 1, 1)[0])
        size_of_id = n_bytes / n_ids if n_ids else 0
        if size_of_id not in _SIZES:
            what = "a .ds file without .metadata does not record the type of its integers"
            raise UnrecordedTypeError(what, where=str(path), hint="give --dtype, such as uint16")
        dtype = np.dtype(_SIZES[int(size_of_id)])
    n_ids, rest = divmod(n_bytes, dtype.itemsize)
    if rest:
        problems.append(Problem(str(path), f"the file ends in the middle of an id, after {n_bytes} bytes"))
    if count is not None and count != n_ids:
        problems.append(Problem(str(metadata), f"it says {count} ids, and {path.name} has {n_ids}"))
    if documents is not None:
        problems += _of_ends(documents, n_ids)
    if loss.is_file() and loss.stat().st_size != n_ids:
        problems.append(Problem(str(loss), f"it has {loss.stat().st_size} bytes for {n_ids} ids"))
    files = (path, *(file for file in (index, loss, metadata) if file.is_file()))
    boundaries, mask = None if documents is None else _ends(documents), loss if loss.is_file() else None
    ids = IntegerFile(path, dtype, 0, n_ids)
    return RawStore(path, "datatrove", ids, boundaries=boundaries, mask=mask, files=files, problems=problems)


def _ends(ends: IntegerFile) -> Boundaries:
    """Return where documents begin, given where they end."""

    def starts_from(first: int, n: int) -> Int64Array:
        n = min(n, ends.count - first)
        if first > 0:
            return ends.read(first - 1, n)
        return np.concatenate((np.zeros(min(n, 1), dtype=np.int64), ends.read(0, n - 1)))

    return Boundaries(ends.count, starts_from)


def _of_ends(ends: IntegerFile, n_ids: int) -> list[Problem]:
    """Return where the ends of documents do not rise, or go past the ids or not as far."""
    last = 0
    for first, part in ends.iter_parts():
        wrong = np.flatnonzero((np.diff(part, prepend=last) < 0) | (part > n_ids))
        if len(wrong):
            at = int(wrong[0])
            before = part[at - 1] if at else last
            past = part[at] >= before
            why = f"and there are {n_ids}" if past else f"before the document before it, at {before}"
            return [Problem(f"{ends.path}, document {first + at}", f"it ends at id {part[at]}, {why}")]
        last = int(part[-1])
    if last != n_ids:
        return [Problem(str(ends.path), f"the last document ends at id {last}, and there are {n_ids}")]
    return []


def datatrove_file(file: Path, n_ids: int, starts: Int64Array) -> Iterator[bytes]:
    """Yield an index, or metadata, like those in a file, for as many ids."""
    if file.suffix == ".index":
        yield np.append(starts[1:], n_ids)[: len(starts)].astype("<u8").tobytes()
        return
    # The third line is the number for people, as humanize.metric writes it: 1234 is "1.23 kT".
    first, *_ = read_named(file).split(b"\n", 1)
    power = (len(str(n_ids)) - 1) // 3
    digits = max(0, 2 - (len(str(n_ids)) - 1) % 3)
    human = f"{n_ids / 1000**power:.{digits}f} {' kMGTPE'[power].strip()}T"
    yield b"\n".join((first, str(n_ids).encode(), human.encode()))


_BY_SIZE = {1: "u1", 2: "<u2", 4: "<u4", 8: "<u8"}


_BLOCK = 1 << 20


def open_olmo(path: Path, dtype: Dtype | None = None) -> RawStore:
    """Open raw integers, with the documents in the file next to it if it exists."""
    index = path.with_suffix(".csv.gz")
    size = path.stat().st_size
    problems: list[Problem] = []
    boundaries = n_by_documents = None
    if index.is_file():
        starts, n_by_documents = _read(index, problems)
        boundaries = Boundaries(len(starts), lambda first, n: starts[first : first + n])
    if dtype is None:
        per_id = size / n_by_documents if n_by_documents else 0
        if per_id not in _BY_SIZE:
            what = "not a complete .npy file of integers: it does not begin like a .npy file"
            hint = "if these are raw integers, as OLMo writes them, give --dtype, such as uint16"
            raise UnrecordedTypeError(what, where=str(path), hint=hint)
        dtype = np.dtype(_BY_SIZE[int(per_id)])
    count, rest = divmod(size, dtype.itemsize)
    if rest:
        problems.append(Problem(str(path), f"the file ends in the middle of a {dtype.name}, after {size} bytes"))
    if n_by_documents is not None and n_by_documents != count and not problems:
        problems.append(Problem(str(index), f"the last document ends at id {n_by_documents}, and there are {count}"))
    files, ids = (path,) if boundaries is None else (path, index), IntegerFile(path, dtype, 0, count)
    return RawStore(path, "OLMo", ids, boundaries=boundaries, files=files, problems=problems)


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


def olmo_documents(path: Path, n_ids: int, starts: Int64Array) -> Iterator[bytes]:
    """Yield the packed lines of a file of documents with other bounds."""
    bounds = [*starts.tolist(), n_ids]
    number = 0
    packer = zlib.compressobj(wbits=31)
    for lines in _blocks(path):
        written = []
        for line in lines:
            first, _, rest = line.partition(b",")
            if first.isdigit():
                _, comma, more = rest.partition(b",")
                line = b"%d,%d%s" % (bounds[number], bounds[number + 1], comma + more if comma else b"")
                number += 1
            written.append(line + b"\n")
        yield packer.compress(b"".join(written))
    yield packer.flush()


def _blocks(path: Path) -> Iterator[list[bytes]]:
    with gzip.open(path, "rb") as stream:
        rest = b""
        while block := stream.read(_BLOCK):
            lines = (rest + block).split(b"\n")
            rest = lines.pop()
            yield [line for line in lines if line.strip()]
        if rest.strip():
            yield [rest]

"""Corpora: files, folders, patterns of names and standard input, in blocks, and pieces with multiplicities."""

from __future__ import annotations

import glob
import gzip
import io
import os
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np

from tokdfa.base.arrays import Int64Array, Uint8Array
from tokdfa.base.errors import FileFormatError, TrainingError
from tokdfa.base.files import open_named
from tokdfa.kernels.train.merging import Pieces

# The number of bytes (unpacked) that are read at once. One thread counts a block while another block is read. Larger
# blocks take more memory for every thread; smaller ones need more merging of counts.
BLOCK = 1 << 20

_CHUNK = 1 << 18


@contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    """Open a file for reading, unpacked if its name ends in .gz or .zst; ``-`` is standard input.

    A file that is damaged or truncated is a FileFormatError while reading.
    """
    if path == "-":
        yield sys.stdin.buffer
    elif path.endswith(".gz"):
        try:
            with gzip.open(path) as stream:
                yield cast(BinaryIO, stream)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise FileFormatError(f"damaged gzip: {error}", where=path) from None
    elif path.endswith(".zst"):
        try:
            import zstandard
        except ImportError:
            hint = "pip install 'tokdfa[zstd]'"
            raise TrainingError("reading .zst needs the package zstandard", where=path, hint=hint) from None
        try:
            with open_named(path) as packed:
                yield cast(BinaryIO, io.BufferedReader(_Zstandard(packed, zstandard.ZstdDecompressor(), path), _CHUNK))
        except zstandard.ZstdError as error:
            raise FileFormatError(f"damaged zstd: {error}", where=path) from None
    else:
        with open_named(path) as stream:
            yield stream


class _Zstandard(io.RawIOBase):
    """Unpacks all frames of a file. The package's own reader accepts a truncated file as complete."""

    def __init__(self, packed: BinaryIO, decompressor: Any, path: str) -> None:
        self._packed = packed
        self._decompressor = decompressor
        self._frame = decompressor.decompressobj()
        self._is_begun = False
        self._path = path
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            if self._frame.eof:
                data = self._frame.unused_data or self._packed.read(_CHUNK)
                self._frame = self._decompressor.decompressobj()
                self._is_begun = False
            else:
                data = self._packed.read(_CHUNK)
            if not data:
                if self._is_begun:
                    raise FileFormatError("damaged zstd: the file is truncated", where=self._path)
                return 0
            self._is_begun = True
            self._ready = memoryview(self._frame.decompress(data))
        taken = min(len(buffer), len(self._ready))
        buffer[:taken] = self._ready[:taken]
        self._ready = self._ready[taken:]
        return taken


# The number of bytes of context after a cut, for splitting the text before it: two characters of UTF-8.
_CONTEXT = 8


class Block(NamedTuple):
    """A text of a corpus; its pieces can be counted separately.

    `context` is the text that follows, as far as the pieces of `text` can depend on it; it is empty at the end of the
    file. `path` names the file, `offset` is the byte at which the text begins in it (unpacked), and `file` is the
    number of the file.
    """

    text: bytes
    context: bytes
    path: str
    file: int
    offset: int


@dataclass(frozen=True, slots=True)
class Corpus:
    """The files of a corpus, in the order in which they are read, unpacked if they end in .gz or .zst.

    A file named ``-`` is standard input.
    """

    files: tuple[str, ...]
    block: int = BLOCK

    @classmethod
    def find(cls, sources: Sequence[str | Path], *, block: int = BLOCK) -> Corpus:
        """Return the corpus of these files, folders and patterns of names; each gives one file at least.

        A folder gives all files in it and its subfolders, in the order of their names, except hidden ones. A pattern
        (``*``, ``?``, ``[…]``, ``**``) gives the files that match it, in the order of their names.
        """
        files: list[str] = []
        for source in map(str, sources):
            found = list(_expand(source))
            if not found:
                what = "no files in this folder" if os.path.isdir(source) else "no file has this name or matches it"
                hint = "sources are files: write the text into one" if any(map(str.isspace, source)) else None
                raise TrainingError(what, value=source, hint=hint)
            files.extend(found)
        if not files:
            raise TrainingError("a corpus needs at least one file")
        return cls(tuple(files), block)

    def size(self) -> int | None:
        """Return the total number of bytes of all files on disk, or None if it cannot be known."""
        if "-" in self.files:
            return None
        return sum(os.stat(path).st_size for path in self.files)

    def stamp(self) -> list[list[object]]:
        """Return the identity of this corpus: names, sizes and times of the files."""
        stats = [(path, os.stat(path)) for path in self.files]
        return [[os.path.abspath(path), stat.st_size, stat.st_mtime_ns] for path, stat in stats]

    def blocks(self, last_cut: Callable[[bytes], int], file: int = 0, offset: int = 0) -> Iterator[Block]:
        """Yield the text in blocks, from byte `offset` of file number `file` on, which is the beginning of a block.

        `last_cut` returns the last offset at which a segment of text can be cut, two characters or more before its end,
        or 0 if there is none. Then the blocks grow, up to the whole file if necessary.
        """
        for number in range(file, len(self.files)):
            yield from self._blocks_of(number, offset if number == file else 0, last_cut)

    def _blocks_of(self, number: int, offset: int, last_cut: Callable[[bytes], int]) -> Iterator[Block]:
        path = self.files[number]
        with opened(path) as stream:
            _skip(stream, offset, path, self.block)
            parts: list[bytes] = []
            while more := stream.read(self.block):
                # The text before was searched already, except for a cut too near its end.
                tail = parts[-1][-2 * _CONTEXT :] if parts else b""
                cut = last_cut(tail + more)
                parts.append(more)
                if cut:
                    text = b"".join(parts)
                    cut += len(text) - len(more) - len(tail)
                    yield Block(text[:cut], text[cut : cut + _CONTEXT], path, number, offset)
                    offset += cut
                    parts = [text[cut:]]
            if text := b"".join(parts):
                yield Block(text, b"", path, number, offset)


def _expand(source: str) -> Iterator[str]:
    if source == "-" or os.path.isfile(source):
        yield source
    elif os.path.isdir(source):
        for folder, folders, names in os.walk(source, onerror=_raise):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                path = os.path.join(folder, name)
                if not name.startswith(".") and os.path.isfile(path):
                    yield path
    elif os.path.exists(source):
        # A pipe or a device; it is read as it comes.
        yield source
    else:
        yield from sorted(path for path in glob.iglob(source, recursive=True) if os.path.isfile(path))


def _raise(error: OSError) -> None:
    raise error


def _skip(stream: BinaryIO, offset: int, path: str, block: int) -> None:
    if stream.seekable():
        stream.seek(offset)
        return
    while offset:
        passed = len(stream.read(min(offset, block)))
        if not passed:
            raise TrainingError("the file became shorter while it was read", where=path)
        offset -= passed


class PieceCounts(Mapping[bytes, int]):
    """Unique pieces, as bytes, with their multiplicities, in the order of their first occurrence. Immutable.

    `text` has the pieces, none empty, one after the other; `ends` where each ends; `counts` how often it occurs.
    """

    def __init__(self, text: Uint8Array, ends: Int64Array, counts: Int64Array) -> None:
        self.text = text
        self.ends = ends
        self.counts = counts
        for array in (text, ends, counts):
            array.setflags(write=False)

    @property
    def spans(self) -> Int64Array:
        """The beginning and end of each piece in the text, as an array of shape (pieces, 2)."""
        starts = np.concatenate((np.zeros(1, np.int64), self.ends))[: len(self)]
        return np.stack((starts, self.ends), axis=1)

    @cached_property
    def _dict(self) -> dict[bytes, int]:
        return dict(zip(self, self.counts.tolist(), strict=True))

    def characters(self) -> dict[str, int]:
        """Return the pieces as strings, with their multiplicities, in the same order; they must be UTF-8."""
        try:
            return {piece.decode(): count for piece, count in zip(self, self.counts.tolist(), strict=True)}
        except UnicodeDecodeError as error:
            raise TrainingError("a piece is not UTF-8, so it has no characters", value=error.object) from None

    def __getitem__(self, piece: bytes) -> int:
        return self._dict[piece]

    def __iter__(self) -> Iterator[bytes]:
        text = self.text.tobytes()
        return (text[start:end] for start, end in pairwise([0, *self.ends.tolist()]))

    def __len__(self) -> int:
        return len(self.ends)

    def __repr__(self) -> str:
        return f"<PieceCounts: {len(self)} pieces of {int(self.counts.sum())}>"


class PieceTable(Pieces):
    """Counts pieces as they come, in memory that grows only with the unique ones."""

    def add_counts(self, counts: PieceCounts) -> None:
        """Add counts made elsewhere."""
        self.add(counts.text, counts.spans, counts.counts)

    def counts(self) -> PieceCounts:
        """Return the counts so far."""
        return PieceCounts(*self.contents())


def with_marks(
    pieces: Mapping[str, int], end: str = "", *, attached: bool = False, prefix: str = ""
) -> dict[tuple[str, ...], int]:
    """Return pieces over symbols: a mark at their ends, and a prefix before each symbol but the first.

    The mark is part of the last symbol if `attached` (subword-nmt from version 0.2 on, tokenizers), or a symbol of its
    own (BLOG, subword-nmt before). With the mark ``</w>`` attached and the prefix ``##``, ``abc`` becomes a, ##b,
    ##c</w>.
    """
    found = {(piece[0], *(prefix + symbol for symbol in piece[1:])): count for piece, count in pieces.items()}
    if not end:
        return found
    if attached:
        return {(*piece[:-1], piece[-1] + end): count for piece, count in found.items()}
    return {(*piece, end): count for piece, count in found.items()}

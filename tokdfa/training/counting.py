"""Counting the pieces of a corpus of any size, on several threads, with checkpoints."""

from __future__ import annotations

import io
import json
import time
import zipfile
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tokdfa.base.atomic import write_atomically
from tokdfa.base.errors import FileFormatError, TokenStreamError, TrainingError
from tokdfa.stores.npy import read_header
from tokdfa.training.corpus import Block, Corpus
from tokdfa.training.pieces import PieceCounts, PieceTable
from tokdfa.training.splitting import CorpusSplitter

__all__ = ["Checkpoint", "count_corpus"]

_VERSION = 1
_NAMES = ("request", "text", "ends", "counts", "place")


class Checkpoint:
    """The checkpoint file of a training.

    The request has the corpus and the options, as JSON values. A checkpoint of another request is refused.
    """

    def __init__(self, path: str | Path, request: dict[str, Any]) -> None:
        self.path = Path(path)
        self._request = json.loads(json.dumps({"version": _VERSION, **request}))

    def load(self) -> tuple[PieceCounts, int, int] | None:
        """Return the pieces counted, and the file and the byte from which to go on; None if there is no checkpoint.

        A file that is no checkpoint is a FileFormatError, one of another corpus or other options a TrainingError.
        """
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return None
        try:
            arrays = _read_arrays(data)
            request = json.loads(arrays["request"].tobytes()) if arrays else None
        except (ValueError, EOFError, OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
            # RuntimeError is what a member with a password and JSON nested too deeply raise.
            raise FileFormatError(f"not a checkpoint: {error}", where=str(self.path), hint="delete it") from None
        if not isinstance(request, dict):
            raise FileFormatError("not a checkpoint: its arrays do not fit together", where=str(self.path),
                                  hint="delete it")  # fmt: skip
        if request != self._request:
            differing = [key for key in self._request if request.get(key) != self._request[key]]
            what = f"this checkpoint is of another training, which differs in {', '.join(differing) or 'the version'}"
            raise TrainingError(what, where=str(self.path), hint="delete it to start again")
        text, ends, counts, place = (arrays[name] for name in ("text", "ends", "counts", "place"))
        if not _are_counts(text, ends, counts) or place.dtype != np.int64 or place.shape != (2,) or (place < 0).any():
            raise FileFormatError("not a checkpoint: its arrays do not fit together", where=str(self.path),
                                  hint="delete it")  # fmt: skip
        return PieceCounts(text, ends, counts), int(place[0]), int(place[1])

    def save(self, pieces: PieceCounts, file: int, offset: int) -> None:
        """Write the checkpoint, replacing the previous one."""
        buffer = io.BytesIO()
        np.savez(
            buffer,
            request=np.frombuffer(json.dumps(self._request).encode(), np.uint8),
            text=pieces.text,
            ends=pieces.ends,
            counts=pieces.counts,
            place=np.array([file, offset], np.int64),
        )
        write_atomically(self.path, buffer.getvalue())

    def remove(self) -> None:
        """Delete the checkpoint, which is of no use after the training."""
        self.path.unlink(missing_ok=True)


def _read_arrays(data: bytes) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of an archive as `save` writes them; nothing where one is missing or of another kind."""
    found: dict[str, npt.NDArray[Any]] = {}
    if not data.startswith(b"PK\x03\x04"):
        return found  # zipfile would skip what precedes an archive
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in _NAMES:
            member = archive.NameToInfo.get(f"{name}.npy")
            # Packed, a small file could take any amount of memory.
            if member is None or member.compress_type != zipfile.ZIP_STORED or member.file_size > len(data):
                return {}
            stream = io.BytesIO(archive.read(member))
            try:
                dtype, count = read_header(stream, name)
            except TokenStreamError:
                return {}
            array = np.frombuffer(stream.read(), np.uint8)
            if len(array) != count * dtype.itemsize:
                return {}
            found[name] = array.view(dtype)
    return found


def _are_counts(text: npt.NDArray[Any], ends: npt.NDArray[Any], counts: npt.NDArray[Any]) -> bool:
    """Return whether these can be consecutive pieces, the ends of the pieces, and their counts."""
    typed = text.dtype == np.uint8 and ends.dtype == counts.dtype == np.int64
    if not typed or text.ndim != 1 or ends.ndim != 1 or ends.shape != counts.shape:
        return False
    boundaries = np.concatenate((np.zeros(1, np.int64), ends))
    # Compared, not subtracted: a difference may not fit.
    return bool((boundaries[1:] > boundaries[:-1]).all() and boundaries[-1] == len(text) and (counts > 0).all())


def count_corpus(
    corpus: Corpus,
    splitter: CorpusSplitter,
    *,
    threads: int = 1,
    progress: Callable[[int], object] | None = None,
    checkpoint: Checkpoint | None = None,
    interval: float = 60.0,
) -> PieceCounts:
    """Count the pieces of a corpus, of `threads` blocks at the same time.

    Memory grows only with the unique pieces. The result is the same for every number of threads and after every
    interruption: blocks are counted separately, and their counts are added in the order of the corpus.

    `progress` is called with the number of bytes (unpacked) that have been counted since the last call. The checkpoint
    is where to go on, and what to write every `interval` seconds.
    """
    _keep_freed_memory()
    table = PieceTable()
    file = offset = 0
    if checkpoint is not None and (saved := checkpoint.load()) is not None:
        pieces, file, offset = saved
        table.add_counts(pieces)
    last = time.monotonic()
    for block, counts in _counted(corpus.blocks(splitter.last_cut, file, offset), splitter, table, threads):
        if counts is not None:
            table.add_counts(counts)
        file, offset = block.file, block.offset + len(block.text)
        if progress is not None:
            progress(len(block.text))
        if checkpoint is not None and time.monotonic() - last >= interval:
            checkpoint.save(table.counts(), file, offset)
            last = time.monotonic()
    result = table.counts()
    if checkpoint is not None:
        checkpoint.save(result, len(corpus.files), 0)
    return result


def _keep_freed_memory() -> None:
    """Make the allocator reuse memory for arrays of megabytes, of which every block makes some.

    The allocator of Linux returns such arrays to the system when they are freed, and getting fresh pages takes longer
    than splitting. It stops doing so once an array about as large as this one, which is never touched, has been freed.
    """
    np.empty((1 << 25) - (1 << 16), np.uint8)


def _counted(
    blocks: Iterator[Block], splitter: CorpusSplitter, table: PieceTable, threads: int
) -> Iterator[tuple[Block, PieceCounts | None]]:
    """Yield the blocks in order with their counts; with one thread the counts go directly to the table."""
    if threads == 1:
        for block in blocks:
            for text, spans in splitter.cut(block):
                table.add(text, spans)
            yield block, None
        return

    def count(block: Block) -> PieceCounts:
        own = PieceTable()
        for text, spans in splitter.cut(block):
            own.add(text, spans)
        return own.counts()

    pending: deque[tuple[Block, Future[PieceCounts]]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for block in blocks:
                pending.append((block, pool.submit(count, block)))
                if len(pending) > threads:
                    first, future = pending.popleft()
                    yield first, future.result()
            while pending:
                first, future = pending.popleft()
                yield first, future.result()
        finally:
            for _, future in pending:
                future.cancel()

"""Counting the pieces of a corpus of any size, on several threads, with checkpoints."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from tokdfa.training.checkpoint import Checkpoint
from tokdfa.training.corpus import Block, Corpus
from tokdfa.training.pieces import PieceCounts, PieceTable
from tokdfa.training.splitting import CorpusSplitter

__all__ = ["count_corpus"]


def count_corpus(
    corpus: Corpus,
    splitter: CorpusSplitter,
    *,
    threads: int = 1,
    progress: Callable[[int], object] | None = None,
    checkpoint: Checkpoint | None = None,
    interval: float = 60.0,
) -> PieceCounts:
    """Count the pieces of a corpus.

    Memory grows only with the unique pieces. The result is the same for every number of threads and after every
    interruption: blocks are counted separately, and their counts are added in the order of the corpus.

    Parameters
    ----------
    corpus : Corpus
    splitter : Splitter
    threads : int
        The number of blocks that are counted at the same time.
    progress : callable, optional
        Called with the number of bytes (unpacked) that have been counted since the last call.
    checkpoint : Checkpoint, optional
        The checkpoint from which to go on, and in which to record progress.
    interval : float
        Seconds between two checkpoints.

    Raises
    ------
    TrainingError
        If the text is not UTF-8, or the checkpoint belongs to another training.
    FileFormatError
        If a packed file or the checkpoint is damaged.
    OSError
        If a file cannot be read, or the checkpoint cannot be written.
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

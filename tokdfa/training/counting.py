"""Counting the pieces of a corpus of any size, on several threads, with checkpoints."""

from __future__ import annotations

import io
import json
import time
import zipfile
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tokdfa.base.arrays import Int64Array, Uint8Array
from tokdfa.base.atomic import write_atomically
from tokdfa.base.errors import (
    Argument,
    FileFormatError,
    Hint,
    LimitExceededError,
    PatternError,
    TokenStreamError,
    TrainingError,
)
from tokdfa.base.files import read_named
from tokdfa.regex.unicode.utf8 import byte_offsets
from tokdfa.tokenizers.pretokenizers.certain import CONTEXT, CertainPairs
from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer, pretokenizer
from tokdfa.tokenizers.pretokenizers.splitter import Splitter
from tokdfa.tokenizers.pretokenizers.steps import NAMED, WHITESPACE_SPLIT, Splitting
from tokdfa.training.corpus import Block, Corpus, PieceCounts, PieceTable

Unit: TypeAlias = Literal["file", "line"]

PRETOKENIZERS = ("none", "whitespace", *NAMED)

_WINDOW = 1 << 10


class CorpusSplitter:
    """Cuts blocks of UTF-8 into pieces.

    The name is ``none``, for which a unit is one piece; ``whitespace``, which drops spaces; the name of a pattern; or a
    pattern in the dialect of tiktoken. With the unit ``file``, no piece extends beyond a file; with ``line``, none
    beyond a line, which includes its line end: this is how tokenizers reads files. Without a pre-tokenizer the text may
    be `any_bytes`. So many bytes of a block as `segment` are split at once; their pieces stay in the caches until they
    are counted. A pre-tokenizer may also be given as an object. With a `normalizer`, the text of each line is rewritten
    first, and the unit is ``line``.
    """

    def __init__(
        self,
        name: str | PreTokenizer,
        unit: Unit = "file",
        *,
        any_bytes: bool = False,
        segment: int = 1 << 16,
        normalizer: Callable[[str], str] | None = None,
    ) -> None:
        self.name = name
        self.unit = unit
        self._segment = segment
        self._any_bytes = any_bytes and name == "none"
        self._normalizer = normalizer
        self._pretokenizer: PreTokenizer | None = None
        if normalizer is not None and unit != "line":
            what = "a normalizer rewrites lines, and here a whole file is split"
            raise TrainingError(what, hint=Hint("choose ", Argument("unit", "line")))
        if isinstance(name, PreTokenizer):
            self._pretokenizer = name
        elif name == "whitespace":
            self._pretokenizer = _whitespace()
        elif name != "none":
            self._pretokenizer = pretokenizer(name)

    def __repr__(self) -> str:
        return f"<CorpusSplitter {self._pretokenizer or self.name!r} by {self.unit}>"

    @cached_property
    def _machine(self) -> Splitter | None:
        return None if self._pretokenizer is None else _machine(self._pretokenizer.splitting)

    @cached_property
    def _boundaries(self) -> CertainPairs | None:
        return None if self._pretokenizer is None else _boundaries(self._pretokenizer)

    def last_cut(self, text: bytes) -> int:
        """Return the last offset where `text` can be cut, for :meth:`Corpus.blocks`."""
        if self.unit == "line":
            return text.rfind(b"\n") + 1
        if self.name == "whitespace":
            return 1 + max(text.rfind(space, 0, -1) for space in (b" ", b"\n"))
        if self._boundaries is None:
            return 0
        window = _WINDOW
        while True:
            start = max(len(text) - window, 0)
            # Whole characters only. Invalid UTF-8 will be found when the text is split.
            while start < len(text) and text[start] & 0xC0 == 0x80:
                start += 1
            part = text[start:].decode("utf-8", "ignore")
            end = len(part) - CONTEXT - 1
            if cut := self._boundaries.last(part, 0, end) if end > 0 else 0:
                return start + len(part[:cut].encode())
            if window >= len(text):
                return 0
            window *= 16

    def pieces(self, text: bytes) -> list[bytes]:
        """Return the pieces of a short text, which is not normalized."""
        return [text[start:end] for start, end in self._spans(text).tolist()]

    def cut(self, block: Block) -> Iterator[tuple[Uint8Array, Int64Array]]:
        """Yield the pieces of a block, a segment at a time: the bytes, and the beginning and end of each piece in them.

        A TrainingError says which byte is not UTF-8.
        """
        try:
            if self.unit == "line":
                data, spans = self._by_line(block.text)
                yield np.frombuffer(data, np.uint8), spans
                return
            # The context helps to decide where the last piece ends, but does not belong to this block.
            context = block.context.decode("utf-8", "ignore").encode()
            text, end = np.frombuffer(block.text, np.uint8), len(block.text)
            for spans in self._iter_spans(block.text, context):
                yield text, spans[: np.searchsorted(spans[:, 1], end, side="right")]
        except (UnicodeDecodeError, PatternError):
            raise _not_utf8(block) from None

    def _by_line(self, text: bytes) -> tuple[bytes, Int64Array]:
        """Return a text with its lines rewritten, and their pieces; a line, with its end, is split separately."""
        ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n")) + 1
        ends = np.unique(np.append(ends, len(text)))
        if self._normalizer is not None:
            decoded = [text[a:b].decode() for a, b in pairwise([0, *ends.tolist()])]
            lines = [self._normalizer(line).encode() for line in decoded]
            text, ends = b"".join(lines), np.cumsum([*map(len, lines)])
        if self._pretokenizer is None:
            self._spans(text)
            bounds = np.unique(np.append(0, ends))
            return text, np.stack((bounds[:-1], bounds[1:]), axis=1)
        if self._machine is not None:
            spans = self._machine.spans_of_texts(text, ends)
            if spans is None:
                raise PatternError("a line is not UTF-8")
            return text, spans
        found = [a + self._spans(text[a:b]) for a, b in pairwise([0, *ends.tolist()])]
        return text, np.concatenate([np.empty((0, 2), np.int64), *found])

    def _iter_spans(self, text: bytes, context: bytes) -> Iterator[Int64Array]:
        """Yield the pieces of a text and its context, in order; with a machine, as they are settled."""
        if self._machine is None:
            yield self._spans(text + context)
            return
        stream = self._machine.stream()
        for start in range(0, len(text), self._segment):
            yield stream.feed(text[start : start + self._segment])
        yield stream.feed(context)
        yield stream.finish()

    def _spans(self, text: bytes) -> Int64Array:
        """Return the pieces of a text that is split as a whole."""
        if self._pretokenizer is None:
            if not self._any_bytes:
                text.decode()
            return np.array([[0, len(text)]] if text else [], np.int64).reshape(-1, 2)
        if self._machine is not None:
            return self._machine.spans(text)
        decoded = text.decode()
        spans = np.array(self._pretokenizer.spans(decoded), np.int64).reshape(-1, 2)
        return byte_offsets(text)[spans] if len(decoded) < len(text) else spans


@cache
def _whitespace() -> PreTokenizer:
    return PreTokenizer(Splitting("tokenizers", (WHITESPACE_SPLIT,)), "whitespace")


# Each named pre-tokenizer is a single object, so its boundaries and machine are computed once.
@lru_cache(maxsize=16)
def _boundaries(pretokenizer: PreTokenizer) -> CertainPairs:
    return CertainPairs(pretokenizer)


@cache
def _machine(splitting: Splitting) -> Splitter | None:
    """Return the machine of a splitting, or None if there is none and the definition must be used."""
    try:
        return Splitter(splitting)
    except (PatternError, LimitExceededError):
        return None


def _not_utf8(block: Block) -> TrainingError:
    """Return the error that says where the text of a block is not UTF-8."""
    try:
        block.text.decode()
    except UnicodeDecodeError as error:
        return TrainingError(
            "not UTF-8 text",
            value=block.text[error.start : error.start + 8],
            where=f"{block.path}, byte {block.offset + error.start}",
            hint="exclude the file, for instance with a pattern such as 'folder/**/*.txt'",
        )
    raise AssertionError("the text is UTF-8")


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
        """Return the pieces counted, and the file and the byte from which to continue; None without a checkpoint.

        A file that is not a checkpoint is a FileFormatError, one of another corpus or other options a TrainingError.
        """
        try:
            data = read_named(self.path)
        except FileNotFoundError:
            return None
        try:
            arrays = _read_arrays(data)
            request = json.loads(arrays["request"].tobytes()) if arrays else None
        except (ValueError, EOFError, OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
            # A member with a password, or JSON nested too deeply, raises RuntimeError.
            raise self._no_checkpoint(error) from None
        if not isinstance(request, dict):
            raise self._no_checkpoint("its arrays do not fit together")
        if request != self._request:
            differing = [key for key in self._request if request.get(key) != self._request[key]]
            what = f"this checkpoint is of another training, which differs in {', '.join(differing) or 'the version'}"
            raise TrainingError(what, where=str(self.path), hint="delete it to start again")
        text, ends, counts, at = (arrays[name] for name in _NAMES[1:])
        if not _are_counts(text, ends, counts) or at.dtype != np.int64 or at.shape != (2,) or (at < 0).any():
            raise self._no_checkpoint("its arrays do not fit together")
        return PieceCounts(text, ends, counts), int(at[0]), int(at[1])

    def _no_checkpoint(self, why: object) -> FileFormatError:
        return FileFormatError(f"not a checkpoint: {why}", where=str(self.path), hint="delete it")

    def save(self, pieces: PieceCounts, file: int, offset: int) -> None:
        """Write the checkpoint, replacing the previous one."""
        buffer = io.BytesIO()
        request, at = np.frombuffer(json.dumps(self._request).encode(), np.uint8), np.array([file, offset], np.int64)
        arrays: dict[str, Any] = dict(zip(_NAMES, (request, pieces.text, pieces.ends, pieces.counts, at), strict=True))
        np.savez(buffer, **arrays)
        write_atomically(self.path, buffer.getvalue())

    def remove(self) -> None:
        """Delete the checkpoint, which is of no use after the training."""
        self.path.unlink(missing_ok=True)


def _read_arrays(data: bytes) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of an archive as `save` writes them; nothing where one is missing or of another kind."""
    # The stores are not needed where nothing is resumed.
    from tokdfa.stores.raw import read_header

    found: dict[str, npt.NDArray[Any]] = {}
    if not data.startswith(b"PK\x03\x04"):
        return found  # zipfile would skip bytes before an archive
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

    `progress` is called with the number of bytes (unpacked) that have been counted since the last call. Counting
    continues from the checkpoint, which is written every `interval` seconds.
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
    """Make the allocator reuse memory for arrays of megabytes, as each block makes some.

    The allocator of Linux returns such arrays to the system when they are freed, and getting fresh pages takes longer
    than splitting. It stops doing so once an array about as large as this one, which is never touched, has been freed.
    """
    np.empty((1 << 25) - (1 << 16), np.uint8)


def _counted(
    blocks: Iterator[Block], splitter: CorpusSplitter, table: PieceTable, threads: int
) -> Iterator[tuple[Block, PieceCounts | None]]:
    """Yield the blocks in order with their counts; with one thread the counts go directly to the table."""

    def count(block: Block, table: PieceTable) -> PieceTable:
        for text, spans in splitter.cut(block):
            table.add(text, spans)
        return table

    def count_apart(block: Block) -> PieceCounts:
        return count(block, PieceTable()).counts()

    if threads == 1:
        for block in blocks:
            count(block, table)
            yield block, None
        return

    pending: deque[tuple[Block, Future[PieceCounts]]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for block in blocks:
                pending.append((block, pool.submit(count_apart, block)))
                if len(pending) > threads:
                    first, future = pending.popleft()
                    yield first, future.result()
            while pending:
                first, future = pending.popleft()
                yield first, future.result()
        finally:
            for _, future in pending:
                future.cancel()

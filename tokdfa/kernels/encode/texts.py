"""Encoding whole texts: splitting and encoding in one loop, without the interpreter's lock; by several threads, too."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from time import sleep
from typing import Any, TypeAlias

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array, Uint8Array
from tokdfa.kernels.encode.added import scan_struct, windows_of
from tokdfa.kernels.encode.characters import ids_a_byte
from tokdfa.kernels.encode.events import EVENT_BITS
from tokdfa.kernels.encode.pieces import SLACK, PieceRun
from tokdfa.kernels.encode.split import SplitRun
from tokdfa.kernels.encode.utf8 import FoundTexts, kept_utf8
from tokdfa.kernels.library import Struct, ffi, lib, readable, writable
from tokdfa.kernels.pages import empty

_QUEUE = ffi.typeof("tokdfa_work_queue *")

# From UTF-8 to the UTF-8 that replaces it and the added tokens in that; None if nothing replaces it.
Normal: TypeAlias = Callable[[bytes | memoryview], "tuple[Uint8Array, Int64Array] | None"]


class WorkQueue:
    """Texts in batches, and their ids, which threads write where they belong.

    `bounds` are the first text of each batch, ascending from 0, and last the number of texts; the list of texts must
    not change meanwhile. `id_offsets` has where the ids of each text begin, and where the last ones end: within its
    batch until the batch has its offset. A batch has `largest` bytes and `most` texts at most, and a text at most
    `ids_a_byte` times as many ids as bytes. `pointer` has the fields of ``tokdfa_work_queue``, which explains them; it
    is not a :class:`Struct`, as every call needs a new one and a Struct takes longer to make.
    """

    __slots__ = ("_ids", "_kept", "_texts", "bounds", "id_offsets", "largest", "most", "pointer")

    def __init__(self, texts: FoundTexts, bounds: list[int], ids_a_byte: int = 1) -> None:
        n, steps = len(texts.offsets) - 1, [end - begin for begin, end in pairwise(bounds)]
        if not steps or bounds[0] != 0 or bounds[-1] != n or min(steps) < 0:
            raise ValueError(f"{bounds} are no bounds of parcels of {n} texts")
        at = texts.offsets[bounds].tolist()
        self.bounds = bounds
        self.largest = max(end - begin for begin, end in pairwise(at))
        self.most = max(steps)
        self._texts = texts  # which keeps the strings alive
        self._ids: Int32Array = empty(ids_a_byte * at[-1], np.int32)
        self.id_offsets: Int64Array = np.zeros(n + 1, dtype=np.int64)
        unknown = [-1] * len(steps)
        self._kept: list[Any] = [
            *(readable(texts.addresses, np.uint64), readable(texts.offsets, np.int64)),
            readable(np.array(bounds, dtype=np.int64), np.int64),
            *(writable(self._ids, np.int32), writable(self.id_offsets, np.int64)),
            *(writable(np.array(each, dtype=np.int64), np.int64) for each in ([0, *unknown], unknown)),
        ]
        addresses, offsets, edges, ids, id_offsets, starts, counts = self._kept
        self.pointer: Any = ffi.new(
            _QUEUE, (addresses, offsets, edges, ids, id_offsets, 0, 0, starts, counts, len(steps))
        )

    def __len__(self) -> int:
        """Return the number of batches."""
        return len(self.bounds) - 1

    def refuse(self) -> None:
        """Let all threads stop before their next batch, as the result is not wanted any more."""
        self.pointer.is_refused = 1

    def result(self) -> tuple[Int32Array, Int64Array]:
        """Return the ids of all texts, and their offsets by text, and last the end; all threads have ended."""
        self._kept.clear()
        self._ids.resize(int(self.id_offsets[-1]), refcheck=False)
        return self._ids, self.id_offsets


_DONE, FOREIGN, TOO_LONG, INVALID, CUT_SHORT, _FULL, LACKS_IDS, _PAUSED, _CROWDED, _TOO_LARGE, _WAITS = range(
    0, -11, -1
)
"""How an encoding fails: FOREIGN and TOO_LONG as for pieces; where the text is not UTF-8, or ends within a symbol; with
tokens that have no id."""

_DONE = 0
_SPLIT_BLOCK = 1 << 13
_FIRST_CAPACITY = 2 * _SPLIT_BLOCK
_SHORT = 1 << 12
# The number of batches that a thread holds until the batches before them are encoded; the most ids that its buffer has
# in addition to the ids of the batch at hand; and the size of the largest batches for which the buffers are kept.
_MOST_HELD, _MOST_IDS_HELD, _LARGEST_KEPT = 4, 1 << 18, 1 << 20


class TextRun:
    """An encoder of texts, with its working memory. It must not be used by two threads at the same time.

    The machine `splitting`, ``tokdfa_splitting``, cuts texts into pieces, or without one `characters`,
    ``tokdfa_characters``, where nothing joins them; `pieces` encodes and caches them.
    `lacks_ids` says whether there are tokens without an id. `encode_long` returns the ids of a piece that is too long
    to be merged.
    """

    def __init__(
        self,
        pieces: PieceRun,
        splitting: Struct | None,
        *,
        characters: Struct | None = None,
        lacks_ids: bool,
        encode_long: Callable[[bytes], Int32Array] | None,
    ) -> None:
        self._pieces = pieces
        self._split = SplitRun(splitting, _FIRST_CAPACITY, characters)
        self._encode_long = encode_long
        self._ids_a_byte = 1 if characters is None else ids_a_byte(characters)
        self._short: Int32Array = np.empty(self._ids_a_byte * _SHORT + SLACK, dtype=np.int32)
        self._scan = scan_struct(np.zeros(0, dtype=np.int64))
        ends, marks = (np.empty(_FIRST_CAPACITY, dtype=np.int64) for _ in range(2))
        self._struct = Struct(
            "tokdfa_text_encoder", pieces=pieces.struct, split=self._split.struct, out=self._short,
            lacks_ids=lacks_ids, n_pieces=0, is_begun=0, is_over=0, ends=ends, marks=marks, added=None,
            scan=self._scan, added_ids=np.empty(_FIRST_CAPACITY, dtype=np.int32), n_found=0,
        )  # fmt: skip
        self._pointer = self._struct.pointer
        self._added: Struct | None = None
        self._run_of_queue: Struct | None = None

    def look_for(self, added: Struct | None) -> None:
        """Find the added tokens of these tables, ``tokdfa_added_tokens``, in the texts of the next calls; or none."""
        if added is not self._added:
            if added is not None:
                self._scan.set("windows", windows_of(added))
            self._pointer.added = ffi.NULL if added is None else added.pointer
            self._added = added

    def encode(self, data: bytes) -> Int32Array | int:
        """Return the ids of a text, or how its encoding fails; then `piece` and `at` say where."""
        size = len(data)
        if size <= _SHORT:
            n = lib.tokdfa_encode_short(self._pointer, data, size)
            if n >= 0:
                return self._short[:n].copy()
        return self._encode(data, size)

    def encode_string(self, text: str, normal: Normal | None = None) -> Int32Array | int:
        """Return the ids of a string, as `encode` does; half of a surrogate pair is a UnicodeEncodeError.

        If the string is not ASCII and `normal` replaces its UTF-8, the replacement is encoded. With it come the added
        tokens of the outer level: rows of start, stop and number.
        """
        # Of short ones a copy takes less time than the question.
        kept = kept_utf8(text) if len(text) > _SHORT else None
        data = text.encode() if kept is None else b""
        if normal is not None and not text.isascii():
            made = normal(data if kept is None else memoryview(ffi.buffer(*kept)))
            if made is not None:
                return self.encode_around(*made)
        return self.encode(data) if kept is None else self._encode(*kept)

    def encode_around(self, data: Uint8Array, spans: Int64Array) -> Int32Array | int:
        """Return the ids of UTF-8 with these added tokens of the outer level, and no others.

        They are rows of start, stop and number, ascending, which may stand for nothing of the text.
        """
        bounds = spans[:, :2].ravel()
        assert self._added is not None or not len(spans)
        assert (np.diff(bounds, prepend=0, append=len(data)) >= 0).all()
        scan = self._scan.pointer
        scan.given, scan.n_given, scan.is_given = readable(spans, np.int64), spans.size, 1
        try:
            return self._encode(readable(data, np.uint8), len(data), len(spans))
        finally:
            scan.is_given = 0

    def _encode(self, data: Any, size: int, n_more: int = 0) -> Int32Array | int:
        """Return the ids of a text of that many bytes, bytes or a pointer to them; `n_more` may stand for nothing."""
        if size > self._pieces.longest:
            self._pieces.grow_to(size)
        out: Int32Array = empty(self._ids_a_byte * size + n_more + SLACK, np.int32)
        pointer = writable(out, np.int32)
        self._pieces.let_cache_grow()
        n: int = lib.tokdfa_encode_text(self._pointer, data, size, pointer)
        # Between the calls signals are heeded, such as Ctrl-C.
        while n in (TOO_LONG, _FULL, _PAUSED):
            if n == TOO_LONG and not self._pieces.learn_long():
                self._encode_piece(data, size, out)
            elif n == _FULL:
                # A long segment that only the text after it can settle, such as spaces without end; or a long part of
                # characters, which must fit into the buffers together with its prefix.
                self._grow(2 * self._split.capacity)
            self._pieces.let_cache_grow()
            n = lib.tokdfa_encode_on(self._pointer, data, size, pointer)
        if n < 0:
            return n
        if self._split.capacity > _LARGEST_KEPT:
            self._split.release(_FIRST_CAPACITY)
        out.resize(n, refcheck=False)
        return out

    def _grow(self, capacity: int) -> None:
        """Enlarge the buffers to this number of bytes; the added token that is still to be written is kept."""
        self._split.grow(capacity)
        larger: Int32Array = np.empty(capacity, dtype=np.int32)
        larger[:1] = self._struct.fields["added_ids"][:1]
        self._struct.set("added_ids", larger)

    def encode_queue(self, queue: WorkQueue) -> bool:
        """Take batches of texts and encode them until there is none; return whether none of the texts is refused.

        Other threads may do the same with encoders of their own.
        """
        run, done = self._queue_run(queue), False
        pointer, pieces = run.pointer, self._pieces
        try:
            while not done:
                status = lib.tokdfa_encode_queue(pointer, queue.pointer)
                if status == _CROWDED:
                    pieces.let_cache_grow()
                elif status == _TOO_LARGE:
                    if not self._encode_document(run, queue):
                        return False
                elif status == _WAITS:
                    sleep(0)
                elif status not in (_DONE, _PAUSED) and not (status == TOO_LONG and pieces.learn_long()):
                    return False
                done = status == _DONE
            return True
        finally:
            if not done:
                # Others may wait for the batches that this one has taken.
                queue.refuse()
            if pointer.n_text > _LARGEST_KEPT:
                self._run_of_queue = None

    def _queue_run(self, queue: WorkQueue) -> Struct:
        """Return this thread's part, with large enough buffers, and no batch taken."""
        run = self._run_of_queue
        if run is None or run.pointer.n_text < queue.largest or len(run.fields["offsets"]) <= queue.most:
            size = queue.largest
            run = self._run_of_queue = Struct(
                "tokdfa_queue_run", encoder=self._struct, text=empty(size, np.uint8),
                offsets=np.zeros(queue.most + 1, dtype=np.int64),
                room=empty(self._ids_a_byte * size + min(size, _MOST_IDS_HELD) + SLACK, np.int32),
                held=np.zeros(_MOST_HELD, dtype=np.int64),
                batch=-1, document=0, n_held=0, filled=0, n_placed=0, placed=0,
            )  # fmt: skip
        pointer = run.pointer
        pointer.batch = -1
        pointer.n_held = pointer.filled = pointer.n_placed = pointer.placed = 0
        return run

    def _encode_document(self, run: Struct, queue: WorkQueue) -> bool:
        """Encode the next document of the batch at hand by itself; return whether it is not refused."""
        pointer, pieces = run.pointer, self._pieces
        document, n = pointer.document, pieces.n
        begin, end = run.fields["offsets"][document : document + 2].tolist()
        ids = self._encode(pointer.text + begin, end - begin)
        if isinstance(ids, int):
            return False
        at = pointer.filled + n
        run.fields["room"][at : at + len(ids)] = ids
        queue.id_offsets[queue.bounds[pointer.batch] + document + 1] = n + len(ids)
        pieces.continue_at(0, n + len(ids))
        pointer.document = document + 1
        return True

    def _encode_piece(self, data: Any, size: int, out: Int32Array) -> None:
        """Encode the next piece, and continue after it."""
        assert self._encode_long is not None
        index, n = self._pieces.next, self._pieces.n
        start, end = (int(begun) >> EVENT_BITS for begun in self._split.begun[index : index + 2])
        ids = self._encode_long(data[start:end] if isinstance(data, bytes) else ffi.buffer(data, size)[start:end])
        out[n : n + len(ids)] = ids
        self._pieces.continue_at(index + 1, n + len(ids))

    @property
    def at(self) -> int:
        """The byte before which the reading has ended."""
        return self._split.at

    @property
    def piece(self) -> int:
        """The offset of the piece before which the encoding has ended."""
        return int(self._split.begun[self._pieces.next]) >> EVENT_BITS

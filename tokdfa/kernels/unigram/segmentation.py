"""The best segmentation of texts into pieces with scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np

from tokdfa.base.arrays import Float64Array, Int32Array, Int64Array, Uint8Array, offsets_of
from tokdfa.kernels.library import Struct, check_memory, ffi, lib, readable, writable
from tokdfa.kernels.pages import untouched, zeros

LARGEST_TRIE = 1 << 27
"""The maximum number of bytes of all pieces."""

NO_UNKNOWN = -1
"""The id of unknown characters if there is none."""

ENDS_PIECE, ENDS_UNKNOWN = 1, 2
"""The marks of the offsets of a recorded way."""

SHORT = 1 << 14
"""The number of bytes of a text for which all buffers have room."""

_AT_A_TIME = 1 << 20
_NODES = 1 << 10
# Of the cache of words: the numbers of an entry, in it and in the overflow area; its entries at first and at most.
_ENTRY, _OVERFLOW = 8, 4
_WORDS, _MOST_WORDS = 1 << 14, 1 << 18
# It is crowded when one in so many has given way.
_CROWD = 64
# Larger nodes are released after a call, so that one long word does not cost its memory for ever.
_MOST_NODES_KEPT = 1 << 14
# Untouched memory is not taken, so that arrays may grow fast, and less is done twice.
GROWTH = 4
"""How many times as large an array becomes that is too small."""

_PAUSED, _TOO_FEW, _FULL, _CROWDED = -1, -2, -4, -7
# The ids of texts with fewer are copied from views that are kept.
_FEW = 1 << 10
_NO_SUMS: Float64Array = np.empty(0, dtype=np.float64)
_NO_STARTS: Int64Array = np.empty(0, dtype=np.int64)
_NO_MARKS: Uint8Array = np.empty(0, dtype=np.uint8)


class Before(NamedTuple):
    """The state at an offset where the text is known to be cut.

    The sum of scores up to there, and whether an unknown character is before it.
    """

    score: float = 0.0
    is_unknown: bool = False


BEGINNING = Before()
"""The state at the beginning of a text."""


class Rules(TypedDict):
    """The rules of a library.

    With `single`, sums are rounded to 32 bits and adjacent unknown characters become one id, as in SentencePiece, and
    all bytes of UTF-8 have an id; if `rounded_late`, a sum is rounded only after it has been compared with the best one
    so far; if it `restarts`, sums begin anew with each sentence. `has_words` says whether no piece has U+2581 but at
    its beginning, or sums restart, so that words are cached.
    """

    single: bool
    rounded_late: bool
    restarts: bool
    has_words: bool


def unigram_tables(
    pieces: tuple[Uint8Array, Int64Array, int],
    scores: Float64Array,
    ids: Int32Array,
    *,
    unknown: tuple[int, float],
    byte_ids: Int32Array | None,
    **rules: Unpack[Rules],
) -> Struct:
    """Return the tables of a model: O(bytes of the pieces).

    Of the `pieces`, a text, offsets and a gap, piece i is ``text[offsets[i] : offsets[i + 1] - gap]``: valid UTF-8, not
    empty, distinct and ascending; no more than `LARGEST_TRIE` bytes in all. Each has a score and an id. The scores are
    finite, and so are the sums of any texts. `unknown` is the id of unknown characters, or `NO_UNKNOWN`, and the score
    of each; `byte_ids` has the id of each of 256 bytes, -1 for none, if they become bytes.
    """
    if len(pieces[0]) > 2 * LARGEST_TRIE:
        raise ValueError(f"the pieces have {len(pieces[0])} bytes")
    cells, keys = packed_trie_of(*pieces)
    ends = keys >= 0
    scores_of = np.zeros(len(keys), dtype=np.float64)
    ids_of = np.full(len(keys), -1, dtype=np.int32)
    scores_of[ends], ids_of[ends] = scores[keys[ends]], ids[keys[ends]]
    ids_of[0], scores_of[0] = unknown
    id_scores = np.zeros(int(ids.max(initial=0)) + 1, dtype=np.float64)
    id_scores[ids] = scores
    return Struct(
        "tokdfa_unigram", cells=cells, scores=scores_of, ids=ids_of,
        byte_ids=np.empty(0, dtype=np.int32) if byte_ids is None else byte_ids, **rules,
        longest_step=float(max(np.abs(scores).max(initial=0.0), abs(unknown[1]))), id_scores=id_scores,
    )  # fmt: skip


def packed_trie(words: Sequence[bytes]) -> tuple[Int32Array, Int32Array]:
    """Return the cells of the trie of words, and for each cell the number of the word that ends there, -1 for none.

    They are not empty, distinct and ascending; no more than `LARGEST_TRIE` bytes in all.
    """
    return packed_trie_of(np.frombuffer(b"".join(words), dtype=np.uint8), offsets_of(words), 0)


def packed_trie_of(text: Uint8Array, offsets: Int64Array, gap: int) -> tuple[Int32Array, Int32Array]:
    """Return the results of :func:`packed_trie` for the words ``text[offsets[i] : offsets[i + 1] - gap]``."""
    if gap not in (0, 1) or offsets[0] < 0 or offsets[-1] > len(text) or np.diff(offsets).min(initial=2) <= gap:
        raise ValueError("the offsets are not offsets of words")
    # An empty array has no address.
    text = text if len(text) else np.zeros(1, dtype=np.uint8)
    trie = ffi.new("tokdfa_unigram_trie *")
    pointers = readable(text, np.uint8), readable(offsets, np.int64)
    check_memory(lib.tokdfa_build_unigram_trie(*pointers, len(offsets) - 1, gap, trie))
    try:
        n = int(trie.n_cells)
        cells = np.frombuffer(ffi.buffer(trie.cells, 8 * n), dtype=np.int32).copy()
        keys = np.frombuffer(ffi.buffer(trie.keys, 4 * n), dtype=np.int32).copy()
    finally:
        lib.tokdfa_free_unigram_trie(trie)
    return cells, keys


class Buffers:
    """The buffers of a call, its position in a text, and the cache of words. One thread uses it at a time."""

    __slots__ = ("_copies", "_ids", "_n_bytes", "_n_ids", "pointer", "struct")

    def __init__(self) -> None:
        self.struct = Struct(
            "tokdfa_unigram_buffers", nodes=np.zeros(2 * _NODES, dtype=np.float64), n_nodes=_NODES, n_needed=0,
            ids=np.empty(SHORT, dtype=np.int32), at_a_time=_AT_A_TIME, sentence=0, at=0, n=0, score=0.0,
            unknown_from=-1, cache=untouched(_ENTRY * _WORDS, np.uint64),
            overflow=untouched(_OVERFLOW * _WORDS, np.uint64), used=0, n_dropped=0, most_dropped=_WORDS // _CROWD,
            sums=_NO_SUMS, starts=_NO_STARTS, marks=_NO_MARKS,
        )  # fmt: skip
        self.pointer: Any = self.struct.pointer
        self._n_bytes = 0
        self._set_ids(self.struct.fields["ids"])

    def begin(self, n_bytes: int, before: Before = BEGINNING) -> None:
        """Get ready for texts of that many bytes."""
        if n_bytes > self._n_ids or self._n_ids > SHORT:
            # A text is rarely so long, and its memory is not kept.
            self._set_ids(np.empty(max(n_bytes, SHORT), dtype=np.int32))
        self._n_bytes = n_bytes
        pointer = self.pointer
        if pointer.n_dropped >= pointer.most_dropped:
            self._grow_cache()
        pointer.sentence = pointer.at = pointer.n = 0
        pointer.score = before.score
        # A run of unknown characters that began before this text.
        pointer.unknown_from = 0 if before.is_unknown else -1

    def run(self, function: Callable[..., int], *arguments: Any) -> int:
        """Call a kernel until it is done, and return its number; or the negative number with which it gives up.

        Between the calls signals are heeded, such as Ctrl-C.
        """
        try:
            while (n := function(*arguments)) < 0 and self.goes_on(n):
                pass
        finally:
            self.release()
        return n

    def goes_on(self, reason: int) -> bool:
        """Enlarge the buffer that a stopped call lacks, if any; return whether the call continues when repeated."""
        if reason == _TOO_FEW:
            needed, n = int(self.pointer.n_needed), GROWTH * int(self.pointer.n_nodes)
            # Most texts do not grow longer while they are normalized.
            whole = self._n_bytes + 1
            self._set_nodes(whole if needed <= whole < n else max(n, needed))
        elif reason == _FULL:
            n = int(self.pointer.n)
            larger: Int32Array = np.empty(GROWTH * len(self._ids), dtype=np.int32)
            larger[:n] = self._ids[:n]
            self._set_ids(larger)
        if self.pointer.n_dropped >= self.pointer.most_dropped:
            self._grow_cache()
        return reason in (_PAUSED, _TOO_FEW, _FULL, _CROWDED)

    def _grow_cache(self) -> None:
        """Enlarge the cache of words; the last time to its maximum."""
        here, fields = self.pointer, self.struct.fields
        n = min(GROWTH * len(fields["cache"]), _ENTRY * _MOST_WORDS)
        cache, overflow = zeros(n, np.uint64), untouched(n // _ENTRY * _OVERFLOW, np.uint64)
        lib.tokdfa_move_words(here.cache, here.n_cache, writable(cache, np.uint64), n)
        overflow[: here.used] = fields["overflow"][: here.used]
        self.struct.set("cache", cache)
        self.struct.set("overflow", overflow)
        most = n // _ENTRY // _CROWD if n < _ENTRY * _MOST_WORDS else np.iinfo(np.int64).max
        here.n_dropped, here.most_dropped = 0, most

    def release(self) -> None:
        """Release the nodes that a long word needed, after a call."""
        if self.pointer.n_nodes > _MOST_NODES_KEPT:
            self._set_nodes(_NODES)

    def take(self, n: int) -> Int32Array:
        """Return the first `n` ids as an array of their own."""
        try:
            return self._copies[n]()
        except KeyError:
            ids = self._ids[:n]
        if self._n_ids > SHORT:
            is_most = 2 * n > self._n_ids
            self._set_ids(np.empty(SHORT, dtype=np.int32))
            # A part of an array keeps all of it.
            return ids if is_most else ids.copy()
        if n < _FEW:
            self._copies[n] = ids.copy
        return ids.copy()

    def record(self, sums: Float64Array, starts: Int64Array, marks: Uint8Array) -> None:
        """Let the next calls write to these arrays; they record nothing if the arrays are empty."""
        self.struct.set("sums", sums)
        self.struct.set("starts", starts)
        self.struct.set("marks", marks)

    def _set_nodes(self, n: int) -> None:
        self.struct.set("nodes", np.zeros(2 * n, dtype=np.float64))
        self.pointer.n_nodes = n

    def _set_ids(self, ids: Int32Array) -> None:
        self.struct.set("ids", ids)
        self._ids, self._n_ids = ids, len(ids)
        self._copies: dict[int, Callable[[], Int32Array]] = {}

    @property
    def at(self) -> int:
        """The offset in the text that the last call has reached."""
        return int(self.pointer.at)

    @property
    def after(self) -> Before:
        """The state after the last text."""
        return Before(float(self.pointer.score), bool(self.pointer.unknown_from >= 0))


def segment(
    tables: Struct, data: bytes, ends: Int64Array, buffers: Buffers, before: Before = BEGINNING
) -> Int32Array | None:
    """Return the ids of consecutive sentences; None if a character is unknown, at ``buffers.at``.

    `tables` come from :func:`unigram_tables`; `data` is valid UTF-8; `ends` ascends to its end; `before` is the state
    before the first sentence.
    """
    if len(ends) and int(ends[-1]) != len(data):
        raise ValueError(f"the sentences end at {ends[-1]}, not at {len(data)}")
    buffers.begin(len(data), before)
    n = buffers.run(lib.tokdfa_segment, tables.pointer, data, readable(ends, np.int64), len(ends), buffers.pointer)
    return None if n < 0 else buffers.take(n)


class Recording(NamedTuple):
    """The values of the loop at each offset of sentences: arrays of one entry a byte and one more.

    `sums` has the best sum at each offset when the loop gets there; not a number within symbols. Where a sentence
    begins and sums restart, it is 0. `starts` has where the last piece of it begins; -1 within symbols and where a
    sentence begins. `marks` has `ENDS_PIECE` where a piece of the best way ends, `ENDS_UNKNOWN` where an unknown
    character of it ends, else 0.
    """

    sums: Float64Array
    starts: Int64Array
    marks: Uint8Array


def record(
    tables: Struct, data: bytes, ends: Int64Array, buffers: Buffers, before: Before = BEGINNING
) -> Recording | None:
    """Return the values of the loop at each offset of sentences; None where :func:`segment` returns None.

    The parameters are the same as for :func:`segment`.
    """
    n = len(data) + 1
    found = Recording(np.full(n, np.nan), np.full(n, -1, dtype=np.int64), np.zeros(n, dtype=np.uint8))
    buffers.record(*found)
    try:
        ids = segment(tables, data, ends, buffers, before)
    finally:
        buffers.record(_NO_SUMS, _NO_STARTS, _NO_MARKS)
    return None if ids is None else found

"""Encoding texts side by side: each thread writes the ids of its parcels where they belong in the result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from threading import Lock
from typing import NamedTuple

import numpy as np

from tokdfa.arrays import Int32Array, Int64Array
from tokdfa.encoding.batches import EncodedDocuments, parcel_size
from tokdfa.encoding.in_order import in_order
from tokdfa.encoding.text_encoder import TextEncoder
from tokdfa.kernels.encode.pieces import ROOM
from tokdfa.kernels.encode.utf8 import FoundTexts
from tokdfa.kernels.pages import empty

__all__ = ["encode_side_by_side"]

# The result has room for an id for each byte. For more bytes than this, the system is not asked for so much.
_MOST = 1 << 28


class _Parcel(NamedTuple):
    """The ids of the texts from one up to another, at the beginning of a room, and where those of each text end."""

    begin: int
    end: int
    room: Int32Array
    ends: Int64Array


class _Result:
    """The ids of all texts, in which each parcel has its place once those before it are there.

    Several threads may use it at a time.
    """

    def __init__(self, texts: FoundTexts, bounds: list[int]) -> None:
        self._texts = texts
        self._bounds = bounds
        n_bytes = texts.offsets[bounds]
        self._largest = int(np.diff(n_bytes).max(initial=0))
        self._ids: Int32Array = empty(int(n_bytes[-1]), np.int32)
        self._offsets: Int64Array = np.zeros(len(texts.offsets), dtype=np.int64)
        self._lock = Lock()
        # Encoded, but not all parcels before them are.
        self._early: dict[int, _Parcel] = {}
        self._next = self._n = 0
        self._rooms: list[Int32Array] = []

    def encode(self, number: int, idle: Callable[[], AbstractContextManager[TextEncoder | None]]) -> bool:
        """Encode a parcel; return whether none of its texts is refused."""
        begin, end = self._bounds[number : number + 2]
        try:
            room = self._rooms.pop()
        except IndexError:
            room = empty(self._largest + ROOM, np.int32)
        with idle() as encoder:
            ends = None if encoder is None else encoder.run.encode_documents(self._texts.joined(begin, end), room)
        if ends is None:
            return False
        with self._lock:
            self._early[number] = _Parcel(begin, end, room, ends)
            placed = [*self._placed()]
        # The others go on meanwhile.
        for parcel, at in placed:
            n = int(parcel.ends[-1])
            self._ids[at : at + n] = parcel.room[:n]
            np.add(parcel.ends[1:], at, out=self._offsets[parcel.begin + 1 : parcel.end + 1])
            self._rooms.append(parcel.room)
        return True

    def _placed(self) -> Iterator[tuple[_Parcel, int]]:
        """Yield the parcels that have their place now, each with the number of ids before it."""
        while (parcel := self._early.pop(self._next, None)) is not None:
            yield parcel, self._n
            self._next += 1
            self._n += int(parcel.ends[-1])

    def all(self) -> EncodedDocuments:
        """Return the ids of all texts, when all parcels have been encoded."""
        self._ids.resize(self._n, refcheck=False)
        return EncodedDocuments(self._ids, self._offsets)


def encode_side_by_side(
    texts: FoundTexts,
    idle: Callable[[], AbstractContextManager[TextEncoder | None]],
    n_threads: int,
    *,
    most: int = _MOST,
) -> EncodedDocuments | None:
    """Return the ids of texts; None if one of them is refused, or if they are more than may be encoded at once.

    Parameters
    ----------
    texts : FoundTexts
    idle : callable
        Gives an encoder that no other thread uses, as long as a ``with`` statement lasts.
    n_threads : int
        The number of threads, the calling one included.
    most : int
        The most bytes of UTF-8 of all texts.

    Notes
    -----
    After the kernel, the ids are copied once, by the thread that finds that those before them have their place.
    """
    n, total = len(texts.texts), int(texts.offsets[-1])
    if total > most:
        return None
    size = parcel_size(total, n_threads)
    # Each parcel ends with the first text that makes it large enough.
    ends = np.unique(np.searchsorted(texts.offsets, np.arange(size, total, size)))
    bounds = [0, *ends[ends < n].tolist(), n]
    result = _Result(texts, bounds)
    done = in_order(lambda number: result.encode(number, idle), range(len(bounds) - 1), n_threads)
    return result.all() if all(done) else None

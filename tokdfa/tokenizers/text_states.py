"""The states of a decoder between ids, with the text that later ids can still change."""

from __future__ import annotations

import codecs
from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.kernels.spelling.spell import spell

if TYPE_CHECKING:
    from tokdfa.tokenizers.decoder import Spellings

_REPLACED = len("\ufffd".encode())
_WINDOW = 64
_MOST_PENDING = 3
_FEW = 16


class TextStates(ABC):
    """A decoder as a subsequential transducer from checked ids to text.

    With bytes, for example, the state after an id of "a" and the first byte of "é" is that byte: "a" is decided. `held`
    names the parts that may be undecided, and `most_bytes` is the largest number of bytes of it; None if there is none.
    """

    initial: Hashable
    held: tuple[str, ...]
    most_bytes: int | None

    @abstractmethod
    def read(self, state: Any, id: int) -> tuple[str, Hashable]:
        """Return the text that is decided with one more id, and the new state."""

    def reads_many(self, n: int) -> bool:
        """Return whether so many ids are read faster together than one by one, each by a row of a table."""
        return n > _FEW

    @abstractmethod
    def read_many(self, state: Any, ids: Int32Array) -> tuple[str, Hashable]:
        """Return the text that is decided with more ids, and the new state."""

    @abstractmethod
    def spell_many(self, state: Any, ids: Int32Array, before: bytes) -> tuple[memoryview, Hashable]:
        """Return some bytes before the UTF-8 of the text that `read_many` returns, and the new state.

        If bytes have to be replaced in that text, the result is not UTF-8.
        """

    @abstractmethod
    def finish(self, state: Any) -> str:
        """Return the undecided text of a state, if no more ids come."""

    @abstractmethod
    def n_undecided(self, state: Any) -> int | None:
        """Return how many characters at most are undecided in a state; None if `ends` cannot start there."""

    @abstractmethod
    def ends(self, state: Any, ids: Int32Array) -> tuple[int, Int64Array]:
        """Return where the ids before a state end, and each of these ids, in bytes of the text undecided there."""

    def is_kept(self, state: Any) -> bool:
        """Return whether a state is small, and likely to be met again."""
        return True


class ByteState(NamedTuple):
    """Whether a text has begun, and the bytes that are not decided: of a character, or the space after a word."""

    begun: bool
    pending: bytes


_BEGUN = ByteState(True, b"")


class ByteStates(TextStates):
    """Ids that spell bytes, one after the other; bytes that are not UTF-8 become U+FFFD.

    `first` has the bytes of the first id of a text, if they differ. `ends_word` is whether the last byte of an id is
    the space after a word, which the last word of a text does not have.
    """

    most_bytes = _MOST_PENDING

    def __init__(self, spelled: Spellings, first: Spellings | None, ends_word: BoolArray | None) -> None:
        self._spelled, self._first, self._ends_word = spelled, first, ends_word
        self.initial = ByteState(first is None, b"")
        self.held = ("character", *(("space after a word",) if ends_word is not None else ()))

    def read(self, state: ByteState, id: int) -> tuple[str, ByteState]:
        data = state.pending + self._bytes_of(id, begun=state.begun)
        n, after = self._decided(data, id)
        return data[:n].decode("utf-8", "replace"), after

    def read_many(self, state: ByteState, ids: Int32Array) -> tuple[str, ByteState]:
        data, state = self.spell_many(state, ids, b"")
        return str(data, "utf-8", "replace"), state

    def spell_many(self, state: ByteState, ids: Int32Array, before: bytes) -> tuple[memoryview, ByteState]:
        if not len(ids):
            return memoryview(before), state
        last, before = int(ids[-1]), before + state.pending
        if not state.begun:
            before += self._bytes_of(int(ids[0]), begun=False)
            ids = ids[1:]
        data = spell(*self._spelled, ids, before)[0].data
        n, state = self._decided(data, last)
        return data[:n], state

    def _bytes_of(self, id: int, *, begun: bool) -> bytes:
        text, offsets = self._spelled if begun or self._first is None else self._first
        return text[offsets[id] : offsets[id + 1]].tobytes()

    def _decided(self, data: bytes | memoryview, last: int) -> tuple[int, ByteState]:
        """Return the number of decided bytes, the last of them from an id, and the state after them."""
        n = len(data)
        if self._ends_word is not None and self._ends_word[last] and n:
            # Before the space, or the end of the text, no character continues.
            return n - 1, ByteState(True, b" ")
        if not n or data[-1] < 0x80:
            return n, _BEGUN
        end = bytes(data[-_MOST_PENDING:])
        pending = end[codecs.utf_8_decode(end, "replace", False)[1] :]
        return n - len(pending), ByteState(True, pending)

    def finish(self, state: ByteState) -> str:
        return "" if state.pending == b" " else state.pending.decode("utf-8", "replace")

    def n_undecided(self, state: ByteState) -> int:
        return len(state.pending)

    def ends(self, state: ByteState, ids: Int32Array) -> tuple[int, Int64Array]:
        spelled, lengths = spell(*self._spelled, ids)
        data = spelled.tobytes()
        if not state.begun and len(ids):
            first = self._bytes_of(int(ids[0]), begun=False)
            data = first + data[lengths[0] :]
            lengths[0] = len(first)
        data, before = state.pending + data, len(state.pending)
        ends: Int64Array = before + np.cumsum(lengths)
        added, every = ends_replaced(data), np.append(before, ends)
        if added is not None:
            every = added[every]
        return int(every[0]), every[1:]


def ends_replaced(data: bytes) -> Int64Array | None:
    """Return the ends of the texts of the first 0, 1, … bytes, with U+FFFD for bad ones; None if all are UTF-8.

    A replacement belongs to the first of the bytes that it replaces.
    """
    if "\ufffd" not in data.decode("utf-8", "replace"):
        return None
    sizes: Int64Array = np.ones(len(data), dtype=np.int64)
    at = 0
    while at < len(data):
        part = data[at : at + _WINDOW]
        try:
            # The rest may be a character that the window cuts, unless the bytes end there.
            at += codecs.utf_8_decode(part, "strict", at + len(part) == len(data))[1]
        except UnicodeDecodeError as error:
            sizes[at + error.start : at + error.end] = 0
            sizes[at + error.start] = _REPLACED
            at += error.end
    return np.append(np.int64(0), np.cumsum(sizes))

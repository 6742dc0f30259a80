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


class ByteStates(TextStates):
    """Ids that spell bytes, one after the other; bytes that are not UTF-8 become U+FFFD.

    `first` has the bytes of the first id of a text, if they differ. `ends_word` is whether the last byte of an id is
    the space after a word, which the last word of a text does not have.
    """

    most_bytes = 3

    def __init__(self, spelled: Spellings, first: Spellings | None, ends_word: BoolArray | None) -> None:
        self._spelled, self._first, self._ends_word = spelled, first, ends_word
        self.initial = ByteState(first is None, b"")
        self.held = ("character", *(("space after a word",) if ends_word is not None else ()))

    def read(self, state: ByteState, id: int) -> tuple[str, ByteState]:
        text, offsets = self._spelled if state.begun or self._first is None else self._first
        return self._decoded(state.pending + text[offsets[id] : offsets[id + 1]].tobytes(), id)

    def read_many(self, state: ByteState, ids: Int32Array) -> tuple[str, ByteState]:
        if not len(ids):
            return "", state
        first, last = "", int(ids[-1])
        if not state.begun:
            first, state = self.read(state, int(ids[0]))
            ids = ids[1:]
        text, state = self._decoded(state.pending + spell(*self._spelled, ids)[0].tobytes(), last)
        return first + text, state

    def _decoded(self, data: bytes, last: int) -> tuple[str, ByteState]:
        """Return the decided text of bytes, the last of them from an id, and the rest of them."""
        if self._ends_word is not None and self._ends_word[last] and data:
            # Before the space, or the end of the text, no character continues.
            return data[:-1].decode("utf-8", "replace"), ByteState(True, b" ")
        text, n = codecs.utf_8_decode(data, "replace", False)
        return text, ByteState(True, data[n:])

    def finish(self, state: ByteState) -> str:
        return "" if state.pending == b" " else state.pending.decode("utf-8", "replace")

    def n_undecided(self, state: ByteState) -> int:
        return len(state.pending)

    def ends(self, state: ByteState, ids: Int32Array) -> tuple[int, Int64Array]:
        spelled, lengths = spell(*self._spelled, ids)
        data = spelled.tobytes()
        if not state.begun and len(ids):
            text, offsets = self._first or self._spelled
            first = text[offsets[ids[0]] : offsets[ids[0] + 1]].tobytes()
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

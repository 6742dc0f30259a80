"""Parts of a stream: ids not judged yet, how many are kept, and a window of ids with its bytes and its text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array
from tokdfa.jobs.validation.model import Model
from tokdfa.jobs.validation.violation import Cause, Violation, ViolationKind, not_utf8
from tokdfa.regex.unicode.utf8 import begins_symbol
from tokdfa.tokenizers.round_trip import RoundTrip

NEAR = 1 << 12
"""The number of ids among which a certain cut usually is."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """The thresholds of validation. They change its cost and the inputs that it refuses, never its findings.

    The `chunk` of ids that are taken from an array at once stays in the second-level cache. A `window` of ids is
    decoded and judged at once where pairs of ids do not decide: smaller ones take less memory, larger ones fewer steps;
    it grows until it has a boundary where its text is always cut. A `close_window` is one after a walk has found that
    something is wrong, mostly within a few ids. After `patience` ids, a walk drops those with which no violation can
    begin; it reads the `head` of a chunk together with the ids before it, which may be looked at again.

    If nothing cuts the text, `history` judged ids are kept, because a violation found later may begin with them; if it
    begins even earlier, the stream is refused, as it is if more than `max_ids` are kept, of 4 bytes each. `walks` and
    `at_once` are whether streams are walked over, rather than judged window by window, and the least number of ids that
    are judged at once, if they come at once, rather than one by one; none by default. Both find the same.
    """

    chunk: int = 1 << 18
    window: int = 1 << 15
    close_window: int = 1 << 8
    patience: int = 1 << 10
    head: int = 1 << 10
    history: int = 1 << 12
    max_ids: int = 1 << 26
    walks: bool = True
    at_once: int | None = None


DEFAULT = Tuning(at_once=1 << 10)


class Rest(NamedTuple):
    """The part of a stream that is left to check: it begins with the id `first`, at the offset `byte`.

    Its text is always cut there, unless it is the whole stream; a text begins there, or continues. `following` is the
    round trip of its text, if something of the text before counts.
    """

    first: int
    byte: int
    begins: bool = True
    following: RoundTrip | None = None


WHOLE = Rest(0, 0)


class Buffer:
    """A queue of ids that remembers where it begins in the stream: with the id of index `first`, at the offset `byte`.

    `size` is the number of ids in a window.
    """

    def __init__(self, first: int = 0, byte: int = 0, size: int = DEFAULT.window) -> None:
        self.first = first
        self.byte = byte
        self._chunks: list[Int32Array] = []
        self._length = 0
        self._size = self._wanted = size

    def append(self, ids: Int32Array) -> None:
        """Append ids."""
        if len(ids):
            self._chunks.append(ids)
            self._length += len(ids)

    def is_full(self) -> bool:
        """Return whether there are enough ids for a window, which grows while nothing is dropped."""
        return self._length >= self._wanted

    @property
    def window(self) -> Int32Array:
        """The first ids, to be judged at once."""
        return self.all()[: self._wanted]

    @property
    def is_last(self) -> bool:
        """Whether the window contains all ids."""
        return self._length <= self._wanted

    def drop(self, count: int, size: int, window: int | None = None) -> None:
        """Drop the first ids, which have `size` bytes; from now on a window has `window` ids, if that is given."""
        self._size = self._size if window is None else window
        self._wanted = self._size if count or window is not None else 2 * self._wanted
        self._chunks = [self.all()[count:]]
        self._length -= count
        self.first += count
        self.byte += size

    def take_all(self) -> Int32Array:
        """Return all ids, and forget them."""
        ids = self.all()
        self._chunks, self._length = [], 0
        return ids

    def all(self) -> Int32Array:
        """Return all ids."""
        if len(self._chunks) != 1:
            self._chunks = [np.concatenate((np.zeros(0, dtype=np.int32), *self._chunks))]
        return self._chunks[0]

    def __len__(self) -> int:
        return self._length


@dataclass(frozen=True, slots=True)
class FoundSpecial:
    """A special token in a text: from character `start` to `end`."""

    start: int
    end: int
    id: int


@dataclass(frozen=True, slots=True)
class Specials:
    """The special tokens of a text."""

    found: list[FoundSpecial]  # The special tokens that the tokenizer finds in it, in order.
    intruder: FoundSpecial | None  # The first of them that the ids do not have.
    decided: int  # No other special token begins before this character, whatever comes next.


class Window:
    """Consecutive ids of a stream, from the index `first` and the offset `byte` on; its last ones if `final`.

    Each id begins and ends at an offset of `starts` and `ends` in the bytes of the window.
    """

    def __init__(self, model: Model, ids: Int32Array, first: int, byte: int, final: bool) -> None:
        self.model = model
        self.ids = ids
        self.first = first
        self.byte = byte
        self.final = final
        lengths = model.lengths[ids]
        self.ends: Int64Array = np.cumsum(lengths)
        self.starts: Int64Array = self.ends - lengths

    @cached_property
    def data(self) -> bytes:
        """The bytes of the ids."""
        return self.model.tokenizer.decode_bytes(self.ids)

    @cached_property
    def _decoded(self) -> tuple[str, tuple[int, int] | None]:
        try:
            return self.data.decode("utf-8"), None
        except UnicodeDecodeError as error:
            bad = (error.start, error.end)
            # A symbol that is cut off at the end may be completed by later ids.
            if not self.final and error.end == len(self.data) and error.reason == "unexpected end of data":
                return self.data[: error.start].decode("utf-8"), None
            return self.data[: error.start].decode("utf-8"), bad

    @property
    def text(self) -> str:
        """The text, as far as the bytes are UTF-8."""
        return self._decoded[0]

    @property
    def bad(self) -> tuple[int, int] | None:
        """The first bytes that are not UTF-8, as start and end; None if there are none."""
        return self._decoded[1]

    @cached_property
    def byte_at(self) -> Int64Array:
        """For each character of the text, and for its end, the offset of its first byte."""
        if self.text.isascii():
            return np.arange(len(self.text) + 1)
        size = len(self.data) if self.bad is None else self.bad[0]
        leads = np.flatnonzero(begins_symbol(self.data[:size]))
        return np.append(leads[: len(self.text)], size if len(leads) == len(self.text) else leads[len(self.text)])

    def begins_at(self, byte: int) -> bool:
        """Return whether a token begins at this byte, or the ids end there."""
        token = self.token_from(byte)
        return bool((self.starts[token] if token < len(self.starts) else self.ends[-1]) == byte)

    def token_at(self, byte: int) -> int:
        """Return the token to which a byte belongs."""
        return int(np.searchsorted(self.ends, byte, side="right"))

    def token_from(self, byte: int) -> int:
        """Return the first token that begins at this byte or later."""
        return int(np.searchsorted(self.starts, byte))

    def specials(self) -> Specials:
        """Return the special tokens of the text, and whether the tokenizer would find the same ones."""
        size, tokenizer = int(self.byte_at[-1]), self.model.tokenizer
        tokens = np.flatnonzero(self.model.special[self.ids] & (self.ends <= size))
        starts = np.searchsorted(self.byte_at, self.starts[tokens]).tolist()
        ends = np.searchsorted(self.byte_at, self.ends[tokens]).tolist()
        real = [FoundSpecial(*row) for row in zip(starts, ends, self.ids[tokens].tolist(), strict=True)]
        if not tokenizer.found_specials:
            return Specials(real, None, len(self.text))
        # A special token may be part of a longer one, or be cut by one of another level.
        held_back = 0 if self.final or self.bad else 2 * self.model.longest_special
        decided = max(len(self.text) - held_back, 0)
        found = []
        at = 0
        for part in tokenizer.added_tokens.cut(self.text):
            length = len(part if isinstance(part, str) else part.content)
            if not isinstance(part, str) and at < decided:
                found.append(FoundSpecial(at, at + length, part.id))
            at += length
        same = 0
        while same < len(found) and same < len(real) and found[same] == real[same]:
            same += 1
        return Specials(found, found[same] if same < len(found) else None, decided)

    def violation(
        self, start: int, stop: int, prefix: int, canonical: Int32Array | None, detected: int, cause: Cause
    ) -> Violation:
        """Return the violation at tokens `start` to `stop` of the window; the first `prefix` of them are right."""
        index = start + prefix
        byte = self.byte + int(self.starts[index] if index < len(self.starts) else self.ends[-1])
        indices = {"index": self.first + index, "detected_at": self.first + max(detected, index)}
        return cause.at(self.first + start, byte, self.ids[start:stop], canonical, **indices)

    def spelling(self, intruder: FoundSpecial) -> Cause:
        """Return the cause for a text that spells a special token which the ids do not have."""
        shown = self.text[intruder.start : intruder.end]
        return Cause(kind=ViolationKind.SPECIAL_TOKEN, special=intruder.id, text=shown)

    def not_utf8(self) -> tuple[Violation, int]:
        """Return the violation at the first bad bytes, and the token after them."""
        assert self.bad is not None
        start, end = self.bad
        first, stop = self.token_at(start), self.token_at(end - 1) + 1
        return not_utf8(self.data, self.ids[first:stop], self.first + first, self.byte, self.bad), stop

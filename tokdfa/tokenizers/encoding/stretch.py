"""Encoding the text between two special tokens as it comes."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array
from tokdfa.base.errors import AlphabetError
from tokdfa.tokenizers.encoding.piece_ids import ForeignSymbolError

if TYPE_CHECKING:
    from tokdfa.tokenizers.encoding.long_piece import LongPiece
    from tokdfa.tokenizers.pretokenizers.splitter import SplitStream
    from tokdfa.tokenizers.tokenizer import Tokenizer

# From this number of bytes on, the tokens of a piece are returned one by one, before its end is known.
LONG_PIECE = 256


class MisplacedError(AlphabetError):
    """A symbol without a token, at byte `place` of a segment."""

    def __init__(self, error: AlphabetError, place: int) -> None:
        super().__init__(error.what, value=error.value, where=f"byte {place}")
        self.place = place


def stretch_stream(tokenizer: Tokenizer, *, begins: bool) -> HeldStretch | SplitStretch:
    """Return a stream for a segment; `begins` is whether the segment is the beginning of a text."""
    pretokenizer = tokenizer.pretokenizer
    if pretokenizer is not None and pretokenizer.splitter is None:
        return HeldStretch(tokenizer, begins)
    return SplitStretch(tokenizer, begins)


class HeldStretch:
    """UTF-8 in parts of whole symbols, held back until it ends.

    Attributes
    ----------
    n_read, n_settled : int
        The number of bytes read, and the number of them that the returned ids account for.
    """

    def __init__(self, tokenizer: Tokenizer, begins: bool) -> None:
        self._tokenizer = tokenizer
        self._begins = begins
        self._parts: list[bytes] = []
        self.n_read = self.n_settled = 0

    def feed(self, part: bytes) -> list[Int32Array]:
        """Read more and return the ids that are settled: none."""
        self._parts.append(part)
        self.n_read += len(part)
        return []

    def finish(self) -> list[Int32Array]:
        """Return all ids."""
        text = b"".join(self._parts).decode()
        try:
            return [self._tokenizer.encode_stretch(text, begins=self._begins)]
        except AlphabetError as error:
            place = self._tokenizer.foreign_character(text, begins=self._begins)
            raise MisplacedError(error, len(text[:place].encode())) from None


class _OnePiece:
    """The splitting of a text without a pre-tokenizer."""

    def __init__(self) -> None:
        self.n_bytes = 0

    def feed(self, part: bytes) -> Int64Array:
        self.n_bytes += len(part)
        return np.empty((0, 2), dtype=np.int64)

    def finish(self) -> Int64Array:
        return np.array([[0, self.n_bytes]] if self.n_bytes else [], dtype=np.int64).reshape(-1, 2)

    @property
    def open_piece(self) -> tuple[int, int]:
        return 0, self.n_bytes


class SplitStretch:
    """UTF-8 in parts of whole symbols, encoded piece by piece as a machine splits it.

    Offsets are in the text as the pieces spell it, with the space put before it and the replacements of spaces.

    Attributes
    ----------
    n_read : int
        The number of bytes read.
    """

    def __init__(self, tokenizer: Tokenizer, begins: bool) -> None:
        self._tokenizer = tokenizer
        self._begins = begins
        self._pieces = tokenizer.piece_ids
        pretokenizer = tokenizer.pretokenizer
        self._spans: SplitStream | _OnePiece = _OnePiece()
        if pretokenizer is not None:
            assert pretokenizer.splitter is not None
            self._spans = pretokenizer.splitter.stream()
        self._text = b""  # from offset `_at` on; the text before has been encoded, or is in `_long`
        self._at = 0
        self._long: LongPiece | None = None
        self._settled = 0
        self._prefix = 0
        self._wide_ends: deque[int] = deque()  # of the replacements of spaces, where they are not settled
        self._extra = 0  # settled bytes of them, in excess of the bytes of the spaces
        self.n_read = 0

    @property
    def n_settled(self) -> int:
        """The number of bytes read that the returned ids account for."""
        while self._wide_ends and self._wide_ends[0] <= self._settled:
            self._wide_ends.popleft()
            self._extra += self._width - 1
        return max(self._settled - self._prefix - self._extra, 0)

    @property
    def _width(self) -> int:
        pretokenizer = self._tokenizer.pretokenizer
        space = None if pretokenizer is None else pretokenizer.splitting.metaspace
        return 1 if space is None else len(space.encode())

    def feed(self, part: bytes) -> list[Int32Array]:
        """Read more and return the ids that are settled."""
        spelled = self._spelled(part)
        self.n_read += len(part)
        self._text += spelled
        ids = self._encode(self._spans.feed(spelled))
        piece = self._spans.open_piece
        if piece is not None:
            start, end = piece
            if self._long is None and end - start > LONG_PIECE:
                self._long = self._pieces.long_piece(end - start)
                if self._long is not None:
                    self._drop(start)
            if self._long is not None:
                ids.append(self._go_on(self._long, end))
        return ids

    def finish(self) -> list[Int32Array]:
        """Return the ids of the rest."""
        return self._encode(self._spans.finish())

    def _spelled(self, part: bytes) -> bytes:
        pretokenizer = self._tokenizer.pretokenizer
        if pretokenizer is None:
            return part
        space = pretokenizer.splitting.metaspace
        spelled = part if space is None else part.replace(b" ", space.encode())
        if self.n_read == 0:
            whole = pretokenizer.spelled(part.decode(), begins=self._begins).encode()
            self._prefix = len(whole) - len(spelled)
            spelled = whole
        if space is not None:
            at = self._at + len(self._text) + (self._prefix if self.n_read == 0 else 0)
            for length in map(len, part.split(b" ")[:-1]):
                at += length + self._width
                self._wide_ends.append(at)
        return spelled

    def _encode(self, spans: Int64Array) -> list[Int32Array]:
        parts: list[Int32Array] = []
        if self._long is not None and len(spans):
            parts += (self._go_on(self._long, int(spans[0, 1])), self._long.finish())
            self._long = None
            self._settled = int(spans[0, 1])
            spans = spans[1:]
        if len(spans):
            try:
                parts.append(self._pieces.encode_spans(self._text, spans - self._at).ids)
            except ForeignSymbolError as error:
                start, end = spans[error.piece].tolist()
                self._refuse(error, start + self._width_of(start, end, error.place))
            self._settled = int(spans[-1, 1])
            self._drop(self._settled)
        return parts

    def _go_on(self, piece: LongPiece, end: int) -> Int32Array:
        """Feed the text of a long piece up to here and return the ids that are settled."""
        try:
            ids = piece.feed(self._text[: end - self._at])
        except ForeignSymbolError as error:
            self._refuse(error, self._at + self._width_of(self._at, end, error.place))
        self._settled = end - piece.delay
        self._drop(end)
        return ids

    def _drop(self, offset: int) -> None:
        self._text = self._text[offset - self._at :]
        self._at = offset

    def _width_of(self, start: int, end: int, n_characters: int) -> int:
        text = self._text[start - self._at : end - self._at].decode("utf-8", "replace")
        return len(text[:n_characters].encode())

    def _refuse(self, error: AlphabetError, offset: int) -> None:
        wide = sum(end <= offset for end in self._wide_ends)
        place = max(offset - self._prefix - self._extra - wide * (self._width - 1), 0)
        raise MisplacedError(error, place) from None

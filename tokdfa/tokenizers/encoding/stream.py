"""Encoding a text that comes in parts: ids are returned as soon as they are settled."""

from __future__ import annotations

import codecs
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array
from tokdfa.base.errors import AlphabetError
from tokdfa.tokenizers.encoding.piece_ids import ForeignSymbolError, PieceIds
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.encoding.texts import check_bytes_or_text

if TYPE_CHECKING:
    from tokdfa.automata.transducers.subsequential import SubsequentialTransducer
    from tokdfa.tokenizers.pretokenizers.splitter import SplitStream
    from tokdfa.tokenizers.tokenizer import Tokenizer

# From this number of bytes on, the tokens of a piece are returned one by one, before its end is known.
LONG_PIECE = 256


class EncodingStream(ABC):
    """A text that comes in parts; its ids are returned as soon as no continuation can change them.

    The ids that :meth:`feed` and :meth:`finish` return, concatenated, are the ids of the whole text.

    Made by :meth:`tokdfa.Tokenizer.stream`.

    Attributes
    ----------
    n_read, n_settled : int
        The number of bytes of the text read, and the number of them that the returned ids account for.
    longest_delay : int
        The largest number of bytes, over the ends of all calls so far, read but not yet accounted for.

    Examples
    --------
    >>> stream = tokdfa.default_tokenizer().stream()
    >>> [stream.feed(part).tolist() for part in ("a sin", "gle m", "an")], stream.finish().tolist()
    ([[64], [2513], []], [462])
    """

    def __init__(self) -> None:
        self._tail = b""
        self.n_read = self.n_settled = self.longest_delay = 0

    @property
    def delay(self) -> int:
        """The number of bytes read that no returned id accounts for."""
        return self.n_read - self.n_settled

    def feed(self, part: str | bytes) -> Int32Array:
        """Read more of the text and return the ids that are settled since the last call, as an int32 array.

        Parameters
        ----------
        part : str or bytes
            Any amount of text, or of its UTF-8, which may end within a symbol.

        Raises
        ------
        AlphabetError
            If the text is not UTF-8, has half of a surrogate pair, or a symbol for which the tokenizer has no token;
            the error gives the byte of the whole text. The stream cannot be used any more.
        WrongTypeError
            If it is neither a string nor bytes.
        """
        data = self._tail + self._bytes_of(part)
        read = self._check(data, final=False)
        self._tail = data[read:]
        ids = self._feed(data[:read])
        self.n_read += read
        self.longest_delay = max(self.longest_delay, self.delay + len(self._tail))
        return ids

    def finish(self) -> Int32Array:
        """Return the ids of the rest of the text, and get ready for another one.

        Raises
        ------
        AlphabetError
            As :meth:`feed` does, and if the text ends within a symbol.
        """
        self._check(self._tail, final=True)
        ids = self._finish()
        self.n_read = self.n_settled = 0
        return ids

    @abstractmethod
    def _feed(self, data: bytes) -> Int32Array:
        """Return the ids that are settled with more UTF-8 of whole symbols."""

    @abstractmethod
    def _finish(self) -> Int32Array:
        """Return the remaining ids, and forget the text."""

    def _bytes_of(self, part: str | bytes) -> bytes:
        check_bytes_or_text(part)
        if isinstance(part, bytes):
            return part
        try:
            return part.encode("utf-8")
        except UnicodeEncodeError as error:
            at = self.n_read + len(self._tail) + len(part[: error.start].encode("utf-8"))
            raise AlphabetError("half of a surrogate pair", value=part[error.start], where=f"byte {at}") from None

    def _check(self, data: bytes, final: bool) -> int:
        """Return the number of these bytes that form whole symbols."""
        try:
            return codecs.utf_8_decode(data, "strict", final)[1]
        except UnicodeDecodeError as error:
            what = "the text ends within a symbol" if final else "not UTF-8"
            value = data[error.start : error.start + 4]
            raise AlphabetError(what, value=value, where=f"byte {self.n_read + error.start}") from None


class SettlingStream(EncodingStream):
    """The stream of a byte pair tokenizer that encodes texts unchanged.

    The ids of a piece are returned when its end is known; the ids of a piece of more than 256 bytes token by token, as
    the subsequential transducer settles them. Text that cannot be read from left to right is held back until it ends:
    long pieces if the rules are improper or the end of a word is marked, and everything if the pre-tokenizer is not a
    machine.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        super().__init__()
        self._tokenizer = tokenizer
        self._finder = tokenizer.added_tokens.stream()
        self._segment: HeldSegment | SplitSegment | None = None
        self._begin = 0  # of the segment

    def _feed(self, data: bytes) -> Int32Array:
        return self._encode(self._finder.feed(data))

    def _finish(self) -> Int32Array:
        parts = [self._encode(self._finder.finish()), *self._end_segment()]
        self._begin = 0
        return np.concatenate(parts)

    def _encode(self, found: list[Special | bytes]) -> Int32Array:
        parts = [np.empty(0, dtype=np.int32)]
        for part in found:
            if isinstance(part, Special):
                parts += (*self._end_segment(), np.array([part.id], dtype=np.int32))
                self._begin = self.n_settled = self._begin + len(part.content.encode())
                continue
            if self._segment is None:
                split = self._tokenizer.pretokenizer
                is_read = split is None or split.splitter is not None
                self._segment = (SplitSegment if is_read else HeldSegment)(self._tokenizer, self._begin)
            parts += self._segment.feed(part)
            self.n_settled = self._begin + self._segment.n_settled
        return np.concatenate(parts)

    def _end_segment(self) -> list[Int32Array]:
        if self._segment is None:
            return []
        parts = self._segment.finish()
        self._begin += self._segment.n_read
        self._segment = None
        return parts


class HeldSegment:
    """A segment between special tokens, from byte `at` of the text on, that is held back until it ends."""

    n_settled = 0

    def __init__(self, tokenizer: Tokenizer, at: int) -> None:
        self._tokenizer, self._at = tokenizer, at
        self._parts: list[bytes] = []
        self.n_read = 0

    def feed(self, part: bytes) -> list[Int32Array]:
        """Read more symbols and return the ids that are settled: none."""
        self._parts.append(part)
        self.n_read += len(part)
        return []

    def finish(self) -> list[Int32Array]:
        """Return all ids."""
        from tokdfa.tokenizers.models.byte_pair_texts import encode_segment, foreign_character

        text, begins = b"".join(self._parts).decode(), self._at == 0
        try:
            return [encode_segment(self._tokenizer, text, begins=begins)]
        except AlphabetError as error:
            index = foreign_character(self._tokenizer, text, begins=begins)
            _refuse(error, self._at + len(text[:index].encode()))


class SplitSegment:
    """A segment between special tokens, from byte `at` of the text on, encoded piece by piece as a machine splits it.

    `n_read` is the number of bytes read. All other offsets are in the text as the pieces spell it, with the space put
    before it and the replacements of spaces.
    """

    def __init__(self, tokenizer: Tokenizer, at: int) -> None:
        self._begin = at
        self._pieces = tokenizer.piece_ids
        self._pretokenizer = split = tokenizer.pretokenizer
        self._space = b" "
        self._spans: SplitStream | _OnePiece = _OnePiece()
        if split is not None:
            assert split.splitter is not None
            self._space, self._spans = (split.splitting.metaspace or " ").encode(), split.splitter.stream()
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
            self._extra += len(self._space) - 1
        return max(self._settled - self._prefix - self._extra, 0)

    def feed(self, part: bytes) -> list[Int32Array]:
        """Read more symbols and return the ids that are settled."""
        spelled = self._spelled(part)
        self.n_read += len(part)
        self._text += spelled
        ids = self._encode(self._spans.feed(spelled))
        piece = self._spans.open_piece
        if piece is not None:
            start, end = piece
            if self._long is None and end - start > LONG_PIECE:
                transducer = self._pieces.long_transducer(end - start)
                if transducer is not None:
                    self._long = LongPiece(transducer, self._pieces)
                    self._drop(start)
            if self._long is not None:
                ids.append(self._feed_long(self._long, end))
        return ids

    def finish(self) -> list[Int32Array]:
        """Return the ids of the rest."""
        return self._encode(self._spans.finish())

    def _spelled(self, part: bytes) -> bytes:
        spelled = part.replace(b" ", self._space)
        at = self._at + len(self._text)
        if self.n_read == 0 and self._pretokenizer is not None:
            whole = self._pretokenizer.spelled(part.decode(), begins=self._begin == 0).encode()
            self._prefix = len(whole) - len(spelled)
            at, spelled = at + self._prefix, whole
        if len(self._space) > 1:
            for length in map(len, part.split(b" ")[:-1]):
                at += length + len(self._space)
                self._wide_ends.append(at)
        return spelled

    def _encode(self, spans: Int64Array) -> list[Int32Array]:
        parts: list[Int32Array] = []
        if self._long is not None and len(spans):
            parts += (self._feed_long(self._long, int(spans[0, 1])), self._long.finish())
            self._long = None
            self._settled = int(spans[0, 1])
            spans = spans[1:]
        if len(spans):
            try:
                parts.append(self._pieces.encode_spans(self._text, spans - self._at).ids)
            except ForeignSymbolError as error:
                self._refuse(error, *spans[error.piece].tolist())
            self._settled = int(spans[-1, 1])
            self._drop(self._settled)
        return parts

    def _feed_long(self, piece: LongPiece, end: int) -> Int32Array:
        """Feed the text of a long piece up to here and return the ids that are settled."""
        try:
            ids = piece.feed(self._text[: end - self._at])
        except ForeignSymbolError as error:
            self._refuse(error, self._at, end)
        self._settled = end - piece.delay
        self._drop(end)
        return ids

    def _drop(self, offset: int) -> None:
        self._text = self._text[offset - self._at :]
        self._at = offset

    def _refuse(self, error: ForeignSymbolError, start: int, end: int) -> NoReturn:
        """Raise an error of the piece between two offsets, saying at which byte of the text its symbol is."""
        piece = self._text[start - self._at : end - self._at].decode("utf-8", "replace")
        offset = start + len(piece[: error.character].encode())
        wide = sum(end <= offset for end in self._wide_ends) * (len(self._space) - 1)
        _refuse(error, self._begin + max(offset - self._prefix - self._extra - wide, 0))


def _refuse(error: AlphabetError, offset: int) -> NoReturn:
    raise AlphabetError(error.what, value=error.value, where=f"byte {offset}") from None


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


class LongPiece:
    """A piece of UTF-8 that comes in parts of whole symbols; its tokens are returned before its end is known.

    `delay` is the number of bytes fed that no returned id accounts for.
    """

    def __init__(self, transducer: SubsequentialTransducer, pieces: PieceIds) -> None:
        self._stream = transducer.stream()
        self._pieces = pieces
        self._is_bytewise = transducer.dictionary.alphabet.kind == "bytes"
        self._unsettled = b""
        self.delay = 0

    def feed(self, part: bytes) -> Int32Array:
        """Return the ids that are settled since the last call; ForeignSymbolError if a symbol has no token."""
        tokens = self._stream.feed(self._pieces.word_of_utf8(part))
        self._unsettled += part
        n_symbols = self._stream.delay
        if self._is_bytewise:
            self._unsettled = self._unsettled[len(self._unsettled) - n_symbols :]
        else:
            characters = self._unsettled.decode()
            self._unsettled = characters[len(characters) - n_symbols :].encode()
        self.delay = len(self._unsettled)
        return self._pieces.ids[tokens]

    def finish(self) -> Int32Array:
        """Return the ids of the rest of the piece."""
        return self._pieces.ids[self._stream.finish()]


class HeldStream(EncodingStream):
    """A text that is held back, and encoded up to each boundary where it is always cut, or when it ends.

    `encode` returns the ids of a text, given the byte of the whole text at which it begins. `last_cut` returns the last
    index where a text is always cut, or -1, given the character before it and the text.
    """

    def __init__(
        self, encode: Callable[[str, int], Int32Array], last_cut: Callable[[str, str], int] = lambda _, text: -1
    ) -> None:
        super().__init__()
        self._encode_text = encode
        self._last_cut = last_cut
        self._held: list[str] = []

    def _feed(self, data: bytes) -> Int32Array:
        text = data.decode("utf-8")
        cut = self._last_cut(self._held[-1][-1] if self._held else "", text)
        if cut >= 0:
            ids = self._encode("".join((*self._held, text[:cut])))
            self._held = [text[cut:]]
            return ids
        if text:
            self._held.append(text)
        return np.empty(0, dtype=np.int32)

    def _finish(self) -> Int32Array:
        ids = self._encode("".join(self._held))
        self._held = []
        return ids

    def _encode(self, text: str) -> Int32Array:
        """Return the ids of more of the text, and count it as settled."""
        ids = self._encode_text(text, self.n_settled)
        self.n_settled += len(text.encode("utf-8"))
        return ids


def encode_from(encode: Callable[[str], Int32Array], text: str, byte: int) -> Int32Array:
    """Return the ids of the text after a boundary; an error says at which byte of the whole text that begins."""
    try:
        return encode(text)
    except AlphabetError as error:
        where = f"in the text from byte {byte} on" if byte else error.where
        raise AlphabetError(error.what, value=error.value, where=where) from None

"""Encoding a text that comes in parts: ids are returned as soon as they are settled."""

from __future__ import annotations

import codecs
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from tokdfa.base.arrays import Int32Array
from tokdfa.base.errors import AlphabetError
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.encoding.stretch import HeldStretch, MisplacedError, SplitStretch, stretch_stream
from tokdfa.tokenizers.encoding.texts import check_bytes_or_text

if TYPE_CHECKING:
    from tokdfa.tokenizers.tokenizer import Tokenizer


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
        self._stretch: HeldStretch | SplitStretch | None = None
        self._begin = 0  # of the segment

    def _feed(self, data: bytes) -> Int32Array:
        return self._encode(self._finder.feed(data))

    def _finish(self) -> Int32Array:
        parts = [self._encode(self._finder.finish()), *self._end_stretch()]
        self._begin = 0
        return np.concatenate(parts)

    def _encode(self, stretches: list[Special | bytes]) -> Int32Array:
        parts = []
        for stretch in stretches:
            if isinstance(stretch, Special):
                parts += self._end_stretch()
                parts.append(np.array([stretch.id], dtype=np.int32))
                self._begin = self.n_settled = self._begin + len(stretch.content.encode())
                continue
            if self._stretch is None:
                self._stretch = stretch_stream(self._tokenizer, begins=self._begin == 0)
            parts += self._located(self._stretch.feed, stretch)
            self.n_settled = self._begin + self._stretch.n_settled
        return np.concatenate((np.empty(0, dtype=np.int32), *parts))

    def _end_stretch(self) -> list[Int32Array]:
        if self._stretch is None:
            return []
        parts = self._located(self._stretch.finish)
        self._begin += self._stretch.n_read
        self._stretch = None
        return parts

    def _located(self, function: Callable[..., list[Int32Array]], *arguments: bytes) -> list[Int32Array]:
        try:
            return function(*arguments)
        except MisplacedError as error:
            where = f"byte {self._begin + error.place}"
            raise AlphabetError(error.what, value=error.value, where=where) from None


class HeldStream(EncodingStream):
    """A text that is held back, and encoded up to each boundary where it is always cut, or when it ends.

    Parameters
    ----------
    encode : callable
        Returns the ids of a text, given the byte of the whole text at which it begins.
    last_cut : callable, optional
        Returns the last index where a text is always cut, or -1, given the character before it and the text.
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
        place = self._last_cut(self._held[-1][-1] if self._held else "", text)
        if place >= 0:
            ids = self._encode("".join((*self._held, text[:place])))
            self._held = [text[place:]]
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

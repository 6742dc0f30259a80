"""From ids to bytes and text, all at once or chunk by chunk."""

from __future__ import annotations

import codecs
from collections.abc import Generator, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tokdfa.base.arrays import (
    BoolArray,
    Int32Array,
    Int64Array,
    IntegerArray,
    Uint8Array,
    checked_ids,
    id_array,
    offsets_of,
    running_sum,
)
from tokdfa.base.errors import TokenStreamError, WrongTypeError
from tokdfa.kernels.spelling.spell import spell, spell_bytes

if TYPE_CHECKING:
    from tokdfa.tokenizers.text_states import TextStates

_LONGEST_CHARACTER = 4

_SHORT = frozenset(map(np.dtype, (np.uint8, np.int16, np.uint16, np.int32, np.uint32)))
"""The types of integers that have the same 32 bits wherever the integer is an id."""

_BLOCK = 1 << 18

ERRORS: Final = ("strict", "replace", "ignore", "backslashreplace")
"""How bytes that are not UTF-8 are decoded; each has the meaning that it has for `bytes.decode`."""


class Spellings(NamedTuple):
    """Bytes of numbered words, read-only: word i is ``text[offsets[i]:offsets[i + 1]]``.

    `text` is a uint8 array, and `offsets` an int64 array with one more entry than there are words.
    """

    text: Uint8Array
    offsets: Int64Array


class SpelledTexts(NamedTuple):
    """The bytes of the ids of several texts, one after the other, with the bytes to remove from their beginnings.

    `ends` (int64) has the end of the bytes of each id, perhaps within a symbol. `removed` (int64) has for each text the
    number of its first bytes that the decoder removes; -1 if more than its first few ids decide that.
    """

    data: Uint8Array
    ends: Int64Array
    removed: Int64Array


class Decoded(NamedTuple):
    """A text, and the end of each id in it, in bytes of UTF-8."""

    text: str
    ends: Int64Array


class Cut(NamedTuple):
    """Where a stream that ends within a character breaks off."""

    token: int  # The id with the first byte of the character
    byte: int  # Its offset
    data: bytes  # The bytes of the character that are there


def spellings(words: Sequence[bytes]) -> Spellings:
    """Return words one after the other."""
    text = np.frombuffer(b"".join(words), dtype=np.uint8)
    offsets = offsets_of(words)
    offsets.setflags(write=False)
    return Spellings(text, offsets)


def gathered(words: Spellings, numbers: IntegerArray) -> Spellings:
    """Return some of the words, in the order of their numbers."""
    text, lengths = spell(words.text, words.offsets, numbers.astype(np.int32))
    return Spellings(text, running_sum(lengths))


def words_of(words: Spellings) -> list[bytes]:
    """Return words as Python's bytes."""
    text, ends = words.text.tobytes(), words.offsets.tolist()
    return [text[start:end] for start, end in pairwise(ends)]


class Decoder:
    """A decoder: it spells ids.

    `spelled` has the bytes of each id, and `meaning` whether it is in use. `ends_word` is whether its last byte is the
    space after a word, which the last word of a text does not have. `block` ids are spelled at once: each byte of their
    text needs an index of 8 bytes.
    """

    def __init__(
        self, spelled: Spellings, meaning: BoolArray, ends_word: BoolArray | None = None, *, block: int = _BLOCK
    ) -> None:
        self._text, self._offsets = spelled
        self._meaning = meaning
        # All ids before this one are in use.
        self._first_hole = int(np.argmin(np.append(meaning, False)))
        self._ends_word = ends_word
        self._block = block

    def check(self, ids: npt.ArrayLike, first: int = 0, out: Int32Array | None = None) -> Int32Array:
        """Return ids as a new int32 array, which nobody else can change after they are checked.

        `first` is the position of the first of them in its stream, for messages; `out` is where to write them instead.
        TokenStreamError is raised if they are not integers in one dimension, or one of them is not an id, saying which.
        """
        # A subclass of arrays may have masked ids.
        if type(ids) is np.ndarray and ids.dtype in _SHORT and ids.ndim == 1:
            own: Int32Array = ids.astype(np.int32, order="C") if out is None else out
            if out is not None:
                out[:] = ids
            # One pass if all is well: read as unsigned, negative ids are the largest.
            if own.view(np.uint32).max(initial=0) < self._first_hole:
                return own
        checked = checked_ids(ids, len(self._meaning), first=first)
        if checked.max(initial=-1) >= self._first_hole and not self._meaning[checked].all():
            index = int(np.argmin(self._meaning[checked]))
            raise TokenStreamError("no token has this id", value=int(checked[index]), where=f"token {first + index}")
        if out is not None:
            out[:] = checked
            return out
        return checked

    def check_known(self, ids: npt.ArrayLike) -> tuple[Int32Array, Int64Array]:
        """Return ids as a new int32 array, and the indices of those out of range, where another id stands in."""
        try:
            return self.check(ids), np.empty(0, dtype=np.int64)
        except TokenStreamError:
            array = id_array(ids)
        means = self.mean_something(array)
        known = np.where(means, array, 0).astype(np.int64)
        known[~means] = self.placeholder_id
        return self.check(known), np.flatnonzero(~means)

    def mean_something(self, ids: IntegerArray) -> BoolArray:
        """Return for each of some integers whether it is an id in use."""
        inside = (ids >= 0) & (ids < len(self._meaning))
        means: BoolArray = inside & self._meaning[np.where(inside, ids, 0).astype(np.int64)]
        return means

    def is_id(self, id: int) -> bool:
        """Return whether an id is in use."""
        return 0 <= id < len(self._meaning) and bool(self._meaning[id])

    @property
    def placeholder_id(self) -> int:
        """A valid id, used as a placeholder where a stream has none."""
        return int(np.argmax(self._meaning))

    def ends_with_word(self, ids: Int32Array) -> bool:
        """Return whether checked ids end with the space after a word, which their bytes then lack."""
        return self._ends_word is not None and len(ids) > 0 and bool(self._ends_word[ids[-1]])

    def bytes_of(self, ids: npt.ArrayLike) -> bytes:
        """Return the bytes of a stream that is given at once."""
        checked = self.check(ids)
        held = self.ends_with_word(checked)
        if len(checked) > self._block:
            return spell_bytes(self._text, self._offsets, checked, leave_out=int(held))
        # Few bytes stay in the cache, and copying them costs less than finding their number before.
        data = spell(self._text, self._offsets, checked)[0].tobytes()
        return data[: len(data) - held]

    def string_of(self, ids: npt.ArrayLike, errors: str = "strict") -> str:
        """Return the text of a stream that is given at once."""
        check_errors(errors)
        try:
            return self.bytes_of(ids).decode("utf-8", errors)
        except UnicodeDecodeError:
            # Reading block by block knows the token.
            return "".join(self.iter_text([ids]))

    def text_of(self, ids: Int32Array) -> Decoded:
        """Return the text of checked ids, and the end of each id's part."""
        ends: Int64Array = np.cumsum(self._lengths[ids])
        ends[-1:] -= self.ends_with_word(ids)
        return Decoded(self.string_of(ids), ends)

    def spell_texts(self, ids: Int32Array, bounds: Int64Array) -> SpelledTexts | None:
        """Return the bytes of several texts; None if it is faster, or the only way, to decode them one by one.

        Text k has the checked ids from ``bounds[k]`` to ``bounds[k + 1]``.
        """
        if self._ends_word is not None:
            return None
        data, lengths = spell(self._text, self._offsets, ids)
        return SpelledTexts(data, np.cumsum(lengths), np.zeros(len(bounds) - 1, dtype=np.int64))

    @cached_property
    def _lengths(self) -> Int64Array:
        lengths: Int64Array = np.diff(self._offsets)
        return lengths

    @property
    def later(self) -> Decoder:
        """The decoder of the text after a boundary; it does nothing to the beginning of that text."""
        return self

    @property
    def states(self) -> TextStates:
        """The decoder as a transducer from ids to text, U+FFFD for bytes that are not UTF-8.

        UnsupportedFeatureError is raised if any later id may change the text of an id.
        """
        from tokdfa.tokenizers.text_states import ByteStates

        return ByteStates(Spellings(self._text, self._offsets), None, self._ends_word)

    def iter_bytes(self, chunks: Iterable[npt.ArrayLike]) -> Iterator[bytes]:
        """Yield the bytes of a stream."""
        return (data for _, data in self._iter_blocks(chunks))

    def iter_text(self, chunks: Iterable[npt.ArrayLike], errors: str = "strict") -> Generator[str, None, Cut | None]:
        """Yield the text of a stream; a character that a chunk splits comes with the next chunk.

        The value of the generator is where the stream ends within a character, or None. With "strict" errors,
        TokenStreamError is raised there, and if the bytes are not UTF-8, with the token and the byte; the text up to
        there is yielded before. It is also raised as :meth:`check` does.
        """
        decoder = codecs.getincrementaldecoder("utf-8")(errors)
        n_tokens = n_bytes = 0
        # The ends of the last tokens: their bytes may turn out to be bad only with the next block.
        ends: Int64Array = np.zeros(0, dtype=np.int64)

        def token_at(offset: int) -> int:
            return n_tokens - len(ends) + int(np.searchsorted(ends, offset, side="right"))

        for lengths, data in self._iter_blocks(chunks):
            n_pending = len(decoder.getstate()[0])
            last_end = int(ends[-1]) if len(ends) else 0
            ends = np.concatenate((ends[-_LONGEST_CHARACTER:], last_end + np.cumsum(lengths)))
            n_tokens += len(lengths)
            try:
                text = decoder.decode(data)
            except UnicodeDecodeError as error:
                yield error.object[: error.start].decode("utf-8")
                offset = n_bytes - n_pending + error.start
                raise TokenStreamError(
                    "the bytes of the ids are not UTF-8",
                    value=error.object[error.start : error.start + _LONGEST_CHARACTER],
                    where=f"token {token_at(offset)}, byte {offset}",
                    hint="no text has these ids",
                ) from None
            yield text
            n_bytes += len(data)
        pending = decoder.getstate()[0]
        if not pending:
            return None
        byte = n_bytes - len(pending)
        cut = Cut(token_at(byte), byte, pending)
        if errors == "strict":
            where, hint = f"token {cut.token}, byte {byte}", "the text before it is complete"
            raise TokenStreamError("the ids end within a character", value=pending, where=where, hint=hint)
        yield decoder.decode(b"", final=True)
        return cut

    def _iter_blocks(self, chunks: Iterable[npt.ArrayLike]) -> Iterator[tuple[Int64Array, bytes]]:
        """Yield the number of bytes of each id, and the bytes; a space after a word comes with the next word."""
        n_tokens = 0
        held = b""
        size = self._block
        for chunk in chunks:
            checked = self.check(chunk, n_tokens)
            n_tokens += len(checked)
            for begin in range(0, len(checked), size):
                block = checked[begin : begin + size]
                spelled, lengths = spell(self._text, self._offsets, block)
                data = held + spelled.tobytes()
                held = b" " * self.ends_with_word(block)
                yield lengths, data[: len(data) - len(held)]


def check_errors(errors: str) -> None:
    """Refuse an unknown way to decode bytes that are not UTF-8."""
    if errors not in ERRORS:
        raise WrongTypeError(f"errors are one of {', '.join(ERRORS)}", value=errors, where="errors")


def is_utf8(data: bytes) -> bool:
    """Return whether bytes are UTF-8."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True

"""From ids to bytes and text, all at once or chunk by chunk."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from functools import cached_property
from itertools import chain, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from tokdfa.arrays import (
    BoolArray,
    Int32Array,
    Int64Array,
    IntegerArray,
    Uint8Array,
    checked_ids,
    id_array,
    running_sum,
)
from tokdfa.encoding.encoded import Decoded
from tokdfa.errors import TokenStreamError
from tokdfa.kernels.spelling.spell import spell, spell_bytes

if TYPE_CHECKING:
    from tokdfa.tokenizers.decoding import DecodeStep
    from tokdfa.tokenizers.tokenizer import StringsOfIds

__all__ = ["Decoder", "Spellings", "WholeDecoder", "gathered", "is_utf8", "spellings", "words_of"]

_LONGEST_CHARACTER = 4

_SHORT = frozenset(map(np.dtype, (np.uint8, np.int16, np.uint16, np.int32, np.uint32)))
"""The types of integers of which every one that is an id has the same 32 bits."""

_BLOCK = 1 << 18

_OTHER = "x"
"""A token that is not read as a byte."""

_FEW = 64
"""Fewer ids are read by the steps of a decoder in less time than by their bytes."""


class Spellings(NamedTuple):
    """Bytes of numbered words, read-only: those of word i are ``text[offsets[i]:offsets[i + 1]]``.

    `text` is a uint8 array, and `offsets` an int64 array with one more entry than there are words.
    """

    text: Uint8Array
    offsets: Int64Array


def spellings(words: Sequence[bytes]) -> Spellings:
    """Return words one after the other."""
    text = np.frombuffer(b"".join(words), dtype=np.uint8)
    offsets = running_sum(np.fromiter(map(len, words), dtype=np.int64, count=len(words)))
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

        Raises
        ------
        TokenStreamError
            If they are not integers in one dimension, or one of them is not an id; the error says which.
        """
        # A subclass of arrays may have masked ids.
        if type(ids) is np.ndarray and ids.dtype in _SHORT and ids.ndim == 1:
            own: Int32Array
            if out is None:
                own = ids.astype(np.int32, order="C")
            else:
                out[:] = ids
                own = out
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

    def string_of(self, ids: npt.ArrayLike) -> str:
        """Return the text of a stream that is given at once."""
        try:
            return self.bytes_of(ids).decode("utf-8")
        except UnicodeDecodeError:
            # Reading block by block knows the token.
            return "".join(self.iter_text([ids]))

    def text_of(self, ids: Int32Array) -> Decoded:
        """Return the text of checked ids, and the end of what each adds."""
        ends: Int64Array = np.cumsum(self._lengths[ids])
        ends[-1:] -= self.ends_with_word(ids)
        return Decoded(self.string_of(ids), ends)

    @cached_property
    def _lengths(self) -> Int64Array:
        lengths: Int64Array = np.diff(self._offsets)
        return lengths

    @property
    def later(self) -> Decoder:
        """The decoder of the text after a boundary, to the beginning of which nothing is done."""
        return self

    def iter_bytes(self, chunks: Iterable[npt.ArrayLike]) -> Iterator[bytes]:
        """Yield the bytes of a stream."""
        return (data for _, data in self._iter_blocks(chunks))

    def iter_text(self, chunks: Iterable[npt.ArrayLike]) -> Iterator[str]:
        """Yield the text of a stream; a character that a chunk splits comes with the next chunk.

        Raises
        ------
        TokenStreamError
            As :meth:`check` does, and if the bytes are not UTF-8; the error gives the token and the byte.
        """
        decoder = codecs.getincrementaldecoder("utf-8")()
        n_tokens = n_bytes = 0
        # The ends of the last tokens: their bytes may turn out to be bad only with the next block.
        ends: Int64Array = np.zeros(0, dtype=np.int64)
        end = (np.zeros(0, dtype=np.int64), None)
        for lengths, data in chain(self._iter_blocks(chunks), (end,)):
            n_pending = len(decoder.getstate()[0])
            last_end = int(ends[-1]) if len(ends) else 0
            ends = np.concatenate((ends[-_LONGEST_CHARACTER:], last_end + np.cumsum(lengths)))
            n_tokens += len(lengths)
            try:
                yield decoder.decode(data or b"", final=data is None)
            except UnicodeDecodeError as error:
                place = n_bytes - n_pending + error.start
                token = n_tokens - len(ends) + int(np.searchsorted(ends, place, side="right"))
                raise TokenStreamError(
                    "the bytes of the ids are not UTF-8",
                    value=error.object[error.start : error.start + _LONGEST_CHARACTER],
                    where=f"token {token}, byte {place}",
                    hint="no text has these ids",
                ) from None
            n_bytes += len(data or b"")

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


class WholeDecoder(Decoder):
    """A decoder that spells all ids of a stream at once: `steps` make a text from their strings in the file."""

    def __init__(
        self, spelled: Spellings, meaning: BoolArray, strings: StringsOfIds, steps: tuple[DecodeStep, ...]
    ) -> None:
        super().__init__(spelled, meaning)
        self._strings = strings
        self._steps = steps
        self._n_read = 0

    def text_of(self, ids: Int32Array) -> Decoded:
        """Return the text of checked ids, and the end of what each adds."""
        self._n_read += len(ids)
        # The bytes of all ids take as long as reading so many of them by the steps.
        if len(ids) >= _FEW and self._n_read > len(self._meaning) and self._strings.texts.spelled is not None:
            return self._by_bytes(ids, self._strings.texts.spelled)
        return self._by_steps(ids)

    def _by_steps(self, ids: Int32Array) -> Decoded:
        from tokdfa.tokenizers.decoding import decode_tokens

        strings = self._strings.of_ids
        return decode_tokens([strings[id] for id in ids.tolist()], self._steps)

    def _by_bytes(self, ids: Int32Array, spelled: Spellings) -> Decoded:
        """Return the text of ids, given the bytes of each where it does not begin a text."""
        begin = self._n_first(ids)
        first, ids = self._by_steps(ids[:begin]), ids[begin:]
        spelling, lengths = spell(*spelled, ids)
        data = spelling.tobytes()
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            data = self._replaced(data, lengths, ids)
            text = data.decode("utf-8")
        ends = np.cumsum(lengths)
        # What the bytes of a symbol add is with the last of them.
        within = np.flatnonzero(self._strings.texts.is_high[ids])
        spelling = np.frombuffer(data, dtype=np.uint8)
        while len(within):
            within = within[ends[within] < len(data)]
            within = within[spelling[ends[within]] & 0xC0 == 0x80]
            ends[within] -= 1
        return Decoded(first.text + text, np.concatenate((first.ends, ends + first.ends[-1:].sum())))

    def _n_first(self, ids: Int32Array) -> int:
        """Return the number of ids at the beginning of which something may be removed, with the run of bytes there."""
        is_blank, (_, _, is_byte) = self._strings.texts.is_blank, self._strings.texts.ends
        size = _FEW
        while size < len(ids) and is_blank[ids[:size]].all():
            size *= 8
        begin = int(np.argmin(np.append(is_blank[ids[:size]], False)))
        if begin < len(ids) and is_byte[ids[begin]]:
            while begin + 1 < len(ids) and is_byte[ids[begin + 1]]:
                begin += 1
        return begin + 1

    def _replaced(self, data: bytes, lengths: Int64Array, ids: Int32Array) -> bytes:
        """Return the bytes of ids with runs of byte tokens that are not UTF-8 replaced, and set their lengths."""
        from tokdfa.tokenizers.decoding import decode_tokens

        strings, is_byte = self._strings.of_ids, self._strings.texts.ends[2][ids]
        runs = np.flatnonzero(np.diff(is_byte.view(np.int8), prepend=np.int8(0), append=np.int8(0))).reshape(-1, 2)
        bounds = running_sum(lengths)[runs]
        rows = zip(runs.tolist(), bounds.tolist(), strict=True)
        wrong = [(run, places) for run, places in rows if not is_utf8(data[slice(*places)])]
        # All of these runs at once, each between tokens of another kind.
        tokens = [""]
        for (low, high), _ in wrong:
            tokens += (*(strings[id] for id in ids[low:high].tolist()), _OTHER)
        text, ends = decode_tokens(tokens, self._later)
        read, sizes = text.encode("utf-8"), np.diff(ends)
        parts: list[bytes] = []
        at = token = 0
        for (low, high), (start, stop) in wrong:
            after = token + high - low
            lengths[low:high] = sizes[token:after]
            parts += (data[at:start], read[int(ends[token]) : int(ends[after])])
            at, token = stop, after + 1
        return b"".join((*parts, data[at:]))

    @cached_property
    def _later(self) -> list[DecodeStep]:
        return [later for step in self._steps if (later := step.later) is not None]

    @cached_property
    def later(self) -> WholeDecoder:
        """The decoder of the text after a boundary, from the beginning of which no step removes anything."""
        later = copy(self)
        later._steps = tuple(self._later)
        return later

    def iter_text(self, chunks: Iterable[npt.ArrayLike]) -> Iterator[str]:
        """Yield the text of a stream; see :meth:`Decoder.iter_text`."""
        first = 0
        ids = [np.empty(0, dtype=np.int32)]
        for chunk in chunks:
            ids.append(self.check(chunk, first))
            first += len(ids[-1])
        yield self.text_of(np.concatenate(ids)).text

    def bytes_of(self, ids: npt.ArrayLike) -> bytes:
        """Return the bytes of a stream that is given at once."""
        return b"".join(self.iter_bytes([ids]))

    def string_of(self, ids: npt.ArrayLike) -> str:
        """Return the text of a stream that is given at once."""
        return self.text_of(self.check(ids)).text

    def iter_bytes(self, chunks: Iterable[npt.ArrayLike]) -> Iterator[bytes]:
        """Yield the bytes of a stream."""
        return (text.encode("utf-8") for text in self.iter_text(chunks))


def is_utf8(data: bytes) -> bool:
    """Return whether bytes are UTF-8."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True

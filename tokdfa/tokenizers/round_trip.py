"""From ids to text and back: the ids that a tokenizer gives for the text of ids, and where that text is cut."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from tokdfa.alphabet import Word
from tokdfa.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.encoding.encoded import Decoded
from tokdfa.errors import AlphabetError, TokenStreamError
from tokdfa.tokenizers.boundaries.protocol import Boundaries
from tokdfa.unicode.normalization import normalize
from tokdfa.unicode.quick_check import Change, changes

if TYPE_CHECKING:
    from tokdfa.tokenizers.protocol import AnyTokenizer
    from tokdfa.tokenizers.tokenizer import Tokenizer
    from tokdfa.unigram.lattice import RecordedText

__all__ = ["BytesRoundTrip", "Ends", "RewritingRoundTrip", "RoundTrip"]

_NO_BOUNDARIES = Boundaries("streams are judged without")

Ends: TypeAlias = npt.NDArray[np.int64] | npt.NDArray[np.float64]


class RoundTrip(ABC):
    """The way in which a tokenizer decodes ids and encodes their text again, and where it cuts that text.

    Methods that depend on what is before the ids take `begins`: whether the text begins with them. What follows a
    place of :meth:`always_cut` is decoded and encoded separately, with ``begins=False``.

    Attributes
    ----------
    takes_longest : bool
        Whether the tokenizer takes the longest match instead of merging.
    """

    takes_longest: ClassVar[bool] = False

    @property
    @abstractmethod
    def cuts(self) -> BoolArray:
        """For each id, whether it is that of a special token that `encode` never gives, so that it splits a stream."""

    @property
    def boundaries(self) -> Boundaries:
        """The boundaries at which streams are judged in parts."""
        return _NO_BOUNDARIES

    @abstractmethod
    def decode(self, ids: Int32Array, *, begins: bool = True) -> Decoded:
        """Return the text of ids, and for each id the end of what it adds, in bytes.

        Raises
        ------
        TokenStreamError
            If the bytes are not UTF-8.
        """

    @abstractmethod
    def spelled(self, ids: Int32Array) -> tuple[bytes, Int64Array]:
        """Return the bytes of ids, which need not be UTF-8, and for each id the end of its bytes."""

    @abstractmethod
    def encode(self, text: str, *, begins: bool = True) -> Int32Array:
        """Return the ids of a text to which ids decode, dropping symbols without a token if the library does so.

        Raises
        ------
        AlphabetError
            If the text has such a symbol, and the library does not leave it out or is not known.
        """

    def encode_on(self, text: str, *, begins: bool = True) -> tuple[Int32Array, RoundTrip]:
        """Return the ids of a text, and the round trip of the text after it, if the text is cut there."""
        return self.encode(text, begins=begins), self

    def accept(self, ids: Int32Array, *, begins: bool = True) -> tuple[int, RoundTrip] | None:
        """Return the number of bytes that canonical ids add to a text, and the round trip of the text after them.

        None if they are not canonical, or if this does not decide it.
        """
        return None

    def recorded(self, text: str, *, begins: bool = True) -> RecordedText | None:
        """Return the sums of scores in a text that `encode` takes; None if its ids do not depend on scores."""
        return None

    @abstractmethod
    def ends(self, canonical: Int32Array, decoded: Decoded, *, begins: bool = True) -> Ends | None:
        """Return, for each canonical id, its end in the text that was encoded; None if they have another text.

        An end that is nowhere in that text is not a whole number.
        """

    @abstractmethod
    def spelling(self, id: int) -> Word:
        """Return an id as a word for people to read."""

    def detected(self, ids: Int32Array, start: int, stop: int) -> int:
        """Return the token at which it is (practically) certain that the ids from `start` to `stop` are wrong."""
        return stop - 1


class BytesRoundTrip(RoundTrip):
    """For tokenizers whose text is the bytes of their ids.

    Parameters
    ----------
    tokenizer : AnyTokenizer
    """

    def __init__(self, tokenizer: AnyTokenizer) -> None:
        self._tokenizer = tokenizer

    @cached_property
    def cuts(self) -> BoolArray:
        """For each id, whether it splits a stream: those of special tokens do if these are not found in texts."""
        cuts: BoolArray = np.zeros(self._tokenizer.n_ids, dtype=np.bool_)
        cuts[self._tokenizer.special_ids] = not self._tokenizer.finds_specials
        return cuts

    def decode(self, ids: Int32Array, *, begins: bool = True) -> Decoded:
        """Return the text of ids, and the end of each in it; see :meth:`RoundTrip.decode`."""
        return Decoded(self._tokenizer.decode(ids), self._tokenizer.ends_of(ids))

    def spelled(self, ids: Int32Array) -> tuple[bytes, Int64Array]:
        """Return the bytes of ids, and the end of each."""
        return self._tokenizer.decode_bytes(ids), self._tokenizer.ends_of(ids)

    def encode(self, text: str, *, begins: bool = True) -> Int32Array:
        """Return the ids of a text; see :meth:`RoundTrip.encode`."""
        return _encode_again(self._tokenizer, text)

    def ends(self, canonical: Int32Array, decoded: Decoded, *, begins: bool = True) -> Ends | None:
        """Return the ends of the canonical ids in the text; None if they decode to another text, spaces aside."""
        ends = self._tokenizer.ends_of(canonical)
        if decoded.ends[-1:].tolist() == ends[-1:].tolist():
            return ends
        try:
            return ends_in(decoded.text, Decoded(self._tokenizer.decode(canonical), ends))
        except TokenStreamError:  # Bytes within symbols are left out.
            return None

    def spelling(self, id: int) -> Word:
        """Return the bytes of an id."""
        return self._tokenizer.name_of(id)


class RewritingRoundTrip(BytesRoundTrip):
    """For tokenizers that change a text before they encode it, or spell ids in a way of their own.

    Parameters
    ----------
    tokenizer : Tokenizer
    """

    _tokenizer: Tokenizer

    def __init__(self, tokenizer: Tokenizer) -> None:
        super().__init__(tokenizer)

    @property
    def boundaries(self) -> Boundaries:
        """The boundaries of the tokenizer."""
        return self._tokenizer.boundaries

    def decode(self, ids: Int32Array, *, begins: bool = True) -> Decoded:
        """Return the text of ids, and the end of what each adds; see :meth:`RoundTrip.decode`."""
        return self._at(begins).decode_with_ends(ids)

    def spelled(self, ids: Int32Array) -> tuple[bytes, Int64Array]:
        """Return the bytes of ids, and the end of each, within a symbol too where a token is a byte of one."""
        data, ends = super().spelled(ids)
        places = self._tokenizer.lengths_by_place
        if places is not None and len(ids):
            usual, varies, other, silent = places
            lengths = usual[ids]
            if varies == "first":
                # Ids that are silent, and the one after them.
                n_first = 1 if silent is None else int(np.argmin(np.append(silent[ids[:-1]], False))) + 1
                lengths[:n_first] = other[ids[:n_first]]
            elif varies == "last":
                lengths[-1] = other[ids[-1]]
            if int(lengths.sum()) == len(data):
                ends = np.cumsum(lengths)
        return data, ends

    def encode(self, text: str, *, begins: bool = True) -> Int32Array:
        """Return the ids of a text; see :meth:`RoundTrip.encode`."""
        return _encode_again(self._at(begins), text)

    def ends(self, canonical: Int32Array, decoded: Decoded, *, begins: bool = True) -> Ends | None:
        """Return the ends of the canonical ids in the text; None if they decode to another text, spaces aside.

        If it is a text in another normalization form, ends are those in the text before, and half a byte after the
        beginning of a stretch that changes if they are within it.
        """
        try:
            again = self._at(begins).decode_with_ends(canonical)
        except TokenStreamError:
            return None
        if self._tokenizer.form is None:
            return ends_in(decoded.text, again)
        ends = ends_in(normalize(decoded.text, self._tokenizer.form), again)
        changed = [*changes(decoded.text.encode("utf-8"), self._tokenizer.form)]
        return None if ends is None else _before_changes(ends, changed)

    def spelling(self, id: int) -> Word:
        """Return the spelling of an id in its file, or its bytes."""
        return self._tokenizer.token_string(id)

    def _at(self, begins: bool) -> Tokenizer:
        return self._tokenizer if begins else self._tokenizer.later


def ends_in(text: str, other: Decoded) -> Int64Array | None:
    """Return the ends of ids in a text, given their own text, which may have more or fewer spaces; None for others.

    So the ids of "␣a␣b" that have a space put before the text, 1 2 3 4, end at 0 1 2 3 in "a␣b".
    """
    if other.text == text:
        return other.ends
    mine, theirs = (np.frombuffer(each.encode("utf-8"), dtype=np.uint8) for each in (text, other.text))
    solid, other_solid = (np.flatnonzero(each != ord(" ")) for each in (mine, theirs))
    if not np.array_equal(mine[solid], theirs[other_solid]):
        return None
    # The spaces after as many other bytes begin and end there; those of one side that the other lacks are the last.
    n_solid = np.searchsorted(other_solid, other.ends)
    n_spaces = other.ends - np.append(0, other_solid + 1)[n_solid]
    ends: Int64Array = np.minimum(np.append(0, solid + 1)[n_solid] + n_spaces, np.append(solid, len(mine))[n_solid])
    return ends


def _before_changes(ends: Int64Array, changed: list[Change]) -> Ends:
    """Return where ends in a changed text are in the text before."""
    if not changed:
        return ends
    begins, stops = (np.array([getattr(change, name) for change in changed]) for name in ("begin", "end"))
    sizes = np.array([len(change.normalized.encode("utf-8")) for change in changed])
    grown = np.cumsum(sizes - (stops - begins))
    # Where each changed stretch ends in the text after, and what all of them up to it have added.
    place = np.searchsorted(stops + grown, ends, side="right")
    found: npt.NDArray[np.float64] = (ends - np.append(0, grown)[place]).astype(np.float64)
    following = np.minimum(place, len(changed) - 1)
    inside = (place < len(changed)) & (found > begins[following])
    found[inside] = begins[following[inside]] + 0.5
    return found


def _encode_again(tokenizer: AnyTokenizer, text: str) -> Int32Array:
    try:
        return tokenizer.encode(text)
    except AlphabetError:
        if tokenizer.leaving_out is None:
            raise
        return tokenizer.leaving_out.encode(text)

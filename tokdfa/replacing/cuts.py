"""Where the text of ids is encoded separately on both sides, judging by the ids beside the place alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby, pairwise
from operator import attrgetter
from typing import ClassVar

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.encoding.special import Special
from tokdfa.kernels.library import Struct
from tokdfa.kernels.replacing.regions import cut_tables
from tokdfa.kernels.walk.parts import outer_symbols
from tokdfa.locks import SHARED
from tokdfa.tokenizers.boundaries.pretokenizer import SafePieces, safe_pieces
from tokdfa.tokenizers.derived import OfTokenizer
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.round_trip import RoundTrip
from tokdfa.tokenizers.tokenizer import Tokenizer
from tokdfa.tokenizers.unigram import UnigramTokenizer

__all__ = ["Cuts", "cuts_of"]


class Cuts(ABC):
    """The places between ids where the text before and the text after are encoded separately, and how that is done.

    Attributes
    ----------
    parts : bool array, one entry an id
        Whether the text before the id and the text after it are encoded separately, whatever they are.
    ends_text : bool array, one entry an id
        Whether, besides, a text ends before the id and another one begins after it.
    spells_alone : bool
        Whether an id spells the same wherever it is.
    tables : Struct or None
        The cuts as the kernels take them; None if they depend on more than classes of symbols.
    """

    spells_alone: ClassVar[bool]
    tables: Struct | None = None
    parts: BoolArray
    ends_text: BoolArray

    @abstractmethod
    def between(self, left: Int32Array, right: Int32Array) -> BoolArray:
        """Return whether there is a cut between each of the ids `left` and that of `right`, as long as both stay."""

    def beside(self, text: bytes | None) -> tuple[int, int] | None:
        """Return the classes of the first and the last symbol of a text; None if they are not known."""
        return None

    @abstractmethod
    def spelled(self, ids: Int32Array, *, begins: bool) -> tuple[bytes, Int64Array]:
        """Return the bytes of ids after a cut, and the end of each id in them; `begins` is whether they begin a text.

        Raises
        ------
        TokenStreamError
            If the tokenizer cannot spell ids whose bytes are not UTF-8.
        """

    @abstractmethod
    def encode(self, text: str, *, begins: bool) -> Int32Array:
        """Return the ids of a text after a cut.

        Raises
        ------
        AlphabetError
            If the text has a symbol for which the tokenizer has no token.
        """


def cuts_of(tokenizer: AnyTokenizer) -> Cuts:
    """Return the cuts of a tokenizer."""
    if isinstance(tokenizer, Tokenizer) and tokenizer.is_plain and tokenizer.suffix is None:
        splitting = None if tokenizer.pretokenizer is None else tokenizer.pretokenizer.splitting
        if splitting is None or (splitting.prefix_space is None and splitting.metaspace is None):
            return tokenizer.derived(_PlainCuts)
    return _CutsOfRoundTrip(tokenizer, tokenizer.round_trip)


class _PlainCuts(OfTokenizer["Tokenizer"], Cuts):
    """For tokenizers that encode texts unchanged and spell ids one after the other.

    The pre-tokenizer splits the two parts of a text as it splits the whole, whatever is around such a pair of symbols,
    and no special token that would be found in the text has symbols of these classes side by side. Besides, there is a
    cut on both sides of a control token, if that is found wherever its content is: of ``ab`` and ``bc``, the text "abc"
    has the first one, but "xbc" the second.
    """

    spells_alone = True

    def __init__(self, tokenizer: Tokenizer) -> None:
        super().__init__(tokenizer)
        self.parts = np.zeros(tokenizer.n_ids, dtype=np.bool_)
        self.ends_text = self.parts.copy()
        found = tokenizer.specials if tokenizer.finds_specials else ()
        # Special tokens that no text encodes to stay where nothing of them matches, also those that are text.
        always = tokenizer.control_ids if tokenizer.finds_specials else tokenizer.special_ids
        self.parts[np.setdiff1d(always, [*_overlapping(found)])] = True
        text, offsets = tokenizer.id_spellings
        self._text = text.tobytes()
        self._offsets = offsets.tolist()
        self._lengths: Int64Array = np.diff(offsets)
        n = 0
        classes: list[Int32Array] = [np.zeros(tokenizer.n_ids, dtype=np.int32) for _ in range(2)]
        table: BoolArray = np.zeros((2, 2), dtype=np.bool_)
        self._borders: SafePieces | None = safe_pieces(tokenizer.pretokenizer)
        if self._borders is not None:
            safe, _ = self._borders.between
            n = len(safe)
            table = np.zeros((n + 2, n + 2), dtype=np.bool_)
            table[:n, :n] = safe
            for special in found:
                for left, right in pairwise(_classes(self._borders, special.content)):
                    table[left, right] = False
            # One more class for symbols that are cut, and one for control tokens.
            outer = outer_symbols(text, offsets)
            classes = [
                np.where(symbol >= 0, self._borders.classes_of(np.maximum(symbol, 0)), n).astype(np.int32)
                for symbol in outer
            ]
        table[n + 1] = table[:, n + 1] = True
        for known in classes:
            known[self.parts] = n + 1
        self._first, self._last = classes
        # The last text whose classes were asked for, and these.
        self._text_beside: tuple[bytes, tuple[int, int]] = b"", (n, n)
        self._last = self._last * np.int32(n + 2)
        self._table = table.reshape(-1)
        self.tables = cut_tables(self._first, self._last, self._table, n + 2, offsets, self.parts)

    def between(self, left: Int32Array, right: Int32Array) -> BoolArray:
        found: BoolArray = self._table[self._last[left] + self._first[right]]
        return found

    def beside(self, text: bytes | None) -> tuple[int, int] | None:
        if not text or self._borders is None:
            return None
        known = self._text_beside
        if text != known[0]:
            symbols = text.decode("utf-8")
            first, last = _classes(self._borders, symbols[0] + symbols[-1])
            known = self._text_beside = text, (first, last)
        return known[1]

    def spelled(self, ids: Int32Array, *, begins: bool) -> tuple[bytes, Int64Array]:
        text, offsets = self._text, self._offsets
        return b"".join([text[offsets[id] : offsets[id + 1]] for id in ids.tolist()]), np.cumsum(self._lengths[ids])

    def encode(self, text: str, *, begins: bool) -> Int32Array:
        return self.tokenizer.encode(text)


def _overlapping(specials: Sequence[Special]) -> Iterator[int]:
    """Yield the ids of special tokens that a text may have without their being found in it; maybe some more."""
    inner = {symbol for special in specials for symbol in special.content[1:]}
    outer = {symbol for special in specials for symbol in special.content[:-1]}
    # The first and the last symbols of contents that are looked for before.
    first: set[str] = set()
    last: set[str] = set()
    for _, level in groupby(sorted(specials, key=attrgetter("level")), key=attrgetter("level")):
        contents = {special.id: special.content for special in level}
        for id, content in contents.items():
            overlaps = content[0] in inner or content[-1] in outer
            if overlaps or not (first.isdisjoint(content[1:]) and last.isdisjoint(content[:-1])):
                yield id
        first |= {content[0] for content in contents.values()}
        last |= {content[-1] for content in contents.values()}


def _classes(borders: SafePieces, text: str) -> list[int]:
    classes: list[int] = borders.classes_of(np.array([*map(ord, text)], dtype=np.int64)).tolist()
    return classes


def _known_cuts(tokenizer: AnyTokenizer) -> dict[int, bool]:
    """Return the table of the pairs of ids that were asked for, filled by :class:`_CutsOfRoundTrip`."""
    return {}


class _CutsOfRoundTrip(Cuts):
    """For all others: the places where validation cuts streams, asked for pairs of ids without what is around them."""

    spells_alone = False

    def __init__(self, tokenizer: AnyTokenizer, trip: RoundTrip) -> None:
        self._trip = trip
        self.ends_text = trip.cuts
        self.parts = trip.cuts
        self._encode = self._encode_later = tokenizer.encode
        # Whether what follows a cut can be encoded alone: otherwise a space is put before it as before a text.
        self._has_later = True
        if isinstance(tokenizer, Tokenizer) and not tokenizer.is_plain:
            self._has_later = tokenizer.boundaries.continues
            if self._has_later:
                self._encode_later = tokenizer.later.encode
        elif isinstance(tokenizer, UnigramTokenizer):
            self._encode_later = partial(trip.encode, begins=False)
        self._known = tokenizer.derived(_known_cuts)

    def between(self, left: Int32Array, right: Int32Array) -> BoolArray:
        if not self._has_later:
            apart: BoolArray = self.parts[left] | self.parts[right]
            return apart
        keys = left.astype(np.int64) << 32 | right
        distinct, place = np.unique(keys, return_inverse=True)
        known = self._known
        with SHARED:
            for key in distinct.tolist():
                if key not in known:
                    pair = np.array([key >> 32, key & 0xFFFFFFFF], dtype=np.int32)
                    known[key] = bool(self._trip.boundaries.always_cut(pair)[0])
        values = np.array([known[key] for key in distinct.tolist()], dtype=np.bool_)
        found: BoolArray = values[place].reshape(left.shape)
        return found

    def spelled(self, ids: Int32Array, *, begins: bool) -> tuple[bytes, Int64Array]:
        text, ends = self._trip.decode(ids, begins=begins)
        return text.encode("utf-8"), ends

    def encode(self, text: str, *, begins: bool) -> Int32Array:
        return (self._encode if begins else self._encode_later)(text)

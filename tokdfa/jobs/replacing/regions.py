"""The ids around matches that are encoded again: up to the nearest cuts that a replacement leaves in place."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import ClassVar

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.kernels.library import Struct
from tokdfa.kernels.replacing.regions import OPEN, cut_tables, regions_around
from tokdfa.tokenizers.boundaries.added import overlapping
from tokdfa.tokenizers.derived import OfTokenizer
from tokdfa.tokenizers.pretokenizers.safe_pieces import codes_of, safe_pieces
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.round_trip import RoundTrip
from tokdfa.tokenizers.tokenizer import Tokenizer, has_rules

_LONGEST_STEP = 1 << 16


def regions(
    cuts: Cuts, ids: Int32Array, matches: Int64Array, text: bytes | None, *, begins: bool, final: bool, near: int
) -> Int64Array:
    """Return the regions around matches, in order; none overlaps the next.

    Matches are rows of :class:`tokdfa.jobs.replacing.rewriting.Found`, in order. `text` is the replacement of each, if
    it is the same for all. `begins` and `final` tell whether a text begins and ends with the ids. Among `near` ids on
    each side of a match, a cut is looked for at first.

    A region has its first id, the one after its last, its first match and the one after its last: int64[regions, 4].
    The end of the last region may be `OPEN`. A cut depends on the symbols on both sides of it. So a region reaches at
    least one id beyond its matches on either side, unless these symbols, or the new ones, are known to make a cut.
    """
    if not len(matches):
        return matches
    if cuts.tables is not None:
        return regions_around(cuts.tables, ids, matches, cuts.end_classes(text), begins=begins, final=final)
    starts, ends = matches[:, 0], matches[:, 1]
    steps = np.arange(near + 1)
    # Whether there is a cut next to the match depends on its replacement, unless the id there parts the text.
    lefts = _near(cuts, ids, starts[:, None] - steps, _parts(cuts, ids, starts - 1, begins), 0, True).tolist()
    rights = _near(cuts, ids, ends[:, None] + steps, _parts(cuts, ids, ends, final), len(ids), final).tolist()
    found: list[tuple[int, int, int, int]] = []
    for number, (start, end, left, right) in enumerate(zip(starts.tolist(), ends.tolist(), lefts, rights, strict=True)):
        current = found[-1] if found else (0, 0, 0, 0)
        is_inside = number > 0 and (current[1] == OPEN or start < current[1])
        if left == OPEN:
            left = current[0] if is_inside else last_cut(cuts, ids, start - near)
        if right == OPEN:
            reaches = is_inside and (current[1] == OPEN or end < current[1])
            right = current[1] if reaches else _next_cut(cuts, ids, end + near, final)
        if number > 0 and (current[1] == OPEN or left < current[1]):
            stop = OPEN if OPEN in (current[1], right) else max(current[1], right)
            found[-1] = (min(current[0], left), stop, current[2], number + 1)
        else:
            found.append((left, right, number, number + 1))
    return np.array(found, dtype=np.int64)


def last_cut(cuts: Cuts, ids: Int32Array, index: int) -> int:
    """Return the last cut before an index; 0 if none is found."""
    step = 64
    stop = index
    while stop > 1:
        low = max(stop - step, 1)
        found = np.flatnonzero(cuts.between(ids[low - 1 : stop - 1], ids[low:stop]))
        if len(found):
            return low + int(found[-1])
        stop = low
        step = min(4 * step, _LONGEST_STEP)
    return 0


def _next_cut(cuts: Cuts, ids: Int32Array, index: int, final: bool) -> int:
    """Return the first cut after an index, or OPEN if there is none yet."""
    step = 64
    low = index + 1
    while low < len(ids):
        stop = min(low + step, len(ids))
        found = np.flatnonzero(cuts.between(ids[low - 1 : stop - 1], ids[low:stop]))
        if len(found):
            return low + int(found[0])
        low = stop
        step = min(4 * step, _LONGEST_STEP)
    return len(ids) if final else OPEN


def _parts(cuts: Cuts, ids: Int32Array, at: Int64Array, otherwise: bool) -> BoolArray:
    """Return whether the id at each index parts the text; `otherwise` where there is none."""
    found = np.full(len(at), otherwise)
    inside = (at >= 0) & (at < len(ids))
    found[inside] = cuts.parts[ids[at[inside]]]
    return found


def _near(
    cuts: Cuts, ids: Int32Array, at: Int64Array, is_cut_at_first: BoolArray, edge: int, is_cut_at_edge: bool
) -> Int64Array:
    """Return the first of the indices in each row of `at` before which there is a cut; OPEN for rows without one."""
    is_cut = np.zeros(at.shape, dtype=np.bool_)
    if len(ids) > 1:
        inside = np.clip(at, 1, len(ids) - 1)
        is_cut = cuts.between(ids[inside - 1], ids[inside]) & (inside == at)
    is_cut[at == edge] = is_cut_at_edge
    is_cut[:, 0] = is_cut_at_first
    rows, first = np.arange(len(at)), is_cut.argmax(axis=1)
    return np.where(is_cut[rows, first], at[rows, first], OPEN)


# Cuts


class Cuts(ABC):
    """The positions between ids where the text before and the text after are encoded separately, and how."""

    spells_alone: ClassVar[bool]  # Whether an id spells the same wherever it is
    tables: Struct | None = None  # As the kernels take them; None if cuts depend on more than classes of symbols
    # One entry an id: whether the text before it and the text after it are always encoded separately, and whether also
    # a text ends before it and another one begins after it.
    parts: BoolArray
    ends_text: BoolArray

    @abstractmethod
    def between(self, left: Int32Array, right: Int32Array) -> BoolArray:
        """Return whether there is a cut between each id of `left` and its neighbour in `right`, if both stay."""

    def end_classes(self, text: bytes | None) -> tuple[int, int] | None:
        """Return the classes of the first and the last symbol of a text; None if they are not known."""
        return None

    @abstractmethod
    def spelled(self, ids: Int32Array, *, begins: bool) -> tuple[bytes, Int64Array]:
        """Return the bytes of ids after a cut, and the end of each id in them; `begins` is whether they begin a text.

        Ids that are not UTF-8 are refused if the tokenizer cannot spell them.
        """

    @abstractmethod
    def encode(self, text: str, *, begins: bool) -> Int32Array:
        """Return the ids of a text after a cut; a symbol for which there is no token is an AlphabetError."""


def cuts_of(tokenizer: AnyTokenizer) -> Cuts:
    """Return the cuts of a tokenizer."""
    if has_rules(tokenizer) and tokenizer.why_not("spelling") is None and tokenizer.suffix is None:
        splitting = None if tokenizer.pretokenizer is None else tokenizer.pretokenizer.splitting
        if splitting is None or (splitting.prefix_space is None and splitting.metaspace is None):
            return tokenizer.derived(_PlainCuts)
    return _CutsOfRoundTrip(tokenizer, tokenizer.round_trip)


class _PlainCuts(OfTokenizer["Tokenizer"], Cuts):
    """For tokenizers that encode texts unchanged and spell ids one after the other.

    The pre-tokenizer splits the two parts of a text as it splits the whole, with any text around such a pair of
    symbols, and no special token that would be found in the text has symbols of these classes side by side. There is
    also a cut on both sides of a control token, if that is found wherever its content is: of ``ab`` and ``bc``, the
    text "abc" has the first one, but "xbc" the second.
    """

    spells_alone = True

    def __init__(self, tokenizer: Tokenizer) -> None:
        super().__init__(tokenizer)
        self.parts = np.zeros(tokenizer.n_ids, dtype=np.bool_)
        self.ends_text = self.parts.copy()
        found = tokenizer.found_specials
        # Special tokens that no text encodes to stay where nothing of them matches, even if they are text.
        always = tokenizer.control_ids if found else tokenizer.special_ids
        self.parts[np.setdiff1d(always, [*overlapping(found)])] = True
        text, offsets = tokenizer.id_spellings
        self._text = text.tobytes()
        self._offsets = offsets.tolist()
        self._lengths: Int64Array = np.diff(offsets)
        self._pieces = safe_pieces(tokenizer.pretokenizer)
        if self._pieces is None:
            known: BoolArray = np.zeros((1, 1), dtype=np.bool_)
            classes: list[Int32Array] = [np.zeros(tokenizer.n_ids, dtype=np.int32) for _ in range(2)]
        else:
            known, classes = self._pieces.by_class((token.content for token in found), tokenizer.id_spellings)
        # One more class for control tokens.
        n = len(known)
        table: BoolArray = np.ones((n + 1, n + 1), dtype=np.bool_)
        table[:n, :n] = known
        for each in classes:
            each[self.parts] = n
        self._first, self._last = classes[0], classes[1] * np.int32(n + 1)
        # The last text given to :meth:`end_classes`, and its classes.
        self._text_end_classes: tuple[bytes, tuple[int, int]] = b"", (n, n)
        self._table = table.reshape(-1)
        self.tables = cut_tables(self._first, self._last, self._table, n + 1, offsets, self.parts)

    def between(self, left: Int32Array, right: Int32Array) -> BoolArray:
        found: BoolArray = self._table[self._last[left] + self._first[right]]
        return found

    def end_classes(self, text: bytes | None) -> tuple[int, int] | None:
        if not text or self._pieces is None:
            return None
        known = self._text_end_classes
        if text != known[0]:
            symbols = text.decode("utf-8")
            first, last = self._pieces.classes_of(codes_of(symbols[0] + symbols[-1])).tolist()
            known = self._text_end_classes = text, (first, last)
        return known[1]

    def spelled(self, ids: Int32Array, *, begins: bool) -> tuple[bytes, Int64Array]:
        text, offsets = self._text, self._offsets
        return b"".join([text[offsets[id] : offsets[id + 1]] for id in ids.tolist()]), np.cumsum(self._lengths[ids])

    def encode(self, text: str, *, begins: bool) -> Int32Array:
        return self.tokenizer.encode(text)


def _known_cuts(tokenizer: AnyTokenizer) -> dict[int, bool]:
    """Return the table of the pairs of ids that were asked for, filled by :class:`_CutsOfRoundTrip`."""
    return {}


class _CutsOfRoundTrip(Cuts):
    """For all others: the positions where validation cuts streams, asked for pairs of ids alone."""

    spells_alone = False

    def __init__(self, tokenizer: AnyTokenizer, round_trip: RoundTrip) -> None:
        self._round_trip = round_trip
        self.ends_text = round_trip.cuts
        self.parts = round_trip.cuts
        self._encode = self._encode_later = tokenizer.encode
        # Whether the text after a cut can be encoded alone: otherwise a space is put before it as before a text.
        self._has_later = True
        if has_rules(tokenizer) and tokenizer.why_not("spelling") is not None:
            self._has_later = tokenizer.later is not tokenizer
            self._encode_later = tokenizer.later.encode
        elif tokenizer.segmenter is not None:
            self._encode_later = partial(round_trip.encode, begins=False)
        self._known = tokenizer.derived(_known_cuts)

    def between(self, left: Int32Array, right: Int32Array) -> BoolArray:
        if not self._has_later:
            apart: BoolArray = self.parts[left] | self.parts[right]
            return apart
        keys = left.astype(np.int64) << 32 | right
        distinct, number = np.unique(keys, return_inverse=True)
        known = self._known
        # No lock is held meanwhile: tables may be needed that another thread builds, waiting for this one.
        for key in distinct.tolist():
            if key not in known:
                pair = np.array([key >> 32, key & 0xFFFFFFFF], dtype=np.int32)
                known[key] = bool(self._round_trip.boundaries.always_cut(pair)[0])
        values = np.array([known[key] for key in distinct.tolist()], dtype=np.bool_)
        found: BoolArray = values[number].reshape(left.shape)
        return found

    def spelled(self, ids: Int32Array, *, begins: bool) -> tuple[bytes, Int64Array]:
        text, ends = self._round_trip.decode(ids, begins=begins)
        return text.encode("utf-8"), ends

    def encode(self, text: str, *, begins: bool) -> Int32Array:
        return (self._encode if begins else self._encode_later)(text)

"""The interface of boundaries: where a text, or ids, may be cut and the parts encoded separately.

Of a text that begins with "a  b", GPT-2's pattern makes the pieces "a" and " ", and then one that begins with " b". So
the text is *always cut* between "a" and " ", by these two characters alone. Between the two spaces, more text decides:
it is *safe* to cut there because no text that begins with "a  b" has a piece across.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar, TypeAlias

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, IntegerArray, Uint8Array
from tokdfa.base.locks import SHARED
from tokdfa.kernels.walk.neighbours import NOT_CACHED, cached_pairs, empty_cache, fill

Values: TypeAlias = Callable[[Int64Array, Int64Array], Uint8Array]

DOUBT, FINE, CUT = range(3)
"""What is known of two neighbours: nothing; that they are neighbours in canonical ids if the text between cuts is
otherwise; that the text is always cut between them."""

_MOST_ASKED = 1 << 14
_NEAR, _MOST_TRIED = 1 << 6, 1 << 10


class Boundaries:
    """The boundaries of a tokenizer: in texts and in ids, where both sides are always encoded separately.

    This class knows none. `why_none` says why, in half a sentence; None if some are known. `continues` is whether the
    text after a boundary is encoded in another way than a text of its own; see `Tokenizer.later`. `decides` is whether
    neighbours decide which parts of ids are `doubtful`, rather than all of them.
    """

    continues: ClassVar[bool] = False
    decides: ClassVar[bool] = False

    def __init__(self, why_none: str | None) -> None:
        self.why_none = why_none

    # Decided by two neighbours

    def is_cut(self, left: str, right: str) -> bool:
        """Return whether a text is always cut between two characters."""
        return False

    def always_cut(self, ids: Int32Array, *, begins: bool = True, ends: bool = False) -> BoolArray:
        """Return, for each id but the first, whether the texts before it and from it on are encoded separately.

        `begins` is whether a text may begin with the ids, rather than follow a boundary, and `ends` whether a boundary,
        or the end of the text, always follows them.
        """
        return np.zeros(max(len(ids) - 1, 0), dtype=np.bool_)

    def last_cut(self, before: str, text: str) -> int:
        """Return the last offset where a text after a character is always cut, -1 if none is found."""
        whole, size = before + text, _NEAR
        # The last cut is usually close to the end.
        while self.why_none is None:
            first = max(len(whole) - size, 0)
            tried = first + self._may_cut(whole[first:])[-_MOST_TRIED:]
            found = next((at for at in reversed(tried.tolist()) if self.is_cut(whole[at - 1], whole[at])), None)
            if found is not None:
                return int(found) - len(before)
            if not first:
                break
            size *= 64
        return -1

    def _may_cut(self, text: str) -> Int64Array:
        """Return characters of a text, from 1 on, ascending; it is not cut before any other one."""
        return np.arange(1, len(text))

    # Decided by the text around

    def in_text(self, text: str, *, begins: bool = True, ends: bool = False) -> Int64Array:
        """Return the characters of a text, from 1 on, before which it may be cut, ascending.

        `begins` and `ends` are whether a text begins, and ends, with it; otherwise anything may precede or follow.
        """
        # Spaces at the beginning of a text may vanish.
        first = len(text) - len(text.lstrip()) + 1 if begins else 1
        found = [at for at in range(first, len(text)) if self.is_cut(text[at - 1], text[at])]
        return np.array(found, dtype=np.int64)

    def in_ids(self, ids: Int32Array, *, begins: bool = True, ends: bool = False) -> Int64Array:
        """Return the indices of the ids, from 1 on, before which they may be cut, ascending; see `in_text`."""
        return np.flatnonzero(self.always_cut(ids, begins=begins, ends=ends)) + 1

    def last_in_ids(self, ids: Int32Array, stop: int, *, begins: bool = True, ends: bool = False) -> int:
        """Return the last of `in_ids` up to `stop`, 0 if there is none."""
        found = self.in_ids(ids, begins=begins, ends=ends)
        return int(found[: np.searchsorted(found, stop, side="right")].max(initial=0))

    # Which parts need not be encoded again

    def doubtful(self, ids: Int32Array, *, begins: bool) -> Int64Array:
        """Return the parts of ids, between boundaries, that may not be canonical; all others are.

        The ids are followed by a boundary, or by the end of the text; the last part is always doubtful. So is the first
        one if a text `begins` with them. The int64 array, of shape (parts, 2), has the first id of each part and the
        one after its last. No boundary is within a part.
        """
        return np.array([[0, len(ids)]], dtype=np.int64)

    def sizes_of(self, ids: Int32Array) -> Int64Array:
        """Return the number of bytes that each of some ids between those parts adds to the text."""
        return np.zeros(len(ids), dtype=np.int64)

    def never_beside(self, ids: Int32Array) -> BoolArray:
        """Return, for each id but the first, whether no canonical ids have it after the id before it."""
        return np.zeros(max(len(ids) - 1, 0), dtype=np.bool_)


class PairBoundaries(Boundaries):
    """Boundaries that two characters decide, with a cache of the pairs that were asked for."""

    def __init__(self, why_none: str | None) -> None:
        super().__init__(why_none)
        self._characters = PairCache(16)
        self._asked: dict[str, int] = {}

    @abstractmethod
    def _decide(self, left: str, right: str) -> int:
        """Return the state of two characters: DOUBT, FINE or CUT."""

    def at(self, left: str, right: str) -> int:
        """Return CUT if a text is always cut between two characters, FINE if only tokens may go across, or DOUBT."""
        found = self._asked.get(left + right)
        if found is None:
            if len(self._asked) >= _MOST_ASKED:
                self._asked.clear()
            found = self._asked[left + right] = self._decide(left, right) if self.why_none is None else DOUBT
        return found

    def is_cut(self, left: str, right: str) -> bool:
        return self.at(left, right) == CUT

    def _may_cut(self, text: str) -> Int64Array:
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.int32)
        return np.flatnonzero(self.known_of(codes[:-1], codes[1:]) == CUT) + 1

    def known_of(self, left: IntegerArray, right: IntegerArray) -> Uint8Array:
        """Return the states of pairs of characters: arrays of code points, -1 for none."""
        return self._characters.states(left, right, self._compute_characters)

    def _compute_characters(self, left: Int64Array, right: Int64Array) -> Uint8Array:
        pairs = zip(left.tolist(), right.tolist(), strict=True)
        found = [self.at(chr(before), chr(after)) if min(before, after) >= 0 else DOUBT for before, after in pairs]
        return np.array(found, dtype=np.uint8)


class PairCache:
    """A cache of a function of pairs of numbers, in a table of 2 ** bits slots where new pairs replace others."""

    def __init__(self, bits: int) -> None:
        self.table = empty_cache(bits)

    def states(self, left: IntegerArray, right: IntegerArray, compute: Values) -> Uint8Array:
        """Return the value of each pair; equal pairs of one call are computed once.

        The sides are numbers from -1 up to, but without, 2 ** 30 - 2. `compute` returns the values of pairs, less than
        15, given their left and their right sides; the same function in each call. It is not kept, because its owner
        may keep the cache.
        """
        left, right = (np.ascontiguousarray(side, dtype=np.int32) for side in (left, right))
        found, n_missing = cached_pairs(self.table, left, right)
        if n_missing:
            missing = np.flatnonzero(found == NOT_CACHED)
            found[missing] = self.computed(left[missing], right[missing], compute)
        return found

    def computed(self, left: Int32Array, right: Int32Array, compute: Values) -> Uint8Array:
        """Return the values of pairs that are not cached, and cache them; see :meth:`states`."""
        codes = left.astype(np.int64) << 32 | right.astype(np.int64) + 1
        distinct, index = np.unique(codes, return_inverse=True)
        left, right = (side.astype(np.int32) for side in (distinct >> 32, (distinct & 0xFFFFFFFF) - 1))
        # No lock is held meanwhile: the values may need tables that another thread builds, waiting for this one.
        values = compute(left.astype(np.int64), right.astype(np.int64))
        with SHARED:
            fill(self.table, left, right, values)
        found: Uint8Array = values[index]
        return found

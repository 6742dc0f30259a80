"""What follows a state of the prefix automaton, as arrays: its ids, and the states after them.

States that differ only in the row of their last id have one *base*. After an id, the state depends on the row only by
whether it forbids the id: the id then begins a piece. So the moves of a base are found once for all rows.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple, TypeAlias

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.guiding.prefixes import Place, PrefixAutomaton

__all__ = ["BaseKey", "MoveTables", "Moves", "base_of"]


MAX_IDS = 1 << 23

BaseKey: TypeAlias = tuple[int, int, int]
"""The split, the spelled special token and the text of a place, without its row."""


def base_of(place: Place) -> BaseKey:
    """Return the base of a place."""
    return place.split, place.spelled, place.text


class Moves(NamedTuple):
    """The ids with which a stream goes on from a base, ascending, and where each leads: arrays with an entry an id."""

    ids: Int32Array
    # The state of the pre-tokenizer after an id that the row does not forbid, and after one that it
    # forbids; 0 where no stream goes on from it.
    free: Int32Array
    cut: Int32Array
    # The other parts of the place after the id.
    row: Int32Array
    spelled: Int32Array
    text: Int32Array
    size: Int64Array  # The number of bytes
    position: Int32Array  # The position of each id in the rows; -1 for ids that none forbids

    def place(self, number: int, *, is_forbidden: bool) -> Place:
        """Return the place after the id with a number."""
        split = self.cut if is_forbidden else self.free
        return Place(*(int(part[number]) for part in (split, self.row, self.spelled, self.text)))


class MoveTables:
    """The moves of a prefix automaton; those asked for last are kept."""

    def __init__(self, prefixes: PrefixAutomaton) -> None:
        self._prefixes = prefixes
        self._followers = prefixes.tokens.followers
        self._sizes = np.diff(prefixes.tokens.tokenizer.id_spellings.offsets)
        self._known: OrderedDict[BaseKey, Moves] = OrderedDict()
        self._n_kept = 0

    def of(self, key: BaseKey) -> Moves:
        """Return the moves of a base."""
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._find(key)
            self._n_kept += len(known.ids)
            while self._n_kept > MAX_IDS and len(self._known) > 1:
                self._n_kept -= len(self._known.popitem(last=False)[1].ids)
        else:
            self._known.move_to_end(key)
        return known

    def _find(self, key: BaseKey) -> Moves:
        prefixes, followers = self._prefixes, self._followers
        split, spelled, text = key
        place = Place(split, 0, spelled, text)
        base = prefixes.base(place)
        allowed, fragile = (np.unpackbits(bits.view(np.uint8), bitorder="little") for bits in base)
        ids = np.flatnonzero(allowed).astype(np.int32)
        free, cut, spelled_after, text_after = prefixes.targets(place, ids)
        cut[fragile[ids] != 0] = 0
        position = followers.position[ids]
        return Moves(
            ids,
            free,
            cut,
            followers.row_of[ids],
            spelled_after,
            text_after,
            self._sizes[ids].astype(np.int64),
            position,
        )

    def ways(self, place: Place) -> tuple[Moves, BoolArray, Int64Array]:
        """Return the moves of the base of a place, which of them its row forbids, and the numbers of those it has."""
        moves = self.of(base_of(place))
        forbidden = self.count_forbidding(moves, np.array([place.row], dtype=np.int64)) > 0
        return moves, forbidden, np.flatnonzero(~forbidden | (moves.cut > 0))

    def count_forbidding(self, moves: Moves, rows: Int64Array) -> Int64Array:
        """Return for each id of some moves the number of `rows` that forbid it."""
        followers = self._followers
        spans, _ = self._spans_of(rows)
        n = len(followers.id_at) + 1
        steps = np.bincount(followers.start[spans], minlength=n) - np.bincount(followers.stop[spans], minlength=n)
        # The last entry is for ids without a position.
        return np.append(np.cumsum(steps), 0)[moves.position]

    def spans(self, moves: Moves, rows: Int64Array) -> tuple[Int64Array, Int64Array, Int64Array, Int64Array]:
        """Return which of the ids of some moves each of `rows` forbids, as spans of them by their positions.

        Returns
        -------
        order : int64 array
            The numbers of the ids that a row may forbid to some effect, by their positions.
        which, low, high : int64 arrays, one entry a span
            The number of the row among `rows`, and the first and the last number in `order`, exclusively.
        """
        followers = self._followers
        order = np.flatnonzero((moves.position >= 0) & (moves.free != moves.cut))
        order = order[np.argsort(moves.position[order], kind="stable")]
        positions = moves.position[order]
        spans, lengths = self._spans_of(rows)
        low = np.searchsorted(positions, followers.start[spans])
        high = np.searchsorted(positions, followers.stop[spans])
        which = np.repeat(np.arange(len(rows)), lengths)
        is_any = low < high
        return order, which[is_any], low[is_any], high[is_any]

    def _spans_of(self, rows: Int64Array) -> tuple[Int64Array, Int64Array]:
        """Return the intervals of rows, one row after the other, and their number for each row."""
        pointer = self._followers.pointer.astype(np.int64)
        lengths = pointer[rows + 1] - pointer[rows]
        ends = np.cumsum(lengths)
        return np.arange(int(lengths.sum())) + np.repeat(pointer[rows] - (ends - lengths), lengths), lengths

"""The prefix automaton: which ids can come next so that some canonical stream goes on.

A state is a product: what the pre-tokenizer leaves open, the row of the last id, the special token that the text may be
spelling, and the state of the language of texts. Whether a canonical stream goes on from a state is found by a search
for one, and remembered. The next ids of two states that differ only in the last id differ only in what that id forbids,
so they share one pair of masks.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array, Int64Array, Uint32Array
from tokdfa.errors import LimitExceededError
from tokdfa.guiding.followers import ALL, NONE
from tokdfa.guiding.spelled import WHOLE
from tokdfa.guiding.splits import DEAD
from tokdfa.guiding.texts import NOWHERE, Texts
from tokdfa.guiding.tokens import Tokens
from tokdfa.guiding.verdicts import Verdicts
from tokdfa.kernels.guiding import masks as kernels
from tokdfa.locks import SHARED

__all__ = ["Place", "PrefixAutomaton"]


MAX_SEARCHED = 1 << 17
"""The most states in which one search looks for a way to the end of a text."""

MAX_BASES = 1 << 10
MAX_MOVES = 1 << 6
MAX_KNOWN = 1 << 20
FIRST_TRIED = 32
"""The number of ids that are tried before all of them are put in order."""

WITNESSES = 8
FEW_ROWS = 64


class Place(NamedTuple):
    """A state of the prefix automaton.

    Parameters
    ----------
    split : int
        The state of the pre-tokenizer.
    row : int
        The row of the last id: what may not follow it within a piece.
    spelled : int
        The state of the search for special tokens in the text.
    text : int
        The state of the language of texts.
    """

    split: int
    row: int
    spelled: int
    text: int


class _Moves(NamedTuple):
    """The ids that may go on, by what they lead to; `split` if a piece may cross the border before them, else `cut`."""

    ids: Int32Array
    split: Int32Array
    cut: Int32Array
    spelled: Int32Array
    text: Int32Array


class Base(NamedTuple):
    """The next ids of all states that differ only in the row.

    Attributes
    ----------
    allowed : uint32 array, one bit an id
        Those that go on if the row does not forbid them.
    fragile : uint32 array, one bit an id
        Those of them that do not go on if the row forbids them.
    """

    allowed: Uint32Array
    fragile: Uint32Array


class PrefixAutomaton:
    """The canonical streams of a tokenizer whose texts are in a language, without dead ends.

    Parameters
    ----------
    tokens : Tokens
    texts : Texts
    """

    def __init__(self, tokens: Tokens, texts: Texts) -> None:
        self.tokens = tokens
        self.texts = texts
        self.initial = Place(tokens.splits.initial, NONE, 0, texts.initial)
        self.n_words = -(-tokens.n_ids // 32)
        self._row_of: list[int] = tokens.followers.row_of.tolist()
        self._final_text: list[bool] = texts.final.tolist()
        self._goes_on: dict[Place, bool] = {}
        self._bases: OrderedDict[tuple[int, int, int], Base] = OrderedDict()
        self._moves: OrderedDict[tuple[int, int, int], _Moves] = OrderedDict()
        self._verdicts = Verdicts(tokens.splits, texts.final)
        # For states within a symbol, an id that completed it.
        self._completing: dict[int, int] = {}

    def is_final(self, place: Place) -> bool:
        """Return whether a stream may end in a state."""
        return self.tokens.splits.is_final(place.split) and self._final_text[place.text]

    def target(self, place: Place, id: int) -> Place | None:
        """Return the state after an id, whether or not any stream goes on from there; None if there is none."""
        text = self.texts.step(place.text, id)
        return None if text == NOWHERE else self._after(place, id, text)

    def goes_on(self, place: Place) -> bool:
        """Return whether a canonical stream goes on from a state, or ends there.

        Raises
        ------
        LimitExceededError
            If a search through `MAX_SEARCHED` states did not show it.
        """
        if self.is_final(place):
            return True
        known = self._goes_on.get(place)
        if known is None:
            with SHARED:
                known = self._search(place)
        return known

    def base(self, place: Place) -> Base:
        """Return the next ids of the states that differ only in the row."""
        key = place.split, place.spelled, place.text
        known = self._bases.get(key)
        if known is None:
            with SHARED:
                known = self._bases[key] = self._make_base(*key)
                if len(self._bases) > MAX_BASES:
                    self._bases.popitem(last=False)
        return known

    def mask(self, place: Place) -> Uint32Array:
        """Return the mask of the ids with which a stream goes on; a new array."""
        base = self.base(place)
        bits = base.allowed.copy()
        self.tokens.followers.take_out(place.row, base.fragile, bits)
        return bits

    def allowed(self, place: Place) -> Int32Array:
        """Return the ids with which a stream goes on, ascending."""
        return np.flatnonzero(np.unpackbits(self.mask(place).view(np.uint8), bitorder="little")).astype(np.int32)

    # Whether anything goes on

    def _search(self, start: Place) -> bool:
        """Look for a way from a state to the end of a text, depth first, nearest ends first."""
        path = [start]
        ways = [self._ways(start)]
        seen = {start}
        undecided: set[Place] = set()
        goes_on = self._goes_on
        if len(goes_on) > MAX_KNOWN:
            goes_on.clear()
        while path:
            for place in ways[-1]:
                known = True if self.is_final(place) else goes_on.get(place)
                if known:
                    goes_on.update(dict.fromkeys(path, True))
                    return True
                if place in seen:
                    undecided.update(path[-1:] if known is None else ())
                elif known is None:
                    if len(seen) == MAX_SEARCHED:
                        what = f"{MAX_SEARCHED} states did not show whether any canonical stream goes on"
                        raise LimitExceededError(what, hint="use a narrower language")
                    seen.add(place)
                    path.append(place)
                    ways.append(self._ways(place))
                    break
            else:
                place = path.pop()
                ways.pop()
                # Without a way back to an undecided state, nothing goes on from here, whatever is found elsewhere.
                if place not in undecided:
                    goes_on[place] = False
                elif path:
                    undecided.add(path[-1])
        goes_on.update(dict.fromkeys(seen, False))
        return False

    def _ways(self, place: Place) -> Iterator[Place]:
        """Yield the states after one more id, the nearest to the end of a text first."""
        tokens = self.tokens
        followers, row_of, splits = tokens.followers, self._row_of, tokens.splits
        if place.row == ALL and splits.is_cut(place.split):
            return
        # What completed the symbol before, and other ids; the full list, which takes long to make, is rarely needed.
        completing = self._completing.get(place.split)
        if completing is not None and (text := self.texts.step(place.text, completing)) != NOWHERE:
            target = self._after(place, completing, text)
            if target is not None:
                yield target
        for id, text in self.texts.near(place.text):
            target = self._after(place, id, text)
            if target is not None:
                if id != completing and splits.is_cut(place.split):
                    self._completing[place.split] = id
                yield target
        moves = self._moves_from(place.split, place.spelled, place.text)
        for numbers in _in_order(self.texts.distance[moves.text]):
            for number in numbers.tolist():
                id, split = int(moves.ids[number]), int(moves.split[number])
                if place.row != NONE and int(moves.cut[number]) != split and followers.is_forbidden(place.row, id):
                    split = int(moves.cut[number])
                if split != DEAD:
                    yield Place(split, row_of[id], int(moves.spelled[number]), int(moves.text[number]))

    def _after(self, place: Place, id: int, text: int) -> Place | None:
        """Return the state after an id, after which the language is in the state `text`."""
        tokens = self.tokens
        number = tokens.class_list[id]
        split = tokens.splits.step(place.split, number, True)
        if split != DEAD and place.row != NONE and tokens.followers.is_forbidden(place.row, id):
            split = tokens.splits.step(place.split, number, False)
        if split == DEAD:
            return None
        spelled = tokens.spelled.step(place.spelled, id)
        return None if spelled == WHOLE else Place(split, self._row_of[id], spelled, text)

    def _moves_from(self, split: int, spelled: int, text: int) -> _Moves:
        key = split, spelled, text
        known = self._moves.get(key)
        if known is None:
            tokens = self.tokens
            ids, texts = self.texts.tokens(text)
            allowed, cut = tokens.splits.rows(split)
            classes = tokens.splits.class_of[ids]
            targets = allowed[classes]
            after = tokens.spelled.from_start_or(spelled)[ids]
            kept = np.flatnonzero((targets != DEAD) & (after != WHOLE))
            known = _Moves(ids[kept], targets[kept], cut[classes[kept]], after[kept], texts[kept])
            self._moves[key] = known
            if len(self._moves) > MAX_MOVES:
                self._moves.popitem(last=False)
        return known

    # Masks

    def _make_base(self, split: int, spelled: int, text: int) -> Base:
        tokens = self.tokens
        ids, texts = self.texts.tokens(text)
        allowed, cut = tokens.splits.rows(split)
        after = tokens.spelled.from_start_or(spelled)
        place_of, verdicts = self._verdicts.arrays()
        bits, fragile, open_ = kernels.next_ids(
            ids,
            texts,
            class_of=tokens.splits.class_of,
            spelled=after,
            allowed=allowed,
            cut=cut,
            place_of=place_of,
            verdicts=verdicts,
            n_words=self.n_words,
        )
        if len(open_):
            ids, texts = ids[open_], texts[open_]
            classes = tokens.splits.class_of[ids]
            first, otherwise, after = allowed[classes], cut[classes], after[ids]
            go_on = self._go_on(ids, first, after, texts)
            remains = go_on & (otherwise == first)
            others = np.flatnonzero((otherwise != first) & (otherwise != DEAD) & go_on)
            remains[others] = self._go_on(ids[others], otherwise[others], after[others], texts[others])
            bits |= self._bits(ids[go_on])
            fragile |= self._bits(ids[go_on & ~remains])
        return Base(bits, fragile)

    def _bits(self, ids: Int32Array) -> Uint32Array:
        bits = np.zeros(self.n_words, dtype=np.uint32)
        np.bitwise_or.at(bits, ids >> 5, np.uint32(1) << (ids & 31).astype(np.uint32))
        return bits

    def _go_on(self, ids: Int32Array, split: Int32Array, spelled: Int32Array, text: Int32Array) -> BoolArray:
        """Return for each id whether a stream goes on from the state that it leads to."""
        found: BoolArray = self.tokens.splits.final[split] & self.texts.final[text]
        rest = np.flatnonzero(~found)
        if not len(rest):
            return found
        rows = self.tokens.followers.row_of[ids[rest]]
        for (of_split, of_spelled, of_text), members in _grouped(split[rest], spelled[rest], text[rest]):
            if self.tokens.splits.is_cut(of_split):
                # What completes a symbol depends on the row.
                found[rest[members]] = self._go_on_by_row(rows[members], of_split, of_spelled, of_text)
                continue
            # If a stream goes on where every id is forbidden, it does so whatever is; and the other way round.
            if self.goes_on(Place(of_split, ALL, of_spelled, of_text)):
                found[rest[members]] = True
                if not of_spelled:
                    self._verdicts.settle(of_split, of_text)
            elif self.goes_on(Place(of_split, NONE, of_spelled, of_text)):
                found[rest[members]] = self._go_on_by_row(rows[members], of_split, of_spelled, of_text)
        return found

    def _go_on_by_row(self, rows: Int32Array, split: int, spelled: int, text: int) -> BoolArray:
        """Return for each row whether a stream goes on from its state; the states differ only in the row."""
        distinct, number = np.unique(rows, return_inverse=True)
        if len(distinct) <= FEW_ROWS:
            each = [self.goes_on(Place(split, row, spelled, text)) for row in distinct.tolist()]
            few: BoolArray = np.array(each, dtype=np.bool_)[number]
            return few
        found = np.zeros(len(distinct), dtype=np.bool_)
        followers = self.tokens.followers
        # The same few ids go on after most rows.
        for id, text_after in self.texts.near(text)[:WITNESSES]:
            after = self._after(Place(split, NONE, spelled, text), id, text_after)
            if after is not None and self.goes_on(after):
                open_ = np.flatnonzero(~found)
                found[open_[~followers.forbidding(distinct[open_], id)]] = True
        for at in np.flatnonzero(~found).tolist():
            found[at] = self.goes_on(Place(split, int(distinct[at]), spelled, text))
        answer: BoolArray = found[number]
        return answer


def _in_order(distance: Int64Array) -> Iterator[Int64Array]:
    """Yield the numbers of the entries, the least first: a few of them, and then all others."""
    if len(distance) > 4 * FIRST_TRIED:
        first = np.argpartition(distance, FIRST_TRIED)[:FIRST_TRIED]
        yield first[np.argsort(distance[first], kind="stable")]
        is_other = np.ones(len(distance), dtype=np.bool_)
        is_other[first] = False
        others = np.flatnonzero(is_other)
        yield others[np.argsort(distance[others], kind="stable")]
    elif len(distance):
        yield np.argsort(distance, kind="stable")


def _grouped(
    split: Int32Array, spelled: Int32Array, text: Int32Array
) -> Iterator[tuple[tuple[int, int, int], Int64Array]]:
    """Yield the distinct triples, each with the numbers of its entries."""
    n_spelled, n_text = int(spelled.max()) + 1, int(text.max()) + 1
    key = (split.astype(np.int64) * n_spelled + spelled) * n_text + text
    order = np.argsort(key, kind="stable")
    key = key[order]
    begins = np.flatnonzero(np.append(True, key[1:] != key[:-1]))
    for known, begin, end in zip(key[begins].tolist(), begins.tolist(), [*begins[1:].tolist(), len(key)], strict=True):
        yield (known // n_text // n_spelled, known // n_text % n_spelled, known % n_text), order[begin:end]

"""Comparing the ids of a window with the pieces of its text, of tokenizers that cut text into pieces.

A window ends at a boundary where the text is always cut and a token ends. Within it the pieces must begin and end with
tokens. The merges within a piece are decided by pairs of neighbours, or by encoding the pieces again if the dictionary
is not proper.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import chain

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, ranges, running_sum
from tokdfa.jobs.validation.differences import NO_CUTS, trimmed
from tokdfa.jobs.validation.model import Model
from tokdfa.jobs.validation.violation import Cause, Violation, ViolationKind, common_prefix
from tokdfa.jobs.validation.violations import KIND_INDEX, Outline, Rows
from tokdfa.jobs.validation.window import FoundSpecial, Window
from tokdfa.tokenizers.pretokenizers.certain import CONTEXT
from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer

_NOT_SPECIAL = -1


class TextIsDroppedError(Exception):
    """The pre-tokenizer drops text, so ids and pieces do not run in parallel."""


def compare_pieces(window: Window) -> tuple[Iterator[Violation], int]:
    """Return the violations of a window, and the first token of the next window: the same one if it is too short.

    TextIsDroppedError is raised if ids and pieces do not run in parallel.
    """
    split = window.model.tokenizer.pretokenizer
    assert split is not None
    text, specials = window.text, window.specials()
    closed = window.final and window.bad is None
    spans: list[Int64Array] = []
    ids: list[Int32Array] = []
    begin = 0
    for special in specials.found:
        spans.append(_pieces(split, text[begin : special.start], begin, special.start))
        ids.append(np.full(len(spans[-1]), _NOT_SPECIAL, dtype=np.int32))
        spans.append(np.array([[special.start, special.end]]))
        ids.append(np.array([special.id], dtype=np.int32))
        begin = special.end
    if closed and not text:
        # Tokens without bytes belong to an empty piece.
        spans.append(np.zeros((1, 2), dtype=np.int64))
        ids.append(np.array([_NOT_SPECIAL], dtype=np.int32))
    cut = len(text) if closed else _certain_boundary(window, begin, specials.decided - CONTEXT)
    spans.append(_pieces(split, text[begin:] if closed else text[begin : cut + CONTEXT], begin, cut))
    ids.append(np.full(len(spans[-1]), _NOT_SPECIAL, dtype=np.int32))
    stop = len(window.ids) if closed else window.token_from(int(window.byte_at[cut]))
    items = _Items(window, np.concatenate(spans), np.concatenate(ids), stop)
    violations, stop = items.violations(), items.stop
    if window.bad is not None:
        last, stop = window.not_utf8()
        return chain(violations, [last]), stop
    return violations, stop


def _pieces(split: PreTokenizer, text: str, begin: int, cut: int) -> Int64Array:
    """Return the pieces up to character `cut` of a text that begins at character `begin`, as pairs of offsets."""
    spans = begin + np.array(split.spans(text), dtype=np.int64).reshape(-1, 2)
    spans = spans[spans[:, 1] <= cut]
    bounds = np.concatenate(([begin], spans[:, 1]))
    if bounds[-1] != cut or not np.array_equal(bounds[:-1], spans[:, 0]):
        raise TextIsDroppedError
    return spans


def _certain_boundary(window: Window, begin: int, end: int) -> int:
    """Return the last boundary up to `end` where both the text and the ids are always cut; or `begin`."""
    last, character = window.model.boundaries.last, end
    while (character := last(window.text, begin, character)) > begin:
        if window.begins_at(int(window.byte_at[character])):
            break
        character -= 1
    return max(character, begin)


def violation_of(model: Model, ids: Int32Array, first: int, byte: int, ends: Int64Array) -> Violation:
    """Return the violation of ids that differ from the ids of some pieces, given the ends of the pieces in their bytes.

    The ids begin and end with pieces, but none of them ends where one of these does in between. `first` is the index of
    the first id in the stream, and `byte` the offset at which it begins.
    """
    window = Window(model, ids, first, byte, final=True)
    bounds = np.searchsorted(window.byte_at, np.append(0, ends))
    spans = np.column_stack((bounds[:-1], bounds[1:]))
    (violation,) = _Items(window, spans, np.full(len(ends), _NOT_SPECIAL, dtype=np.int32), len(ids)).violations()
    return violation


def outlined(model: Model, rows: Rows, first: int) -> Outline | None:
    """Return what `violation_of` would say of each row, of a stream that begins at `first`; None if merging decides."""
    given, bounds = ranges(*rows.spans.T)
    ids = rows.ids[given]
    lengths = model.lengths[ids]
    if not model.by_pairs or not lengths.all():
        return None
    byte_at = running_sum(lengths)
    starts, ends = byte_at[:-1], byte_at[1:]
    chosen, piece_bounds = ranges(*rows.ends_spans.T)
    piece_ends = rows.ends[chosen] + np.repeat(starts[bounds[:-1]], np.diff(piece_bounds))
    piece_starts = np.append(0, piece_ends)[:-1]
    piece = np.searchsorted(piece_ends, starts, side="right")
    reaching = np.searchsorted(ends, piece_ends)
    crossing = reaching[ends[reaching] != piece_ends]
    begins = starts == piece_starts[piece]
    is_whole = begins & (ends == piece_ends[piece])
    bad = (
        model.special[ids] | (model.pairs.forbidden(ids) & ~begins) | (model.dead[ids] & ~(model.alone[ids] & is_whole))
    )
    is_word: BoolArray = np.zeros(len(piece_ends), dtype=np.bool_)
    if model.whole_words:
        data = model.tokenizer.decode_bytes(ids)
        sides = zip(piece_starts.tolist(), piece_ends.tolist(), strict=True)
        is_word[:] = [data[start:end] in model.whole_words for start, end in sides]
        bad[np.searchsorted(starts, piece_ends[np.unique(piece[~is_whole & is_word[piece]])]) - 1] = True
    wrong = _first_of_each(np.flatnonzero(bad), bounds)
    is_crossed = _first_of_each(crossing, bounds) <= wrong
    token = np.minimum(wrong, len(ids) - 1)
    id = ids[token]
    kinds = np.select(
        [is_crossed, model.special[id], is_word[piece[token]], model.alone[id], model.dead[id]],
        [KIND_INDEX[kind] for kind in _CAUSES[:-1]],
        KIND_INDEX[_CAUSES[-1]],
    )
    pairs = np.flatnonzero(kinds == KIND_INDEX[ViolationKind.PAIR])
    rules: Int64Array = np.full(len(kinds), -1, dtype=np.int64)
    rules[pairs] = [*map(model.rule_between, ids[token[pairs] - 1].tolist(), id[pairs].tolist())]
    start = first + rows.first
    return Outline(start, start + _n_right(rows), kinds.astype(np.uint8), rules)


# In the order in which they are looked for.
_CAUSES = (
    ViolationKind.BOUNDARY,
    ViolationKind.ENCODED_OTHERWISE,
    ViolationKind.PIECE_IS_A_TOKEN,
    ViolationKind.WHOLE_PIECE_ONLY,
    ViolationKind.DEAD_TOKEN,
    ViolationKind.PAIR,
)


def _first_of_each(tokens: Int64Array, bounds: Int64Array) -> Int64Array:
    """Return the first of some ascending tokens in each row of tokens between two `bounds`; a large number if none."""
    padded = np.append(tokens, np.iinfo(np.int64).max)
    first: Int64Array = padded[np.searchsorted(tokens, bounds[:-1])]
    return np.where(first < bounds[1:], first, padded[-1])


def _n_right(rows: Rows) -> Int64Array:
    """Return the length of the common beginning of the ids of each row and of the canonical ones."""
    sides = np.column_stack((rows.spans, rows.canonical_spans, np.zeros(len(rows.spans), dtype=np.int64)))
    return trimmed(rows.ids, rows.canonical, sides, NO_CUTS).starts - rows.spans[:, 0]


class _Items:
    """The pieces and special tokens of a text, side by side with the ids of a window, up to `stop`, that spell it.

    `spans`, of shape (items, 2), are their character offsets, one after the other from the beginning of the text, and
    `specials` the id of each that is a special token, or `_NOT_SPECIAL`.
    """

    def __init__(self, window: Window, spans: Int64Array, specials: Int32Array, stop: int) -> None:
        self._window = window
        self._model = window.model
        self._spans = spans
        self._special = specials
        self._ids = window.ids[:stop]
        self._starts, self._ends = window.starts[:stop], window.ends[:stop]
        bounds = window.byte_at[spans]
        self._item_starts, self._item_ends = bounds[:, 0], bounds[:, 1]
        # The token that reaches the end of an item, and whether it ends there.
        self._reaching = np.searchsorted(self._ends, self._item_ends)
        self._aligned: BoolArray = self._ends[self._reaching] == self._item_ends
        # The item in which a token begins. Only a token without bytes begins at the very end.
        self._item = np.minimum(np.searchsorted(self._item_ends, self._starts, side="right"), max(len(spans) - 1, 0))

    @cached_property
    def _is_end(self) -> BoolArray:
        """For each item whether a group of items that belong together ends with it."""
        is_end = self._aligned.copy()
        for item in np.flatnonzero(self._spelled).tolist():
            is_end[self._before(item) : item] = False
        return is_end

    @cached_property
    def _n_closed(self) -> int:
        """The number of items in groups that end: the last token may continue in a piece that is not decided."""
        return int(np.append(0, 1 + np.flatnonzero(self._is_end))[-1])

    @property
    def stop(self) -> int:
        """The token after the groups that end."""
        return int(np.searchsorted(self._item, self._n_closed)) if self._n_closed < len(self._spans) else len(self._ids)

    def violations(self) -> Iterator[Violation]:
        """Yield the violations, in order.

        Items that share a token belong together. A group of such items is repaired as a whole.
        """
        bad_items = ~self._aligned
        bad_items[self._item[self._bad_tokens]] = True
        bad_items[self._n_closed :] = False
        if not bad_items.any():
            return
        group = np.concatenate(([0], np.cumsum(self._is_end)[:-1]))
        for number in np.unique(group[bad_items]).tolist():
            first, last = (int(np.searchsorted(group, number, side)) for side in ("left", "right"))
            start, stop = (int(np.searchsorted(self._item, item)) for item in (first, last))
            canonical = self._canonical(first, last)
            prefix = common_prefix(self._ids[start:stop], canonical)
            detected, cause = self._cause(first, last, start, stop)
            yield self._window.violation(start, stop, prefix, canonical, detected, cause)

    @cached_property
    def _bad_tokens(self) -> BoolArray:
        """For each token whether it cannot be in its item, after the token before it, or at all."""
        model, ids = self._model, self._ids
        begins = self._starts == self._item_starts[self._item]
        whole = begins & (self._ends == self._item_ends[self._item])
        bad: BoolArray = self._wrongly_merged(begins, whole)
        bad |= (model.lengths[ids] == 0) | np.where(
            self._special[self._item] == _NOT_SPECIAL, model.special[ids], ids != self._special[self._item]
        )
        return bad

    def _wrongly_merged(self, begins: BoolArray, whole: BoolArray) -> BoolArray:
        """Return the tokens that merging does not give at their positions."""
        model, ids = self._model, self._ids
        if not model.by_pairs:
            return self._encoded_otherwise()
        bad: BoolArray = model.pairs.forbidden(ids) & ~begins
        bad |= model.dead[ids] & ~(model.alone[ids] & whole)
        if model.whole_words:
            for item in np.unique(self._item[~whole & (self._special[self._item] == _NOT_SPECIAL)]).tolist():
                low, high = int(self._item_starts[item]), int(self._item_ends[item])
                if self._window.data[low:high] in model.whole_words:
                    bad[np.searchsorted(self._starts, high) - 1] = True
        return bad

    def _encoded_otherwise(self) -> BoolArray:
        """Return, for each piece that is encoded differently, the first token that differs.

        A piece that begins within a token needs no look: the token before it is not aligned, so their group is wrong.
        """
        begins = np.append(True, self._aligned[:-1])
        pieces = np.flatnonzero((self._special == _NOT_SPECIAL) & begins)
        encoded = self._model.tokenizer.encode_pieces([self._word(item) for item in pieces.tolist()])
        bad: BoolArray = np.zeros(len(self._ids), dtype=np.bool_)
        starts = np.searchsorted(self._starts, self._item_starts[pieces]).tolist()
        stops = (self._reaching[pieces] + 1).tolist()
        bounds = encoded.offsets.tolist()
        for index, (start, stop) in enumerate(zip(starts, stops, strict=True)):
            expected = encoded.ids[bounds[index] : bounds[index + 1]]
            if not np.array_equal(self._ids[start:stop], expected):
                bad[min(start + common_prefix(self._ids[start:stop], expected), stop - 1)] = True
        return bad

    def _word(self, item: int) -> str:
        start, end = self._spans[item].tolist()
        return self._window.text[start:end]

    def _canonical(self, first: int, last: int) -> Int32Array:
        """Return the ids of items `first` to `last`."""
        tokenizer = self._model.tokenizer
        ids = [
            tokenizer.encode_piece(self._word(item)) if special == _NOT_SPECIAL else np.array([special], np.int32)
            for item, special in enumerate(self._special[first:last].tolist(), first)
        ]
        return np.concatenate(ids)

    @cached_property
    def _spelled(self) -> BoolArray:
        """For each item whether it is a special token that the ids do not have: its text is spelled by others."""
        tokens = np.searchsorted(self._starts, self._item_starts, side="right") - 1
        spelled: BoolArray = (self._special != _NOT_SPECIAL) & (self._ids[tokens] != self._special)
        return spelled

    def _before(self, item: int) -> int:
        """Return the item at the last boundary where the text is always cut, before any special token."""
        begin = int(self._spans[np.append(0, 1 + np.flatnonzero(self._special[:item] != _NOT_SPECIAL))[-1], 0])
        cut = _certain_boundary(self._window, begin, int(self._spans[item, 0]) - CONTEXT)
        return int(np.searchsorted(self._spans[:, 0], cut))

    def _cause(self, first: int, last: int, start: int, stop: int) -> tuple[int, Cause]:
        """Return the first bad token of a group, and why it is bad."""
        model, ids = self._model, self._ids
        spelled = first + np.flatnonzero(self._spelled[first:last])
        if len(spelled):
            begin, end = self._spans[spelled[0]].tolist()
            special = FoundSpecial(begin, end, int(self._special[spelled[0]]))
            return self._window.token_at(int(self._item_ends[spelled[0]]) - 1), self._window.spelling(special)
        bad = start + np.flatnonzero(self._bad_tokens[start:stop])
        crossed = first + np.flatnonzero(~self._aligned[first:last])
        crossing = self._reaching[crossed]
        if len(crossing) and (not len(bad) or crossing[0] <= bad[0]):
            token, text = int(crossing[0]), self._word(int(crossed[0]))
            return token, model.cause(ViolationKind.BOUNDARY, int(ids[token]), text=text)
        token = int(bad[0])
        item, id = int(self._item[token]), int(ids[token])
        is_special = self._special[item] != _NOT_SPECIAL
        text = self._word(item)
        # Special tokens among the items are found in their text again.
        if not model.by_pairs or is_special or model.special[id]:
            return token, model.cause(ViolationKind.ENCODED_OTHERWISE, id, text=text)
        if (
            model.lengths[id]
            and self._window.data[self._item_starts[item] : self._item_ends[item]] in model.whole_words
        ):
            return token, model.cause(ViolationKind.PIECE_IS_A_TOKEN, id, text=text)
        if model.alone[id]:
            return token, model.cause(ViolationKind.WHOLE_PIECE_ONLY, id)
        if model.dead[id]:
            return token, model.cause(ViolationKind.DEAD_TOKEN, id)
        return token, model.pair_cause(int(ids[token - 1]), id)

"""The graph of the canonical streams of ordinary text: its paths from the beginning to a final state are the streams.

A state is a base and a row. The base is everything that decides which ids may follow, except for the last id: how far
the pre-tokenizer is, and which special token the text may be spelling. The row is the set of ids that the last id
forbids within a piece. From one base, an id leads to one base for all rows that do not forbid it (`free`), and to one
for all others (`cut`: a piece begins with it), if to any. Control tokens are not ordinary text.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, IntegerArray
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.jobs.guiding.prefixes import BaseKey, MoveTables, State, base_of, prefixes_of
from tokdfa.jobs.guiding.texts import texts_of
from tokdfa.jobs.guiding.tokens import FollowSets, tokens_of
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.tokenizer import Tokenizer, has_rules

_MAX_KEPT = 1 << 25


class Edges(NamedTuple):
    """The ids that may follow in the states of one base: arrays with an entry an id."""

    ids: Int32Array
    free: Int32Array  # The base after an id that the row does not forbid; -1 for none
    cut: Int32Array  # The base after an id that the row forbids; -1 for none
    position: Int32Array  # The position of each id in the rows; -1 for ids that none forbids


class Streams(ABC):
    """The graph of the canonical streams of a tokenizer; base 0 and row 0 are the beginning.

    From every state some stream continues to its end. `ordinary` are the ids of the graph, one entry an id.
    """

    def __init__(self, sets: FollowSets, ordinary: BoolArray) -> None:
        self.sets = sets
        self.n_rows = len(sets.pointer) - 1
        self.ordinary = ordinary

    @abstractmethod
    def edges(self, base: int) -> Edges:
        """Return the edges of a base."""

    @abstractmethod
    def is_final(self, base: int) -> bool:
        """Return whether a stream may end in the states of a base."""

    def forbids(self, rows: IntegerArray, id: int) -> BoolArray:
        """Return which of some rows forbid an id."""
        sets = self.sets
        position = int(sets.position[id])
        spans, lengths = sets.spans_of(rows)
        hits = (sets.start[spans] <= position) & (position < sets.stop[spans])
        found: BoolArray = np.bincount(np.repeat(np.arange(len(rows)), lengths), weights=hits, minlength=len(rows)) > 0
        return found


class ByteStreams(Streams):
    """The graph of a byte pair tokenizer over bytes that encodes texts unchanged; texts in a normal form count, too."""

    def __init__(self, tokenizer: Tokenizer, language: str | None = None) -> None:
        read = tokenizer.read_in_form
        tokens = tokens_of(tokenizer if read is None else read[0])
        prefixes = prefixes_of(tokens, None if language is None else texts_of(tokens, language, has_controls=False))
        ordinary = tokens.usable | tokens.special
        ordinary[tokenizer.control_ids] = False
        super().__init__(tokens.follow_sets, ordinary)
        self.texts = prefixes.texts
        self._tables = MoveTables(prefixes)
        self._prefixes = prefixes
        self._keys: list[BaseKey] = [base_of(prefixes.initial)]
        self._numbers: dict[BaseKey, int] = {self._keys[0]: 0}
        self._edges: OrderedDict[int, Edges] = OrderedDict()
        self._n_kept = 0

    def edges(self, base: int) -> Edges:
        """Return the edges of a base; those asked for last are kept."""
        if base in self._edges:
            self._edges.move_to_end(base)
            return self._edges[base]
        moves = self._tables.of(self._keys[base])
        kept = np.flatnonzero(self.ordinary[moves.ids])
        ids, spelled, text = moves.ids[kept], moves.spelled[kept], moves.text[kept]
        free, cut = (self._bases(split[kept], spelled, text) for split in (moves.free, moves.cut))
        found = self._edges[base] = Edges(ids, free, cut, moves.position[kept])
        self._n_kept += len(ids)
        while self._n_kept > _MAX_KEPT and len(self._edges) > 1:
            self._n_kept -= len(self._edges.popitem(last=False)[1].ids)
        return found

    def _bases(self, split: Int32Array, spelled: Int32Array, text: Int32Array) -> Int32Array:
        """Return the bases of states, -1 where there is none."""
        keys = np.stack((split, spelled, text), axis=1)
        number = (split.astype(np.int64) * (int(spelled.max(initial=0)) + 1) + spelled) * (
            int(text.max(initial=0)) + 1
        ) + text
        _, first, inverse = np.unique(number, return_index=True, return_inverse=True)
        found = [self._base((key[0], key[1], key[2])) if key[0] else -1 for key in keys[first].tolist()]
        return np.array(found, dtype=np.int32)[inverse] if found else np.zeros(0, dtype=np.int32)

    def _base(self, key: BaseKey) -> int:
        number = self._numbers.setdefault(key, len(self._keys))
        if number == len(self._keys):
            self._keys.append(key)
        return number

    def is_final(self, base: int) -> bool:
        """Return whether a stream may end in the states of a base."""
        split, spelled, text = self._keys[base]
        return self._prefixes.is_final(State(split, 0, spelled, text))


def streams_of(tokenizer: AnyTokenizer, language: str | None = None) -> ByteStreams:
    """Return the graph of the canonical streams of a tokenizer, with their texts in a language if one is given.

    The tokenizer keeps the graph of all texts. Other tokenizers than byte pairs are refused.
    """
    if not has_rules(tokenizer):
        what = f"counts for every text are only known of byte pairs, and these tokens are made by {tokenizer.algorithm}"
        raise UnsupportedFeatureError(what)
    return tokenizer.derived(ByteStreams) if language is None else ByteStreams(tokenizer, language)


def grouped(keys: Int64Array) -> list[Int64Array]:
    """Return the indices of equal keys, one array a key."""
    order = np.argsort(keys, kind="stable")
    bounds = np.flatnonzero(np.diff(keys[order])) + 1
    return np.split(order, bounds) if len(keys) else []

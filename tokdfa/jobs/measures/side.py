"""The canonical streams of one of two tokenizers: states as numbers, and the tokens that end within some bytes.

The side that follows reads the bytes that the other one has read: of `abcd`, its tokens `ab` and `c` end there, and `d`
is pending, since its token `de` may follow. Several tokens with these bytes, and several ways to cut them, are several
results.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.base.budget import Budget
from tokdfa.jobs.measures.climbing import reach
from tokdfa.jobs.measures.paths import paths_of
from tokdfa.jobs.measures.streams import Streams, grouped

_MOST_TOGETHER = 4096
_MAX_KNOWN, _MAX_BASES = 1 << 20, 64


class Reading(NamedTuple):
    """What a side has read: its state, the bytes since its last token, and how many tokens have ended at most."""

    state: int
    pending: bytes
    n_ended: int


_Front = dict[int, dict[int, int]]
"""The most tokens that have ended, by the index where the last one ends and the state there."""


def proper_prefixes(words: Iterable[bytes]) -> set[bytes]:
    """Return the beginnings of some words, without the empty one and the words themselves."""
    return {word[:end] for word in words for end in range(1, len(word))}


class Side:
    """The canonical streams of a tokenizer.

    A state is a base and a row, as in `Paths`; ``~base`` is a base with any row that streams have with it.
    """

    def __init__(self, streams: Streams) -> None:
        self.streams, self.words = streams, streams.words
        self.labels: dict[bytes, list[int]] = {}
        for label in np.flatnonzero(streams.ordinary).tolist():
            self.labels.setdefault(self.words[label], []).append(label)
        self.has_empty = b"" in self.labels
        self._n_rows = streams.n_rows
        self._steps: dict[tuple[int, int], tuple[int, ...]] = {}
        self._known: dict[tuple[int, bytes, bytes], list[Reading]] = {}
        self._any: dict[int, Int32Array] = {}
        self._reached: Int64Array | None = None

    @cached_property
    def _prefixes(self) -> set[bytes]:
        return proper_prefixes(self.labels)

    @cached_property
    def _suffixes(self) -> set[bytes]:
        return {word[begin:] for word in self.labels for begin in range(1, len(word))}

    def is_final(self, state: int) -> bool:
        """Return whether a stream may end in a state."""
        return self.streams.is_final(self._base(state))

    def with_any_row(self, state: int) -> int:
        """Return the state with any row that streams have with its base."""
        return ~self._base(state)

    def _base(self, state: int) -> int:
        return ~state if state < 0 else state // self._n_rows

    def find_rows(self, budget: Budget) -> None:
        """Find the rows that streams have with each base, for `with_any_row`."""
        if self._reached is None:
            self._reached = reach(paths_of(self.streams, budget)).codes

    def step(self, state: int, label: int) -> tuple[int, ...]:
        """Return the states after a label: one, if any; or two for any row."""
        key = state, label
        if key not in self._steps:
            if state < 0:
                found = {*self._after_any(~state)[:, label].tolist()}
            else:
                found = {self.streams.step(*divmod(state, self._n_rows), label)}
            after = int(self.streams.sets.row_of[label])
            self._steps[key] = tuple(target * self._n_rows + after for target in found - {-1})
        return self._steps[key]

    def ways(self, state: int, useful: BoolArray | None) -> list[int]:
        """Return the labels that may follow in a state, of those that are `useful`."""
        labels = self.streams.edges(self._base(state)).labels
        labels = labels if useful is None else labels[useful[labels]]
        if state >= 0:
            labels = labels[self.streams.after(*divmod(state, self._n_rows), labels) >= 0]
        found: list[int] = labels.tolist()
        return found

    def _after_any(self, base: int) -> Int32Array:
        """Return the bases after each label from any row of a base, without and with a boundary; -1 for none."""
        if base not in self._any:
            if len(self._any) >= _MAX_BASES:
                self._any.clear()
            assert self._reached is not None
            streams, n_rows = self.streams, self.streams.n_rows
            low, high = np.searchsorted(self._reached, (base * n_rows, (base + 1) * n_rows))
            rows, edges = self._reached[low:high] - base * n_rows, streams.edges(base)
            n_forbidding = streams.sets.count_forbidding(edges.position, rows)
            found = self._any[base] = np.full((2, len(self.words)), -1, dtype=np.int32)
            found[0, edges.labels] = np.where(n_forbidding < len(rows), edges.free, -1)
            found[1, edges.labels] = np.where(n_forbidding > 0, edges.cut, -1)
        return self._any[base]

    def may_read(self, pending: bytes, data: bytes) -> bool:
        """Return whether a label's word continues pending bytes with more bytes, or ends within these."""
        whole = pending + data
        return not data or whole in self._prefixes or any(True for _ in self._words(whole, 0, len(pending)))

    def read(self, state: int, pending: bytes, data: bytes) -> list[Reading]:
        """Return what may have been read after more bytes, with the tokens that end within these."""
        key = state, pending, data
        if key not in self._known:
            if len(self._known) > _MAX_KNOWN:
                self._known.clear()
            self._known[key] = self._finished(pending + data, len(pending), {0: {state: 0}})
        return self._known[key]

    def read_anywhere(self, data: bytes, targets: dict[int, list[int]]) -> list[Reading]:
        """Return what may have been read after bytes that follow any text, where a whole token is within the bytes."""
        front: _Front = {}
        for begin in range(len(data)):
            if begin and data[:begin] not in self._suffixes:
                continue
            for end, labels in self._words(data, begin, 0):
                after = front.setdefault(end, {})
                for target in (target for label in labels for target in targets.get(label, ())):
                    after[target] = max(1 + (begin > 0), after.get(target, 0))
        return self._finished(data, 0, front)

    def _words(self, data: bytes, begin: int, least: int) -> Iterator[tuple[int, list[int]]]:
        """Yield the ends and labels of the words within some bytes, from an index, that end after another one."""
        for end in range(begin + 1, len(data) + 1):
            word = data[begin:end]
            if end > least and word in self.labels:
                yield end, self.labels[word]
            if word not in self._prefixes:
                return

    def _finished(self, data: bytes, least: int, front: _Front) -> list[Reading]:
        """Return what may have been read at the end of bytes, from some states at indices of them."""
        found: list[Reading] = []
        while front:
            begin = min(front)
            here = front.pop(begin)
            if self.has_empty:
                # At the beginning of a text.
                self._follow(self.labels[b""], [*here.items()], here)
            rest = data[begin:]
            if not rest or rest in self._prefixes:
                found += [Reading(state, rest, count) for state, count in here.items()]
            for end, labels in self._words(data, begin, least):
                self._follow(labels, [*here.items()], front.setdefault(end, {}))
        return found

    def _follow(self, labels: Sequence[int], here: list[tuple[int, int]], after: dict[int, int]) -> None:
        """Enter the states after labels, with the most tokens."""
        for label in labels:
            for state, count in here:
                for target in self.step(state, label):
                    after[target] = max(count + 1, after.get(target, 0))

    def all_targets(self, budget: Budget) -> dict[int, list[int]]:
        """Return for each label the states that it leads to from any base, whether or not the rows allow it."""
        n = len(self.words)
        found, seen, waiting = list[Int64Array](), np.ones(1, dtype=np.bool_), [0]
        # From most bases a label leads to the same base as from the one before.
        latest = np.full((2, n), -1, dtype=np.int64)
        while waiting:
            budget.check_time()
            edges = self.streams.edges(waiting.pop())
            for last, part in zip(latest, (edges.free, edges.cut), strict=True):
                is_new = (part >= 0) & (part != last[edges.labels])
                labels, targets = edges.labels[is_new].astype(np.int64), part[is_new].astype(np.int64)
                last[labels] = targets
                found.append(targets * n + labels)
                n_more = int(targets.max(initial=0)) + 1 - len(seen)
                seen = np.append(seen, np.zeros(max(n_more, 0), dtype=np.bool_))
                new = np.unique(targets[~seen[targets]])
                waiting += new.tolist()
                seen[new] = True
            if len(found) > _MOST_TOGETHER:
                found = [np.unique(np.concatenate(found))]
        bases, labels = np.divmod(np.unique(np.concatenate(found)), n)
        states = bases * self._n_rows + self.streams.sets.row_of[labels]
        return {int(labels[same[0]]): states[same].tolist() for same in grouped(labels)}

"""What a search runs: the automaton of a pattern, and what every id does to it."""

from __future__ import annotations

from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tokdfa.automata.finder import Finder
from tokdfa.automata.utf8 import BORDER, EDGE
from tokdfa.kernels import search_types as kernels
from tokdfa.kernels.at_rest import LINE
from tokdfa.kernels.backwards import Backward, Text
from tokdfa.kernels.dfa.effects import token_effects
from tokdfa.kernels.outcomes import idle_outcomes
from tokdfa.kernels.search_types import Forward, Tokens
from tokdfa.searching.words import Words

__all__ = ["Machine"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

_MAX_ENTRIES = 1 << 24
_MAX_CLASSES = 1 << 16
_FEW_CLASSES = 8
# So many lines of pairs of a state and a token are remembered.
_LINES = 1 << 16


class Machine:
    """The automata of a pattern, and what ids do to them, in the arrays that the kernels read.

    Parameters
    ----------
    found : Finder
    words : Words
    wants_all, aligned : bool
        What is searched for.
    """

    def __init__(self, found: Finder, words: Words, *, wants_all: bool, aligned: bool) -> None:
        self.finder = found
        self.words = words
        self.wants_all = wants_all
        self.options = kernels.ALIGNED * aligned
        self.cuts = words.cuts
        self.lengths: Int64Array = np.diff(words.spelled.offsets)

    @cached_property
    def _idle(self) -> int:
        """The state in which most of a text is read: behind a letter, when nothing has begun to match."""
        dfa = self.finder.forward
        state = dfa.initial
        for byte in b" a":
            state = int(dfa.table[state, dfa.column[byte]])
        starts = dfa.starts.tolist()
        return state if state in starts else starts[0]

    @cached_property
    def bytewise(self) -> Tokens:
        """What tokens do, before that is known: each is read byte by byte."""
        words = np.zeros((len(self.lengths), kernels.N_WORD), dtype=np.int64)
        begins = np.cumsum(np.where(self.cuts, 1, self.lengths))
        words[1:, kernels.BEGIN] = begins[:-1]
        words[:, kernels.BYTES_BEGIN] = self.text.offsets[:-1]
        words[:, kernels.RECORD] = (self.lengths << kernels.SIZE_SHIFT) + kernels.CUT * self.cuts
        words[:, kernels.RECORD] += np.append(self.forward.columns, 0)[words[:, kernels.BEGIN]] & kernels.FIRST_MASK
        none, nothing = _frozen(np.zeros(0, dtype=np.int32)), _frozen(np.zeros(0, dtype=np.int64))
        return Tokens(_frozen(words.reshape(-1)), none, none, 0, self._idle, none, nothing, nothing, nothing)

    @cached_property
    def tokenwise(self) -> Tokens:
        """What tokens do."""
        forward, dfa, known = self.forward, self.finder.forward, self.bytewise
        simple = not (self.wants_all or self.options or self.finder.backward.delayed)
        if simple:
            words, outcomes, runs = idle_outcomes(forward, known.words, self.text, self.backward, self._idle)
            known = known._replace(words=_frozen(words))
        most = min(_MAX_CLASSES - 1, _MAX_ENTRIES // dfa.n_states)
        effect = effects = np.zeros(0, dtype=np.int32)
        # An automaton of which the table has room for a few effects only, a long list of words, is not even tried.
        if most > _FEW_CLASSES:
            # An event is a match, or the sink: 0, which has both marks.
            marks = np.where(dfa.delay >= 0, np.int32(1), np.int32(0))
            marks[0] = 3
            effect, effects = token_effects(
                (4 * dfa.table + marks[dfa.table]).reshape(-1),
                forward.n_columns,
                forward.columns.astype(np.int32),
                np.append(known.words[kernels.BEGIN :: kernels.N_WORD], len(forward.columns)),
                forward.border,
                most,
            )
        if self.lengths.max(initial=0) > kernels.LENGTH_MASK or not (simple or len(effects)):
            return known
        if not len(effects):
            return known._replace(
                runs=_frozen(runs), outcomes=_frozen(outcomes), marks=self._marks(outcomes), groups=self._groups
            )
        used, class_of = np.unique(effect, return_inverse=True)
        reached = effects.reshape(-1, dfa.n_states)[used].T
        entries = (reached // 4) * (4 * len(used)) + reached % 4
        neutral = entries[self._idle] == 4 * len(used) * self._idle
        properties = class_of + (self.lengths << kernels.LENGTH_SHIFT)
        properties = np.where(neutral[class_of], properties, properties + kernels.NOT_NEUTRAL)
        return known._replace(
            properties=_frozen(properties.astype(np.int32)),
            entries=_frozen(entries.astype(np.int32).reshape(-1)),
            n_classes=len(used),
        )

    @cached_property
    def text(self) -> Text:
        """What ids spell."""
        text, offsets = self.words.spelled
        return Text(_frozen(text), _frozen(offsets), _frozen(self.cuts))

    @cached_property
    def forward(self) -> Forward:
        """The searching automaton, and the columns of all ids."""
        dfa = self.finder.forward
        column = dfa.column.astype(np.uint16)
        lengths = np.where(self.cuts, 1, self.lengths)
        columns = np.full(int(lengths.sum()), column[EDGE], dtype=np.uint16)
        columns[np.repeat(~self.cuts, lengths)] = column[self.text.bytes[np.repeat(~self.cuts, self.lengths)]]
        border = int(dfa.column[BORDER]) if self.options & kernels.ALIGNED else -1
        return Forward(_frozen(columns), _frozen(dfa.table.reshape(-1)), dfa.table.shape[1], border, self._told)

    @property
    def _told(self) -> Int64Array:
        """What the kernels are told of every state."""
        found, dfa = self.finder, self.finder.forward
        told = np.zeros((dfa.n_states, kernels.N_TOLD), dtype=np.int64)
        told[:, kernels.DELAY], told[:, kernels.RESTART], told[:, kernels.RIGHT] = dfa.delay, dfa.restart, dfa.right
        # Without assertions there is one state to begin anew with, and what remembers no other state finds it here.
        told[0, kernels.RESTART] = self._idle
        told[:, kernels.FIXED], told[:, kernels.SHORTER] = found.length, found.shorter
        told[:, kernels.END_RESTART] = dfa.end_restart
        told[:, kernels.ENDING] = np.where(dfa.end_delay < 0, -1, dfa.end_delay + 16 * dfa.end_right)
        for column in self._used_columns:
            told[:, kernels.ALIVE] |= (dfa.table[:, column] != 0).astype(np.int64) << column % 64
        return _frozen(told.reshape(-1))

    @cached_property
    def _live(self) -> BoolArray:
        """For each state and each of `_used_columns`, whether it may lead to where it does not lead `_idle`.

        Columns that may end the search are left out: those are of states with a match pending, when nobody asks.
        """
        targets = self.finder.forward.table[:, self._used_columns]
        live: BoolArray = (targets != targets[self._idle]) & (targets != 0)
        return live

    @cached_property
    def _group_of_column(self) -> Int64Array:
        """The group of tokens to which those belong that begin with a column.

        Columns that lead no state to a place of its own are in a group with each other; of the rest those share one
        that are seldom in the way, which is when few states have them or few tokens begin with them.
        """
        first = self._first_columns
        often = np.bincount(first, minlength=self.finder.forward.table.shape[1])
        weight = self._live.sum(axis=0) * (1 + often[self._used_columns])
        load = np.zeros(kernels.N_GROUPS, dtype=np.int64)
        load[0] = np.iinfo(np.int64).max
        group = np.zeros(len(often), dtype=np.int64)
        for place in np.argsort(-weight, kind="stable")[: np.count_nonzero(weight)].tolist():
            lightest = int(np.argmin(load))
            group[self._used_columns[place]] = lightest
            load[lightest] += weight[place]
        return group

    @property
    def _first_columns(self) -> Int64Array:
        """The first column of each id."""
        first: Int64Array = np.append(self.forward.columns, 0)[self.bytewise.words[kernels.BEGIN :: kernels.N_WORD]]
        return first

    @cached_property
    def _groups(self) -> Int64Array:
        """The groups of tokens that the kernels are told of for every state."""
        groups = np.zeros((len(self._live), 2), dtype=np.int64)
        for place, column in enumerate(self._used_columns):
            bit = np.int64(1) << self._group_of_column[column]
            groups[:, 0] |= np.where(self._live[:, place], bit, 0)
            groups[:, 1] |= np.where(self.finder.forward.table[:, column] != 0, bit, 0)
        return _frozen(groups.reshape(-1))

    def _marks(self, outcomes: Int64Array) -> Int64Array:
        """Return what is noted of ids beside their outcomes."""
        happens = (outcomes < 0) | (outcomes & kernels.AT_REST == 0)
        pending = (outcomes & (kernels.MATCH | kernels.COMPLETE) == kernels.MATCH).astype(np.int64)
        behind = self._groups[2 * np.where(outcomes < 0, 0, outcomes >> kernels.STATE_SHIFT) + pending]
        marks = behind | self._group_of_column[self._first_columns] << kernels.GROUP_SHIFT
        marks |= happens.astype(np.int64) << kernels.HAPPENS_SHIFT
        return _frozen(marks | self.lengths << kernels.SIZE_OF_MARKS)

    @cached_property
    def steps(self) -> Int64Array:
        """Room to remember what tokens do to states, from search to search."""
        return np.full(_LINES * LINE, -1, dtype=np.int64)

    @property
    def _used_columns(self) -> list[int]:
        """The columns of bytes and edges."""
        return [int(column) for column in np.unique(self.finder.forward.column[: EDGE + 1])]

    @cached_property
    def backward(self) -> Backward:
        """The automaton that finds where matches begin."""
        back = self.finder.backward
        return Backward(
            _frozen(back.table.reshape(-1)),
            _frozen(back.accepts),
            _frozen(back.initial),
            _frozen(back.partition.dense),
            back.partition.n_classes,
            back.delayed,
        )


def _frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an array as the kernels take it: contiguous and read-only."""
    array = np.ascontiguousarray(array)
    array.setflags(write=False)
    return array

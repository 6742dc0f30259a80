"""The pair test over streams: which ids may not follow the id before them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tokdfa.automata.compact import CompactTokenDFA
from tokdfa.base.arrays import BoolArray, Int32Array
from tokdfa.kernels.library import Struct
from tokdfa.kernels.walk import pairs as kernels

ALONE, CUT, NO_TOKEN = kernels.ALONE, kernels.CUT, kernels.NO_TOKEN


@dataclass(frozen=True, slots=True)
class Tuning:
    """The thresholds of the pair test. They change its cost, never its answers.

    `patience` is the number of ids, per id of the vocabulary, that are tested by going back in time before the table is
    built; building it costs about as much as testing 10. `memo`, a power of two or 0, is the number of answers kept
    until then, of 8 bytes each. If the rows of the table would have more than `max_table_entries` bits, none is built.
    """

    patience: int = 10
    memo: int = 1 << 15
    max_table_entries: int = 1 << 27


_DEFAULT = Tuning()


class PairTest:
    """Tests whether neighbours in a stream of ids are neighbours in a correct tokenization.

    The first ids are tested by going back in time, as :meth:`CompactTokenDFA.allows` does. Once enough ids have been
    tested for a table of all pairs to pay off, it is built, in compressed form: 3 MB for GPT-2, 9 MB for cl100k, 30 MB
    for o200k. The answers are the same. `tokens` has the token number of each id, or `CUT` if the id cuts the stream in
    two, `NO_TOKEN` if no token has the id, or `ALONE` if the id may have no neighbours; by default ids are token
    numbers.

    *Constructing a BPE Tokenization DFA*, Observation 2: T^D(Σ*) is local, so adjacent pairs decide.
    """

    def __init__(
        self, automaton: CompactTokenDFA, tokens: npt.ArrayLike | None = None, *, tuning: Tuning = _DEFAULT
    ) -> None:
        self.automaton = automaton
        self._tokens = np.array(np.arange(len(automaton.birth)) if tokens is None else tokens, dtype=np.int32)
        is_token = self._tokens >= 0
        self._tokens[is_token] = np.where(automaton.birth[self._tokens[is_token]] < 0, NO_TOKEN, self._tokens[is_token])
        self._tuning = tuning
        self._tested = 0
        self._most_walked = tuning.patience * len(self._tokens)

    @property
    def tokens(self) -> Int32Array:
        """The token number of each id, or `CUT`, `NO_TOKEN` or `ALONE`."""
        return self._tokens

    @property
    def n_ids(self) -> int:
        """The number of ids; ids go from 0 to one less than this."""
        return len(self._tokens)

    def forbidden(self, ids: Int32Array, behind: int | None = None) -> BoolArray:
        """Return, for each id, checked to be in range, whether it may not follow the one before it, or `behind`."""
        return kernels.mark_pairs(self.struct_for(len(ids)), ids, behind)

    def struct_for(self, n_ids: int) -> Struct:
        """Return the struct by which a kernel tests pairs among `n_ids` ids, with the table if that pays off."""
        self._tested += n_ids
        return self._by_table if self._tested > self._most_walked else self._by_history

    @cached_property
    def _by_history(self) -> Struct:
        return kernels.pair_test(self._tokens, self.automaton.dictionary.history, n_memo=self._tuning.memo)

    @cached_property
    def _by_table(self) -> Struct:
        """The pair test with a table of rows (start times 2³², plus column) and bits, unless that is too large."""
        automaton = self.automaton
        first = np.zeros_like(automaton.width)
        first[1:] = automaton.position[automaton.removed[1:]]
        last = first + automaton.width
        # Positions that no interval of any state distinguishes share a column. After them come one column that every
        # row allows and one that every row forbids.
        cut = np.zeros(len(automaton.position) + 1, dtype=np.bool_)
        cut[first[1:]] = cut[last[1:]] = cut[automaton.n_live_tokens] = True
        column_at = np.cumsum(cut, dtype=np.int32)
        free = int(column_at[-1]) + 1
        a_row = -(-(free + 2) // kernels.BLOCK)
        states = automaton.reachable_states
        if a_row * (len(states) + 1) > self._tuning.max_table_entries:
            return self._by_history
        dead = free if automaton.n_live_tokens == len(automaton.position) else int(column_at[automaton.n_live_tokens])
        row_of, blocks, bits = kernels.build_table(
            automaton.parent, column_at[first], column_at[last], states, free + 2, dead
        )
        # The row after the rows of the states forbids everything except ids that cut.
        row = np.where(self._tokens == kernels.ALONE, row_of[-1], 0).astype(np.int64)
        column = np.where(self._tokens == CUT, free, free + 1).astype(np.int64)
        is_token = self._tokens >= 0
        token = self._tokens[is_token]
        row[is_token] = row_of[automaton.state[token]]
        column[is_token] = column_at[automaton.position[token]]
        lookup = (row * a_row) << 32 | column
        return kernels.pair_test(self._tokens, automaton.dictionary.history, lookup, blocks, bits)

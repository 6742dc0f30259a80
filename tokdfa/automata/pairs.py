"""The pair test over streams: which ids may not stand behind the id before them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tokdfa.arrays import BoolArray, Int32Array, checked_ids, id_array
from tokdfa.automata.compact import CompactTokenDFA
from tokdfa.kernels.library import Struct
from tokdfa.kernels.walk import pairs as kernels

__all__ = ["ALONE", "CUT", "NO_TOKEN", "PairTest", "Tuning"]


ALONE = kernels.ALONE
CUT = kernels.CUT
NO_TOKEN = kernels.NO_TOKEN


@dataclass(frozen=True, slots=True)
class Tuning:
    """The thresholds of the pair test. They change what it costs, never what it answers.

    Parameters
    ----------
    chunk : int
        Number of ids that are tested at once: few enough for what belongs to them to stay in the second-level cache.
    patience : int
        Number of ids, for each id there is, that are tested by going back in time before the table is built. Building
        it costs about as much as testing 10 ids for each.
    max_table_entries : int
        Number of bits that the rows of the table may have; where they would have more, none is built, and tests go on
        by going back in time.
    """

    chunk: int = 1 << 16
    patience: int = 10
    max_table_entries: int = 1 << 27


_DEFAULT = Tuning()


class PairTest:
    """Tests whether neighbours in a stream of ids are neighbours in a correct tokenization.

    The first ids are tested by going back in time, as :meth:`CompactTokenDFA.allows` does; once there were enough of
    them to pay for it, a table of all pairs is built, folded up small: 3 MB for GPT-2, 9 MB for cl100k, 30 MB for
    o200k. What is answered is the same.

    Parameters
    ----------
    automaton : CompactTokenDFA
    tokens : int array, optional
        For each id its token number, `CUT` where the id cuts the stream in two, `NO_TOKEN` where nothing bears the
        id, `ALONE` where nothing may stand beside it. By default the ids are the token numbers.
    tuning : Tuning, optional
        When the table is built, and how large it may be.

    Notes
    -----
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
        """For each id its token number, `CUT`, `NO_TOKEN` or `ALONE`."""
        return self._tokens

    @property
    def n_ids(self) -> int:
        """Ids go from 0 to one less than this."""
        return len(self._tokens)

    def first_forbidden(self, ids: npt.ArrayLike, behind: int | None = None) -> int | None:
        """Return the first place in `ids` whose id may not stand behind the id before it; None if there is none.

        Parameters
        ----------
        ids : array_like of int
            The ids; may be memory-mapped.
        behind : int, optional
            The id that precedes them; by default they begin a text.

        Raises
        ------
        TokenStreamError
            If they are not ids; see :func:`checked_ids`.
        """
        array = id_array(ids)
        size = self._tuning.chunk
        for begin in range(0, len(array), size):
            chunk = checked_ids(array[begin : begin + size], self.n_ids, first=begin)
            forbidden = self.forbidden(chunk, behind)
            if forbidden.any():
                return begin + int(np.argmax(forbidden))
            behind = int(chunk[-1])
        return None

    def forbidden(self, ids: Int32Array, behind: int | None = None) -> BoolArray:
        """Return for each of the checked `ids` whether it may not stand behind the id before it.

        Parameters
        ----------
        ids : int32 array
            Ids in range; :func:`checked_ids` makes sure.
        behind : int, optional
            The id that precedes them; by default they begin a text.
        """
        return kernels.mark_pairs(self.struct_for(len(ids)), ids, behind)

    def struct_for(self, n_ids: int) -> Struct:
        """Return what a kernel tests pairs by that is about to test among as many ids: with the table if it pays."""
        self._tested += n_ids
        if self._tested > self._most_walked:
            return self._by_table
        return self._by_history

    @cached_property
    def _by_history(self) -> Struct:
        return kernels.pair_test(self._tokens, self.automaton.dictionary.history)

    @cached_property
    def _by_table(self) -> Struct:
        """The pair test with a table, unless that is too large.

        For each id it has where its row begins (times 2³²) plus its column; the rows; the bits.
        """
        automaton = self.automaton
        first = np.zeros_like(automaton.width)
        first[1:] = automaton.position[automaton.removed[1:]]
        last = first + automaton.width
        # Positions that no interval of any state tells apart share a column. Behind them come one column that every row
        # allows and one that every row forbids.
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
        # The row after those of states forbids everything but what cuts.
        row = np.where(self._tokens == kernels.ALONE, row_of[-1], 0).astype(np.int64)
        column = np.where(self._tokens == CUT, free, free + 1).astype(np.int64)
        is_token = self._tokens >= 0
        token = self._tokens[is_token]
        row[is_token] = row_of[automaton.state[token]]
        column[is_token] = column_at[automaton.position[token]]
        lookup = (row * a_row) << 32 | column
        return kernels.pair_test(self._tokens, automaton.dictionary.history, lookup, blocks, bits)

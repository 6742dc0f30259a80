"""From which states of the pre-tokenizer and the texts a stream goes on, whatever the last id forbids."""

from __future__ import annotations

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array, Uint8Array
from tokdfa.guiding.splits import Splits
from tokdfa.kernels.guiding.masks import GOES_ON

__all__ = ["Verdicts"]


MAX_ENTRIES = 1 << 26


class Verdicts:
    """A table with a row for each state of the pre-tokenizer between symbols, and a column for each of the texts.

    Only what is certain for all last ids is in it. States that it does not have are looked at one by one.

    Parameters
    ----------
    splits : Splits
    final_text : bool array
        Whether a text may end in each of its states.
    """

    def __init__(self, splits: Splits, final_text: BoolArray) -> None:
        self._splits = splits
        self._final_text = final_text
        self._place_of: Int32Array = np.full(1, -1, dtype=np.int32)
        self._n_places = 0
        self._n_seen = 1
        self._table: Uint8Array = np.zeros((8, len(final_text)), dtype=np.uint8)

    def arrays(self) -> tuple[Int32Array, Uint8Array]:
        """Return the row of each state of the pre-tokenizer, -1 for none, and the table."""
        n_states = self._splits.n_states
        if n_states > len(self._place_of):
            places = np.full(2 * n_states, -1, dtype=np.int32)
            places[: len(self._place_of)] = self._place_of
            self._place_of = places
        for state in range(self._n_seen, n_states):
            if not self._splits.is_cut(state):
                self._add(state)
        self._n_seen = n_states
        return self._place_of, self._table

    def settle(self, split: int, text: int) -> None:
        """Record that a stream goes on from a state, whatever the last id forbids."""
        if split < self._n_seen and self._place_of[split] >= 0:
            self._table[self._place_of[split], text] = GOES_ON

    def _add(self, state: int) -> None:
        n_rows, n_texts = self._table.shape
        if self._n_places == n_rows:
            if 2 * n_rows * n_texts > MAX_ENTRIES:
                return
            self._table = np.concatenate((self._table, np.zeros_like(self._table)))
        if self._splits.is_final(state):
            self._table[self._n_places, self._final_text] = GOES_ON
        self._place_of[state] = self._n_places
        self._n_places += 1

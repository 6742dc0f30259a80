"""Searching automata in plain lists, at random."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from tokdfa.kernels.library import Struct
from tokdfa.kernels.search import search as kernels

EDGE = 256

LETTERS = b"ab \xc3\xa9"


@dataclass
class Plain:
    """A searching automaton; matches have unknown lengths."""

    table: list[list[int]]
    column_of: list[int]
    delay: list[int]
    boundary: int
    idle: int

    def forward(self) -> Struct:
        """As the kernels take it."""
        info = np.zeros((len(self.table), len(kernels.STATE_INFO)), dtype=np.int64)
        info[:, kernels.STATE_INFO.index("delay")] = self.delay
        table = np.array(self.table, dtype=np.int32)
        return kernels.forward_of(table, np.array(self.column_of), self.boundary, info, self.idle)

    @staticmethod
    def spelled(words: list[tuple[bytes, bool]]) -> Struct:
        """Words, and whether each is a special token, as the kernels take them."""
        text = np.frombuffer(b"".join(word for word, _ in words), dtype=np.uint8)
        offsets = np.cumsum([0, *(len(word) for word, _ in words)])
        return kernels.spelled_of(text, offsets, np.array([cut for _, cut in words], dtype=np.bool_))


@st.composite
def plain_automata(draw: st.DrawFn) -> Plain:
    """A few states over a few columns; state 0 is a sink, the idle state is not."""
    n_states, n_columns = draw(st.integers(2, 5)), draw(st.integers(1, 4))
    state = st.integers(0, n_states - 1)
    table = [[0] * n_columns] + [
        draw(st.lists(state, min_size=n_columns, max_size=n_columns)) for _ in range(n_states - 1)
    ]
    of_letter = {letter: draw(st.integers(0, n_columns - 1)) for letter in [*LETTERS, EDGE]}
    column_of = [of_letter.get(symbol, 0) for symbol in range(257)]
    delay = [-1, *draw(st.lists(st.sampled_from([-1, -1, 0]), min_size=n_states - 1, max_size=n_states - 1))]
    boundary = draw(st.integers(-1, n_columns - 1))
    return Plain(table, column_of, delay, boundary, draw(st.integers(1, n_states - 1)))


@st.composite
def words_with_cuts(draw: st.DrawFn) -> list[tuple[bytes, bool]]:
    """Some words over `LETTERS`, and whether each is a special token."""
    word = st.lists(st.sampled_from(LETTERS), max_size=5).map(bytes)
    return draw(st.lists(st.tuples(word, st.sampled_from([False, False, False, True])), max_size=12))

"""Random transition tables, as kernels take them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st


@st.composite
def tables_and_words(draw: st.DrawFn) -> tuple[npt.NDArray[np.int32], list[list[int]]]:
    """A table of states and columns, state 0 being a sink, and some words over the columns."""
    n_states, n_columns = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    targets = draw(st.lists(st.integers(0, n_states - 1), min_size=n_states * n_columns, max_size=n_states * n_columns))
    table = np.array(targets, dtype=np.int32).reshape(n_states, n_columns)
    table[0] = 0
    words = draw(st.lists(st.lists(st.integers(0, n_columns - 1), max_size=5), max_size=12))
    return table, words


def flat(words: list[list[int]]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Words as symbols and offsets."""
    return np.array([symbol for word in words for symbol in word], dtype=np.int32), np.cumsum([0, *map(len, words)])

"""What tokens do to all states at once, against running every word from every state."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from support.tables import flat, tables_and_words

from tokdfa.kernels.dfa.effects import token_effects


@given(tables_and_words(), st.data())
def test_what_a_word_does_to_all_states(case, data: st.DataObject) -> None:
    table, words = case
    marks = np.array(data.draw(st.lists(st.integers(0, 3), min_size=table.size, max_size=table.size)), dtype=np.int32)
    entries = 4 * table.reshape(-1) + marks
    last = data.draw(st.integers(-1, table.shape[1] - 1))
    effect, effects = token_effects(entries, table.shape[1], *flat(words), last, 10_000)
    effects = effects.reshape(-1, len(table))
    assert len(effects) - 1 == len({tuple(row) for row in effects[1:].tolist()})
    for number, word in enumerate(words):
        for state in range(len(table)):
            reached, mark = state, 0
            for place, symbol in enumerate([*word, *([last] if last >= 0 else [])]):
                entry = int(entries[reached * table.shape[1] + symbol])
                reached, mark = entry >> 2, mark | (entry & (1 if place else 3))
            assert effects[effect[number], state] == 4 * reached + mark


def test_too_many_effects_are_not_returned() -> None:
    # A cycle of 40 states turned by words of 0 to 39 symbols: every word does something else.
    table = 4 * ((np.arange(40, dtype=np.int32) + 1) % 40)
    words = flat([[0] * length for length in range(41)])
    assert len(token_effects(table, 1, *words, -1, 41)[1]) == 41 * 40
    assert len(token_effects(table, 1, *words, -1, 40)[1]) == 0

"""The kernels over the trie of tokens, against running the automaton over every word by itself."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tokdfa.automata.trie import TokenTrie
from tokdfa.kernels.trie import token_effects, tokens_from


@st.composite
def automata_and_words(draw: st.DrawFn):
    n_states, n_columns = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    targets = draw(st.lists(st.integers(0, n_states - 1), min_size=n_states * n_columns, max_size=n_states * n_columns))
    table = np.array(targets, dtype=np.int32).reshape(n_states, n_columns)
    table[0] = 0
    words = draw(st.lists(st.lists(st.integers(0, n_columns - 1), max_size=5), max_size=12))
    offsets = np.cumsum([0, *map(len, words)])
    trie = TokenTrie(np.array([symbol for word in words for symbol in word], dtype=np.int32), offsets)
    return table, words, trie


@given(automata_and_words())
def test_the_words_that_can_be_read(case) -> None:
    table, words, trie = case
    for state in range(len(table)):
        expected = {}
        for number, word in enumerate(words):
            reached = state
            for symbol in word:
                reached = table[reached, symbol]
            if reached:
                expected[number] = reached
        places, targets = tokens_from(
            table.reshape(-1), table.shape[1], state, trie.symbol, trie.depth, trie.end, trie.first
        )
        found = dict(zip(trie.words[places].tolist(), targets.tolist(), strict=True))
        if state:
            assert found == expected


@given(automata_and_words(), st.data())
def test_what_a_word_does_to_all_states(case, data: st.DataObject) -> None:
    table, words, trie = case
    events = np.array(data.draw(st.lists(st.integers(0, 1), min_size=table.size, max_size=table.size)), dtype=np.int32)
    entries = 2 * table.reshape(-1) + events
    last = data.draw(st.integers(-1, table.shape[1] - 1))
    effect, effects = token_effects(entries, table.shape[1], trie.symbol, trie.depth, trie.first, last, 10_000)
    effects = effects.reshape(-1, len(table))
    assert len(effects) == len({tuple(row) for row in effects.tolist()})
    for place, number in enumerate(trie.words.tolist()):
        for state in range(len(table)):
            reached, event = state, 0
            for symbol in [*words[number], *([last] if last >= 0 else [])]:
                entry = int(entries[reached * table.shape[1] + symbol])
                reached, event = entry >> 1, event | (entry & 1)
            assert effects[effect[place], state] == 2 * reached + event


def test_too_many_effects_are_not_returned() -> None:
    # A cycle of 40 states turned by words of 0 to 39 symbols: every word does something else.
    table = (np.arange(40, dtype=np.int32) + 1) % 40
    words = [[0] * length for length in range(40)]
    trie = TokenTrie(np.zeros(sum(map(len, words)), np.int32), np.cumsum([0, *map(len, words)]))
    arguments = (2 * table, 1, np.maximum(trie.symbol, 0), trie.depth, trie.first, -1)
    assert len(token_effects(*arguments, 40)[1]) == 40 * 40
    assert len(token_effects(*arguments, 39)[1]) == 0

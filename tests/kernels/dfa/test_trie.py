"""The kernel over the trie of tokens, against running the automaton over every word by itself."""

from __future__ import annotations

from hypothesis import given
from support.tables import flat, tables_and_words

from tokdfa.automata.trie import TokenTrie
from tokdfa.kernels.dfa.trie import tokens_from


@given(tables_and_words())
def test_the_words_that_can_be_read(case) -> None:
    table, words = case
    trie = TokenTrie(*flat(words))
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

"""Tries of words, against lists of their beginnings, running every word on its own, and looking for it everywhere."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import flat, tables_and_words
from tokdfa.kernels.dfa.explicit import build_trie, find_words, tokens_from, trie_of
from tokdfa.regex.trie import TokenTrie


@given(tables_and_words())
def test_the_words_that_can_be_read(case) -> None:
    table, words = case
    trie = TokenTrie(*flat(words))
    of_columns = trie_of(trie.symbol, trie.depth, trie.end, trie.first)
    for state in range(len(table)):
        expected = {}
        for number, word in enumerate(words):
            reached = state
            for symbol in word:
                reached = table[reached, symbol]
            if reached:
                expected[number] = reached
        places, targets = tokens_from(of_columns, table.reshape(-1), table.shape[1], state)
        found = dict(zip(trie.words[places].tolist(), targets.tolist(), strict=True))
        if state:
            assert found == expected


WORDS = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=4), max_size=10)


@given(WORDS)
def test_nodes_are_the_beginnings_of_words_in_order(words: list[list[int]]) -> None:
    symbols, offsets = flat(words)
    order = np.array(sorted(range(len(words)), key=words.__getitem__), dtype=np.int64)
    symbol, depth, end, first = build_trie(symbols, offsets, order)
    nodes = sorted({tuple(word[:length]) for word in words for length in range(len(word) + 1)} | {()})
    assert symbol.tolist() == [node[-1] if node else -1 for node in nodes]
    assert depth.tolist() == [len(node) for node in nodes]
    beyond = [1 + max(i for i, below in enumerate(nodes) if below[: len(node)] == node) for node in nodes]
    assert end.tolist() == beyond
    for place, node in enumerate(nodes):
        assert [tuple(words[i]) for i in order[first[place] : first[place + 1]]] == [
            tuple(word) for word in words if tuple(word) == node
        ]


@given(WORDS.filter(bool), st.lists(st.integers(0, 2), max_size=12))
def test_words_are_found_where_they_end(words: list[list[int]], text: list[int]) -> None:
    trie = TokenTrie(*flat(words))
    table, length, shorter = find_words(trie_of(trie.symbol, trie.depth, trie.end, trie.first), 3, False)
    state = 1
    for place, symbol in enumerate(text, 1):
        state = int(table[state * 3 + symbol])
        found, one = [], state
        while one and length[one]:
            found.append(int(length[one]))
            one = int(shorter[one])
        ending = {len(word) for word in words if text[:place][-len(word) :] == word}
        assert found == sorted(ending, reverse=True)


@given(WORDS.filter(bool), st.lists(st.integers(0, 2), max_size=12))
def test_the_leftmost_and_longest_word_is_the_last_one_seen(words: list[list[int]], text: list[int]) -> None:
    trie = TokenTrie(*flat(words))
    table, length, _ = find_words(trie_of(trie.symbol, trie.depth, trie.end, trie.first), 3, True)
    state, seen = 1, None
    for place, symbol in enumerate(text, 1):
        state = int(table[state * 3 + symbol])
        if not state:
            break
        if length[state]:
            seen = (place - int(length[state]), place)
    matches = [(at, at + len(word)) for at in range(len(text)) for word in words if text[at : at + len(word)] == word]
    assert seen == min(matches, key=lambda match: (match[0], -match[1]), default=None)

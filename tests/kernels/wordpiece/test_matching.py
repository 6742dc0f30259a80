"""The double array holds exactly the trie."""

from __future__ import annotations

import random

from support.wordpieces import random_vocabulary

from tokdfa.kernels.wordpiece.matching import match_word, word_trie
from tokdfa.wordpiece.linmaxmatch import PackedTrie
from tokdfa.wordpiece.trie import FailureTrie


def test_cells_have_the_edges_of_the_trie_and_no_others() -> None:
    dice = random.Random(1)
    for _ in range(200):
        vocabulary, _ = random_vocabulary(dice)
        trie = FailureTrie.of(vocabulary)
        packed = PackedTrie.of(trie)
        cells = packed.cells.reshape(-1, 4).tolist()
        place = {0: 0, 1: 1}
        for node, symbol, child in sorted(trie.iter_edges(), key=lambda edge: len(trie.path(edge[0]))):
            place[child] = cells[place[node]][0] + packed.symbols[symbol]
        assert len(set(place.values())) == len(trie)
        for node, cell in place.items():
            for symbol, number in (*packed.symbols.items(), (None, packed.foreign)):
                leads = cells[cells[cell][0] + number][1] == cell
                assert leads == (symbol in trie.children[node])
            assert cells[cell][2] == place.get(trie.failure[node], -1)


def test_tokens_are_those_of_the_plain_walk() -> None:
    dice = random.Random(2)
    for _ in range(300):
        vocabulary, symbols = random_vocabulary(dice)
        trie = FailureTrie.of(vocabulary)
        packed = PackedTrie.of(trie)
        struct = word_trie(packed.cells, packed.pops, packed.points)
        for _ in range(10):
            word = "".join(dice.choices(symbols, k=dice.randint(1, 12)))
            found, expected = match_word(struct.pointer, word, 12), trie.match(word)
            assert (found is None) == (expected is None)
            if found is not None:
                assert found == [token for token, _ in expected or ()]

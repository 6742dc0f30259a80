"""The double array holds exactly the trie, with the failure links and pops of the plain one."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.support.wordpieces import random_vocabulary
from tokdfa.kernels.wordpiece.matching import build_trie, match_word, word_trie
from tokdfa.tokenizers.models.wordpiece.maxmatch import PackedTrie
from tokdfa.tokenizers.models.wordpiece.trie import FailureTrie
from tokdfa.tokenizers.models.wordpiece.vocabulary import WordPieceVocabulary


def numbers_of(packed: PackedTrie) -> dict[str | None, int]:
    """The index of each symbol, and the common index of all others."""
    points = [*range(128), *packed.points.tolist()]
    return {**{chr(code): number for number, code in enumerate(points)}, None: len(points)}


def same(trie: FailureTrie, packed: PackedTrie) -> int:
    """Compare a trie in all its parts with the trie built in C; return the number of nodes that pop several tokens."""
    numbers, cells, pops = numbers_of(packed), packed.cells.reshape(-1, 4).tolist(), packed.pops.tolist()
    place = {0: 0, 1: 1}
    for node, symbol, child in sorted(trie.iter_edges(), key=lambda edge: trie.depth[edge[0]]):
        place[child] = cells[place[node]][0] + numbers[symbol]
    assert len(set(place.values())) == len(trie) == packed.n_nodes
    n_several = 0
    for node, cell in place.items():
        for symbol, number in numbers.items():
            leads = cells[cells[cell][0] + number][1] == cell
            assert leads == (symbol in trie.children[node])
        _, _, failure, pop = cells[cell]
        assert failure == place.get(trie.failure[node], -1)
        if failure < 0:
            continue
        if pop >= 0:
            assert trie.pops[node] == ((pop, trie.depth[node]),)
        else:
            flat = pops[-pop : -pop + 2 * pops[-1 - pop]]
            assert list(trie.pops[node]) == list(zip(flat[::2], flat[1::2], strict=True))
            n_several += len(flat) > 2
    return n_several


def test_cells_have_the_trie_and_nothing_else() -> None:
    dice = random.Random(1)
    n_several = 0
    for _ in range(200):
        vocabulary, _ = random_vocabulary(dice)
        n_several += same(FailureTrie.of(vocabulary), PackedTrie.of(*vocabulary.words))
    assert n_several > 100
    empty = WordPieceVocabulary([])
    assert same(FailureTrie.of(empty), PackedTrie.of(*empty.words)) == 0


def test_a_thousand_siblings_and_a_long_chain() -> None:
    entries = [chr(0x4E00 + number) for number in range(3_000)] + ["##" + "ab" * 500, "a", "##a", "##b", "ab" * 700]
    vocabulary = WordPieceVocabulary(entries)
    assert same(FailureTrie.of(vocabulary), PackedTrie.of(*vocabulary.words)) > 500


def test_tokens_are_those_of_the_plain_walk() -> None:
    dice = random.Random(2)
    for _ in range(300):
        vocabulary, symbols = random_vocabulary(dice)
        trie = FailureTrie.of(vocabulary)
        packed = PackedTrie.of(*vocabulary.words)
        struct = word_trie(packed.cells, packed.pops, packed.points)
        for _ in range(10):
            word = "".join(dice.choices(symbols, k=dice.randint(1, 12)))
            found, expected = match_word(struct.pointer, word, 12), trie.match(word)
            assert (found is None) == (expected is None)
            if found is not None:
                assert found == [token for token, _ in expected or ()]


@pytest.mark.parametrize(
    ("symbols", "offsets", "ids", "n_beginnings", "n_kinds"),
    [
        ([0, 1], [0, 1, 1], [0, 1], 2, 2),
        ([0, 1], [0, 2, 1], [0, 1], 2, 2),
        ([0, 1], [1, 2], [0], 1, 2),
        ([0, 1], [0, 3], [0], 1, 2),
        ([0, 1], [0, 2], [0, 1], 1, 2),
        ([0, 1], [0, 2], [0], 2, 2),
        ([0, 1], [0, 2], [0], -1, 2),
        ([0, 2], [0, 2], [0], 1, 2),
        ([0, -1], [0, 2], [0], 1, 2),
        ([0, 1], [0, 2], [-1], 1, 2),
        ([], [0], [], 0, 0),
    ],
)
def test_what_are_no_words_is_refused(
    symbols: list[int], offsets: list[int], ids: list[int], n_beginnings: int, n_kinds: int
) -> None:
    arrays = np.array(symbols, np.int32), np.array(offsets, np.int64), np.array(ids, np.int32)
    with pytest.raises(ValueError, match=r"words|range"):
        build_trie(*arrays, n_beginnings, n_kinds)

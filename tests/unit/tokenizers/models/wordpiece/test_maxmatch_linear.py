"""LinMaxMatch is MaxMatch: exhaustively on small vocabularies, on random ones, and on the real one."""

from __future__ import annotations

import pickle
import random
from pathlib import Path

import pytest

from tests.campaigns.evidence.tally import Tally
from tests.support.dictionaries import all_words
from tests.support.wordpieces import all_small_vocabularies, random_vocabulary
from tokdfa.base.errors import AlphabetError
from tokdfa.tokenizers.models.wordpiece.maxmatch import LinMaxMatch, max_match
from tokdfa.tokenizers.models.wordpiece.trie import FailureTrie
from tokdfa.tokenizers.models.wordpiece.vocabulary import WordPieceVocabulary


def _by_trie(trie: FailureTrie, vocabulary: WordPieceVocabulary, word: str) -> list[int]:
    if vocabulary.longest_word is not None and len(word) > vocabulary.longest_word:
        return [vocabulary.unknown_word(word)]
    tokens = trie.match(word)
    return [vocabulary.unknown_word(word)] if tokens is None else [token.id for token in tokens]


def test_the_trie_does_what_max_match_does_on_all_small_vocabularies() -> None:
    words = list(all_words("ab", 5))
    for vocabulary in all_small_vocabularies():
        trie = FailureTrie.of(vocabulary)
        for word in words:
            assert _by_trie(trie, vocabulary, word) == max_match(vocabulary, word), (list(vocabulary.items()), word)


def test_the_kernel_does_what_max_match_does_on_small_vocabularies() -> None:
    words = list(all_words("ab", 5))
    for vocabulary in all_small_vocabularies(step=37):
        machine = LinMaxMatch(vocabulary)
        for word in words:
            assert machine.tokenize(word) == max_match(vocabulary, word), (list(vocabulary.items()), word)


@pytest.mark.slow
def test_the_kernel_does_what_max_match_does_on_all_small_vocabularies(tally: Tally) -> None:
    words = list(all_words("ab", 7))
    for vocabulary in all_small_vocabularies():
        machine = LinMaxMatch(vocabulary)
        for word in words:
            assert machine.tokenize(word) == max_match(vocabulary, word), (list(vocabulary.items()), word)
        tally("encoding", "exhaustive cases", len(words))


@pytest.mark.parametrize("seed", range(4))
def test_both_do_what_max_match_does_on_random_vocabularies(seed: int) -> None:
    assert_random_vocabularies_agree(random.Random(seed), 300)


@pytest.mark.slow
def test_both_do_what_max_match_does_on_many_random_vocabularies(tally: Tally) -> None:
    assert_random_vocabularies_agree(random.Random(), 30_000)
    tally("encoding", "random cases", 30_000)


def assert_random_vocabularies_agree(dice: random.Random, times: int) -> None:
    for _ in range(times):
        vocabulary, symbols = random_vocabulary(dice)
        machine = LinMaxMatch(vocabulary)
        for _ in range(20):
            word = "".join(dice.choices(symbols + dice.choice(["", "z"]), k=dice.randint(0, 30)))
            expected = max_match(vocabulary, word)
            assert machine.tokenize(word) == expected, (list(vocabulary.items()), vocabulary, word)
            assert _by_trie(machine.trie, vocabulary, word) == expected, (list(vocabulary.items()), vocabulary, word)


def test_pops_cover_what_was_read() -> None:
    dice = random.Random(7)
    for _ in range(300):
        vocabulary, _ = random_vocabulary(dice)
        trie = FailureTrie.of(vocabulary)
        for node in range(2, len(trie)):
            if trie.failure[node] >= 0:
                popped = sum(pop.length for pop in trie.pops[node])
                assert popped + len(trie.path(trie.failure[node])) == len(trie.path(node))
                assert trie.path(node).endswith(trie.path(trie.failure[node]))


def test_on_the_words_of_a_real_corpus(data: Path) -> None:
    entries = (data / "vocabs" / "bert_uncased_vocab.txt").read_text("utf-8").splitlines()
    vocabulary = WordPieceVocabulary(entries)
    machine = LinMaxMatch(vocabulary)
    for corpus in ("english.txt", "multilingual.txt"):
        words = sorted(set((data / "corpora" / corpus).read_text("utf-8").lower().split()))[::20]
        assert [machine.tokenize(word) for word in words] == [max_match(vocabulary, word) for word in words]


def test_a_word_of_a_million_letters() -> None:
    vocabulary = WordPieceVocabulary(["a", "##aa", "##aab", "[UNK]"], longest_word=None)
    machine = LinMaxMatch(vocabulary)
    assert machine.tokenize("a" * 1_000_001) == [0] + [1] * 500_000
    assert machine.tokenize("a" * 1_000_000) == [3]
    assert machine.tokenize("a" * 1_000_001 + "b") == [0] + [1] * 499_999 + [2]
    assert LinMaxMatch(WordPieceVocabulary(["a", "##aa", "[UNK]"])).tokenize("a" * 1_000_001) == [2]


def test_empty_vocabularies_and_words() -> None:
    assert LinMaxMatch(WordPieceVocabulary([])).tokenize("") == []
    with pytest.raises(AlphabetError, match="'a'"):
        LinMaxMatch(WordPieceVocabulary([])).tokenize("a")
    with pytest.raises(AlphabetError, match="'aaaa'"):
        LinMaxMatch(WordPieceVocabulary(["a", "##a"], longest_word=3)).tokenize("aaaa")


def test_the_prefix_alone_is_an_entry_like_any_other() -> None:
    machine = LinMaxMatch(WordPieceVocabulary(["##", "##a", "#", "###", "[UNK]"]))
    assert machine.tokenize("##") == [0]
    assert machine.tokenize("##a") == [1]
    assert machine.tokenize("###") == [3]
    assert machine.tokenize("####") == [3, 3]
    assert machine.tokenize("a##") == [4]


def test_a_prefix_that_words_contain() -> None:
    # The node of the prefix is not the suffix root: the root alone knows that # is a token here.
    machine = LinMaxMatch(WordPieceVocabulary(["#", "###a", "##b", "[UNK]"]))
    assert machine.tokenize("##a") == [0, 1]


def test_it_goes_to_another_process() -> None:
    machine = LinMaxMatch(WordPieceVocabulary(["[UNK]", "a", "##b"]))
    assert pickle.loads(pickle.dumps(machine)).tokenize("abb") == machine.tokenize("abb") == [1, 2, 2]

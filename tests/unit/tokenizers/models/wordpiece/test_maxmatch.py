"""MaxMatch, the oracle, on words worked by hand."""

from __future__ import annotations

import pytest

from tokdfa.base.errors import AlphabetError
from tokdfa.tokenizers.models.wordpiece.maxmatch import max_match
from tokdfa.tokenizers.models.wordpiece.vocabulary import WordPieceVocabulary


@pytest.mark.parametrize(
    ("word", "tokens"),
    [
        ("", []),
        ("abcd", ["abcd"]),
        ("abcz", ["a", "##bc", "##z"]),
        ("abz", ["a", "##b", "##z"]),
        ("ab", ["a", "##b"]),
        ("abc", ["a", "##bc"]),
        ("abcdz", ["abcd", "##z"]),
        ("b", ["[UNK]"]),
        ("aq", ["[UNK]"]),
        ("##b", ["##b"]),
        ("##bz", ["##b", "##z"]),
    ],
)
def test_the_longest_match_is_taken(word: str, tokens: list[str]) -> None:
    vocabulary = WordPieceVocabulary(["a", "abcd", "##b", "##bc", "##z", "[UNK]"])
    assert vocabulary.spell(max_match(vocabulary, word)) == tokens


def test_longest_match_first_may_miss_a_tokenization() -> None:
    vocabulary = WordPieceVocabulary(["ab", "a", "##bc", "[UNK]"])
    assert vocabulary.spell(max_match(vocabulary, "abc")) == ["[UNK]"]


def test_words_beyond_the_limit_are_unknown() -> None:
    entries = ["a", "##a", "[UNK]"]
    assert max_match(WordPieceVocabulary(entries, longest_word=3), "aaa") == [0, 1, 1]
    assert max_match(WordPieceVocabulary(entries, longest_word=3), "aaaa") == [2]
    assert max_match(WordPieceVocabulary(entries, longest_word=None), "a" * 500) == [0] + [1] * 499
    assert max_match(WordPieceVocabulary(entries), "a" * 101) == [2]
    assert max_match(WordPieceVocabulary(entries, longest_word=0), "a") == [2]
    assert max_match(WordPieceVocabulary(entries, longest_word=0), "") == []


def test_an_unknown_word_without_a_token_for_it_is_an_error() -> None:
    with pytest.raises(AlphabetError, match="'x'"):
        max_match(WordPieceVocabulary(["a"]), "x")
    with pytest.raises(AlphabetError, match="'aa'"):
        max_match(WordPieceVocabulary(["a", "##a"], longest_word=1), "aa")

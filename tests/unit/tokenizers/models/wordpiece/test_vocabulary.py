"""WordPiece vocabularies: their entries, and refusals."""

from __future__ import annotations

import pytest

from tokdfa.base.errors import AlphabetError
from tokdfa.tokenizers.models.wordpiece.vocabulary import WordPieceVocabulary


def test_entries_are_numbered_in_order_and_split_by_the_prefix() -> None:
    vocabulary = WordPieceVocabulary(["a", "##b", "", "##", "[UNK]"])
    assert vocabulary.beginnings == {"a": 0, "##b": 1, "##": 3, "[UNK]": 4}
    assert vocabulary.continuations == {"b": 1}
    assert vocabulary.unknown_id == 4
    assert vocabulary.n_ids == len(vocabulary) == 5
    assert vocabulary.spell([1, 0]) == ["##b", "a"]


def test_an_empty_prefix_lets_every_entry_continue() -> None:
    vocabulary = WordPieceVocabulary(["a", "b"], prefix="")
    assert vocabulary.continuations == vocabulary.beginnings == {"a": 0, "b": 1}


def test_of_equal_entries_the_last_counts() -> None:
    vocabulary = WordPieceVocabulary(["a", "b", "a"])
    assert vocabulary.id("a") == 2
    assert vocabulary.duplicates == (("a", 0),)
    assert vocabulary.entry(0) is None
    assert (len(vocabulary), vocabulary.n_ids) == (2, 3)
    with pytest.raises(AlphabetError, match="no entry has this id: 0"):
        vocabulary.spell([0])


def test_ids_may_be_given() -> None:
    vocabulary = WordPieceVocabulary({"a": 7, "[UNK]": 3})
    assert vocabulary.n_ids == 8
    assert vocabulary == WordPieceVocabulary({"[UNK]": 3, "a": 7})
    assert hash(vocabulary) == hash(WordPieceVocabulary({"[UNK]": 3, "a": 7}))
    assert vocabulary != WordPieceVocabulary({"a": 7, "[UNK]": 3}, longest_word=None)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"a": 0, "b": 0}, "'a' and 'b' have the same id: 0"),
        ({"a": -1}, "the id of 'a' is not an integer from 0 to 268435454: -1"),
        ({"a": 1 << 28}, "268435454: 268435456"),
        ({"a": True}, "not an integer"),
        (["a", b"b"], "an entry of a WordPiece vocabulary must be a string: b'b'"),
    ],
)
def test_what_is_no_vocabulary_is_refused(entries: object, message: str) -> None:
    with pytest.raises(AlphabetError, match=message):
        WordPieceVocabulary(entries)  # type: ignore[arg-type]


def test_a_negative_limit_is_refused() -> None:
    with pytest.raises(AlphabetError, match="must not be negative: -1"):
        WordPieceVocabulary(["a"], longest_word=-1)


def test_unknown_words_need_a_token() -> None:
    vocabulary = WordPieceVocabulary(["a"], unknown="<unk>")
    with pytest.raises(AlphabetError, match=r"byte 3: a word has no tokenization.*'xy' \(add '<unk>'"):
        vocabulary.unknown_word("xy", "byte 3")

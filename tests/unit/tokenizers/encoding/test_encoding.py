"""Texts that change keep the ids of the whole text; a change encodes what is near, and one that is refused, nothing."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from sentencepiece import sentencepiece_model_pb2

import tokdfa
from tests.campaigns.standing.laws import changing
from tests.support.unigrams import trained_by_sentencepiece
from tokdfa.base.errors import AlphabetError, TokenStreamError, WrongTypeError

TOKENIZER = tokdfa.default_tokenizer()
WORDS = "it's a single man  in possession\r\n\r\n of (a good) fortune, né 1813; 中文 "


def counting(tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that gets the length of each text that is encoded from now on."""
    lengths: list[int] = []
    encode = type(tokenizer).encode

    def counted(self: Any, text: str) -> Any:
        lengths.append(len(text))
        return encode(self, text)

    monkeypatch.setattr(type(tokenizer), "encode", counted)
    return lengths


def test_a_change_encodes_only_the_text_around_it(monkeypatch: pytest.MonkeyPatch) -> None:
    encoding = TOKENIZER.encoding(WORDS * 2000)
    expected = TOKENIZER.encode(WORDS * 1000 + "new" + WORDS * 1000 + "end")
    at = len((WORDS * 1000).encode())
    # The first edit remembers cuts in all of the text.
    encoding.edit((at, at), "")
    lengths = counting(TOKENIZER, monkeypatch)
    encoding.edit((at, at), "new")
    assert 3 < sum(lengths) < 5000
    lengths.clear()
    encoding.append("end")
    assert 3 < sum(lengths) < 100
    assert encoding.ids.tolist() == expected.tolist()


def test_many_small_appends_remember_few_cuts() -> None:
    encoding = TOKENIZER.encoding()
    for word in (WORDS * 200).split(" "):
        encoding.append(f"{word} ")
    assert encoding.ids.tolist() == TOKENIZER.encode(encoding.text).tolist()
    assert len(encoding._cuts) < encoding.n_bytes / 1000


def test_every_edit_of_one_character_is_exact() -> None:
    alphabet = "a '\n"
    for text in map("".join, product(alphabet, repeat=4)):
        encoding = changing.Closer(TOKENIZER)
        for character in text:
            encoding.append(character)
        mark = encoding.mark()
        for at, new in product(range(4), ("", *alphabet)):
            encoding.edit((at, at + 1), new)
            assert encoding.ids.tolist() == TOKENIZER.encode(text[:at] + new + text[at + 1 :]).tolist(), (text, at, new)
            encoding.rollback(mark)


def test_rounded_sums_of_scores_extend_over_edits() -> None:
    model: Any = sentencepiece_model_pb2.ModelProto()  # type: ignore[attr-defined]
    model.ParseFromString(trained_by_sentencepiece("identity", False, 0))
    for piece in model.pieces:
        # All segmentations have the same sum but for rounding.
        piece.score = -0.1 * len(piece.piece) if piece.type == piece.NORMAL else piece.score
    tokenizer: Any = tokdfa.load(model.SerializeToString())
    drawn = random.Random(5)
    encoding = changing.Close(tokenizer, "".join(drawn.choices(["the", " ", "cat", " ate", " it", "ab", "a b"], k=600)))
    n_removed = 0
    for _ in range(20):
        at = drawn.randrange(encoding.n_bytes // 2)
        n_removed += encoding.edit((at, at + 1), drawn.choice(["a", " ", "the cat", ""])).n_removed
        assert encoding.ids.tolist() == tokenizer.encode(encoding.text).tolist()
    assert n_removed > 1000


def test_an_update_keeps_as_many_ids_as_possible() -> None:
    encoding = TOKENIZER.encoding("a single man wants tea")
    before = encoding.ids.tolist()
    kept, new_ids, n_removed = encoding.edit((2, 8), "kind")
    assert (kept, n_removed) == (1, 1)
    assert [*before[:1], *new_ids.tolist(), *before[2:]] == encoding.ids.tolist()
    assert encoding.append("")[0] == len(encoding)


def test_views_of_ids_stay_as_they_are() -> None:
    encoding = TOKENIZER.encoding("a good for")
    shown, first = encoding.ids, encoding.ids[:3]
    assert np.shares_memory(shown, encoding.ids)
    update = encoding.append("tune")
    assert update.kept < len(shown)
    for start, stop, text in [(0, 3, ""), (9, 9, " man"), (0, 3, "x"), (2, 12, "")]:
        before, expected = encoding.ids, encoding.ids.tolist()
        encoding.edit((start, min(stop, encoding.n_bytes)), text)
        assert before.tolist() == expected
    assert shown.tolist() == first.tolist() == TOKENIZER.encode("a good for").tolist()
    assert not np.shares_memory(update.new_ids, encoding.ids)
    with pytest.raises(ValueError, match="read-only"):
        encoding.ids[0] = 1


def test_ids_that_nobody_looks_at_are_changed_where_they_are() -> None:
    encoding = TOKENIZER.encoding("a good for")
    address = encoding.ids.ctypes.data
    assert encoding.append("tune").n_removed == 1
    assert encoding.ids.ctypes.data == address


def test_marks_are_rolled_back_to_one_after_the_other() -> None:
    encoding = TOKENIZER.encoding("a single man")
    first = encoding.mark()
    encoding.edit((0, 1), "the")
    second = encoding.mark()
    for word in ["wants", "some", "tea"]:
        encoding.append(word)
    assert len(encoding._undo._changes) == 2
    third = encoding.mark()
    nothing = encoding.rollback(third)
    assert (nothing.kept, len(nothing.new_ids), nothing.n_removed) == (len(encoding), 0, 0)
    encoding.rollback(second)
    assert encoding.text == "the single man"
    assert encoding.rollback(first).kept == 0
    assert encoding.text == "a single man"
    for forgotten in (second, third, 17, "mark"):
        with pytest.raises(AlphabetError, match="no such mark"):
            encoding.rollback(forgotten)  # type: ignore[arg-type]


@pytest.mark.parametrize("copied", [tokdfa.Encoding.copy, copy.copy, copy.deepcopy])
def test_copies_change_independently(copied: Callable[[tokdfa.Encoding], tokdfa.Encoding]) -> None:
    encoding = TOKENIZER.encoding("a single man")
    mark = encoding.mark()
    twin = copied(encoding)
    twin.append(" wants")
    assert (encoding.text, twin.text) == ("a single man", "a single man wants")
    encoding.edit((0, 1), "the")
    assert twin.ids.tolist() == TOKENIZER.encode(twin.text).tolist()
    twin.rollback(mark)
    assert twin.text == "a single man"
    assert twin.tokenizer is TOKENIZER


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        (lambda e: e.append("x\ud800"), AlphabetError, "character 1: half of a surrogate pair"),
        (lambda e: e.append("é".encode()[:1]), AlphabetError, "byte 0: the text ends within a symbol"),
        (lambda e: e.append(b"a\xff"), AlphabetError, "byte 1: not UTF-8"),
        (lambda e: e.append(3), WrongTypeError, "a text must be a str or bytes, not an int"),
        (lambda e: e.edit((2, 3), ""), AlphabetError, "byte 3: a range of bytes has a bound within a character"),
        (lambda e: e.edit((3, 4), ""), AlphabetError, "the character begins at byte 2"),
        (lambda e: e.edit((3, 1), ""), AlphabetError, "no such range of bytes"),
        (lambda e: e.edit((0, 99), ""), AlphabetError, "the text has 9 bytes"),
        (lambda e: e.edit((-1, 1), ""), AlphabetError, "no such range of bytes"),
        (lambda e: e.edit(1, ""), WrongTypeError, "a byte range must be a pair of integers"),
        (lambda e: e.edit((1, 2.0), ""), WrongTypeError, "a byte range must be a pair of integers"),
        (lambda e: e.edit((1, 2, 3), ""), WrongTypeError, "a byte range must be a pair of integers"),
    ],
)
def test_a_refused_change_changes_nothing(change: Callable[[Any], object], error: type, says: str) -> None:
    encoding = TOKENIZER.encoding("née man")
    encoding.edit((0, 0), "x")
    before = encoding.text, encoding.ids.tolist(), list(encoding._cuts)
    with pytest.raises(error) as caught:
        change(encoding)
    assert says in str(caught.value)
    assert (encoding.text, encoding.ids.tolist(), encoding._cuts) == before


def test_a_symbol_without_a_token_is_refused_with_its_byte() -> None:
    tokenizer = tokdfa.load({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, " ": 2}, "merges": []}})
    encoding = tokenizer.encoding("a b" * 3)
    with pytest.raises(AlphabetError):
        encoding.append("c")
    assert encoding.ids.tolist() == tokenizer.encode("a b" * 3).tolist()


@pytest.mark.parametrize(
    ("ids", "says"),
    [
        ([64, 99999], "token 1: id out of range: 99999"),
        ([64, -1], "token 1: negative id"),
        ([64, 261, 1193], "token 1: the ids are not canonical"),
        (TOKENIZER.encode("n中")[:-1].tolist(), "token 1: the ids are not canonical"),
        ("text", "ids must be integers"),
    ],
)
def test_ids_that_no_text_continues_are_refused(ids: Any, says: str) -> None:
    with pytest.raises(TokenStreamError) as caught:
        TOKENIZER.append(ids, "x")
    assert says in str(caught.value)


def test_ids_are_continued_from_the_last_place_where_they_are_canonical() -> None:
    kept, new_ids = TOKENIZER.append([64, 261, 1193], " man", repair=True)
    assert kept == 1
    assert [64, *new_ids.tolist()] == TOKENIZER.encode("a single man").tolist()


def test_only_the_last_ids_are_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    ids = TOKENIZER.encode(WORDS * 500)
    expected = TOKENIZER.encode(WORDS * 500 + "end")
    lengths = counting(TOKENIZER, monkeypatch)
    kept, new_ids = TOKENIZER.append(ids, "end")
    assert sum(lengths) < 100
    assert [*ids[:kept].tolist(), *new_ids.tolist()] == expected.tolist()


def test_tokenizers_say_why_no_text_is_cut() -> None:
    model = {"type": "WordLevel", "vocab": {"a": 0, "?": 1}, "unk_token": "?"}
    whole = tokdfa.load({"model": model, "pre_tokenizer": {"type": "Whitespace"}})
    assert TOKENIZER.why_not("cuts") is None
    assert str(whole.why_not("cuts")).startswith("each piece of the text is encoded by itself")

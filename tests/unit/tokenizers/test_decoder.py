"""Spelling ids: the chunks do not matter, and bad ids are named."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokdfa import Dictionary, Tokenizer
from tokdfa.base.errors import TokenStreamError, WrongTypeError
from tokdfa.tokenizers.decoder import Decoder, spellings
from tokdfa.tokenizers.formats.contents import Contents

WORDS = [b"a", "é".encode(), "é".encode()[:1], "é".encode()[1:], "😀".encode()[:2], "😀".encode()[2:], b"\xff", b"xyz"]
BEGUN = {sign.encode()[:n] for sign in "é😀" for n in range(1, len(sign.encode()))}
IDS = st.lists(st.integers(0, len(WORDS) - 1), max_size=12)


def decoder(ends_word: list[bool] | None = None, **options: int) -> Decoder:
    flags = None if ends_word is None else np.array(ends_word)
    return Decoder(spellings(WORDS), np.ones(len(WORDS), dtype=np.bool_), flags, **options)


def chunked(ids: list[int], cuts: list[int]) -> list[list[int]]:
    bounds = [0, *sorted(min(cut, len(ids)) for cut in cuts), len(ids)]
    return [ids[begin:end] for begin, end in pairwise(bounds)]


@given(IDS, st.lists(st.integers(0, 12)))
def test_bytes_do_not_depend_on_chunks(ids: list[int], cuts: list[int]) -> None:
    assert b"".join(decoder().iter_bytes(chunked(ids, cuts))) == b"".join(WORDS[id] for id in ids)


@given(IDS, st.lists(st.integers(0, 12)))
def test_text_and_what_is_bad(ids: list[int], cuts: list[int]) -> None:
    data = b"".join(WORDS[id] for id in ids)
    try:
        expected, bad = data.decode(), None
    except UnicodeDecodeError as error:
        expected, bad = "", error.start
    if bad is None:
        assert "".join(decoder().iter_text(chunked(ids, cuts))) == expected
        return
    ends = np.cumsum([len(WORDS[id]) for id in ids])
    token = next(token for token, end in enumerate(ends) if end > bad)
    with pytest.raises(TokenStreamError) as caught:
        list(decoder().iter_text(chunked(ids, cuts)))
    assert caught.value.where == f"token {token}, byte {bad}"


@given(IDS, st.lists(st.integers(0, 12)), st.sampled_from(["replace", "ignore", "backslashreplace"]))
def test_other_errors_are_those_of_bytes_and_a_cut_is_named(ids: list[int], cuts: list[int], errors: str) -> None:
    data = b"".join(WORDS[id] for id in ids)
    assert decoder().string_of(ids, errors) == data.decode(errors=errors)
    texts, parts = decoder().iter_text(chunked(ids, cuts), errors), []
    while True:
        try:
            parts.append(next(texts))
        except StopIteration as stopped:
            cut = stopped.value
            break
    assert "".join(parts) == data.decode(errors=errors)
    # More bytes would complete a character iff some continuation of the last ones is UTF-8.
    ends = [data[-n:] for n in (1, 2, 3) if data[-n:] in BEGUN]
    assert (cut and cut.data) == (ends[0] if data and ends else None)
    if cut is not None:
        assert cut.byte == len(data) - len(cut.data)
        assert sum(len(WORDS[id]) for id in ids[: cut.token]) <= cut.byte
        assert cut.byte < sum(len(WORDS[id]) for id in ids[: cut.token + 1])


@given(IDS, st.lists(st.integers(0, 12)))
def test_the_text_up_to_a_bad_byte_comes_before_its_error(ids: list[int], cuts: list[int]) -> None:
    data = b"".join(WORDS[id] for id in ids)
    texts, parts, bad = decoder().iter_text(chunked(ids, cuts)), [], len(data)
    try:
        parts.extend(texts)
    except TokenStreamError as error:
        bad = int(str(error.where).rpartition(" ")[2])
    assert "".join(parts).encode() == data[:bad]


def test_unknown_errors_are_refused() -> None:
    with pytest.raises(WrongTypeError, match="strict, replace"):
        decoder().string_of([0], "surrogateescape")


@given(IDS)
def test_blocks_do_not_matter(ids: list[int]) -> None:
    whole = b"".join(decoder().iter_bytes([ids]))
    assert b"".join(decoder(block=3).iter_bytes([ids])) == whole


@given(IDS, st.lists(st.booleans(), min_size=len(WORDS), max_size=len(WORDS)), st.sampled_from([1, 3, 1 << 18]))
def test_bytes_at_once_are_those_of_chunks(ids: list[int], ends_word: list[bool], block: int) -> None:
    words = [word + b" " * ends for word, ends in zip(WORDS, ends_word, strict=True)]
    flags = np.array(ends_word)
    spelling = Decoder(spellings(words), np.ones(len(words), dtype=np.bool_), flags, block=block)
    expected = b"".join(words[id] for id in ids).removesuffix(b" ")
    assert spelling.bytes_of(ids) == b"".join(spelling.iter_bytes([ids])) == expected
    try:
        text = "".join(spelling.iter_text([ids]))
    except TokenStreamError as error:
        with pytest.raises(TokenStreamError, match=re.escape(str(error))):
            spelling.string_of(ids)
    else:
        assert spelling.string_of(ids) == text


def test_bad_ids_are_counted_from_the_beginning_of_the_stream() -> None:
    with pytest.raises(TokenStreamError, match="token 3: id out of range: 8"):
        list(decoder().iter_bytes([[0, 1], [0, 8]]))


WITH_ENDS = Dictionary([("l", "o"), ("lo", "w</w>")], ["l", "o", "w", "w</w>", "o</w>"])


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ([], ""),
        (["l", "o", "w"], "low"),
        (["low</w>"], "low"),
        (["low</w>", "low</w>", "l"], "low low l"),
        (["lo", "w</w>", "l", "o</w>"], "low lo"),
    ],
)
def test_spaces_stand_between_words(tokens: list[str], text: str) -> None:
    contents: dict[str, Any] = {"format": "test", "suffix": "</w>", "dictionary": WITH_ENDS}
    tokenizer = Tokenizer(Contents(**contents, ids=np.arange(len(WITH_ENDS.alphabet), dtype=np.int32)))
    spelled = {"".join(word): number for number, word in enumerate(WITH_ENDS.alphabet)}
    ids = [spelled[token] for token in tokens]
    assert tokenizer.decode(ids) == text
    assert "".join(tokenizer.decoder.iter_text([[id] for id in ids])) == text

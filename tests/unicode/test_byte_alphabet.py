"""GPT-2's byte alphabet, against the library's own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tokenizer_files import GPT2_BYTES, SPELLED

from tokdfa.unicode.byte_alphabet import BYTE_OF, CHARACTER_OF, GPT2_ORDER, is_spelled, read_words, spell


def test_the_alphabet_is_that_of_the_library() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    assert set(tokenizers.pre_tokenizers.ByteLevel.alphabet()) == set(BYTE_OF)
    encode = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str
    every = "".join(map(chr, range(0x800)))
    ((spelled, _),) = encode(every)
    assert spelled == spell(every.encode())


def test_the_order_is_that_of_gpt2() -> None:
    assert list(GPT2_ORDER) == GPT2_BYTES
    assert CHARACTER_OF == SPELLED


@given(st.lists(st.binary()), st.lists(st.text()))
def test_words_are_read_back(words: list[bytes], texts: list[str]) -> None:
    foreign = [text for text in texts if not is_spelled(text)]
    read = read_words([*map(spell, words), *foreign])
    assert read.words == [*words, *[b""] * len(foreign)]
    assert read.foreign.tolist() == [False] * len(words) + [True] * len(foreign)

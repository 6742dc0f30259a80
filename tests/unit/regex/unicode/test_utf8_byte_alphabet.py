"""GPT-2's byte alphabet, against the library's own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tokenizer_files import GPT2_BYTES, SPELLED
from tokdfa.kernels.spelling.spell import read_letters
from tokdfa.regex.unicode.utf8 import BYTE_OF, CHARACTER_OF, GPT2_ORDER, LETTERS, is_spelled, spell
from tokdfa.tokenizers.decoder import Spellings, words_of
from tokdfa.tokenizers.formats.written import in_utf8


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


@given(st.lists(st.binary(min_size=1), min_size=1), st.lists(st.text(min_size=1)))
def test_words_are_read_back(words: list[bytes], texts: list[str]) -> None:
    foreign = [text for text in texts if not is_spelled(text)]
    text, offsets, is_foreign = read_letters(*in_utf8([*map(spell, words), *foreign]), 1, LETTERS)
    assert words_of(Spellings(text, offsets)) == [*words, *[b""] * len(foreign)]
    assert is_foreign.tolist() == [False] * len(words) + [True] * len(foreign)

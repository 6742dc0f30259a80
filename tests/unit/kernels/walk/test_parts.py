"""Words taken apart, all at once and one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tokdfa.jobs.validation.table import Backwards
from tokdfa.kernels.walk.parts import BAD, SPELLS, number_keys, outer_symbols, parts_of_key, take_apart
from tokdfa.tokenizers.pretokenizers.steps import Split, Splitting
from tokdfa.tokenizers.pretokenizers.token_lift import TokenLift

LIFTED = TokenLift(Splitting("tiktoken", (Split(r"'s| ?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"),)))
BACKWARDS = Backwards([b"<|a|>", "é€".encode()])

# Bytes at the edges of the ranges that UTF-8 allows, and whole symbols.
_BYTES = st.sampled_from([*b"a1 '|<>\x80\x8f\x90\x9f\xa0\xbf\xc1\xc2\xdf\xe0\xe2\xed\xef\xf0\xf4\xf5\xff"])
_PARTS = st.one_of(_BYTES.map(lambda byte: bytes([byte])), st.sampled_from("é€\U0001f600\ufffda<|").map(str.encode))
WORDS = st.lists(st.lists(_PARTS, max_size=6).map(b"".join), min_size=1, max_size=8)


@given(WORDS)
def test_words_are_taken_apart_as_one_by_one(words: list[bytes]) -> None:
    text = np.frombuffer(b"".join(words), dtype=np.uint8)
    offsets = np.cumsum([0, *map(len, words)]).astype(np.int64)
    skipped = np.zeros(len(words), dtype=np.bool_)
    skipped[0] = len(words) > 3
    split_nfa = LIFTED.split_nfa
    keys, told = take_apart(
        text, offsets, skipped, split_nfa.class_of_code_point, split_nfa.n_classes, BACKWARDS.children,
        LIFTED.effect_after,
    )  # fmt: skip
    first, last = outer_symbols(text, offsets)
    numbered = number_keys(keys, 100)
    assert numbered is not None
    assert np.array_equal(numbered[0][numbered[1]], keys)
    assert number_keys(keys, len(numbered[0]) - 1) is None or len(numbered[0]) == 1
    for place, word in enumerate(words):
        parts = LIFTED.parts(word) if word and not skipped[place] else None
        assert (told[place] == BAD) == (parts is None)
        if parts is not None:
            assert LIFTED.joined(*parts_of_key(int(keys[place]))) == parts
            assert (told[place] == SPELLS) == (BACKWARDS.nodes(word) != ())
        shown = word.decode("utf-8", "replace")
        outer = [ord(shown[at]) if shown else -1 for at in (0, -1)]
        assert first[place] == (outer[0] if shown and word.startswith(shown[0].encode()) else -1)
        assert last[place] == (outer[1] if shown and word.endswith(shown[-1].encode()) else -1)

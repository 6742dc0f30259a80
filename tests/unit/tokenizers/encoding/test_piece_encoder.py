"""Encoding pieces: the cache changes nothing but the time."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.dictionaries import proper_dictionaries
from tokdfa import Dictionary, TokdfaError
from tokdfa.automata.bpe import tokenize_single_pass
from tokdfa.automata.transducers.one_pass import OnePass
from tokdfa.tokenizers.encoding.piece_encoder import Encoded, PieceEncoder


def joined(pieces: list[bytes]) -> tuple[bytes, np.ndarray]:
    bounds = np.cumsum([0, *map(len, pieces)], dtype=np.int64)
    return b"".join(pieces), bounds


def listed(encoded: Encoded) -> list[list[int]]:
    offsets = encoded.offsets.tolist()
    assert (offsets[0], offsets[-1]) == (0, len(encoded.ids))
    return [encoded.ids[a:b].tolist() for a, b in pairwise(offsets)]


@given(
    proper_dictionaries("ab", max_rules=10),
    st.lists(st.text("ab", min_size=1, max_size=24), max_size=30),
    st.sampled_from([1, 2, 4, 1 << 10]),
)
def test_pieces_are_tokenized_each_by_itself(dictionary: Dictionary, words: list[str], memory: int) -> None:
    words = [word for word in words if set(word) <= set(map(str, dictionary.alphabet.symbols))]
    one_pass = OnePass(dictionary)
    ids = np.arange(len(dictionary.alphabet), dtype=np.int32)[::-1] * 1000
    encoder = PieceEncoder(one_pass, ids, cached=memory)
    expected = [
        ids[list(dictionary.alphabet.numbers(tokenize_single_pass(dictionary, word)))].tolist() for word in words
    ]
    for _ in range(3):
        assert listed(encoder.encode(*joined([word.encode() for word in words]))) == expected


def test_many_pieces_fill_a_small_memory() -> None:
    draw = np.random.default_rng(5)
    dictionary = Dictionary.from_pairs([("a", "b"), ("ab", "a"), ("b", "b"), ("aba", "bb")], "ab")
    words = ["".join(draw.choice(list("ab"), draw.integers(1, 18))) for _ in range(3000)]
    pieces = joined([word.encode() for word in words])
    encoders = [PieceEncoder(OnePass(dictionary), np.arange(6, dtype=np.int32), cached=n) for n in (1, 16, 1 << 14)]
    first, *others = [encoder.encode(*pieces) for encoder in encoders for _ in range(2)]
    assert [dictionary.alphabet.spell(ids) for ids in listed(first)[:300]] == [
        tokenize_single_pass(dictionary, word) for word in words[:300]
    ]
    for other in others:
        assert np.array_equal(other.ids, first.ids)
        assert np.array_equal(other.offsets, first.offsets)


def test_whole_pieces_come_first() -> None:
    # b≀c goes first, so that no text has the token abc, but a piece may be it; so may a token that no rule mentions.
    dictionary = Dictionary.from_pairs([(b"b", b"c"), (b"a", b"b"), (b"ab", b"c")])
    one_pass = OnePass(dictionary)
    extra = [b"xyz", b"long" * 10]
    numbers = np.arange(len(dictionary.alphabet) + 2, dtype=np.int32)
    abc = dictionary.alphabet.number(b"abc")
    xyz = len(dictionary.alphabet)
    encoder = PieceEncoder(one_pass, numbers, extra=extra, whole=[abc, xyz, xyz + 1])
    pieces = joined([b"abc", b"abca", b"xyz", b"xyzz", b"long" * 10, b"long" * 9, b"abc"])
    for _ in range(2):
        ids = listed(encoder.encode(*pieces))
        assert ids[0] == ids[6] == [abc]
        assert dictionary.alphabet.spell(ids[1]) == (b"a", b"bc", b"a")
        assert ids[2] == [xyz]
        assert len(ids[3]) == 4
        assert ids[4] == [xyz + 1]
        assert len(ids[5]) == 36


def test_long_pieces_of_improper_rules_are_encoded_elsewhere() -> None:
    dictionary = Dictionary.from_pairs([(b"a", b"b")])
    a, b, ab = 97, 98, 256
    asked = []

    def encode_long(piece: bytes) -> np.ndarray:
        asked.append(piece)
        return np.array([len(piece), ab, len(asked)], dtype=np.int32)

    column = np.array([ab], dtype=np.int32)
    merges = (np.array([a], dtype=np.int32), np.array([b], dtype=np.int32), column)
    numbers = np.arange(257, dtype=np.int32)
    encoder = PieceEncoder.of_ranks(dictionary, merges, numbers, whole=numbers == ab, encode_long=encode_long)
    first, second = b"ab" * 300 + b"x", b"b" * 800
    found = listed(encoder.encode(*joined([b"ab", first, b"ba", b"aab", second, b"abb"])))
    assert found == [[ab], [601, ab, 1], [b, a], [a, ab], [800, ab, 2], [ab, b]]
    assert asked == [first, second]


def test_a_copy_has_a_memory_of_its_own() -> None:
    encoder = PieceEncoder(OnePass(Dictionary.from_pairs([(b"a", b"b")])), np.arange(257, dtype=np.int32))
    encoder.encode(*joined([b"ab", b"ba"]))
    twin = encoder.copy()
    entries = encoder.run.struct.fields["cache"].fields["entries"]
    before = entries.copy()
    assert before.any()
    assert listed(twin.encode(*joined([b"aab", b"ab"]))) == [[97, 256], [256]]
    assert np.array_equal(entries, before)


def test_foreign_symbols_and_bad_bounds_are_refused() -> None:
    encoder = PieceEncoder(OnePass(Dictionary.from_pairs([(b"a", b"b")], b"ab")), np.arange(3, dtype=np.int32))
    with pytest.raises(TokdfaError, match=r"piece 1: the symbol is not in the base alphabet: b'ax'$"):
        encoder.encode(*joined([b"ab", b"ax", b"b"]))
    text = b"abab"
    for bounds in ([0, 0, 4], [0, 5], [-1, 2], [2, 1]):
        with pytest.raises(TokdfaError, match="bounds of pieces"):
            encoder.encode(text, np.array(bounds, dtype=np.int64))
    assert listed(encoder.encode(text, np.array([0], dtype=np.int64))) == []

"""The tables of the one-pass evaluation against plain ones."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from support.dictionaries import proper_dictionaries

from tokdfa import Dictionary
from tokdfa.automata.compact import CompactTokenDFA
from tokdfa.kernels import one_pass as kernels
from tokdfa.kernels.packed import LONGEST, hash_packed, load, pack
from tokdfa.transducers.one_pass import OnePass, find_tables


def as_array(text: bytes) -> np.ndarray:
    return np.frombuffer(text, dtype=np.uint8)


@given(st.binary(max_size=40), st.data())
def test_packing_is_one_to_one(text: bytes, data: st.DataObject) -> None:
    array = as_array(text)
    begin = data.draw(st.integers(0, len(text)))
    length = data.draw(st.integers(0, min(LONGEST, len(text) - begin)))
    low, high = pack(np.uint64(load(array, begin)), np.uint64(load(array, begin + 8)), length)
    spelled = int(low).to_bytes(8, "little") + int(high).to_bytes(8, "little")
    assert spelled == text[begin : begin + length].ljust(LONGEST, b"\0") + bytes([length])


def test_hashes_of_similar_words_differ_in_the_bits_in_use() -> None:
    packings = [pack(np.uint64(i), np.uint64(0), 3) for i in range(1 << 12)]
    hashes = np.array([hash_packed(np.uint64(low), np.uint64(high)) for low, high in packings], dtype=np.uint64)
    # Thrown at random, 4096 balls leave about 63 % of 4096 boxes with one or more.
    for bits in (hashes >> np.uint64(20), hashes):
        assert len(np.unique(bits & np.uint64(0xFFF))) > 2300


words = st.lists(st.text("ab", min_size=1, max_size=24).map(str.encode), unique=True, max_size=12)


@given(words, st.lists(st.booleans(), min_size=12, max_size=12), st.text("ab", min_size=1, max_size=40))
def test_longest_word_at_a_place(words: list[bytes], live: list[bool], text: str) -> None:
    found = [word for word, kept in zip(words, live, strict=False) if kept]
    tables = find_tables(words, np.array(live[: len(words)], dtype=np.bool_))
    array = as_array(text.encode())
    for begin in range(len(text)):
        for end in range(begin + 1, len(text) + 1):
            fitting = [word for word in found if text[begin:end].encode().startswith(word)]
            expected = words.index(max(fitting, key=len)) if fitting else -1
            assert kernels.longest_token(tables, array, begin, end) == expected
    records = tables.records.reshape(-1, kernels.RECORD)
    for word in found:
        shorter = [other for other in found if other != word and word.startswith(other)]
        expected = words.index(max(shorter, key=len)) if shorter else -1
        assert records[words.index(word), kernels.SHORTER] == expected


@given(proper_dictionaries(max_rules=12))
def test_pair_test_is_that_of_the_token_dfa(dictionary: Dictionary) -> None:
    tables, automaton = OnePass(dictionary).tables, CompactTokenDFA(dictionary)
    live = np.flatnonzero(dictionary.folding.birth >= 0).tolist()
    for u in live:
        for v in live:
            assert kernels.allows(tables, u, v) == automaton.allows(u, v)


def test_pair_test_on_a_larger_dictionary() -> None:
    draw = random.Random(7)
    tokens = list("abcd")
    rules = []
    for _ in range(3000):
        rules.append((draw.choice(tokens[-60:]), draw.choice(tokens)))
        if len(rules[-1][0] + rules[-1][1]) < 12:
            tokens.append("".join(rules[-1]))
        else:
            rules.pop()
    dictionary = Dictionary.from_pairs(rules, "abcd")
    tables, automaton = OnePass(dictionary).tables, CompactTokenDFA(dictionary)
    live = np.flatnonzero(dictionary.folding.birth >= 0).tolist()
    pairs = [(draw.choice(live), draw.choice(live)) for _ in range(20_000)]
    answers = [automaton.allows(u, v) for u, v in pairs]
    assert {True, False} == set(answers)
    assert [kernels.allows(tables, u, v) for u, v in pairs] == answers

"""The tables of the one-pass evaluation against plain ones."""

from __future__ import annotations

import random
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.dictionaries import proper_dictionaries
from tests.support.encoding import allows, longest_token
from tokdfa import Dictionary, tokenize_leftmost
from tokdfa.automata.compact import CompactTokenDFA
from tokdfa.automata.transducers.one_pass import OnePass, joined
from tokdfa.base.errors import LimitExceededError
from tokdfa.kernels.encode import one_pass as kernels
from tokdfa.kernels.encode.one_pass import NO_NUMBER, index_rules
from tokdfa.kernels.library import Struct, lib, writable

NONE = np.zeros(0, dtype=np.int32)


def tables_in_which(words: list[bytes], live: list[bool]) -> Struct:
    """Return tables in which the words marked are found."""
    found = kernels.index_words(*joined(words), np.array(live[: len(words)], dtype=np.bool_))
    return kernels.tables_of(found, *index_rules(NONE, NONE, NONE), NONE, NONE, NONE)


words = st.lists(st.text("ab", min_size=1, max_size=24).map(str.encode), unique=True, max_size=12)


@given(words, st.lists(st.booleans(), min_size=12, max_size=12), st.text("ab", min_size=1, max_size=40))
def test_longest_word_at_a_place(words: list[bytes], live: list[bool], text: str) -> None:
    found = [word for word, kept in zip(words, live, strict=False) if kept]
    tables = tables_in_which(words, live)
    for begin in range(len(text)):
        for end in range(begin + 1, len(text) + 1):
            fitting = [word for word in found if text[begin:end].encode().startswith(word)]
            expected = words.index(max(fitting, key=len)) if fitting else -1
            assert longest_token(tables, text.encode(), begin, end) == expected
    records = tables.fields["records"]
    assert records[:, kernels.LENGTH].tolist() == [*map(len, words)]
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
            assert allows(tables, u, v) == automaton.allows(u, v)


def test_nothing_is_kept_of_the_words_before() -> None:
    """The bits of the offsets to which a tokenization came back are zero again, for returns of any length."""
    # Of "abc", "ab" is read first, after which "c" may not come.
    dictionary = Dictionary.from_pairs([("b", "c"), ("a", "b")], "abc")
    tables, draw, n_returns = OnePass(dictionary).tables, random.Random(3), 0
    for _ in range(300):
        word = "".join(draw.choices(["a", "b", "c", "abc"], k=draw.choice([3, 30, 90])))
        expected = tokenize_leftmost(dictionary, word)
        text, left = word.encode(), np.zeros((len(word) >> 6) + 1, dtype=np.uint64)
        out = np.empty(len(text), dtype=np.int32)
        n = lib.tokdfa_tokenize(tables.pointer, text, len(text), writable(out, np.int32), writable(left, np.uint64))
        assert [dictionary.alphabet[token] for token in out[:n]] == [*expected]
        assert not left.any(), word
        n_returns += "abc" in word
    assert n_returns > 100


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
    assert [allows(tables, u, v) for u, v in pairs] == answers


def test_many_words_of_one_beginning() -> None:
    # The slots, the filter and the trie are as full as they get, and long words share edges.
    draw = random.Random(3)
    words = sorted({bytes(draw.choices(b"ab", k=draw.randint(1, 30))) for _ in range(3_000)})
    live = [draw.random() < 0.9 for _ in words]
    tables, known = tables_in_which(words, live), dict(zip(words, live, strict=True))
    for _ in range(3_000):
        text = bytes(draw.choices(b"ab", k=40))
        end = draw.randint(1, 40)
        longest = next((n for n in range(end, 0, -1) if known.get(text[:n])), 0)
        assert longest_token(tables, text, 0, end) == (words.index(text[:longest]) if longest else -1)


def test_long_words_share_their_first_bytes() -> None:
    # In any order, since the first one names the root of the others.
    for beginning in (b"a" * 15, b"abcdefghijklmno"):
        for words in permutations([beginning + b"x", beginning + b"xyz", beginning + b"yx", beginning], 4):
            for live in ([True] * 4, [True, True, False, True], [False, True, True, True]):
                tables = tables_in_which([*words], live)
                for word in words:
                    text = word + b"z"
                    known = [k for k in range(4) if live[k] and text.startswith(words[k])]
                    longest = max(known, key=lambda k: len(words[k]), default=-1)
                    assert longest_token(tables, text, 0, len(text)) == longest, (words, live)


def test_more_words_than_numbers_are_refused() -> None:
    offsets = np.arange(NO_NUMBER + 1, dtype=np.int64)
    with pytest.raises(LimitExceededError, match="more than 2097150 tokens"):
        kernels.index_words(np.zeros(NO_NUMBER, np.uint8), offsets, np.zeros(NO_NUMBER, np.bool_))

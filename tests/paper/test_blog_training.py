"""BLOG (BPE algorithm note): the merges it prints."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.alternatives import LongestPieceEncoder, compress, expand, join_words
from tokdfa import TokdfaError
from tokdfa.training.greedy import trace_greedy, vocabulary_sizes
from tokdfa.training.naive import train_naive
from tokdfa.training.rules import GreedyRules

WORDS = {
    ("l", "o", "w", "</w>"): 5,
    ("l", "o", "w", "e", "r", "</w>"): 2,
    ("n", "e", "w", "e", "s", "t", "</w>"): 6,
    ("w", "i", "d", "e", "s", "t", "</w>"): 3,
}
PRINTED = """
e s, es t, est </w>, l o, lo w, n e, ne w, new est</w>, low </w>, w i, wi d, wid est</w>, low e, lowe r, lower </w>
"""


def test_ex_1_the_fifteen_merges_in_the_printed_order() -> None:
    d = train_naive(WORDS, 1000, tie="first-seen", count="overlapping")
    assert [f"{''.join(rule.left)} {''.join(rule.right)}" for rule in d] == PRINTED.strip().split(", ")


def test_stop_rule_no_pair_occurs_twice() -> None:
    d = train_naive({"aaabdaaabac": 1}, 1000)
    assert [str(rule) for rule in d] == ["a≀a", "aa≀a", "aaa≀b"]
    assert len(train_naive({"aaabdaaabac": 1}, 1)) == 1


def test_stop_rule_of_the_code_is_another_one() -> None:
    # The text stops before a pair that occurs once. The code, with its largest count, stops when there is no pair.
    by_code = train_naive(WORDS, 1000, tie="first-seen", count="overlapping", min_frequency=1)
    assert [str(rule) for rule in train_naive({"ab": 1}, 1000)] == []
    assert [str(rule) for rule in train_naive({"ab": 1}, 1000, min_frequency=1)] == ["a≀b"]
    # On the printed words both make the same merges: every pair there occurs twice or more.
    assert by_code == train_naive(WORDS, 1000, tie="first-seen", count="overlapping")


def test_decode_joins_and_cuts_at_the_mark() -> None:
    tokens = ["the</w>", "high", "est</w>", "moun", "tain</w>"]
    assert join_words(tokens) == ["the", "highest", "mountain"]
    assert join_words([]) == []
    assert join_words(["the</w>", "high"]) == ["the", "high"]


def test_vocabulary_changes_by_one_zero_or_minus_one() -> None:
    trace = trace_greedy(WORDS, 1000, GreedyRules())
    sizes = vocabulary_sizes(trace).tolist()
    # After every merge, counted afresh.
    texts = {word: [(symbol,) for symbol in word] for word in WORDS}
    expected = [len({unit for text in texts.values() for unit in text})]
    for rule in trace.dictionary:
        for word, text in texts.items():
            texts[word] = merged(text, rule.left, rule.right)
        expected.append(len({unit for text in texts.values() for unit in text}))
    assert sizes == expected
    assert {after - before for before, after in pairwise(sizes)} == {1, 0, -1}
    assert sizes[-1] == len(WORDS)


def test_vocabulary_first_grows_and_then_shrinks() -> None:
    dice = random.Random(3)
    words = ["".join(dice.choices("abcd", k=12)) for _ in range(40)]
    sizes = vocabulary_sizes(trace_greedy(dict.fromkeys(words, 1), 10**6, GreedyRules(min_frequency=1))).tolist()
    top = sizes.index(max(sizes))
    assert sizes[0] < sizes[top] > sizes[-1] == len(words)


def merged(text: list[tuple[str, ...]], left: object, right: object) -> list[tuple[str, ...]]:
    out: list[tuple[str, ...]] = []
    for unit in text:
        if out and out[-1] == left and unit == right and len(out[-1]) == len(left):  # type: ignore[arg-type]
            out[-1] = out[-1] + unit
        else:
            out.append(unit)
    return out


def test_ex_2_the_longest_piece_first() -> None:
    encoder = LongestPieceEncoder(["errrr</w>", "tain</w>", "moun", "est</w>", "high", "the</w>", "a</w>"])
    words = ["the</w>", "highest</w>", "mountain</w>"]
    expected = ["the</w>", "high", "est</w>", "moun", "tain</w>"]
    assert encoder.encode(words) == encoder.encode(words) == expected
    assert encoder.encode(["xhighyy", "", "zz"]) == ["<unk>", "high", "<unk>", "<unk>"]
    assert LongestPieceEncoder([], cache_size=0).encode(["ab"]) == ["<unk>"]


@given(st.lists(st.text("abc", min_size=1, max_size=4), unique=True, max_size=8), st.text("abcd", max_size=10))
def test_ex_2_is_what_going_through_the_sorted_vocabulary_gives(vocabulary: list[str], word: str) -> None:
    parts: list[tuple[str, bool]] = [(word, False)] if word else []
    for piece in sorted(vocabulary, key=len, reverse=True):
        cut: list[tuple[str, bool]] = []
        for part, done in parts:
            stretches = [part] if done else part.split(piece)
            for index, stretch in enumerate(stretches):
                cut += [(piece, True)] * (index > 0) + [(stretch, done)] * bool(stretch)
        parts = cut
    encoder = LongestPieceEncoder(vocabulary, cache_size=1)
    assert encoder.encode_word(word) == tuple(part if done else "<unk>" for part, done in parts)


def test_ex_3_gage_compresses_and_expands() -> None:
    compressed = compress("aaabdaaabac")
    assert compressed.text == "XdXac"
    assert compressed.table == (("Z", "aa"), ("Y", "ab"), ("X", "ZY"))
    steps = [compress("aaabdaaabac", "ZYX"[:n]).text for n in range(4)]
    assert steps == ["aaabdaaabac", "ZabdZabac", "ZYdZYac", "XdXac"]
    assert expand(compressed) == "aaabdaaabac"


@given(st.lists(st.sampled_from([b"ab", b"abc", b"\x00", b"\xff\xfe", b"aaaa"]), max_size=30).map(b"".join))
def test_ex_3_on_bytes_both_ways(data: bytes) -> None:
    compressed = compress(data)
    assert expand(compressed) == data
    assert len(compressed.text) <= len(data)


def test_ex_3_without_a_byte_to_spare() -> None:
    data = bytes(range(256)) * 2
    assert compress(data).text == data
    assert compress(b"").text == b""
    with pytest.raises(TokdfaError, match="already in use"):
        compress("Zab", "Z")

"""Words as labels."""

from __future__ import annotations

import codecs
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokdfa.draw.graph import word_label


def read_back(label: str) -> str:
    """Return the characters of a label; bytes that are not UTF-8 come back as if they were Latin-1."""
    if not re.search(r"\\[\\xuUntr]", label):
        return label.replace("␣", " ")
    escapes = re.compile(r"\\(x..|u....|U.{8}|.)|␣")
    return escapes.sub(lambda m: " " if m[0] == "␣" else codecs.decode(m[0], "unicode_escape"), label)


@given(st.text(st.characters()))
def test_words_over_characters_come_back(word: str) -> None:
    label = word_label(word)
    assert label.isprintable()
    assert " " not in label
    assert read_back(label) == word


@given(st.text(st.sampled_from('\\xnu␣ \0\n\u200f\ud800\U000e0001"')))
def test_words_of_awkward_characters_come_back(word: str) -> None:
    assert read_back(word_label(word)) == word


@given(st.sets(st.binary(max_size=4) | st.text().map(str.encode) | st.text("\\x8␣ \x80\0").map(str.encode)))
def test_different_bytes_have_different_labels(words: set[bytes]) -> None:
    assert len({word_label(word) for word in words}) == len(words)


@pytest.mark.parametrize(
    ("word", "label"),
    [
        ("abc", "abc"),
        ("\\", "\\"),
        ('\\"', '\\"'),
        (r"\n", r"\\n"),
        ("\n", r"\n"),
        ("\\\n", r"\\\n"),
        ("\0", r"\x00"),
        ("a b", "a␣b"),
        ("␣", r"\u2423"),
        ("שלום", "שלום"),
        ("\u200f", r"\u200f"),
        ("😀", "😀"),
        ("<|endoftext|>", "<|endoftext|>"),
        ("\ud800", r"\ud800"),
        ("\U000e0001", r"\U000e0001"),
        (" é".encode(), "␣é"),
        (b"\xc3", r"\xc3"),
        (b"\x80", r"\x80"),
        ("\x80".encode(), r"\u0080"),
        (("lo", "w", "</w>"), "low</w>"),
    ],
)
def test_labels_show_every_word(word, label) -> None:
    assert word_label(word) == label

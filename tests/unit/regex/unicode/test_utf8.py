"""Bytes cut out of texts: taken apart as the texts were put together, and measured as `str.encode` does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokdfa.regex.unicode.utf8 import BYTES_OF_UTF8, begins_symbol, byte_offsets, cut_apart, symbol_length

texts = st.text("aé\u07ff\u0800日\uffff\U00010000\U0010ffff", max_size=6)


@given(texts)
def test_every_stretch_of_a_text_is_taken_apart(text: str) -> None:
    data = text.encode()
    starts = [len(text[:at].encode()) for at in range(len(text) + 1)]
    for begin in range(len(data) + 1):
        for end in range(begin, len(data) + 1):
            cut = cut_apart(data[begin:end])
            assert cut is not None
            first = min((at for at in range(len(text) + 1) if starts[at] >= begin), default=len(text))
            last = max(at for at in range(len(text) + 1) if starts[at] <= end)
            if starts[first] <= end:
                assert cut == (data[begin : starts[first]], text[first:last], data[starts[last] : end])
            else:
                assert cut == (data[begin:end], "", b"")


@pytest.mark.parametrize(
    "data", [b"\xff", b"a\xc0", b"\xc1\x80", b"\xe0\x80", b"\xf5", b"\x80" * 4, b"\xc3a", b"\xf4\x90"]
)
def test_what_no_text_has_is_refused(data: bytes) -> None:
    assert cut_apart(data) is None


def test_a_surrogate_cut_short_is_a_symbol_cut_short() -> None:
    assert cut_apart(b"\xed\xa0") == (b"", "", b"\xed\xa0")
    assert cut_apart(b"\xed\xa0\x80") is None


def test_the_bytes_of_utf8_are_those_of_some_symbol() -> None:
    # One symbol for every lead byte and for every byte after it.
    points = [*range(0x800), *range(0x800, 0x110000, 61), 0x10FFFF]
    found = {byte for point in points for byte in chr(point).encode("utf-8", "ignore")}
    assert found == BYTES_OF_UTF8


@given(texts)
def test_where_symbols_begin(text: str) -> None:
    data = text.encode()
    offsets = [len(text[:at].encode()) for at in range(len(text) + 1)]
    assert byte_offsets(data).tolist() == offsets
    assert begins_symbol(data).nonzero()[0].tolist() == offsets[:-1]
    assert [symbol_length(symbol.encode()[0]) for symbol in text] == [len(symbol.encode()) for symbol in text]

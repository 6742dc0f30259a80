"""Where texts change, against normalizing them character by character."""

from __future__ import annotations

import random
from typing import get_args

import numpy as np
import pytest

from tests.support.normalized import SYMBOLS
from tokdfa.kernels.normalization.quick_check import MOST_CHARACTERS, find_joining, first_change
from tokdfa.regex.unicode.normalization import Form, normalize
from tokdfa.regex.unicode.quick_check import boundaries, form_tables

FORMS: tuple[Form, ...] = get_args(Form)


def expected(text: str, form: Form) -> int:
    """Return the byte at which the first stretch between two boundaries begins that changes, or is long."""
    at = begin = 0
    while begin < len(text):
        end = begin + 1
        while end < len(text) and not boundaries(form)[ord(text[end])]:
            end += 1
        stretch = text[begin:end]
        is_long = len(stretch) > MOST_CHARACTERS
        if normalize(stretch, form) != stretch or is_long:
            return at
        at += len(stretch.encode())
        begin = end
    return at


@pytest.mark.parametrize("form", FORMS)
def test_the_first_change_is_found(form: Form) -> None:
    drawn = random.Random(form)
    met = {True: 0, False: 0}
    for _ in range(3_000):
        text = "".join(drawn.choices([*SYMBOLS, "a" * 9, "中" * 5], k=drawn.randrange(1, 9)))
        if drawn.random() < 0.5:
            text = normalize(text, form) + drawn.choice(SYMBOLS)
        data = text.encode()
        place = expected(text, form)
        assert first_change(form_tables(form), data) == place, text.encode("unicode_escape")
        met[place == len(data)] += 1
    assert min(met.values()) > 500


@pytest.mark.parametrize("size", [1, MOST_CHARACTERS - 2, MOST_CHARACTERS - 1, MOST_CHARACTERS, 3 * MOST_CHARACTERS])
def test_long_runs_of_marks_are_left_to_the_caller(size: int) -> None:
    for text in ("x" + "\u0334" * size + "yz", "x" + "\u0334" * (size - 1) + "\u0301\u0334" + "y", "\u0e38" * size):
        assert first_change(form_tables("NFC"), text.encode()) == expected(text, "NFC")


def test_words_that_join_others_are_found() -> None:
    drawn = random.Random(3)
    data = "".join(drawn.choices(SYMBOLS, k=2_000)).encode()
    bounds = np.unique([0, *(drawn.randrange(len(data)) for _ in range(1_500)), len(data)])
    text = np.frombuffer(data, dtype=np.uint8)
    steady = boundaries("NFC")
    found = find_joining(form_tables("NFC"), text, bounds)
    met = 0
    for word, joins in enumerate(found.tolist()):
        part = data[bounds[word] : bounds[word + 1]]
        wanted = part[0] & 0xC0 == 0x80 or not all(steady[ord(symbol)] for symbol in part.decode("utf-8", "ignore"))
        assert joins == wanted, part
        met += joins
    assert 100 < met < len(found) - 100


@pytest.mark.parametrize(
    "data", [b"\xff", b"a\xc3", b"\xe4\xb8", b"\xcc\x81\xf0\x90", b"\x80", b"aaaaaaaaaaaa\xed\xa0\x80\xcc"]
)
def test_bytes_that_are_not_utf8_are_within_bounds(data: bytes) -> None:
    assert 0 <= first_change(form_tables("NFC"), data) <= len(data)
    assert len(find_joining(form_tables("NFC"), np.frombuffer(data, dtype=np.uint8), np.array([0, len(data)]))) == 1

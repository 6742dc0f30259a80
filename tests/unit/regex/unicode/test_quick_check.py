"""The parts of a text that a normalization form changes, against normalizing all of it."""

from __future__ import annotations

import random
from itertools import chain
from typing import get_args

import numpy as np
import pytest

from tests.campaigns.evidence.tally import Tally
from tests.support.normalized import SYMBOLS
from tokdfa.regex.unicode import SCALARS
from tokdfa.regex.unicode.normalization import Form, normalize, tables
from tokdfa.regex.unicode.quick_check import boundaries, changes, in_form, is_normal

FORMS: tuple[Form, ...] = get_args(Form)


def assert_code_points_by_definition(step: int) -> None:
    codes = [*chain.from_iterable(range(first, last + 1, step) for first, last in SCALARS)]
    codes += map(ord, {*tables().combining, *tables().decompositions})
    for form in FORMS:
        for code in codes:
            character = chr(code)
            for text in (character, "a" + character, "\u1100" + character, character + "\u0301"):
                assert is_normal(text.encode(), form) == (normalize(text, form) == text), (form, hex(code))


def test_some_code_points() -> None:
    assert_code_points_by_definition(211)


@pytest.mark.slow
def test_all_code_points(tally: Tally) -> None:
    assert_code_points_by_definition(1)
    tally("encoding", "exhaustive cases", 0x110000 - 0x800)


@pytest.mark.parametrize("form", FORMS)
def test_changes_are_what_normalizing_does(form: Form) -> None:
    drawn = random.Random(form)
    n_changes = n_normal = 0
    for _ in range(3_000):
        text = "".join(drawn.choices([*SYMBOLS, "x" * 20, "a" + "\u0334" * 90], k=drawn.randrange(9)))
        text = normalize(text, form) if drawn.random() < 0.3 else text
        data = text.encode()
        at, parts = 0, []
        for begin, end, normalized in changes(data, form):
            assert at <= begin < end
            assert normalized != data[begin:end].decode() != ""
            parts += [data[at:begin].decode(), normalized]
            at = end
            n_changes += 1
        assert "".join(parts) + data[at:].decode() == normalize(text, form)
        assert is_normal(data, form) == (normalize(text, form) == text)
        n_normal += not parts
    assert n_changes > 1_000
    assert n_normal > 800


@pytest.mark.parametrize("form", FORMS)
def test_both_sides_of_a_boundary_are_normalized_by_themselves(form: Form) -> None:
    drawn = random.Random(form)
    steady = boundaries(form)
    met = 0
    for _ in range(5_000):
        left, right = ("".join(drawn.choices(SYMBOLS, k=drawn.randrange(1, 4))) for _ in range(2))
        if steady[ord(right[0])]:
            met += 1
            assert normalize(left + right, form) == normalize(left, form) + normalize(right, form)
            assert normalize(right, form)[0] == right[0] or len(right) > 1
    assert met > 1_000
    assert not steady[0x301]
    assert steady[ord("a")]


def some_text(drawn: random.Random) -> str:
    """Return a text of hard symbols, of any code points, or of some blocks, with long stretches now and then."""
    way = drawn.randrange(4)
    if way == 0:
        return "".join(
            drawn.choices([*SYMBOLS, "x" * 20, "a" + "\u0334" * 90, "é" * 70, "\ufdfa"], k=drawn.randrange(12))
        )
    if way == 1:
        return "".join(chr(drawn.randint(*drawn.choice(SCALARS))) for _ in range(drawn.randrange(99)))
    blocks = drawn.choices([0x00, 0x03, 0x06, 0x09, 0x11, 0x20, 0x30, 0x4E, 0xAC, 0xFB, 0x1D1, 0x1F6], k=3)
    return "".join(chr(drawn.choice(blocks) << 8 | drawn.randrange(256)) for _ in range(drawn.choice((5, 70, 500))))


@pytest.mark.parametrize("form", FORMS)
def test_what_is_between_spans_is_brought_into_a_form(form: Form) -> None:
    drawn = random.Random(form)
    n_changed = n_moved = 0
    for _ in range(1_500):
        text = some_text(drawn)
        text = normalize(text, form) if drawn.random() < 0.3 else text
        data = text.encode()
        assert bytes(in_form(data, form)).decode() == normalize(text, form)
        places = sorted(drawn.choices(range(len(text) + 1), k=2 * drawn.randrange(4)))
        byte_at = [len(text[:place].encode()) for place in places]
        spans = np.array([*byte_at], dtype=np.int64).reshape(-1, 2)
        given = np.column_stack((spans, np.arange(len(spans)))).astype(np.int64)
        expected, moved, at = b"", [], 0
        for number, (start, stop) in enumerate(zip(places[::2], places[1::2], strict=True)):
            expected += normalize(text[at:start], form).encode()
            moved.append([len(expected), len(expected := expected + text[start:stop].encode()), number])
            at = stop
        expected += normalize(text[at:], form).encode()
        n_moved += given.tolist() != moved
        changed = data
        for change in [*changes(data, form, given)][::-1]:
            changed = changed[: change.begin] + change.normalized.encode() + changed[change.end :]
        assert changed == expected
        found = in_form(memoryview(data), form, given)
        assert found.tobytes() == expected
        assert given.tolist() == moved
        n_changed += expected != data
    assert n_changed > 300
    assert n_moved > 100


@pytest.mark.parametrize(
    "text", ["\ufdfa" * 5_000, "a" + "\u0334" * 9_000 + "\u0301", "é" * 9_000 + "\u0301" * 99, "\u0344" * 64]
)
def test_what_becomes_longer_has_room(text: str) -> None:
    for form in FORMS:
        assert bytes(in_form(text.encode(), form)).decode() == normalize(text, form)

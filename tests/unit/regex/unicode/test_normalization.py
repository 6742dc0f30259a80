"""Normalization against the installed tokenizers."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import get_args

import pytest

from tests.campaigns.evidence.tally import Tally
from tokdfa.regex.unicode import SCALARS
from tokdfa.regex.unicode.normalization import Form, lowercase, normalize, strip_accents, tables

normalizers = pytest.importorskip("tokenizers.normalizers")
FORMS: tuple[Form, ...] = get_args(Form)


@pytest.fixture(scope="module", autouse=True)
def same_version() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    if tokenizers.__version__ != tables().version:
        pytest.skip(f"the tables are of tokenizers {tables().version}, installed is {tokenizers.__version__}")


def characters(step: int) -> Iterator[str]:
    return (chr(code) for first, last in SCALARS for code in range(first, last + 1, step))


def steps() -> Iterator[tuple[str, Callable[[str], str], Callable[[str], str]]]:
    """Yield name, the library's function and ours."""
    for form in FORMS:
        yield form, getattr(normalizers, form)().normalize_str, lambda text, form=form: normalize(text, form)
    yield "Lowercase", normalizers.Lowercase().normalize_str, lowercase
    yield "StripAccents", normalizers.StripAccents().normalize_str, strip_accents


def pool() -> list[str]:
    data = tables()
    firsts = [pair[0] for pair in data.compositions]
    seconds = sorted(data.combining) + [pair[1] for pair in data.compositions]
    jamo = [chr(code) for code in (0x1100, 0x1112, 0x1113, 0x1161, 0x1175, 0x1176, 0x11A7, 0x11A8, 0x11C2, 0x11C3)]
    return firsts + seconds * 3 + [*data.decompositions, *data.compatibility] + (["가", "각", *jamo, *"ab 1'"]) * 50


def assert_random_texts_agree(count: int, seed: int) -> None:
    drawn = random.Random(seed)
    symbols = pool()
    for _ in range(count):
        text = "".join(drawn.choices(symbols, k=drawn.randrange(1, 8)))
        for name, theirs, ours in steps():
            assert ours(text) == theirs(text), (name, text.encode("unicode_escape"))


def assert_characters_agree(step: int) -> None:
    for name, theirs, ours in steps():
        for character in characters(step):
            for text in (character, f"a{character}b"):
                assert ours(text) == theirs(text), (name, hex(ord(character)))


def test_some_characters_are_normalized_as_by_the_library() -> None:
    assert_characters_agree(97)


def test_random_texts() -> None:
    assert_random_texts_agree(2_000, seed=1)


@pytest.mark.slow
def test_every_character() -> None:
    assert_characters_agree(1)


@pytest.mark.slow
def test_every_pair_that_might_compose() -> None:
    data = tables()
    firsts = sorted({pair[0] for pair in data.compositions} | set(data.compositions.values()) | set("\u1100\u1113가각"))
    seconds = sorted({*data.combining, *(pair[1] for pair in data.compositions), *map(chr, range(0x1160, 0x1200))})
    for first in firsts:
        text = "|".join(first + second for second in seconds)
        for name, theirs, ours in steps():
            assert ours(text) == theirs(text), (name, hex(ord(first)))


@pytest.mark.slow
def test_many_random_texts(tally: Tally) -> None:
    assert_random_texts_agree(100_000, seed=2)
    tally("encoding", "random cases", 100_000)

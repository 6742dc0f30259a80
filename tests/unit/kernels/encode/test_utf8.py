"""The UTF-8 that the interpreter keeps, against what it makes anew."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokdfa.kernels.encode import utf8
from tokdfa.kernels.encode.utf8 import FoundTexts, kept_utf8
from tokdfa.kernels.library import ffi


@given(st.text())
def test_it_is_the_utf8_of_the_string(text: str) -> None:
    kept_utf8(text)
    for _ in range(2):
        found = kept_utf8(text)
        assert found is not None
        assert bytes(ffi.buffer(*found)) == text.encode()


def test_it_is_kept_of_strings_that_come_again() -> None:
    ascii, other, third = "nee", "n\u00e9e", "n\u00e9"
    assert [kept_utf8(text) is None for text in (ascii, other, ascii, other, third, other)] == [
        False, True, False, False, True, True,
    ]  # fmt: skip


def test_half_of_a_surrogate_pair_has_none() -> None:
    half = "a\ud800"
    assert kept_utf8(half) is None
    with pytest.raises(UnicodeEncodeError):
        kept_utf8(half)


def test_an_interpreter_may_lack_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(utf8, "_as_utf8", None)
    assert kept_utf8("a") is None


@pytest.mark.parametrize("keeps", [True, False])
@given(st.lists(st.text() | st.text("ab\u00e9\u4e2d\U0001f600", max_size=40)))
def test_many_texts_are_found_in_utf8(keeps: bool, texts: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        assert utf8._find_utf8 is not None
        if not keeps:
            patch.setattr(utf8, "_find_utf8", None)
        found = FoundTexts(texts)
    sizes = np.diff(found.offsets).tolist()
    data = [ffi.cast("uint8_t *", place) for place in found.addresses.tolist()]
    assert [bytes(ffi.buffer(*each)) for each in zip(data, sizes, strict=True)] == [text.encode() for text in texts]


@pytest.mark.parametrize("keeps", [True, False])
def test_what_is_no_string_and_half_of_a_pair_are_refused(keeps: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not keeps:
        monkeypatch.setattr(utf8, "_find_utf8", None)
    with pytest.raises(TypeError):
        FoundTexts(["a", b"b"])  # type: ignore[list-item]
    with pytest.raises(UnicodeEncodeError):
        FoundTexts(["a", "\udc00"])


def test_an_interpreter_that_keeps_no_utf8_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(utf8, "_as_utf8", None)
    assert utf8._found_by() is None


@pytest.mark.parametrize("symbols", ["a", "é", "中", "\U0001f600", "aé中\U0001f600"])
def test_texts_of_every_length(symbols: str) -> None:
    texts = [(symbols * n)[:n] for n in range(40)]
    found = FoundTexts([*texts, *texts[::-1]])
    assert np.diff(found.offsets).tolist() == [len(text.encode()) for text in [*texts, *texts[::-1]]]

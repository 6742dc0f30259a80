"""The UTF-8 that the interpreter keeps, against what it makes anew."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokdfa.kernels.encode import utf8
from tokdfa.kernels.encode.utf8 import kept_utf8
from tokdfa.kernels.library import ffi


@given(st.text())
def test_it_is_the_utf8_of_the_string(text: str) -> None:
    for _ in range(2):
        found = kept_utf8(text)
        assert found is not None
        assert bytes(ffi.buffer(*found)) == text.encode()


def test_half_of_a_surrogate_pair_has_none() -> None:
    with pytest.raises(UnicodeEncodeError):
        kept_utf8("a\ud800")


def test_an_interpreter_may_lack_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(utf8, "_as_utf8", None)
    assert kept_utf8("a") is None

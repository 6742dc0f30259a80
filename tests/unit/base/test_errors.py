"""Messages are one short line, even if they quote a long text."""

from __future__ import annotations

import pytest

from tokdfa.base.errors import TokdfaError

LONG = "ab\n" * 100_000


@pytest.mark.parametrize("part", ["what", "value", "where", "hint"])
def test_a_message_quotes_no_whole_file(part: str) -> None:
    error = TokdfaError(**{"what": "wrong", part: LONG})
    assert len(str(error)) < 700
    assert "\n" not in str(error)
    assert getattr(error, part) == LONG


def test_a_short_message_is_whole() -> None:
    assert str(TokdfaError("wrong", value=1, where="line 2", hint="write 2")) == "line 2: wrong: 1 (write 2)"

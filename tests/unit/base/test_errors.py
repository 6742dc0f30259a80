"""Messages are one short line, even if they quote a long text."""

from __future__ import annotations

import copy
import pickle

import pytest

from tokdfa.base.errors import Argument, Hint, TokdfaError

LONG = "ab\n" * 100_000


@pytest.mark.parametrize("part", ["what", "value", "where", "hint"])
def test_a_message_quotes_no_whole_file(part: str) -> None:
    error = TokdfaError(**{"what": "wrong", part: LONG})
    assert len(str(error)) < 700
    assert "\n" not in str(error)
    assert getattr(error, part) == LONG


def test_a_short_message_is_whole() -> None:
    assert str(TokdfaError("wrong", value=1, where="line 2", hint="write 2")) == "line 2: wrong: 1 (write 2)"


def test_a_hint_keeps_its_arguments_in_copies() -> None:
    error = TokdfaError(
        "wrong", value=1, hint=Hint("choose ", Argument("unit", "line"), " or raise ", Argument("limit"))
    )
    for each in (error, copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert str(each) == 'wrong: 1 (choose unit="line" or raise limit)'
        assert isinstance(each.hint, Hint)
        assert each.hint.spelled(lambda argument: f"<{argument.name}>") == "choose <unit> or raise <limit>"


def test_a_message_follows_its_parts() -> None:
    error = TokdfaError("wrong", value=None, where="text", hint="write 2")
    error.where, error.hint = "--text", None
    assert str(error) == "--text: wrong: None"

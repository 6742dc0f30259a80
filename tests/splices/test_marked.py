"""Tests for `tokdfa.splices.marked`: where marks show that pieces end or begin."""

from __future__ import annotations

import pytest

from tokdfa.splices.marked import Marks


@pytest.mark.parametrize(
    ("ends", "begins", "fuses", "left", "right", "shows"),
    [
        # 0 is a class of characters without a symbol, 1 one of others.
        (True, False, False, 1, 1, True),
        (True, False, False, 0, 1, False),
        (True, False, False, 1, 0, True),
        (False, True, False, 1, 0, False),
        (False, True, False, 0, 1, True),
        (True, True, False, 0, 0, False),
        (True, True, True, 0, 0, True),
        (True, False, True, 0, 1, False),
    ],
)
def test_which_borders_show(ends: bool, begins: bool, fuses: bool, left: int, right: int, shows: bool) -> None:
    assert Marks(ends, begins, frozenset({0}), fuses).show(left, right) is shows

"""The numbers that Python and C have in common."""

from __future__ import annotations

import pytest

from tokdfa.kernels.encode import added, events, one_pass, pieces, split, subsequential, texts
from tokdfa.kernels.library import lib


@pytest.mark.parametrize(
    ("module", "names"),
    [
        (events, ["CONTINUES", "BEGINS", "DROPPED", "ADDED", "UNSETTLED", "EVENT_BITS"]),
        (added, ["STRIPS_LEFT", "STRIPS_RIGHT", "SINGLE_WORD", "STRIPS_ASCII"]),
        (split, ["BLOCK_BITS", "CONTINUATION", "LONGEST_PART"]),
        (one_pass, ["NO_NUMBER"]),
        (pieces, ["LONGEST_KEPT", "MANY_MISSED", "FOREIGN", "TOO_LONG"]),
        (
            texts,
            ["FOREIGN", "TOO_LONG", "INVALID", "CUT_SHORT", "FULL", "LACKS_IDS", "PAUSED", "CROWDED", "SPLIT_BLOCK"],
        ),
        (texts, ["DONE", "TOO_LARGE", "WAITS", "MOST_HELD"]),
        (subsequential, ["LONGEST_STATE", "FULL"]),
    ],
)
def test_python_and_c_agree(module: object, names: list[str]) -> None:
    for name in names:
        here = getattr(module, name, None)
        assert (getattr(module, f"_{name}") if here is None else here) == getattr(lib, f"TOKDFA_{name}")
    assert pieces.SLACK == lib.TOKDFA_AT_ONCE

"""Having streams judged in one way or another."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tokdfa.validation import buffer
from tokdfa.validation.judges import walk
from tokdfa.validation.judges.pieces import PieceJudge


@contextmanager
def judged_by(way: str, few: int) -> Iterator[None]:
    """Judge by a "walk" that looks closely at few ids at a time, or by "pieces" only, as where there is no table."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walk, "WINDOW", few)
        patch.setattr(walk, "PATIENCE", few)
        if way == "pieces":
            patch.setattr("tokdfa.validation.api.whole_walk", lambda tokenizer: None)
            patch.setattr(walk.WalkJudge, "_begin", _begin_with_pieces)
        yield


def _begin_with_pieces(judge: walk.WalkJudge, first: int, byte: int) -> None:
    judge._judge, judge._until = PieceJudge(judge._model, buffer.Buffer(first, byte)), sys.maxsize - 1

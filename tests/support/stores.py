"""Reading ids out of files, whatever is read at a time."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from tokdfa.stores import iter_ids
from tokdfa.stores.tuning import DEFAULT, Tuning

IDS = [0, 1, 50256, 17, 4, 4, 65535]

tunings = pytest.mark.parametrize("tuning", [Tuning(size, size) for size in (1, 2, 3, 5, 1 << 20)])


def collect(source: str | Path, dtype: str | None = None, tuning: Tuning = DEFAULT) -> list[int]:
    """Return all ids of a file."""
    return [id for chunk in iter_ids(source, dtype=dtype, tuning=tuning) for id in chunk.tolist()]


class Stdin:
    """Standard input with these bytes."""

    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)

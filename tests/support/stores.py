"""Reading ids out of files, with any amount read at a time."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from tokdfa.stores import iter_ids

IDS = [0, 1, 50256, 17, 4, 4, 65535]

sizes = pytest.mark.parametrize("size", [1, 2, 3, 5, 1 << 20])


def collect(source: str | Path, dtype: str | None = None, size: int | None = None) -> list[int]:
    """Return all ids of a file."""
    return [id for chunk in iter_ids(source, dtype=dtype, size=size) for id in chunk.tolist()]


class Stdin:
    """Standard input with these bytes."""

    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)

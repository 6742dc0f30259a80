"""Cutting texts and streams into parts."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise
from typing import TypeVar

__all__ = ["in_parts"]

T = TypeVar("T", bytes, str, list[int])


def in_parts(drawn: random.Random, whole: T, sizes: Sequence[int] = (1, 2, 3, 7)) -> list[T]:
    """Return parts of one size, or of any, empty ones among them."""
    size = drawn.choice(sizes)
    if drawn.random() < 0.5:
        return [whole[at : at + size] for at in range(0, len(whole), size)]
    bounds = sorted(drawn.randrange(len(whole) + 1) for _ in range(drawn.randrange(len(whole) // size + 2)))
    return [whole[start:stop] for start, stop in pairwise([0, *bounds, len(whole)])]

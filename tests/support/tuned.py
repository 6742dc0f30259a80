"""Searchers and replacers with other thresholds of speed than users have."""

from __future__ import annotations

from typing import TypeVar

from tokdfa.replacing.api import Replacer
from tokdfa.searching.api import Searcher

T = TypeVar("T", Searcher, Replacer)


def tuned(kind: type[T], tuning: object) -> type[T]:
    """Return a class that does what `kind` does, with these thresholds."""
    return type(kind.__name__, (kind,), {"_tuning": tuning})

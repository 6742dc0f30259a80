"""Sets of code points, and the character classes of the tokenizers' libraries."""

from __future__ import annotations

from tokdfa.unicode.ranges import (
    LAST,
    SCALARS,
    SURROGATES,
    Ranges,
    complement,
    contains,
    difference,
    intersection,
    union,
)
from tokdfa.unicode.tables import TABLES, Table, case_variants, fold_expansions, ranges, universe, version

__all__ = [
    "LAST",
    "SCALARS",
    "SURROGATES",
    "TABLES",
    "Ranges",
    "Table",
    "case_variants",
    "complement",
    "contains",
    "difference",
    "fold_expansions",
    "intersection",
    "ranges",
    "union",
    "universe",
    "version",
]

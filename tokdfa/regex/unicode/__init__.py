"""Sets of code points, and the character classes and normalization forms of the tokenizers' libraries.

Libraries ship tables of different Unicode versions, so the meaning of a pattern or a normalizer depends on its own
library's tables. `ranges` has sets of code points, their algebra and their encoding in files, `tables` the classes by
library, `normalization` the forms and the interface of all normalizers, `quick_check` the segments of a text that the
forms change and their results, `utf8` the offsets where symbols begin among bytes, and GPT-2's spelling of bytes as
characters. `versions` has the tables of other versions of the libraries than the newest. The programs in
``tests/campaigns/tables`` make the tables in ``data/`` by querying the libraries.

Callers: `regex`, `tokenizers`.

Cost: a table is read on first use, in some milliseconds.
"""

from __future__ import annotations

from tokdfa.regex.unicode.ranges import (
    LAST,
    SCALARS,
    SURROGATES,
    Ranges,
    characters_of,
    complement,
    contains,
    difference,
    intersection,
    union,
)
from tokdfa.regex.unicode.tables import case_variants, fold_expansions, kind_of, ranges, universe, version
from tokdfa.regex.unicode.versions import TABLES, Table, library_of

__all__ = [
    "LAST",
    "SCALARS",
    "SURROGATES",
    "TABLES",
    "Ranges",
    "Table",
    "case_variants",
    "characters_of",
    "complement",
    "contains",
    "difference",
    "fold_expansions",
    "intersection",
    "kind_of",
    "library_of",
    "ranges",
    "union",
    "universe",
    "version",
]

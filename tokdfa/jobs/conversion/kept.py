"""Nearly all texts, where only the Unicode tables of a format stand in the way: those without some characters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from tokdfa.base.errors import PatternError
from tokdfa.regex.unicode import Ranges, contains, difference, ranges, union
from tokdfa.tokenizers.pretokenizers.steps import Splitting

__all__ = ["KeptTexts"]

# The classes that a pattern names, and the characters that become ASCII letters where case is ignored.
_CLASS = re.compile(r"\\[pP]\{\^?(\w+)\}|\\([swdSWD])")
_FOLDED: Ranges = ((0x17F, 0x17F), (0x212A, 0x212A))

_MOST_LEFT_OUT = 10_000


class KeptTexts(NamedTuple):
    """A pattern of texts that all keep their ids, and the number of code points that these texts do not have."""

    pattern: str
    n_left_out: int


def texts_without_changes(one: Splitting, other: Splitting, witness: str) -> KeptTexts | None:
    r"""Return the texts without characters that two splittings class differently.

    None if the classes are not known, the witness of a difference has none of these characters, or they are too many,
    as capital letters are, which llama.cpp does not know by their class.

    Examples
    --------
    >>> from tokdfa.jobs.conversion.kept import texts_without_changes
    >>> from tokdfa.tokenizers.pretokenizers.steps import Split, Splitting
    >>> sides = [Splitting(library, (Split(r"\p{P}"),)) for library in ("tiktoken", "llama.cpp")]
    >>> found = texts_without_changes(*sides, "\u1b4e")
    >>> found.n_left_out, found.pattern[:25]
    (13, '[^\\u1b4e-\\u1b4f\\u1b7f\\U00')
    """
    patterns = [step.pattern for each in (one, other) for step in each.all_steps]
    changed = _FOLDED if any("(?i" in pattern for pattern in patterns) else ()
    try:
        for name in {*_classes(patterns)}:
            mine, its = ranges(name, one.table), ranges(name, other.table)
            changed = union(changed, difference(mine, its), difference(its, mine))
    except PatternError:
        return None
    n_left_out = sum(high - low + 1 for low, high in changed)
    if n_left_out > _MOST_LEFT_OUT or not any(contains(changed, ord(character)) for character in witness):
        return None
    spans = (f"{_escaped(low)}-{_escaped(high)}" if low < high else _escaped(low) for low, high in changed)
    return KeptTexts(f"[^{''.join(spans)}]*", n_left_out)


def _classes(patterns: list[str]) -> Iterator[str]:
    for pattern in patterns:
        for name, letter in _CLASS.findall(pattern):
            yield name or "\\" + letter.lower()


def _escaped(code: int) -> str:
    return f"\\u{code:04x}" if code < 1 << 16 else f"\\U{code:08x}"

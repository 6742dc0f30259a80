"""Graphemes as the library tokenizers cuts them: extended grapheme clusters, by its version of Unicode."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from tokdfa.regex.unicode.ranges import decode, pattern_class
from tokdfa.regex.unicode.versions import read_data

__all__ = ["is_alone", "is_boundary", "map_graphemes"]

_SPECIAL = ("lead", "vowel", "tail", "syllable", "flag", "picture", "consonant", "control")
_JOINER = "\u200d"
_SYLLABLES = (0xAC00, 0xD7A3)
_WITHOUT_TAIL = tuple((code, code) for code in range(_SYLLABLES[0], _SYLLABLES[1] + 1, 28))


def map_graphemes(text: str, each: Callable[[str], str], plain: Callable[[str], str]) -> str:
    """Return a text with its graphemes replaced: `plain` replaces texts whose graphemes are single characters.

    Notes
    -----
    Unicode Standard Annex 29, section 3, as the regular expression of its table 1c. The classes were extracted from the
    library by ``python -m tests.campaigns.tables.graphemes``, which tries all code points.
    """
    if not _joining().search(text):
        return plain(text)

    def replaced(match: re.Match[str]) -> str:
        found = match.group()
        return plain(found) if match.lastindex or len(found) == 1 else each(found)

    return _graphemes().sub(replaced, text)


def is_boundary(left: str, right: str) -> bool:
    """Return whether two characters side by side are certainly in two graphemes, whatever surrounds them.

    Examples
    --------
    >>> from tokdfa.regex.unicode.graphemes import is_boundary
    >>> is_boundary("a", " "), is_boundary("a", "\u0301"), is_boundary("\u0301", "a")
    (True, False, True)
    """
    ordinary, attached, prepended = _kinds()
    if attached.match(right) or prepended.match(left):
        return False
    return bool(ordinary.match(left) or ordinary.match(right))


def is_alone(character: str) -> bool:
    """Return whether a grapheme that ends with a character begins with it too, unless one before it is prepended."""
    return bool(_kinds()[0].match(character))


@cache
def _kinds() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of characters that nothing special is said of, that end a grapheme, and that begin one."""
    of = _classes()
    attached = of["extending"] + of["spacing"]
    special = "".join(of[name] for name in _SPECIAL) + attached + of["prepended"]
    return re.compile(f"[^{special}]"), re.compile(f"[{attached}]"), re.compile(f"[{of['prepended']}]")


@cache
def _classes() -> dict[str, str]:
    """Return the classes as they are written between brackets in a pattern."""
    sets = {name: decode(deltas) for name, deltas in read_data("graphemes").items() if isinstance(deltas, list)}
    sets |= {"syllable": (_SYLLABLES,), "without_tail": _WITHOUT_TAIL}
    return {name: pattern_class(ranges) for name, ranges in sets.items()}


@cache
def _joining() -> re.Pattern[str]:
    """Return the pattern of what is in every grapheme of several characters."""
    of = _classes()
    some = "".join(of[name] for name in ("extending", "spacing", "prepended", "vowel", "tail", "lead", "flag"))
    return re.compile(f"[{some}]|\r\n")


@cache
def _graphemes() -> re.Pattern[str]:
    """Return the pattern of a grapheme, or, as its only group, of several that are single characters."""
    of = _classes()
    after = f"[{of['extending']}{of['spacing']}]"
    links = f"[{of['linker']}{of['conjunct_extending']}]*"
    special = "".join(of[name] for name in (*_SPECIAL, "prepended", "extending", "spacing"))
    syllable = f"(?:[{of['vowel']}]+|[{of['without_tail']}][{of['vowel']}]*|[{of['syllable']}])"
    cores = (
        f"[{of['lead']}]*{syllable}[{of['tail']}]*",
        f"[{of['lead']}]+",
        f"[{of['tail']}]+",
        f"[{of['flag']}]{{2}}",
        f"[{of['picture']}](?:[{of['extending']}]*{_JOINER}[{of['picture']}])*",
        f"[{of['consonant']}](?:{links}[{of['linker']}]{links}[{of['consonant']}])*",
        f"[^{of['control']}]",
    )
    # Ordinary characters are taken many at a time; the last one may have marks after it.
    return re.compile(f"([^{special}]+(?!{after}))|\r\n|[{of['prepended']}]*(?:{'|'.join(cores)}){after}*|.", re.DOTALL)

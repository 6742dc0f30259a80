"""Added tokens found by regular expressions, character by character: the oracle of the compiled finder."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from tokdfa.regex.unicode import contains, ranges
from tokdfa.regex.unicode.normalization import spaces
from tokdfa.tokenizers.encoding.special import Special

__all__ = ["added_spans", "added_stretches"]

Span = tuple[int, int, Special | None]

ASCII_SPACES = frozenset(" \t\n\v\f\r")


def added_spans(specials: Sequence[Special], text: str) -> list[Span]:
    """Return where each added token and each stretch between them begins and ends, level by level."""
    found: list[Span] = []
    for start, stop, special in _spans(specials, 0, text):
        inner = [(start, stop, special)] if special else _spans(specials, 1, text[start:stop])
        found.extend(inner if special else ((start + a, start + b, token) for a, b, token in inner))
    return found


def added_stretches(
    specials: Sequence[Special], text: str, normalizer: Callable[[str], str]
) -> list[tuple[Special | str, bool]]:
    """Return the tokens and the normalized stretches between them, and whether each begins the text."""
    found: list[tuple[Special | str, bool]] = []
    for start, stop, special in _spans(specials, 0, text):
        if special:
            found.append((special, start == 0))
            continue
        part = normalizer(text[start:stop])
        found.extend((token or part[a:b], start == a == 0) for a, b, token in _spans(specials, 1, part))
    return found


def _spans(specials: Sequence[Special], level: int, text: str) -> Iterator[Span]:
    of = {special.text: special for special in specials if special.level == level}
    pattern = "|".join(map(re.escape, sorted(of, key=len, reverse=True)))
    done = 0
    for match in re.finditer(pattern, text) if of else ():
        start, stop = match.span()
        token = of[match.group()]
        if token.single_word and (_is_word(text[start - 1 : start]) or _is_word(text[stop : stop + 1])):
            continue
        blanks = ASCII_SPACES if token.strips_ascii else spaces()
        if token.lstrip:
            while start > done and text[start - 1] in blanks:
                start -= 1
            start = max(start, done)
        if token.rstrip:
            while stop < len(text) and text[stop] in blanks:
                stop += 1
        if start == stop:
            continue
        if done < start:
            yield done, start, None
        yield start, stop, token
        done = stop
    if done < len(text):
        yield done, len(text), None


def _is_word(character: str) -> bool:
    return bool(character) and contains(ranges(r"\w", "tiktoken"), ord(character))

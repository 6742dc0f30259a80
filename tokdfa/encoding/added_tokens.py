"""Finding added tokens in a text, as the library tokenizers does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from tokdfa.encoding.special import Special
from tokdfa.errors import LimitExceededError
from tokdfa.unicode import contains, ranges
from tokdfa.unicode.normalization import spaces

__all__ = ["AddedTokens", "normalized_stretches"]

_ASCII_SPACES = frozenset(" \t\n\v\f\r")
# A pattern of them takes a microsecond and a hundred bytes for each character; the largest vocabularies have 100,000.
_MOST_CHARACTERS = 1 << 20


class AddedTokens:
    """A finder of the leftmost added token, the longest of those that begin at one place; it goes on after that token.

    Parameters
    ----------
    specials : sequence of Special

    Raises
    ------
    LimitExceededError
        If they have more than 2**20 characters in all.

    Notes
    -----
    A single-word token that touches a word is skipped, together with those that overlap it. White space beside a token
    that strips belongs to it. The next token is still found if it begins with such space, unless it strips on both
    sides and consists only of such space: then nothing is left of it.
    """

    def __init__(self, specials: Sequence[Special]) -> None:
        self._of = {special.text: special for special in specials}
        n = sum(map(len, self._of))
        if n > _MOST_CHARACTERS:
            raise LimitExceededError(f"the added tokens have more than {_MOST_CHARACTERS:,} characters", value=n)
        longest_first = sorted(self._of, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first)))

    def cut(self, text: str) -> Iterator[tuple[str | Special, bool]]:
        """Yield the tokens and the stretches between them, and whether each begins the text."""
        for start, stop, token in self.spans(text):
            yield text[start:stop] if token is None else token, start == 0

    def spans(self, text: str) -> Iterator[tuple[int, int, Special | None]]:
        """Yield where each token and each stretch between them begins and ends, and the token; None for a stretch."""
        done = 0
        for match in self._pattern.finditer(text) if self._of else ():
            start, stop = match.span()
            token = self._of[match.group()]
            if token.single_word and (_is_word(text[start - 1 : start]) or _is_word(text[stop : stop + 1])):
                continue
            blanks = _ASCII_SPACES if token.strips_ascii else spaces()
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


def normalized_stretches(
    levels: Sequence[AddedTokens], normalizers: Sequence[Callable[[str], str] | None], text: str
) -> Iterator[tuple[str | Special, bool]]:
    """Yield the tokens of a text and the normalized stretches between them, and whether each begins the text.

    Parameters
    ----------
    levels : sequence of two AddedTokens
        The tokens that are found before normalization, and those after it.
    normalizers : sequence of two callables or None
        What normalizes a stretch, and what normalizes one that begins the text.
    text : str
    """
    outer, inner = levels
    for part, begins in outer.cut(text):
        if isinstance(part, Special):
            yield part, begins
            continue
        normalizer = normalizers[begins]
        normalized = part if normalizer is None else normalizer(part)
        for stretch, begins_part in inner.cut(normalized):
            yield stretch, begins and begins_part


@lru_cache(maxsize=1 << 12)
def _is_word(character: str) -> bool:
    # The class \w of the engine that tokenizers asks is the one that tiktoken has, too.
    return bool(character) and contains(ranges(r"\w", "tiktoken"), ord(character))

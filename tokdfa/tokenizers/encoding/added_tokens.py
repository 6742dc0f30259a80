"""Finding added tokens in a text, as the library tokenizers does: the leftmost longest, level by level."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np

from tokdfa.base.arrays import Int32Array, Uint8Array, Uint64Array
from tokdfa.base.errors import LimitExceededError
from tokdfa.kernels.encode import added
from tokdfa.kernels.encode.added import AddedFinder, added_struct
from tokdfa.kernels.library import Struct
from tokdfa.regex.unicode import LAST, ranges
from tokdfa.regex.unicode.normalization import spaces
from tokdfa.regex.unicode.utf8 import begins_symbol
from tokdfa.tokenizers.encoding.special import Special

_LEVELS = (0, 1)
# A trie of them takes a microsecond and some bytes for each character; the largest vocabularies have 100,000.
_MOST_CHARACTERS = 1 << 20

Span: TypeAlias = tuple[int, int, Special | None]
"""Where a segment of a text begins and ends, and the added token that it is, if it is one."""


class AddedTokens:
    """A finder of added tokens in texts: level 0 before the normalizer, level 1 after it.

    At each level it finds the leftmost token, the longest if several begin at one offset, and the next after it.
    LimitExceededError is raised if the tokens of a level have more than 2**20 characters in all.

    Notes
    -----
    A single-word token that touches a word is skipped, together with the tokens that overlap it. White space next to a
    token that strips belongs to it. The next token is still found if it begins with such space, unless it strips on
    both sides and consists only of such space: then none of it is left.
    """

    def __init__(self, specials: Iterable[Special] = ()) -> None:
        self._specials = tuple(specials)
        self._levels = [{special.text: special for special in self._specials if special.level == at} for at in _LEVELS]
        for level in self._levels:
            n = sum(map(len, level))
            if n > _MOST_CHARACTERS:
                raise LimitExceededError(f"the added tokens have more than {_MOST_CHARACTERS:,} characters", value=n)

    def __bool__(self) -> bool:
        """Return whether there are any."""
        return any(self._levels)

    @cached_property
    def number(self) -> dict[Special, int]:
        """The numbers of the tokens in the tables."""
        return {special: at for at, special in enumerate(self._specials)}

    @cached_property
    def tables(self) -> Struct:
        """The tables of the kernels, for text that is not normalized."""
        return self._tables_of(_LEVELS)

    @cached_property
    def outer_tables(self) -> Struct:
        """The tables of the tokens of level 0 alone."""
        return self._tables_of((0,))

    @cached_property
    def _finder(self) -> AddedFinder:
        return AddedFinder(self.tables)

    @cached_property
    def outer_finder(self) -> AddedFinder | None:
        """The finder of the tokens of level 0 alone; None if there are none."""
        return AddedFinder(self.outer_tables) if self._levels[0] else None

    @cached_property
    def _inner_finder(self) -> AddedFinder:
        return AddedFinder(self._tables_of((1,)))

    def _tables_of(self, levels: Sequence[int], *, is_outer: bool = False) -> Struct:
        """Return the tables of some levels, all of them as the outer one if it `is_outer`."""
        number = self.number
        outer, inner = (
            {_utf8(text): number[special] for text, special in self._levels[at].items() if text and at in levels}
            for at in _LEVELS
        )
        if is_outer:
            outer, inner = outer | inner, {}
        flags = np.array([*map(_flags, self._specials)], dtype=np.uint8)
        ids = np.array([special.id for special in self._specials], dtype=np.int32)
        return added_struct(outer, inner, ids, flags, *_classes(flags))

    def are_in(self, text: bytes) -> bool:
        """Return whether any token is found in a text, as UTF-8."""
        return bool(self) and len(self._finder.find(text)) > 0

    def cut(self, text: str) -> list[Special | str]:
        """Return the segments of a text that is not normalized, none of them empty."""
        return [text[start:stop] if special is None else special for start, stop, special in self.spans(text)]

    def spans(self, text: str, outer: Iterable[Span] | None = None) -> list[Span]:
        """Return where each of these segments begins and ends, and the token; None for text between tokens.

        With the spans of `outer` tokens, of level 0, the text is normalized between them.
        """
        if outer is None:
            return [*self._spans(text, self._finder)] if self else [(0, len(text), None)] if text else []
        found: list[Span] = []
        done = 0
        for start, stop, special in (*outer, (len(text), len(text), None)):
            between = self._spans(text[done:start], self._inner_finder) if done < start else ()
            found += ((done + low, done + high, token) for low, high, token in between)
            if special is not None:
                found.append((start, stop, special))
            done = stop
        return found

    def outer_spans(self, text: str) -> list[Span]:
        """Return the spans of the tokens of level 0, and of the text between them."""
        outer = self.outer_finder
        return [*self._spans(text, outer)] if outer and text else [(0, len(text), None)]

    def _spans(self, text: str, finder: AddedFinder) -> Iterator[Span]:
        data = _utf8(text)
        found = finder.find(data)
        if len(found) and len(data) > len(text):
            characters = np.cumsum(begins_symbol(data), dtype=np.int64)
            found[:, :2] = np.append(np.int64(0), characters)[found[:, :2]]
        done = 0
        for start, stop, number in found.tolist():
            if done < start:
                yield done, start, None
            yield start, stop, self._specials[number]
            done = stop
        if done < len(text):
            yield done, len(text), None

    def segments(
        self, text: str, normalizer: Callable[[str], str] | None, first: Callable[[str], str] | None
    ) -> Iterator[tuple[Special | str, bool]]:
        """Yield the tokens of a text and the normalized segments between them, and whether each begins the text.

        The one that begins it is normalized by `first`, and all others by `normalizer`.
        """
        inner = self._levels[1]
        # Something may be put before the empty text, too.
        for start, stop, special in self.outer_spans(text):
            if special is not None:
                yield special, start == 0
                continue
            part, normalize = text[start:stop], normalizer if start else first
            normalized = part if normalize is None else normalize(part)
            if not inner:
                if normalized:
                    yield normalized, start == 0
                continue
            for a, b, token in self._spans(normalized, self._inner_finder):
                yield (normalized[a:b] if token is None else token), start == a == 0

    def stream(self) -> AddedTokensStream:
        """Return a stream that takes a text part by part."""
        return AddedTokensStream(self._finders_of_levels, self._specials)

    @cached_property
    def _finders_of_levels(self) -> list[AddedFinder]:
        return [AddedFinder(self._tables_of((at,), is_outer=True)) for at in _LEVELS if self._levels[at]]


class AddedTokensStream:
    """A text that comes in parts, cut at plain added tokens; only text that may become one of them is held back."""

    def __init__(self, finders: Sequence[AddedFinder], specials: Sequence[Special]) -> None:
        self._finders = finders
        self._specials = specials
        self._held = [b""] * len(finders)

    def feed(self, part: bytes) -> list[Special | bytes]:
        """Return the tokens settled since the last call, and the text outside of them, none empty."""
        return self._through([part] if part else [], is_end=False)

    def finish(self) -> list[Special | bytes]:
        """Return the rest of the text, and get ready for another one."""
        return self._through([], is_end=True)

    def _through(self, found: list[Special | bytes], *, is_end: bool) -> list[Special | bytes]:
        """Return tokens and text between them, looking in the text for those of each level."""
        for level in range(len(self._finders)):
            outer, found = found, []
            for segment in outer:
                if isinstance(segment, Special):
                    found += (*self._rest(level), segment)
                    continue
                text = self._held[level] + segment
                spans, decided = self._finders[level].find_open(text)
                self._held[level] = text[decided:]
                found += self._cut(text[:decided], spans.tolist())
            if is_end:
                found += self._rest(level)
        return found

    def _rest(self, level: int) -> Iterator[Special | bytes]:
        """Yield the tokens and the text that a level holds back, where the text ends."""
        text, self._held[level] = self._held[level], b""
        return self._cut(text, self._finders[level].find(text).tolist())

    def _cut(self, text: bytes, spans: Iterable[tuple[int, int, int]]) -> Iterator[Special | bytes]:
        """Yield the tokens that are found in a text, and the text outside of them."""
        done = 0
        for start, stop, number in spans:
            if done < start:
                yield text[done:start]
            yield self._specials[number]
            done = stop
        if done < len(text):
            yield text[done:]


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _flags(special: Special) -> int:
    """Return the flags of a token, as the kernels have them."""
    return (
        added.STRIPS_LEFT * special.lstrip
        | added.STRIPS_RIGHT * special.rstrip
        | added.SINGLE_WORD * special.single_word
        | added.STRIPS_ASCII * special.strips_ascii * (special.lstrip or special.rstrip)
    )


def _classes(flags: Uint8Array) -> tuple[Int32Array, Uint64Array]:
    """Return the code points of white space, ascending, and a bit for each one of words, if any flag needs them."""
    space = np.array(sorted(map(ord, spaces())) if flags.any() else [], dtype=np.int32)
    if not (flags & added.SINGLE_WORD).any():
        return space, np.zeros(0, dtype=np.uint64)
    is_word = np.zeros(LAST + 1, dtype=np.bool_)
    # The class \w of tokenizers' engine is the same as tiktoken's.
    for first, last in ranges(r"\w", "tiktoken"):
        is_word[first : last + 1] = True
    return space, np.packbits(is_word, bitorder="little").view("<u8").astype(np.uint64)

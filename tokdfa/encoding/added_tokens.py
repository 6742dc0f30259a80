"""Finding added tokens in a text, as the library tokenizers does: the leftmost longest, level by level."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TypeAlias

from tokdfa.encoding.special import Special
from tokdfa.errors import LimitExceededError
from tokdfa.unicode import contains, ranges
from tokdfa.unicode.normalization import spaces

__all__ = ["AddedTokens", "AddedTokensStream", "Stretch"]

# An added token, or bytes between added tokens.
Stretch: TypeAlias = Special | bytes

_LEVELS = (0, 1)
_ASCII_SPACES = frozenset(" \t\n\v\f\r")
# A pattern of them takes a microsecond and a hundred bytes for each character; the largest vocabularies have 100,000.
_MOST_CHARACTERS = 1 << 20


class AddedTokens:
    """A finder of added tokens in texts: those of level 0 before the normalizer, those of level 1 after it.

    Of each level it finds the leftmost token, the longest of those that begin at one place, and the next after that.

    Parameters
    ----------
    specials : iterable of Special

    Raises
    ------
    LimitExceededError
        If those of a level have more than 2**20 characters in all.

    Notes
    -----
    A single-word token that touches a word is skipped, together with those that overlap it. White space beside a token
    that strips belongs to it. The next token is still found if it begins with such space, unless it strips on both
    sides and consists only of such space: then nothing is left of it.
    """

    def __init__(self, specials: Iterable[Special] = ()) -> None:
        specials = tuple(specials)
        self._levels = [_Level([special for special in specials if special.level == level]) for level in _LEVELS]
        texts = [special.text for special in specials]
        self._beginning = _common_beginning(texts)
        self._any = _alternatives(texts)

    def __bool__(self) -> bool:
        """Return whether there are any."""
        return any(level.of for level in self._levels)

    def finds_none(self, text: str) -> bool:
        """Return whether no token is in a text, at any level."""
        return self._beginning not in text or self._any.search(text) is None

    def cut(self, text: str) -> list[Special | str]:
        """Return the stretches of a text that is not normalized, none of them empty."""
        return [text[start:stop] if special is None else special for start, stop, special in self.spans(text)]

    def spans(self, text: str) -> list[tuple[int, int, Special | None]]:
        """Return where each of these stretches begins and ends, and the token; None for text between tokens."""
        outer, inner = self._levels
        found: list[tuple[int, int, Special | None]] = []
        for start, stop, special in outer.spans(text):
            if special is not None:
                found.append((start, stop, special))
            else:
                found.extend((start + a, start + b, token) for a, b, token in inner.spans(text[start:stop]))
        return found

    def stretches(
        self, text: str, normalizer: Callable[[str], str] | None, first: Callable[[str], str] | None
    ) -> Iterator[tuple[Special | str, bool]]:
        """Yield the tokens of a text and the normalized stretches between them, and whether each begins the text.

        Parameters
        ----------
        text : str
        normalizer, first : callable or None
            What normalizes a stretch, and what normalizes one that begins the text.
        """
        outer, inner = self._levels
        for start, stop, special in outer.spans(text):
            if special is not None:
                yield special, start == 0
                continue
            part, normalize = text[start:stop], normalizer if start else first
            normalized = part if normalize is None else normalize(part)
            if not inner.of:
                if normalized:
                    yield normalized, start == 0
                continue
            for a, b, token in inner.spans(normalized):
                yield (normalized[a:b] if token is None else token), start == a == 0

    def stream(self) -> AddedTokensStream:
        """Return a stream that takes a text part by part."""
        return AddedTokensStream([_LevelStream(level.of) for level in self._levels if level.of])


class _Level:
    """The added tokens of one level, by the text that is found."""

    def __init__(self, specials: Sequence[Special]) -> None:
        self.of = {special.text: special for special in specials}
        n = sum(map(len, self.of))
        if n > _MOST_CHARACTERS:
            raise LimitExceededError(f"the added tokens have more than {_MOST_CHARACTERS:,} characters", value=n)
        self._pattern = _alternatives(self.of)

    def spans(self, text: str) -> Iterator[tuple[int, int, Special | None]]:
        """Yield where each token and each stretch between them begins and ends, and the token; None for a stretch."""
        done = 0
        for match in self._pattern.finditer(text) if self.of else ():
            start, stop = match.span()
            token = self.of[match.group()]
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


class AddedTokensStream:
    """A text that comes in parts, cut at plain added tokens; only text that may become one of them is held back."""

    def __init__(self, levels: Sequence[_LevelStream]) -> None:
        self._levels = levels

    def feed(self, part: bytes) -> list[Stretch]:
        """Return what has become certain since the last call: tokens, and text outside of them, none empty."""
        found: list[Stretch] = [part] if part else []
        for level in self._levels:
            found = [out for stretch in found for out in level.feed(stretch)]
        return found

    def finish(self) -> list[Stretch]:
        """Return the rest of the text, and get ready for another one."""
        found: list[Stretch] = []
        for level in self._levels:
            found = [out for stretch in found for out in level.feed(stretch)]
            found += level.finish()
        return found


class _LevelStream:
    """The added tokens of one level in a text that comes in parts."""

    def __init__(self, specials: dict[str, Special]) -> None:
        self._special = {content.encode(): special for content, special in specials.items()}
        self._pattern = re.compile(_alternatives(specials).pattern.encode())
        self._beginnings = {word[:n] for word in self._special for n in range(1, len(word))}
        self._longest = max(map(len, self._special))
        self._held = b""

    def feed(self, stretch: Stretch) -> list[Stretch]:
        if isinstance(stretch, Special):
            return [*self.finish(), stretch]
        text = self._held + stretch
        found, at = self._find(text, self._undecided(text))
        self._held = text[at:]
        return found

    def finish(self) -> list[Stretch]:
        found, _ = self._find(self._held, len(self._held))
        self._held = b""
        return found

    def _undecided(self, text: bytes) -> int:
        """Return the earliest place at which a token that only later text can complete may begin."""
        first = max(0, len(text) - self._longest + 1)
        return next((at for at in range(first, len(text)) if text[at:] in self._beginnings), len(text))

    def _find(self, text: bytes, undecided: int) -> tuple[list[Stretch], int]:
        """Cut the text before a place, and return where the uncut rest begins."""
        found: list[Stretch] = []
        at = 0
        while (match := self._pattern.search(text, at)) and match.start() < undecided:
            if at < match.start():
                found.append(text[at : match.start()])
            found.append(self._special[match.group()])
            at = match.end()
            if at > undecided:
                # A token that began inside another one does not count.
                undecided = at + self._undecided(text[at:])
        if at < undecided:
            found.append(text[at:undecided])
        return found, max(at, undecided)


def _common_beginning(texts: list[str]) -> str:
    first, last = min(texts, default=""), max(texts, default="")
    return next((first[:i] for i, symbol in enumerate(first) if not last.startswith(symbol, i)), first)


def _alternatives(texts: Iterable[str]) -> re.Pattern[str]:
    # Of those that begin at one place, the longest counts.
    return re.compile("|".join(map(re.escape, sorted(texts, key=len, reverse=True))))


@lru_cache(maxsize=1 << 12)
def _is_word(character: str) -> bool:
    # The class \w of the engine that tokenizers asks is the one that tiktoken has, too.
    return bool(character) and contains(ranges(r"\w", "tiktoken"), ord(character))

"""Finding special tokens in texts: the leftmost longest, level by level."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeAlias

from tokdfa.encoding.added_tokens import AddedTokens
from tokdfa.encoding.special import Special

__all__ = ["FinderStream", "SpecialFinder", "Stretch"]

# A special token, or bytes between special tokens.
Stretch: TypeAlias = Special | bytes


class SpecialFinder:
    """A finder that cuts texts at the special tokens found in them, as `tokenizers` does.

    Parameters
    ----------
    specials : iterable of Special
        Those of one level are looked for at once; those of the next, in the stretches left between.
    """

    def __init__(self, specials: Iterable[Special]) -> None:
        by_level: dict[int, dict[str, Special]] = {}
        for special in specials:
            by_level.setdefault(special.level, {})[special.content] = special
        self.levels = [by_level[level] for level in sorted(by_level)]
        self._found = [AddedTokens(list(level.values())) for level in self.levels]
        texts = [special.text for level in self.levels for special in level.values()]
        self._beginning = _common_beginning(texts)
        self._any = re.compile(_alternatives(texts))

    def finds_none(self, text: str) -> bool:
        """Return whether no special token is in a text, at any level."""
        return self._beginning not in text or self._any.search(text) is None

    def cut(self, text: str) -> list[Special | str]:
        """Return the stretches of a text, none of them empty."""
        return [text[start:stop] if special is None else special for start, stop, special in self.spans(text)]

    def spans(self, text: str) -> list[tuple[int, int, Special | None]]:
        """Return where each stretch of a text begins and ends, and the special token; None for text between them."""
        found: list[tuple[int, int, Special | None]] = [(0, len(text), None)] if text else []
        for level in self._found:
            cut: list[tuple[int, int, Special | None]] = []
            for start, stop, special in found:
                if special is not None:
                    cut.append((start, stop, special))
                else:
                    cut.extend((start + a, start + b, token) for a, b, token in level.spans(text[start:stop]))
            found = cut
        return found

    def stream(self) -> FinderStream:
        """Return a stream that takes a text part by part."""
        return FinderStream(self)


class FinderStream:
    """A text that comes in parts, cut at special tokens; only text that may become one of them is held back."""

    def __init__(self, finder: SpecialFinder) -> None:
        self._levels = [_Level(level) for level in finder.levels]

    def feed(self, part: bytes) -> list[Stretch]:
        """Return what has become certain since the last call: special tokens, and text outside of them, none empty."""
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


class _Level:
    """The special tokens of one level."""

    def __init__(self, specials: dict[str, Special]) -> None:
        self._special = {content.encode(): special for content, special in specials.items()}
        self._pattern = re.compile(_alternatives(specials).encode())
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
        """Return the earliest place at which a special token that only later text can complete may begin."""
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


def _alternatives(contents: Iterable[str]) -> str:
    # Of those that begin at one place, the longest counts.
    return "|".join(map(re.escape, sorted(contents, key=len, reverse=True)))

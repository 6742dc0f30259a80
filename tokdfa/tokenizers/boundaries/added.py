"""Effects of added tokens at a boundary: on the two characters there, and on the text around."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.regex.unicode.normalization import spaces
from tokdfa.tokenizers.encoding.special import Special, odd_ones

if TYPE_CHECKING:
    from tokdfa.tokenizers.tokenizer import Tokenizer


class AddedPairs:
    """The effects of the added tokens of one level on the characters on both sides of a boundary.

    `touches` is whether a text changes because it begins or ends next to an added token. A token that is found in a
    text has its first two characters there. Where they are not, it may only be cut in two.
    """

    def __init__(self, specials: Sequence[Special], *, touches: bool) -> None:
        texts = [special.text for special in specials if special.text]
        self._keys = {text[:2] for text in texts if len(text) > 1}
        self._pairs = {left + right for text in texts for left, right in pairwise(text)}
        # The sides that depend on the character next to a token, and then on the white space there.
        beside = texts if touches else [special.text for special in specials if special.single_word and special.text]
        self._first, self._last = {text[0] for text in beside}, {text[-1] for text in beside}
        before = {special.text[0] for special in specials if special.lstrip and special.text}
        after = {special.text[-1] for special in specials if special.rstrip and special.text}
        if touches:
            # White space that belongs to a token ends where the token does.
            self._first |= spaces() if any(special.lstrip for special in specials) else set()
            self._last |= spaces() if any(special.rstrip for special in specials) else set()
        self._strips = any(special.lstrip or special.rstrip for special in specials)
        self._before, self._after = before | spaces(), after | spaces()

    def may_join(self, left: str | None, right: str) -> bool:
        """Return whether such a token may be recognised by these characters, or depends on them."""
        if left is None:
            return bool(self._pairs or self._first or self._strips)
        if left + right in self._keys or right in self._first or left in self._last:
            return True
        blanks = spaces()
        return self._strips and (
            (right in blanks and left in self._after) or (left in blanks and right in self._before)
        )

    def joins(self, left: str | None, right: str) -> bool:
        """Return whether such a token may have these characters, or depend on them."""
        return self.may_join(left, right) or self.has_inside(left, right)

    def has_inside(self, left: str | None, right: str) -> bool:
        """Return whether such a token has these characters side by side."""
        return left is not None and left + right in self._pairs

    def is_in(self, text: str) -> bool:
        """Return whether a text has the first two characters of such a token."""
        return any(left + right in self._keys for left, right in pairwise(text))


class Around(NamedTuple):
    """Whether nothing precedes a text, except text up to a boundary, and whether nothing follows it."""

    begins: bool
    ends: bool


class Occurrences:
    """Where the texts of added tokens may be in a text, with any text around it.

    White space next to a token that strips counts as its text, and so do the two symbols next to a single word.
    """

    def __init__(self, specials: Sequence[Special]) -> None:
        self._specials = [special for special in specials if special.text]
        self._odd = {special.text: special for special in odd_ones(self._specials)}
        self.words = tuple(special.text for special in self._specials if special.single_word)
        self._strips_left = any(special.lstrip for special in self._specials)
        self.longest = max((len(special.text) for special in self._specials), default=0)
        contents = self._contents = sorted({special.text for special in self._specials}, key=len, reverse=True)
        self._beginnings = {text[:n] for text in contents for n in range(1, len(text))}
        self._endings = {text[n:] for text in contents for n in range(1, len(text))}
        # Several tokens may begin at one offset; the longest covers the others, if none is odd.
        self._occurrences = re.compile(f"(?=({'|'.join(map(re.escape, contents))}))") if contents else None

    def inside(self, text: str, around: Around) -> tuple[BoolArray, list[int], int]:
        """Return for each offset whether added tokens may go across it.

        Then come the offsets near the end where one may begin, and the first offset that depends on the next text.
        """
        inside: BoolArray = np.zeros(len(text) + 1, dtype=np.bool_)
        starts: list[int] = []
        if self._occurrences is None:
            return inside, starts, len(text) + 1
        undecided = len(text) + 1
        if not (around.begins or around.ends) and any(text in content[1:-1] for content in self._contents):
            inside[:] = True
            undecided = 0
        for match in self._occurrences.finditer(text):
            start, content = match.start(), match.group(1)
            for special in self._beginning_at(text, start, content):
                low, high = self._extent(text, start, start + len(special), self._odd.get(special))
                inside[max(low + 1, 0) : high] = True
        if not around.ends:
            for start in range(max(len(text) - self.longest + 1, 0), len(text)):
                if text[start:] in self._beginnings:
                    low = min(
                        (self._extent(text, start, len(text), odd)[0] for odd in self._odd.values()), default=start
                    )
                    inside[min(low, start) + 1 :] = True
                    undecided = min(undecided, low)
                    starts.append(start)
            if self._strips_left or self.words:
                low = len(text)
                while self._strips_left and low and text[low - 1] in spaces():
                    low -= 1
                inside[low + 1 :] = True
                inside[-1] = True
                undecided = min(undecided, low)
        if not around.begins:
            for end in range(1, min(self.longest, len(text) + 1)):
                if text[:end] in self._endings:
                    high = max((self._extent(text, 0, end, odd)[1] for odd in self._odd.values()), default=end)
                    inside[: max(high, end)] = True
            if self._odd:
                high = 0
                while high < len(text) and text[high] in spaces():
                    high += 1
                inside[: high + 1] = True
        return inside, starts, undecided

    def first_across(self, text: str, at: int) -> int:
        """Return where the first token that goes across an offset begins, or its white space; the end without one."""
        found = len(text)
        for special in self._specials if at < len(text) else ():
            for start in range(max(at - len(special.text) + 1, 0), at):
                if text.startswith(special.text, start):
                    found = min(found, max(self._extent(text, start, at, special)[0], 0))
        return found

    def _beginning_at(self, text: str, start: int, longest: str) -> Sequence[str]:
        if not self._odd:
            return (longest,)
        return [special.text for special in self._specials if text.startswith(special.text, start)]

    @staticmethod
    def _extent(text: str, start: int, end: int, odd: Special | None) -> tuple[int, int]:
        """Return from where to where a special token reaches; its ends are within if the text next to it matters."""
        if odd is None:
            return start, end
        blanks = spaces()
        low, high = start, end
        while odd.lstrip and low and text[low - 1] in blanks:
            low -= 1
        while odd.rstrip and high < len(text) and text[high] in blanks:
            high += 1
        if odd.single_word:
            low, high = min(low, start - 1), max(high, end + 1)
        # The text before and after this one is unknown.
        return low - (low == 0 and odd.lstrip), high + (odd.rstrip and high == len(text))


def overlapping(specials: Sequence[Special]) -> Iterator[int]:
    """Yield the ids of special tokens that a text may contain without their being found; perhaps some more."""
    inner = {symbol for special in specials for symbol in special.content[1:]}
    outer = {symbol for special in specials for symbol in special.content[:-1]}
    # The first and the last symbols of the contents of earlier levels.
    first: set[str] = set()
    last: set[str] = set()
    for _, level in groupby(sorted(specials, key=attrgetter("level")), key=attrgetter("level")):
        contents = {special.id: special.content for special in level}
        for id, content in contents.items():
            overlaps = content[0] in inner or content[-1] in outer
            if overlaps or not (first.isdisjoint(content[1:]) and last.isdisjoint(content[:-1])):
                yield id
        first |= {content[0] for content in contents.values()}
        last |= {content[-1] for content in contents.values()}


def break_each_other(specials: Iterable[Special]) -> bool:
    """Return whether a part of the text of one special token may be found as another one.

    If not, each is found as a whole wherever it occurs, if only as a part of a longer one.
    """
    specials = tuple(specials)
    early = [special.content for special in specials if special.level == 0]
    late = [special.content for special in specials if special.level > 0]
    return _overlap(sorted({*early, *late})) or any(one in other for other in late for one in early)


def _overlap(words: list[str]) -> bool:
    """Return whether a proper suffix of a word is a proper prefix of one; the words ascend."""
    for word in words:
        for at in range(1, len(word)):
            suffix = word[at:]
            # Words that begin with it are in a row, and the first of them may be the suffix itself.
            first = bisect_left(words, suffix)
            if any(other != suffix and other.startswith(suffix) for other in words[first : first + 2]):
                return True
    return False


def spelled_specials(tokenizer: Tokenizer) -> list[bytes]:
    """Return the special tokens that a text must not spell because they would be found in it."""
    return [special.content.encode() for special in tokenizer.found_specials]


def check_overlaps(contents: list[bytes]) -> None:
    """Refuse special tokens that can be found across the boundary of another one."""
    whole = set(contents)
    prefixes = {content[:end]: content for content in contents for end in range(1, len(content))}
    for content in contents:
        for start in range(len(content)):
            crossing = prefixes.get(content[start:]) if start else None
            inner = (content[start:end] for end in range(start + 1, len(content) + (start > 0)))
            within = next((part for part in inner if part in whole), None)
            if crossing or within:
                raise UnsupportedFeatureError("special tokens overlap one another", value=(content, crossing or within))

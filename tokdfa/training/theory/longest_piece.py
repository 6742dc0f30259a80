"""Encoding by the longest pieces of a vocabulary first, wherever in a word they occur."""

from __future__ import annotations

from collections.abc import Iterable

from tokdfa.base.errors import TrainingError

__all__ = ["LongestPieceEncoder", "join_words"]


class LongestPieceEncoder:
    """Encodes words by a vocabulary: the longest piece that occurs in a word is cut out, then the same for the rest.

    Among pieces of equal length, the earlier one comes first; `unknown` is the token for a stretch in which no piece
    occurs. `cache_size` words are kept with their tokens; the oldest are dropped.

    BLOG, example 2. With a vocabulary trained by merging, the result need not be the one that merging would give.
    """

    def __init__(self, vocabulary: Iterable[str], *, unknown: str = "<unk>", cache_size: int = 1 << 16) -> None:
        self._order = {piece: index for index, piece in enumerate(dict.fromkeys(vocabulary))}
        if "" in self._order:
            raise TrainingError("a piece of a vocabulary must not be empty")
        self._longest = max(map(len, self._order), default=0)
        self._unknown = unknown
        self._cache: dict[str, tuple[str, ...]] = {}
        self._cache_size = cache_size

    def encode(self, words: Iterable[str]) -> list[str]:
        """Return the tokens of some words, one after the other."""
        return [token for word in words for token in self.encode_word(word)]

    def encode_word(self, word: str) -> tuple[str, ...]:
        """Return the tokens of a word."""
        tokens = self._cache.get(word)
        if tokens is None:
            tokens = self._cut(word)
            if len(self._cache) >= self._cache_size > 0:
                del self._cache[next(iter(self._cache))]
            if self._cache_size > 0:
                self._cache[word] = tokens
        return tokens

    def _cut(self, word: str) -> tuple[str, ...]:
        # Every place where a piece occurs, in the order of the vocabulary: O(n · longest piece).
        places = [
            (start - end, self._order[word[start:end]], start)
            for start in range(len(word))
            for end in range(start + 1, min(start + self._longest, len(word)) + 1)
            if word[start:end] in self._order
        ]
        end_of = [0] * len(word)
        taken = bytearray(len(word))
        for negative, _, start in sorted(places):
            end = start - negative
            if not any(taken[start:end]):
                taken[start:end] = b"\1" * (end - start)
                end_of[start] = end
        tokens = []
        start = 0
        while start < len(word):
            if end_of[start]:
                tokens.append(word[start : end_of[start]])
                start = end_of[start]
            else:
                tokens.append(self._unknown)
                start = next((i for i in range(start, len(word)) if end_of[i]), len(word))
        return tuple(tokens)


def join_words(tokens: Iterable[str], mark: str = "</w>") -> list[str]:
    """Return the words that tokens spell: the tokens joined, and cut after every mark (BLOG, section on decoding)."""
    words = "".join(tokens).split(mark)
    return words if words[-1] else words[:-1]

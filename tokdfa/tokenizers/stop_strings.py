"""Stop strings: the first one that ends in a text, by the automaton of Aho and Corasick."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tokdfa.base.arrays import Int64Array
from tokdfa.tokenizers.encoding.added_tokens import AddedTokens
from tokdfa.tokenizers.encoding.special import Special

_CHARACTERS = 0x110000
# The characters of texts, the most common one last; others are rare.
_COMMON = "ZQXJYKVUzqxj9876GRDLONFE5W4P3H2C0BM1TISA\n-,.kvbpygfwmucldhrsinoate "


class Found(NamedTuple):
    """A stop string in a text, and the number of characters up to its end."""

    stop_index: int
    end: int


class StopStrings:
    """An automaton that finds the first of several strings to end in a text; of two that end together, the longer.

    With the strings "ab" and "bc", the text "ab" stops it. After "xb" its node has the text "b", which is not given
    out: it may be the beginning of "bc". A node has the longest end of the text with which a string begins; node 0 has
    none.
    """

    def __init__(self, strings: Sequence[str]) -> None:
        self.strings = strings
        self._finder = AddedTokens(Special(number, string) for number, string in enumerate(strings))
        self._rare = AddedTokens(Special(number, string) for number, string in enumerate({*map(_rare, strings)}))
        self.longest = max(map(len, strings), default=0)
        # A node is reached from another one by a character: child[node * _CHARACTERS + code point].
        self._child: dict[int, int] = {}
        self._spelled: list[tuple[int, int]] = [(0, 0)]
        self._fail = [0]
        self._ends = [-1]
        nodes = [self._add(number, string) for number, string in enumerate(strings)]
        for number, node in reversed([*enumerate(nodes)]):
            self._ends[node] = number
        self._link()

    def _add(self, number: int, string: str) -> int:
        """Return the node of a string, and add those on the path to it."""
        node = 0
        for size, character in enumerate(string, 1):
            key = node * _CHARACTERS + ord(character)
            if key not in self._child:
                self._child[key] = len(self._spelled)
                self._spelled.append((number, size))
                self._fail.append(0)
                self._ends.append(-1)
            node = self._child[key]
        return node

    def _link(self) -> None:
        """Set for each node the node of its longest end, shorter nodes first."""
        for key, node in sorted(self._child.items(), key=lambda edge: self._spelled[edge[1]][1]):
            parent, character = divmod(key, _CHARACTERS)
            if parent:
                self._fail[node] = self._next(self._fail[parent], character)
            if self._ends[node] < 0:
                self._ends[node] = self._ends[self._fail[node]]

    def _next(self, node: int, character: int) -> int:
        """Return the node after one more character."""
        child = self._child.get(node * _CHARACTERS + character)
        while child is None and node:
            node = self._fail[node]
            child = self._child.get(node * _CHARACTERS + character)
        return child or 0

    def held(self, node: int) -> str:
        """Return the text of a node."""
        number, size = self._spelled[node]
        return self.strings[number][:size] if size else ""

    def walk(self, node: int, text: str) -> tuple[int, Found | None]:
        """Return the node after a text, and the first string that ends in it."""
        if not self.strings:
            return 0, None
        for end, character in enumerate(text, 1):
            node = self._next(node, ord(character))
            if self._ends[node] >= 0:
                return node, Found(self._ends[node], end)
        return node, None

    def search(self, text: str) -> tuple[int, Found | None]:
        """Walk a long text from node 0, but only through the first string in it, or its end."""
        data = text.encode("utf-8")
        spans = self._spans(data)
        if not len(spans):
            return self.walk(0, text[len(text) - self.longest + 1 :] if len(text) >= self.longest else text)
        # The leftmost string: the first one to end does so within it.
        start, end = (len(data[:at].decode("utf-8")) for at in spans[0, :2].tolist())
        node, found = self.walk(0, text[start:end])
        assert found is not None
        return node, Found(found.stop_index, start + found.end)

    def _spans(self, data: bytes) -> Int64Array:
        """Return where strings are in UTF-8; none if none of their rare ends is there."""
        rare, finder = self._rare.outer_finder, self._finder.outer_finder
        assert rare is not None
        assert finder is not None
        spans = rare.find(data)
        return finder.find(data) if len(spans) else spans


def _rare(string: str) -> str:
    r"""Return the rest of a string from its rarest characters on, so that few pairs of bytes of a text may begin it.

    "the end.\n" gives ".\n": prose has few full stops, and fewer before the end of a line.
    """
    ranks = [_COMMON.find(character) for character in string]
    at = min(range(len(string)), key=lambda at: (sum(ranks[at : at + 2]), at))
    return string[at:]

"""Stop strings: the first one that ends in a text, by the automaton of Aho and Corasick."""

from __future__ import annotations

from collections.abc import Container, Sequence
from functools import cached_property
from typing import NamedTuple

from tokdfa.base.errors import LimitExceededError
from tokdfa.kernels.encode.strings import StringFinder

_CHARACTERS = 0x110000
# Their automaton takes a microsecond and some hundred bytes for each.
_MOST_CHARACTERS = 1 << 20


class _Everything(Container[str]):
    """All texts."""

    def __contains__(self, _: object) -> bool:
        return True


EVERYTHING = _Everything()


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
        n = sum(map(len, strings))
        if n > _MOST_CHARACTERS:
            raise LimitExceededError(f"the stop strings have more than {_MOST_CHARACTERS:,} characters", value=n)
        # A node is reached from another one by a character: child[node * _CHARACTERS + code point].
        self._child: dict[int, int] = {}
        self._spelled: list[tuple[int, int]] = [(0, 0)]
        # The characters after the text of each node; and the texts that continue it, where that was asked for.
        self._letters = [""]
        self._continues: dict[int, Container[str]] = {0: frozenset({""})}
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
                self._letters[node] += character
                self._letters.append("")
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

    def continues(self, node: int) -> Container[str]:
        """Return the beginnings of texts after which the text of a node counts: one letter, none, or the first two.

        Any other text leads from there to the same node as from node 0.
        """
        path = []
        while node not in self._continues:
            path.append(node)
            node = self._fail[node]
        beginnings = self._continues[node]
        for each in reversed(path):
            beginnings = self._continues[each] = self._with_children(each, beginnings)
        return beginnings

    def _with_children(self, node: int, beginnings: Container[str]) -> Container[str]:
        """Return some beginnings with those that lead on from a node; everything if a string may end at once."""
        children = [(letter, self._next(node, ord(letter))) for letter in self._letters[node]]
        if not isinstance(beginnings, frozenset) or any(self._ends[child] >= 0 for _, child in children):
            return EVERYTHING
        pairs = {letter + after for letter, child in children for after in self._letters[child]}
        return beginnings.union(pairs, self._letters[node]) if children else beginnings

    def size(self, node: int) -> int:
        """Return the number of characters of the text of a node."""
        return self._spelled[node][1]

    def walk(self, node: int, text: str, usual: tuple[int, Found | None] | None = None) -> tuple[int, Found | None]:
        """Return the node after a text, and the first string that ends in it.

        `usual` is the result from node 0, where the walk ends once no text before this one counts.
        """
        # PERF: as `_next`, without a call a character.
        child, fail = self._child.get, self._fail
        for end, character in enumerate(text, 1):
            code = ord(character)
            after = child(node * _CHARACTERS + code)
            while after is None and node:
                node = fail[node]
                after = child(node * _CHARACTERS + code)
            node = after or 0
            if self._ends[node] >= 0:
                return node, Found(self._ends[node], end)
            if usual is not None and self._spelled[node][1] <= end:
                return usual
        return node, None

    @cached_property
    def _finder(self) -> StringFinder:
        return StringFinder([string.encode("utf-8") for string in self.strings])

    def cut(self, data: bytes | memoryview) -> tuple[str, int, Found | None]:
        """Return the text before the first string that ends in UTF-8, and the string after it.

        If there is none, the text is followed by that of the node. A UnicodeDecodeError says if the text is not UTF-8.
        """
        if not self.strings:
            return str(data, "utf-8"), 0, None
        start, stop = self._finder.find(data)
        if stop < 0:
            return str(data[:start], "utf-8"), self.walk(0, str(data[start:], "utf-8"))[0], None
        while start and data[start] & 0xC0 == 0x80:
            start -= 1
        text, n = str(data, "utf-8"), len(str(data[:start], "utf-8"))
        node, found = self.walk(0, text[n:])
        assert found is not None
        return text[: n + found.end - len(self.strings[found.stop_index])], node, found

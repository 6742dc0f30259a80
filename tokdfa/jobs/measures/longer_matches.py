"""Texts in which the longest of some words are found, read label by label: a longer match must not come about.

With the words `a`, `abc` and `b`, the text `abc` has one match. So after label `a`, the text may end, or continue with
`b`, but then not with `c`. A state is a set of nodes of the trie of the words: the unfinished words that the text may
still be spelling, each begun where a match may begin. In the example, `abc` after `a`. If one of them is completed,
the match would have been longer, or have begun earlier, and the stream is not canonical.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping

import numpy as np

from tokdfa.base.arrays import Int32Array
from tokdfa.base.errors import LimitExceededError
from tokdfa.jobs.measures.product_streams import Factor

_MOST_STATES = 1 << 20


class Words:
    """The trie of some words. Nodes are numbers, and 0 is the root."""

    def __init__(self, words: Iterable[bytes]) -> None:
        self.children: list[dict[int, int]] = [{}]
        self.ends = [False]
        for word in words:
            node = 0
            for byte in word:
                node = self.children[node].setdefault(byte, len(self.children))
                if node == len(self.children):
                    self.children.append({})
                    self.ends.append(False)
            self.ends[node] = True

    def unfinished(self, word: bytes) -> frozenset[int]:
        """Return the node of a text, if some word is longer: a state."""
        node = 0
        for byte in word:
            node = self.children[node].get(byte, -1)
            if node < 0:
                return frozenset()
        return frozenset({node} if self.children[node] else ())

    def within(self, text: bytes) -> frozenset[int] | None:
        """Return the unfinished words that end a text, begun anywhere in it; None if it has a whole one."""
        nodes: list[int] = []
        for byte in text:
            nodes = [self.children[node][byte] for node in (0, *nodes) if byte in self.children[node]]
            if any(self.ends[node] for node in nodes):
                return None
        return frozenset(node for node in nodes if self.children[node])


class LongerMatches(Factor):
    """The automaton of labels in which no word is completed that is unfinished; a factor of canonical streams.

    `after_label` are the words that each label by itself leaves unfinished; None for labels that never follow. `reads`
    are the texts of the labels that continue unfinished words. Before all others these are given up.
    """

    def __init__(self, words: Words, after_label: list[frozenset[int] | None], reads: Mapping[int, bytes]) -> None:
        self._words = words
        self._numbers: dict[frozenset[int], int] = {frozenset(): 0}
        self._states = [frozenset[int]()]
        self._after_label = after_label
        self._alone = np.array([-1 if state is None else self._number(state) for state in after_label], dtype=np.int32)
        ordered = sorted((text, label) for label, text in reads.items())
        self._texts = [text for text, _ in ordered]
        self._labels: Int32Array = np.array([label for _, label in ordered], dtype=np.int32)

    def after(self, state: int) -> Int32Array:
        found = self._alone.copy()
        longer: dict[int, set[int]] = {}
        for node in self._states[state]:
            stack = [(node, 0, len(self._texts), 0)]
            while stack:
                here, low, high, depth = stack.pop()
                if self._words.ends[here] and depth:
                    found[self._labels[low:high]] = -1
                    continue
                while depth and low < high and len(self._texts[low]) == depth:
                    longer.setdefault(int(self._labels[low]), set()).add(here)
                    low += 1
                for byte, child in self._words.children[here].items() if low < high else ():
                    prefix = self._texts[low][:depth] + bytes((byte,))
                    begin = bisect_left(self._texts, prefix, low, high)
                    end = bisect_left(self._texts, prefix[:-1] + bytes((byte + 1,)), begin, high)
                    if begin < end:
                        stack.append((child, begin, end, depth + 1))
        for label, nodes in longer.items():
            own = self._after_label[label]
            if found[label] >= 0 and own is not None:
                found[label] = self._number(own | nodes)
        return found

    def _number(self, state: frozenset[int]) -> int:
        number = self._numbers.setdefault(state, len(self._states))
        if number == len(self._states):
            if number == _MOST_STATES:
                raise LimitExceededError("the texts may be spelling too many words at once", value=number)
            self._states.append(state)
        return number

    def is_final(self, state: int) -> bool:
        return True

r"""The automaton of texts in which special tokens are found: the leftmost, and the longest that begins there.

With the tokens "\n" and "\n\n", the text "\n\n\n" is "\n\n" and "\n". So after the token "\n" neither token may come,
nor the byte "\n"; after "\n\n" both may. A state is a set of nodes of the trie of the tokens: the unfinished tokens
at the end of the text, each begun where one may begin. If one of them is completed, it would have been found instead,
and the text has no such ids. After a byte, all suffixes that begin tokens are in the set; after a token, that token, if
it begins others, and those that it continues.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np

from tokdfa.automata.protocol import Numbering
from tokdfa.jobs.guiding.byte_machines import NOWHERE, ByteMachine

_Begun: TypeAlias = frozenset[int]
_NOTHING: _Begun = frozenset()


class _Trie:
    """The trie of some words. Nodes are numbers, and 0 is the root; `word_at` is the index of the word at a node."""

    def __init__(self, words: Iterable[bytes]) -> None:
        self.children: list[dict[int, int]] = [{}]
        self.word_at: dict[int, int] = {}
        self.node_of: list[int] = []
        for number, word in enumerate(words):
            node = 0
            for byte in word:
                node = self.children[node].setdefault(byte, len(self.children))
                if node == len(self.children):
                    self.children.append({})
            if node:
                self.word_at[node] = number
            self.node_of.append(node)

    def begun(self, number: int) -> _Begun:
        """Return the state after a word at the beginning of a text."""
        node = self.node_of[number]
        return frozenset((node,)) if node and self.children[node] else _NOTHING

    def after_bytes(self, begun: _Begun) -> dict[int, _Begun | None]:
        """Return the states after bytes, None if a word is completed; without those that continue and begin none."""
        found: dict[int, set[int]] = {}
        for node in (0, *begun):
            for byte, child in self.children[node].items():
                found.setdefault(byte, set()).add(child)
        return {
            byte: None if any(node in self.word_at for node in nodes) else frozenset(nodes)
            for byte, nodes in found.items()
        }

    def after_words(self, begun: _Begun) -> dict[int, _Begun | None]:
        """Return the states after words that continue something, None if they complete a word."""
        found: dict[int, _Begun | None] = {}
        stack = [both for node in begun for both in self._together(node, 0)]
        while stack:
            node, other = stack.pop()
            if node in self.word_at:
                found |= dict.fromkeys(self._below(other))
                continue
            number = self.word_at.get(other, -1)
            if number >= 0 and (known := found.get(number, self.begun(number))) is not None:
                found[number] = known | {node}
            stack += self._together(node, other)
        return found

    def _together(self, node: int, other: int) -> list[tuple[int, int]]:
        """Return the nodes after two, with one byte more in common."""
        others = self.children[other]
        return [(child, others[byte]) for byte, child in self.children[node].items() if byte in others]

    def _below(self, node: int) -> list[int]:
        """Return the words that begin with the one at a node."""
        found, stack = [], [node]
        while stack:
            node = stack.pop()
            if node in self.word_at:
                found.append(self.word_at[node])
            stack += self.children[node].values()
        return found


def longest_matches(words: Sequence[bytes]) -> ByteMachine:
    r"""Return the automaton of texts by bytes and, after the 256 bytes, by words; empty words are not found.

    >>> machine = longest_matches([b"\n", b"\n\n"])
    >>> after = machine.table[machine.initial]
    >>> after[machine.column[10]] == NOWHERE  # The byte would be a word.
    True
    >>> after = machine.table[after[machine.column[256]]]
    >>> [int(target) for target in after[machine.column[[10, 256, 257]]]]
    [0, 0, 0]
    """
    trie = _Trie(words)
    used = sorted({byte for word in words for byte in word})
    column_of = {byte: number for number, byte in enumerate(used, 1)}
    column = np.zeros(256, dtype=np.int32)
    column[used] = np.arange(1, len(used) + 1)
    numbers: Numbering[_Begun] = Numbering(_NOTHING)
    default = [numbers[trie.begun(number)] + 1 for number in range(len(words))]
    rows: list[np.ndarray] = [np.zeros(len(used) + 1, dtype=np.int32)]
    others: list[dict[int, int]] = [{} for _ in words]
    for state, begun in enumerate(numbers.states, 1):  # It grows during the loop.
        row = np.ones(len(used) + 1, dtype=np.int32)
        for byte, target in trie.after_bytes(begun).items():
            row[column_of[byte]] = NOWHERE if target is None else numbers[target] + 1
        rows.append(row)
        for word, target in trie.after_words(begun).items():
            others[word][state] = NOWHERE if target is None else numbers[target] + 1
    targets = []
    known: dict[tuple[object, ...], np.ndarray] = {}
    for word, exceptions in enumerate(others):
        key = default[word], *exceptions.items()
        if key not in known:
            known[key] = np.full(len(rows), default[word], dtype=np.int32)
            known[key][[NOWHERE, *exceptions]] = [NOWHERE, *exceptions.values()]
        targets.append(known[key])
    machine = ByteMachine(np.stack(rows), column, np.arange(len(rows)) > NOWHERE, 1)
    return machine.with_specials(targets)

"""The automaton that follows the text of ids, which must spell no special token and be in the form of the tokenizer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tokdfa.base.arrays import Int32Array
from tokdfa.jobs.guiding.byte_machines import ByteMachine, product, without_words
from tokdfa.jobs.guiding.forms import form_machines
from tokdfa.kernels.dfa.explicit import tokens_from, trie_of
from tokdfa.regex.trie import TokenTrie
from tokdfa.regex.unicode.normalization import Form

REFUSED = -1
"""The state of a text that has a whole special token, or is not in the form."""

_ANY = ByteMachine(np.array([[0], [1]], dtype=np.int32), np.zeros(256, dtype=np.int32), np.array([False, True]), 1)
"""The automaton of all texts."""


class TextScan:
    """The automaton that refuses texts with the content of a special token, and those that a form changes.

    No content is within another one. A state is ``n_orders * text + order``, with a state of each of two automata:
    ``table[256 * text + byte]`` finds contents and the characters that a form composes or does not have, and
    ``orders[256 * order + byte]`` the marks out of order. State 0 belongs to the empty text, after which nothing is
    refused that is not refused after every text. A text after a special token begins anew.
    """

    def __init__(self, contents: Sequence[bytes], form: Form | None, trie: TokenTrie, n_ids: int) -> None:
        self._trie = trie
        machine = without_words(contents) if contents else _ANY
        orders = _ANY
        if form is not None:
            orders, compositions = form_machines(form)
            machine = product(compositions, machine)
        self.table, self.orders = _from_zero(machine), _from_zero(orders)
        self.n_orders = len(self.orders) // 256
        self.n_states = len(self.table) // 256 * self.n_orders
        # One entry an id: the state after it, from state 0.
        self.from_start: Int32Array = np.zeros(n_ids, dtype=np.int32)
        if contents or form is not None:
            text, order = self._after_words(self.table), self._after_words(self.orders)
            is_refused = (text < 0) | (order < 0)
            self.from_start[trie.words] = np.where(is_refused, REFUSED, text * self.n_orders + order)
        self._differing: dict[int, Int32Array] = {0: np.zeros(0, dtype=np.int32)}

    def _after_words(self, table: Int32Array) -> Int32Array:
        """Return the state of one of the automata after each word, from state 0."""
        trie = self._trie
        struct = trie_of(np.maximum(trie.symbol, 0).astype(np.int32), trie.depth, trie.end, trie.first)
        indices, targets = tokens_from(struct, np.append(np.zeros(256, dtype=np.int32), table + 1), 256, 1)
        found = np.full(len(trie.words), REFUSED, dtype=np.int32)
        found[indices] = targets - 1
        return found

    def _next(self, state: int, byte: int) -> int:
        """Return the state after a byte."""
        if state < 0:
            return REFUSED
        text, order = divmod(state, self.n_orders)
        text, order = int(self.table[256 * text + byte]), int(self.orders[256 * order + byte])
        return REFUSED if min(text, order) < 0 else text * self.n_orders + order

    def differing(self, state: int) -> Int32Array:
        """Return the ids that lead to another state than from state 0."""
        if state in self._differing:
            return self._differing[state]
        trie = self._trie
        found: list[int] = []
        stack = [(0, state, 0)]
        while stack:
            node, here, start = stack.pop()
            child = node + 1
            while child < trie.end[node]:
                byte = int(trie.symbol[child])
                after, plain = self._next(here, byte), self._next(start, byte)
                if after != plain:
                    found += trie.words[trie.first[child] : trie.first[child + 1]].tolist()
                    stack.append((child, after, plain))
                child = int(trie.end[child])
        self._differing[state] = np.array(found, dtype=np.int32)
        return self._differing[state]


def _from_zero(machine: ByteMachine) -> Int32Array:
    """Return the table of an automaton by states and bytes, with the initial state 0 and `REFUSED`: one row a state."""
    table: Int32Array = (machine.table[:, machine.column[:256]] - 1)[1:].reshape(-1).astype(np.int32)
    return table

"""The automaton that refuses texts that spell special tokens, or that are not in the normalization form."""

from __future__ import annotations

from collections.abc import Container, Mapping

import numpy as np

from tokdfa.base.arrays import Int32Array
from tokdfa.jobs.guiding.byte_machines import NOWHERE, ByteMachine, product
from tokdfa.jobs.guiding.forms import form_machines
from tokdfa.jobs.guiding.longest_matches import longest_matches
from tokdfa.kernels.dfa.explicit import tokens_from, trie_of
from tokdfa.regex.trie import TokenTrie
from tokdfa.regex.unicode.normalization import Form

REFUSED = -1
"""The state of a text that has a whole special token, or is not in the form."""

_ANY = ByteMachine(np.array([[0], [1]], dtype=np.int32), np.zeros(256, dtype=np.int32), np.array([False, True]), 1)
"""The automaton of all texts."""


class TextScan:
    """The automaton that refuses texts in which other special tokens are found, and those that a form changes.

    A state is ``n_orders * text + order``, with a state of each of two automata: ``table[256 * text + byte]`` finds
    special tokens and the characters that a form composes or does not have, and ``orders[256 * order + byte]`` the
    marks out of order. State 0 belongs to the empty text: after it, only bytes are refused that are refused after every
    text. After a special token, ``after_special[n_columns * text + special_column[k]]``, the form begins anew.
    """

    def __init__(
        self, specials: Mapping[int, bytes], late: Container[int], form: Form | None, trie: TokenTrie, n_ids: int
    ) -> None:
        self._trie, self._ids = trie, np.array([*specials], dtype=np.int32)
        contents = [content for content in specials.values() if content]
        machine = _found(specials, late) if contents else _restarted(_ANY, len(specials))
        orders = _ANY
        if form is not None:
            orders, compositions = form_machines(form)
            machine = product(_restarted(compositions, len(specials)), machine)
        self.table, self.orders = _from_zero(machine), _from_zero(orders)
        self.n_orders = len(self.orders) // 256
        self.n_states = len(self.table) // 256 * self.n_orders
        _, targets, self.special_column = machine.apart()
        after = targets[1:] - np.int32(1)
        self.after_special: Int32Array = np.where(after < 0, np.int32(REFUSED), after * np.int32(self.n_orders))
        # One entry an id: the state after it, from state 0.
        self.from_start: Int32Array = np.zeros(n_ids, dtype=np.int32)
        if contents or form is not None:
            text, order = self._after_words(self.table), self._after_words(self.orders)
            is_refused = (text < 0) | (order < 0)
            self.from_start[trie.words] = np.where(is_refused, REFUSED, text * self.n_orders + order)
        self.from_start[self._ids] = self.after_special[0, self.special_column]
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
        after = self.after_special[state // self.n_orders, self.special_column]
        found: list[int] = self._ids[after != self.from_start[self._ids]].tolist()
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


def _found(specials: Mapping[int, bytes], late: Container[int]) -> ByteMachine:
    """Return the automaton of texts in which special tokens are found, the `late` ones in the text between the others.

    With the token "ab", and the late "b", the text "ab" is not "a" and the late token; with "b" and the late "ab" it is
    not the late token. For the others, a late token is the bytes of its content; for it, the text ends at the others.
    """
    machine = longest_matches([b"" if id in late else content for id, content in specials.items()])
    inner = [content if id in late else b"" for id, content in specials.items()]
    if not any(inner):
        return machine
    each = zip(inner, machine.column[256:].tolist(), strict=True)
    targets = [machine.after(content) if content else machine.table[:, column].copy() for content, column in each]
    return product(machine.apart()[0].with_specials(targets), longest_matches(inner))


def _from_zero(machine: ByteMachine) -> Int32Array:
    """Return the table of an automaton by states and bytes, with the initial state 0 and `REFUSED`: one row a state."""
    table: Int32Array = (machine.table[:, machine.column[:256]] - 1)[1:].reshape(-1).astype(np.int32)
    return table


def _restarted(machine: ByteMachine, n: int) -> ByteMachine:
    """Return an automaton over bytes that begins anew after each of a number of special tokens."""
    target = np.where(np.arange(len(machine.table)) == NOWHERE, NOWHERE, machine.initial).astype(np.int32)
    return machine.with_specials([target] * n)

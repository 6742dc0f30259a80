"""A language of texts, read by ids: the ids that a state can read, and how far it is from the end of a text."""

from __future__ import annotations

from collections import OrderedDict
from typing import Protocol

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array
from tokdfa.automata.regex import language
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.errors import LimitExceededError, PatternError, WrongTypeError
from tokdfa.guiding.tokens import Tokens
from tokdfa.kernels.dfa import trie as kernels
from tokdfa.unicode.utf8 import cut_apart

__all__ = ["AnyText", "Texts", "TextsOf", "texts_of"]


MAX_ENTRIES = 1 << 25
MAX_REMEMBERED = 1 << 24
LONGEST_NEAR = 16

NOWHERE = 0
"""The state from which no text goes on."""

_BYTES = bytes(range(256))


class Texts(Protocol):
    """A language of texts, over ids.

    Attributes
    ----------
    initial : int
    final : bool array, one entry a state
        Whether a text may end in a state.
    distance : int64 array, one entry a state
        The least number of bytes up to the end of a text.
    """

    initial: int
    final: BoolArray
    distance: np.ndarray

    def step(self, state: int, id: int) -> int:
        """Return the state after the text of an id; `NOWHERE` if no text of the language goes on with it."""

    def tokens(self, state: int) -> tuple[Int32Array, Int32Array]:
        """Return the ids that a state can read, and the states after them."""

    def near(self, state: int) -> list[tuple[int, int]]:
        """Return some ids that lead towards the end of a text, with the states after them, the best first."""


class AnyText:
    """The language of all texts."""

    initial = 1

    def __init__(self, tokens: Tokens) -> None:
        ids = np.flatnonzero(tokens.usable | tokens.special).astype(np.int32)
        self._moves = ids, np.ones(len(ids), dtype=np.int32)
        self.final: BoolArray = np.array([False, True])
        self.distance = np.zeros(2, dtype=np.int64)
        # What completes a symbol: all else may end a text anyway.
        continuing = [bytes([byte]) for byte in range(0x80, 0xC0)]
        self._near = [(tokens.id_of[word], 1) for word in continuing if word in tokens.id_of]

    def step(self, state: int, id: int) -> int:
        """Return the state after the text of an id."""
        return state

    def tokens(self, state: int) -> tuple[Int32Array, Int32Array]:
        """Return all ids, and the states after them."""
        return self._moves

    def near(self, state: int) -> list[tuple[int, int]]:
        """Return the ids of bytes that continue a symbol."""
        return self._near


class TextsOf:
    """The language of an automaton over bytes, whose states 1 and above lead to the end of some text.

    Parameters
    ----------
    dfa : TokenDFA
        Over bytes.
    tokens : Tokens
    shown : object
        What error messages show of the language.

    Raises
    ------
    PatternError
        If the language is empty.
    LimitExceededError
        If the automaton is too large.
    """

    def __init__(self, dfa: TokenDFA, tokens: Tokens, shown: object) -> None:
        self._tokens = tokens
        symbols = dfa.alphabet.symbols
        n = dfa.n_states + 1
        if n * 256 > MAX_ENTRIES:
            raise LimitExceededError("the automaton of the language has too many states", value=dfa.n_states)
        table = np.zeros((n, 256), dtype=np.int32)
        byte_of = np.array([symbol[0] for symbol in symbols], dtype=np.int64)
        table[dfa.sources + 1, byte_of[dfa.tokens]] = dfa.targets + 1
        self.final = np.append(False, dfa.final)
        self.initial = dfa.initial + 1
        self.distance = _distances(table, self.final)
        if self.distance[self.initial] < 0:
            raise PatternError("no text is in the language", value=shown)
        table[self.distance[table] < 0] = NOWHERE
        self.n_states = dfa.n_states
        self._distances: list[int] = self.distance.tolist()
        used, column = np.unique(table, axis=1, return_inverse=True)
        self._n_columns = used.shape[1]
        self._table = np.ascontiguousarray(used, dtype=np.int32).reshape(-1)
        self._rows: list[list[int]] = table.tolist()
        trie = tokens.trie
        columns = column.reshape(-1).astype(np.int32)[np.maximum(trie.symbol, 0)]
        self._trie = kernels.trie_of(columns, trie.depth, trie.end, trie.first)
        finds = tokens.tokenizer.finds_specials
        self._specials = [(id, tokens.bytes_of(id)) for id in (tokens.tokenizer.special_ids.tolist() if finds else [])]
        self._is_left_out = tokens.special if not finds else np.zeros(tokens.n_ids, dtype=np.bool_)
        self._near: dict[int, list[tuple[int, int]]] = {}
        self._known: OrderedDict[int, tuple[Int32Array, Int32Array]] = OrderedDict()
        self._n_known = 0

    def step(self, state: int, id: int) -> int:
        """Return the state after the text of an id; `NOWHERE` if no text of the language goes on with it."""
        return NOWHERE if self._is_left_out[id] else self.after(state, self._tokens.bytes_of(id))

    def after(self, state: int, data: bytes) -> int:
        """Return the state after some bytes; `NOWHERE` if no text of the language goes on with them."""
        rows = self._rows
        for byte in data:
            state = rows[state][byte]
        return state

    def tokens(self, state: int) -> tuple[Int32Array, Int32Array]:
        """Return the ids that a state can read, and the states after them."""
        known = self._known.get(state)
        if known is None:
            places, targets = kernels.tokens_from(self._trie, self._table, self._n_columns, state)
            ids = self._tokens.trie.words[places].astype(np.int32)
            more = [(id, self.after(state, content)) for id, content in self._specials]
            more = [(id, target) for id, target in more if target]
            if more:
                extra = np.array(more, dtype=np.int32)
                ids, targets = np.append(ids, extra[:, 0]), np.append(targets, extra[:, 1])
            known = self._known[state] = ids, targets
            self._n_known += len(ids)
            while self._n_known > MAX_REMEMBERED and len(self._known) > 1:
                self._n_known -= len(self._known.popitem(last=False)[1][0])
        return known

    def near(self, state: int) -> list[tuple[int, int]]:
        """Return ids of the shortest rest of a text, the longest first, and of single bytes, with the states after."""
        known = self._near.get(state)
        if known is None:
            id_of, rows, distance = self._tokens.id_of, self._rows, self._distances
            word, here = b"", state
            found: list[tuple[int, int]] = []
            while distance[here] and len(word) < LONGEST_NEAR:
                row = rows[here]
                byte = min((byte for byte in range(256) if row[byte]), key=lambda byte: distance[row[byte]])
                word, here = word + bytes([byte]), row[byte]
                if word in id_of:
                    found.append((id_of[word], here))
            found.reverse()
            row = rows[state]
            bytes_ = [byte for byte in range(256) if row[byte] and bytes([byte]) in id_of]
            bytes_.sort(key=lambda byte: distance[row[byte]])
            found += [(id_of[bytes([byte])], row[byte]) for byte in bytes_]
            known = self._near[state] = found
        return known

    def forced(self, state: int, most: int) -> str:
        """Return the text that is forced in a state: the only symbols that can follow, up to `most` bytes of them."""
        data = bytearray()
        while not self.final[state] and len(data) < most:
            following = [byte for byte, target in enumerate(self._rows[state]) if target]
            if len(following) != 1:
                break
            data.append(following[0])
            state = self._rows[state][following[0]]
        cut = cut_apart(bytes(data))
        return "" if cut is None or cut.head else cut.text


def texts_of(tokens: Tokens, wanted: str | TokenDFA | None) -> Texts:
    """Return a language of texts, over ids.

    Parameters
    ----------
    tokens : Tokens
    wanted : str, TokenDFA or None
        A regular expression, an automaton over bytes, or None for all texts.

    Raises
    ------
    PatternError, LimitExceededError
        As :func:`tokdfa.language` does; or if no text is in the language.
    WrongTypeError
        If it is none of these.
    """
    if wanted is None:
        return AnyText(tokens)
    if isinstance(wanted, str):
        return TextsOf(language(wanted, _BYTES), tokens, wanted)
    is_over_bytes = isinstance(wanted, TokenDFA) and wanted.alphabet.kind == "bytes"
    if is_over_bytes and len(wanted.alphabet) == wanted.alphabet.n_symbols:
        return TextsOf(wanted, tokens, wanted)
    hint = "tokdfa.language(pattern, bytes(range(256))) makes one"
    raise WrongTypeError("a language is a regular expression or an automaton over bytes", value=wanted, hint=hint)


def _distances(table: Int32Array, final: BoolArray) -> np.ndarray:
    """Return for each state the least number of bytes up to a final one; -1 if there is none."""
    distance = np.where(final, 0, -1).astype(np.int64)
    sources, columns = np.nonzero(table)
    targets = table[sources, columns]
    edges = np.unique(targets.astype(np.int64) << 32 | sources)
    targets, sources = edges >> 32, edges & 0xFFFFFFFF
    bounds = np.searchsorted(targets, np.arange(len(final) + 1))
    queue = np.flatnonzero(final).tolist()
    for state in queue:  # grows during the loop
        for source in sources[bounds[state] : bounds[state + 1]].tolist():
            if distance[source] < 0:
                distance[source] = distance[state] + 1
                queue.append(source)
    return distance

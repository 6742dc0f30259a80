"""A language of texts, read by ids: the ids that a state can read, and how far it is from the end of a text."""

from __future__ import annotations

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array
from tokdfa.automata.regex import language
from tokdfa.automata.token_dfa import TokenDFA
from tokdfa.errors import LimitExceededError, PatternError, WrongTypeError
from tokdfa.guiding.groups import group_ids
from tokdfa.guiding.tokens import Tokens
from tokdfa.kernels.library import Struct
from tokdfa.unicode.utf8 import cut_apart

__all__ = ["Texts", "all_texts", "texts_of"]


MAX_ENTRIES = 1 << 25

NOWHERE = 0
"""The state from which no text goes on."""

_BYTES = bytes(range(256))


class Texts:
    """A language of texts, over ids: an automaton over bytes whose states 1 and above lead to the end of some text.

    Parameters
    ----------
    tokens : Tokens
    table : int32 array of shape (states, columns)
        The target of each state for each column; state 0 is that from which no text goes on.
    column : int32 array of 256 entries
        The column of each byte.
    final : bool array, one entry a state
    initial : int
    special_target : int32 array of shape (states, special tokens)
        The state after each special token.

    Attributes
    ----------
    initial, n_states : int
    final : bool array
    distance : int32 array, one entry a state
        The least number of bytes up to the end of a text; -1 if there is none.
    struct : Struct
        What the kernels read.
    """

    def __init__(
        self,
        tokens: Tokens,
        table: Int32Array,
        column: Int32Array,
        final: BoolArray,
        initial: int,
        special_target: Int32Array,
    ) -> None:
        self.initial = initial
        self.final = final
        self.n_states = len(table) - 1
        self.distance = _distances(table, final)
        table[self.distance[table] < 0] = NOWHERE
        special_target[self.distance[special_target] < 0] = NOWHERE
        self._tokens, self._table, self._column = tokens, table, column
        self._special_target = special_target
        length = np.where(table == NOWHERE, np.iinfo(np.int32).max, self.distance[table])
        byte_of = np.zeros(table.shape[1], dtype=np.uint8)
        byte_of[column[::-1]] = np.arange(255, -1, -1, dtype=np.uint8)
        is_dead: BoolArray = (table == NOWHERE).all(axis=0)
        groups = group_ids(tokens, column, is_dead)
        self.struct = Struct(
            "tokdfa_guide_texts", table=table, column=column, n_columns=table.shape[1], final=final,
            distance=self.distance, nearest=byte_of[length.argmin(axis=1)], special_target=special_target,
            n_specials=special_target.shape[1], **groups._asdict(),
        )  # fmt: skip

    def after_id(self, state: int, id: int) -> int:
        """Return the state after the text of an id; `NOWHERE` if no text of the language goes on with it."""
        number = int(self._tokens.struct.fields["special_of"][id])
        if number >= 0:
            return int(self._special_target[state, number])
        return self.after(state, self._tokens.bytes_of(id))

    def after(self, state: int, data: bytes) -> int:
        """Return the state after some bytes; `NOWHERE` if no text of the language goes on with them."""
        for byte in data:
            state = int(self._table[state, self._column[byte]])
        return state

    def forced(self, state: int, most: int) -> str:
        """Return the text that is forced in a state: the only symbols that can follow, up to `most` bytes of them."""
        data = bytearray()
        while not self.final[state] and len(data) < most:
            following = np.flatnonzero(self._table[state, self._column])
            if len(following) != 1:
                break
            data.append(int(following[0]))
            state = int(self._table[state, self._column[data[-1]]])
        cut = cut_apart(bytes(data))
        return "" if cut is None or cut.head else cut.text


def all_texts(tokens: Tokens) -> Texts:
    """Return the language of all texts, in which special tokens cut the stream wherever they are."""
    table = np.array([[0], [1]], dtype=np.int32)
    special_target = np.repeat(table, len(tokens.special_ids), axis=1)
    return Texts(tokens, table, np.zeros(256, dtype=np.int32), np.array([False, True]), 1, special_target)


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
        As :func:`tokdfa.language` does; or if no text is in the language, or its automaton is too large.
    WrongTypeError
        If it is none of these.
    """
    if wanted is None:
        return all_texts(tokens)
    dfa = language(wanted, _BYTES) if isinstance(wanted, str) else wanted
    is_over_bytes = isinstance(dfa, TokenDFA) and dfa.alphabet.kind == "bytes"
    if not is_over_bytes or len(dfa.alphabet) != dfa.alphabet.n_symbols:
        hint = "tokdfa.language(pattern, bytes(range(256))) makes one"
        raise WrongTypeError("a language is a regular expression or an automaton over bytes", value=wanted, hint=hint)
    table, column = byte_table(dfa)
    tokenizer = tokens.tokenizer
    special_target = np.zeros((len(table), len(tokens.special_ids)), dtype=np.int32)
    if tokenizer.finds_specials:
        # A special token is the content with which the text spells it.
        for number, id in enumerate(tokens.special_ids.tolist()):
            states = np.arange(len(table), dtype=np.int32)
            for byte in tokens.bytes_of(id):
                states = table[states, column[byte]]
            special_target[:, number] = states
    found = Texts(tokens, table, column, np.append(False, dfa.final), dfa.initial + 1, special_target)
    if found.distance[found.initial] < 0:
        raise PatternError("no text is in the language", value=wanted)
    return found


def byte_table(dfa: TokenDFA) -> tuple[Int32Array, Int32Array]:
    """Return the targets of an automaton over bytes, its states numbered from 1, and the column of each byte.

    Raises
    ------
    LimitExceededError
        If they are too many.
    """
    n = dfa.n_states + 1
    if n * 256 > MAX_ENTRIES:
        raise LimitExceededError("the automaton of the language has too many states", value=dfa.n_states)
    by_byte = np.zeros((256, n), dtype=np.int32)
    byte_of = np.array([symbol[0] for symbol in dfa.alphabet.symbols], dtype=np.int64)
    by_byte[byte_of[dfa.tokens], dfa.sources + 1] = dfa.targets + 1
    numbers: dict[bytes, int] = {}
    column = np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in by_byte], dtype=np.int32)
    firsts = np.unique(column, return_index=True)[1]
    return np.ascontiguousarray(by_byte[firsts].T), column


def _distances(table: Int32Array, final: BoolArray) -> Int32Array:
    """Return for each state the least number of bytes up to a final one; -1 if there is none."""
    distance = np.where(final, 0, -1).astype(np.int32)
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

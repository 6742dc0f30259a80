"""The tokens that two tokenizers have, numbered alike, and which of them may stand side by side within a piece."""

from __future__ import annotations

from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tokdfa.automata.compact import CompactTokenDFA
from tokdfa.kernels.compare import compare_rows
from tokdfa.tokenizers.tokenizer import Tokenizer

__all__ = ["PairRows", "Vocabularies"]

Int32Array: TypeAlias = npt.NDArray[np.int32]
Int64Array: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]


class PairRows:
    """The rows of the pair test of one dictionary, over tokens in an order of somebody else's.

    Parameters
    ----------
    dfa : CompactTokenDFA
    numbers : int32 array
        For each token its number in the dictionary, -1 if it has none.

    Attributes
    ----------
    of_token : int32 array
        The row of each token; -1 for tokens that the dictionary has not.
    position : int32 array
        The position of each token; -1 for tokens that the dictionary has not.
    """

    def __init__(self, dfa: CompactTokenDFA, numbers: Int32Array) -> None:
        self._rows = dfa.rows
        self._n_positions = len(dfa.position)
        known = numbers >= 0
        self.of_token: Int32Array = np.where(known, self._rows.of_token[numbers], np.int32(-1))
        self.position: Int32Array = np.where(known, dfa.position[numbers], np.int32(-1))

    def forbidding(self, rows: Int32Array) -> Int64Array:
        """Return for each position how many of these rows forbid it."""
        first, lengths = self._rows.pointer[rows], np.diff(self._rows.pointer)[rows]
        ends = np.cumsum(lengths)
        index = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(first - ends + lengths, lengths)
        size = self._n_positions + 1
        opened = np.bincount(self._rows.start[index], minlength=size)
        closed = np.bincount(self._rows.stop[index], minlength=size)
        return np.cumsum(opened - closed)[:-1]

    def forbids(self, row: int, tokens: Int64Array) -> BoolArray:
        """Tell for each of these tokens, which the dictionary has, whether a row forbids it."""
        begin, end = self._rows.pointer[row], self._rows.pointer[row + 1]
        position = self.position[tokens]
        opened = np.searchsorted(self._rows.start[begin:end], position, side="right")
        closed = np.searchsorted(self._rows.stop[begin:end], position, side="right")
        return opened > closed

    def ranks(self, tokens: Int64Array) -> Int32Array:
        """Return for each position the place in `tokens` of the token there, -1 for others."""
        ranks = np.full(self._n_positions, -1, dtype=np.int32)
        ranks[self.position[tokens]] = np.arange(len(tokens), dtype=np.int32)
        return ranks

    def compare(self, rows: Int32Array, other: PairRows, other_rows: Int32Array, tokens: Int64Array) -> BoolArray:
        """Tell for each of these rows whether it is another one, as sets of the tokens that both dictionaries have."""
        mine, its = self._rows, other._rows
        least, _, _ = compare_rows(
            mine.pointer, mine.start, mine.stop, self.ranks(tokens), its.pointer, its.start, its.stop,
            other.ranks(tokens), np.ascontiguousarray(rows), np.ascontiguousarray(other_rows), len(tokens),
        )  # fmt: skip
        return least >= 0


class Vocabularies:
    """The live tokens of a tokenizer, and what they are in another one.

    Parameters
    ----------
    a, b : Tokenizer
        Both over bytes, their dictionaries proper.
    ignore_ids : bool
        Whether tokens are the same that are spelled alike.

    Attributes
    ----------
    words : list of bytes
        The live tokens of the first.
    length : int64 array
        Their lengths.
    is_missing : bool array
        Whether the second has no such token that is live, with the same id.
    a, b : PairRows
    kind, row_a, row_b : int arrays
        Each token's kind: tokens of one kind lead to the same rows; and these rows of each kind.
    differs : bool array
        For each kind whether the two rows differ.
    """

    def __init__(self, a: Tokenizer, b: Tokenizer, *, ignore_ids: bool) -> None:
        live = np.flatnonzero(a.dfa.birth >= 0).astype(np.int32)
        self.words: list[bytes] = list(a.dictionary.alphabet.spell(live.tolist()))  # type: ignore[arg-type]
        self.length = np.fromiter(map(len, self.words), dtype=np.int64, count=len(self.words))
        theirs = b.dictionary.alphabet
        numbers = np.fromiter(
            (theirs.number(word) if word in theirs else -1 for word in self.words), dtype=np.int32, count=len(live)
        )
        numbers[b.dfa.birth[numbers] < 0] = -1
        self.is_missing: BoolArray = numbers < 0
        if not ignore_ids:
            self.is_missing |= a.token_to_id[live] != b.token_to_id[numbers]
        self.a = PairRows(a.dfa, live)
        self.b = PairRows(b.dfa, numbers)
        pairs = np.stack((self.a.of_token, self.b.of_token))
        distinct, inverse = np.unique(pairs, axis=1, return_inverse=True)
        self.kind: Int64Array = inverse.reshape(-1)
        self.row_a, self.row_b = (np.ascontiguousarray(rows) for rows in distinct)

    @property
    def n_kinds(self) -> int:
        """The number of kinds."""
        return len(self.row_a)

    @cached_property
    def common(self) -> Int64Array:
        """The tokens that both dictionaries have live, whatever their ids."""
        return np.flatnonzero(self.b.position >= 0)

    @cached_property
    def differs(self) -> BoolArray:
        """For each kind whether its two rows allow different tokens."""
        differs = np.zeros(self.n_kinds, dtype=np.bool_)
        known = np.flatnonzero(self.row_b >= 0)
        differs[known] = self.a.compare(self.row_a[known], self.b, self.row_b[known], self.common)
        return differs

    def forbidden_in_b_only(self, kind: int) -> Int64Array:
        """Return the common tokens that only the second dictionary forbids behind tokens of a kind."""
        row_a, row_b = int(self.row_a[kind]), int(self.row_b[kind])
        return self.common[self.b.forbids(row_b, self.common) & ~self.a.forbids(row_a, self.common)]

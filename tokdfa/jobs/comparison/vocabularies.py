"""The live tokens of two byte pair tokenizers side by side, and the tokens that each forbids after another."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, ranges
from tokdfa.kernels.fold.folding import compare_rows, ranked_rows
from tokdfa.tokenizers.neighbours import Neighbours


class PairRows:
    """The tokens that each token of a tokenizer forbids after it, over tokens numbered by the caller.

    `numbers` has for each of these the tokenizer's own number, `of_token` its row and `position` its position; all are
    int32 arrays, with -1 for tokens that the tokenizer does not have.
    """

    def __init__(self, of: Neighbours, numbers: Int32Array) -> None:
        self._rows = of.rows
        self._n_positions = len(of.position)
        known = numbers >= 0
        self.of_token: Int32Array = np.where(known, self._rows.of_token[numbers], np.int32(-1))
        self.position: Int32Array = np.where(known, of.position[numbers], np.int32(-1))

    def forbidding(self, rows: Int32Array) -> Int64Array:
        """Return, for each position, the number of these rows that forbid it."""
        index, _ = ranges(self._rows.pointer[rows], self._rows.pointer[rows + 1])
        size = self._n_positions + 1
        opened = np.bincount(self._rows.start[index], minlength=size)
        closed = np.bincount(self._rows.stop[index], minlength=size)
        return np.cumsum(opened - closed)[:-1]

    def forbids(self, row: int, tokens: Int64Array) -> BoolArray:
        """Return, for each of these tokens of the dictionary, whether a row forbids it."""
        begin, end = self._rows.pointer[row], self._rows.pointer[row + 1]
        # One entry more than there are positions, for tokens that have none.
        forbidden = np.zeros(self._n_positions + 1, dtype=np.bool_)
        for start, stop in zip(self._rows.start[begin:end].tolist(), self._rows.stop[begin:end].tolist(), strict=True):
            forbidden[start:stop] = True
        return forbidden[self.position[tokens]]

    def ranks(self, tokens: Int64Array) -> Int32Array:
        """Return for each position the index in `tokens` of the token there, -1 for others."""
        ranks = np.full(self._n_positions, -1, dtype=np.int32)
        ranks[self.position[tokens]] = np.arange(len(tokens), dtype=np.int32)
        return ranks

    def compare(self, rows: Int32Array, other: PairRows, other_rows: Int32Array, tokens: Int64Array) -> BoolArray:
        """Return, for each of these rows, whether it differs as a set of the tokens that both dictionaries have."""
        mine, its = self._rows, other._rows
        least, _, _ = compare_rows(
            ranked_rows(mine.pointer, mine.start, mine.stop, self.ranks(tokens)),
            ranked_rows(its.pointer, its.start, its.stop, other.ranks(tokens)),
            np.ascontiguousarray(rows),
            np.ascontiguousarray(other_rows),
            len(tokens),
        )
        return least >= 0


class Vocabularies:
    """The live tokens of a tokenizer, and their counterparts in another one.

    With `ignore_ids`, tokens with the same spelling are the same. `words` of these lengths are the live tokens of the
    first; of those that are missing, the second has none live with the same id. It alone has `n_only_b` others. Tokens
    of one `kind` lead to the same rows, `row_a` and `row_b`.
    """

    def __init__(self, a: Neighbours, b: Neighbours, *, ignore_ids: bool) -> None:
        live = a.live
        self._are_one = a is b
        self.words: list[bytes] = [a.words[number] for number in live.tolist()]
        self.length = np.fromiter(map(len, self.words), dtype=np.int64, count=len(self.words))
        theirs = b.number_of
        numbers = np.fromiter((theirs.get(word, -1) for word in self.words), dtype=np.int32, count=len(live))
        self.is_missing: BoolArray = numbers < 0
        self.n_only_b = len(theirs) - int(np.count_nonzero(~self.is_missing))
        if not ignore_ids:
            self.is_missing |= a.ids[live] != b.ids[numbers]
        self.a = PairRows(a, live)
        self.b = PairRows(b, numbers)
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
        """The tokens that are live in both dictionaries, with any ids."""
        return np.flatnonzero(self.b.position >= 0)

    @cached_property
    def differs(self) -> BoolArray:
        """For each kind whether its two rows allow different tokens."""
        differs = np.zeros(self.n_kinds, dtype=np.bool_)
        if self._are_one:
            return differs
        known = np.flatnonzero(self.row_b >= 0)
        differs[known] = self.a.compare(self.row_a[known], self.b, self.row_b[known], self.common)
        return differs

    @property
    def are_equal(self) -> bool:
        """Whether both give every piece the same tokens."""
        return not (self.n_only_b or self.is_missing.any() or self.differs.any())

    def forbidden_in_b_only(self, kind: int) -> Int64Array:
        """Return the common tokens that only the second dictionary forbids after tokens of a kind."""
        row_a, row_b = int(self.row_a[kind]), int(self.row_b[kind])
        return self.common[self.b.forbids(row_b, self.common) & ~self.a.forbids(row_a, self.common)]

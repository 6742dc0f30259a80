"""Greedy training: counting different pieces, and merging the most frequent pair everywhere, repeatedly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from tokdfa.base.arrays import Int32Array, Int64Array
from tokdfa.kernels.library import Struct, call, check_memory, ffi, lib

# Ties: by a number that a pair keeps, by its first position now, or by its spelling.
FIXED, FIRST_SEEN, SENTENCEPIECE, SUBWORD_NMT = 0, 1, 2, 3

LONGEST_TEXT: Final = 2**31 - 2

PATIENCE: Final = 1 << 18
"""The number of positions to look at in one call, some hundredths of a second; Python answers signals between calls."""


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a training.

    `symbols` has the pieces with a boundary, -1, before, between and after them: at most `LONGEST_TEXT` entries, which
    the training overwrites. `weight` has for each the number of occurrences of its piece, less than 2⁶² in all. For
    ties by spelling `units` spell the symbols, and the spelling of each begins at `unit_at`; otherwise they are empty.
    """

    symbols: Int32Array
    weight: Int64Array
    units: Int32Array
    unit_at: Int64Array


class Wanted(NamedTuple):
    """The merges that a training is expected to make, one by one; it stops before the first that is not a maximum.

    With `any_tie` each may be any of the most frequent pairs. A pair that is not one of tokens has -1.
    """

    left: Int32Array
    right: Int32Array
    any_tie: bool


class Training:
    """A greedy training under way: O(N log P) for N symbols and P pairs, for any number of merges; see ``merging.c``.

    The caller has checked the text; its symbols are less than `n_symbols`. For `FIXED` ties, `rank` has the ranks of
    all ``n_symbols + merges`` tokens: the pair with the least rank on the left wins, then on the right; without ranks
    the oldest pair. If `overlapping`, runs count every position. A merge has the frequency `least` or more, at least 1,
    and its product at most `longest` symbols.

    Rule i makes the token ``n_symbols + i`` of `left` and `right`, by `gain` replacements in the corpus.
    """

    def __init__(
        self, text: Text, n_symbols: int, merges: int, rank: Int32Array, *, tie: int, overlapping: bool, least: int,
        longest: int, wanted: Wanted | None = None,
    ) -> None:  # fmt: skip
        left, right, any_tie = wanted or Wanted(np.empty(0, np.int32), np.empty(0, np.int32), False)
        if wanted is not None and not len(left) == len(right) == merges:
            raise ValueError("a wanted pair for each merge")
        self.wanted = Wanted(left, right, any_tie)
        self._text = text
        self._left, self._right = np.full(merges, -1, np.int32), np.full(merges, -1, np.int32)
        self._gain = np.empty(merges, np.int64)
        self._made = 0
        self._corpus = Struct(
            "tokdfa_corpus", text=text.symbols, weight=text.weight, length=np.ones(n_symbols + merges, np.int32),
            rank=rank, units=text.units, unit_at=text.unit_at, left=self._left, right=self._right, gain=self._gain,
            n_symbols=n_symbols, least=least, longest=min(longest, LONGEST_TEXT), tie=tie, overlapping=overlapping,
            wanted_left=left, wanted_right=right, any_tie=any_tie,
        )  # fmt: skip
        training = lib.tokdfa_begin_training(self._corpus.pointer)
        if not training:
            raise MemoryError("not enough memory for the pairs of the corpus")
        self._training = ffi.gc(training, lib.tokdfa_end_training)
        while check_memory(lib.tokdfa_find_pairs(self._training, PATIENCE)):
            pass

    def run(self, target: int) -> int:
        """Merge pairs until `target` rules are made or no (wanted) pair is left; return the total number of rules made.

        On a MemoryError the rules made so far are kept, and the training can continue when there is memory.
        """
        target, before = min(target, len(self._left)), -1
        while before < self._made < target:
            before = self._made
            self._made = check_memory(lib.tokdfa_train(self._training, target, PATIENCE))
        return self._made

    @property
    def top(self) -> tuple[int, int] | None:
        """The pair that should be merged where a wanted one is not a maximum; None if no pair is left."""
        pair = int(self._left[self._made]), int(self._right[self._made])
        return None if pair[0] < 0 else pair

    @property
    def most(self) -> int:
        """The number of rules to make at most."""
        return len(self._left)

    @property
    def left(self) -> Int32Array:
        """The left tokens of the rules made so far."""
        return self._left[: self._made]

    @property
    def right(self) -> Int32Array:
        """The right tokens of the rules made so far."""
        return self._right[: self._made]

    def tokens(self) -> tuple[Int32Array, Int64Array]:
        """Return the text as it is now: tokens with a boundary, -1, between pieces, and the weight of each."""
        tokens, weights = np.empty_like(self._text.symbols), np.empty_like(self._text.weight)
        n = call(lib.tokdfa_copy_tokens, self._training, out=(tokens, weights))
        return tokens[:n], weights[:n]

    @property
    def gain(self) -> Int64Array:
        """The number of replacements by each rule made so far."""
        return self._gain[: self._made]


class Pieces:
    """Different pieces of text with their counts, in the order of their first occurrence, in memory that C grows."""

    def __init__(self) -> None:
        pieces = lib.tokdfa_new_pieces()
        if not pieces:
            raise MemoryError("not enough memory for a table of pieces")
        self._pieces = ffi.gc(pieces, lib.tokdfa_free_pieces)

    def __len__(self) -> int:
        return int(self._pieces.n_pieces)

    def add(self, text: Any, spans: Int64Array, weights: Int64Array | None = None) -> None:
        """Count pieces of a text: O(bytes). On a MemoryError none is counted. Other threads may fill other tables.

        The `spans`, of shape (pieces, 2), are the beginning and end of each piece; none is empty or extends beyond the
        text. `weights` are their multiplicities, 0 or more; the sum of all that are added is less than 2⁶³.
        """
        check_memory(call(lib.tokdfa_add_pieces, self._pieces, text, len(text), spans, len(spans), weights))

    def contents(self) -> tuple[Any, Int64Array, Int64Array]:
        """Return the pieces one after the other as a uint8 array, the end of each, and the count of each."""
        n_pieces = len(self)
        text = np.empty(self._pieces.n_bytes, np.uint8)
        ends, counts = np.empty(n_pieces, np.int64), np.empty(n_pieces, np.int64)
        call(lib.tokdfa_copy_pieces, self._pieces, out=(text, ends, counts))
        return text, ends, counts

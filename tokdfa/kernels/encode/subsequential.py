"""The subsequential transducer of a dictionary with all its states: construction, and the coarsest partition."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array
from tokdfa.kernels.library import Struct, call, check_memory, lib

LONGEST_STATE = 1 << 16
"""The maximum length of a state as ``subsequential.c`` writes it down."""

T = TypeVar("T", np.int32, np.int64)

_FULL = -5
_FIRST_CAPACITY = 1024


class WordNumbers:
    """Words of numbers, each once, in a pool that grows; `first` is word 0."""

    def __init__(self, first: Int32Array) -> None:
        self._pool: Int32Array = np.zeros(16 * _FIRST_CAPACITY, dtype=np.int32)
        self._offsets: Int64Array = np.zeros(_FIRST_CAPACITY, dtype=np.int64)
        self._table: Int32Array = np.zeros(2 * _FIRST_CAPACITY, dtype=np.int32)
        self._pool[: len(first)] = first
        self._offsets[1] = len(first)
        self._bind(1)

    def _bind(self, n: int) -> None:
        self.struct = Struct(
            "tokdfa_numbered_words", pool=self._pool, offsets=self._offsets, table=self._table, n_words=n
        )  # fmt: skip
        lib.tokdfa_rehash(self.struct.pointer)

    def __len__(self) -> int:
        return int(self.struct.pointer.n_words)

    @property
    def offsets(self) -> Int64Array:
        """Word i is ``pool[offsets[i]:offsets[i + 1]]``."""
        return self._offsets[: len(self) + 1]

    @property
    def pool(self) -> Int32Array:
        """The numbers of all words."""
        return self._pool[: self.offsets[-1]]

    def grow(self) -> None:
        """Double each buffer if less than half of it is left, or less than the longest word needs."""
        n = len(self)
        if self._offsets[n] + LONGEST_STATE > len(self._pool) // 2:
            self._pool = _doubled(self._pool)
        if n + 2 > len(self._offsets) // 2:
            self._offsets = _doubled(self._offsets)
        # A hash table is full when it is half full.
        size = len(self._table) * (2 if 4 * n >= len(self._table) else 1)
        self._table = np.zeros(size, dtype=np.int32)
        self._bind(n)


class Construction:
    """A construction under way: `states` that are written down, and different `outputs`, number 0 being the empty one.

    `child`, of shape (nodes, symbols), is the trie of the live tokens, node 0 the root, -1 for no child; `token` has
    the token that each node spells, or -1. For each state of the token DFA, `allowed` says which tokens are allowed,
    and `goes_on` for which nodes a longer token is that begins with the node's word. `reached` is the state after each
    token.
    """

    def __init__(
        self, child: Int32Array, token: Int32Array, allowed: BoolArray, goes_on: BoolArray, reached: Int32Array
    ) -> None:
        self.n_symbols = child.shape[1]
        self._trie = Struct(
            "tokdfa_live_trie", child=child, n_symbols=self.n_symbols, token=token, allowed=allowed, goes_on=goes_on,
            reached=reached,
        )  # fmt: skip
        # In the first state nothing is pending, and nothing has been read.
        self.states = WordNumbers(np.zeros(3, dtype=np.int32))
        self.outputs = WordNumbers(np.zeros(0, dtype=np.int32))
        n = _FIRST_CAPACITY
        self._target, self._written = (np.zeros(n * self.n_symbols, dtype=np.int32) for _ in range(2))
        self._ends: Int32Array = np.zeros(n, dtype=np.int32)
        self._bind(0)

    def _bind(self, n_read: int) -> None:
        self._struct = Struct(
            "tokdfa_transducer_construction", states=self.states.struct, outputs=self.outputs.struct,
            target=self._target, written=self._written, ends=self._ends, n_read=n_read,
        )  # fmt: skip

    def go_on(self) -> bool:
        """Continue until all states have their transitions, or a buffer is full; return whether it is done."""
        return check_memory(lib.tokdfa_write_out(self._trie.pointer, self._struct.pointer)) != _FULL

    def grow(self) -> None:
        """Enlarge the buffers."""
        n_read = int(self._struct.pointer.n_read)
        self.states.grow()
        self.outputs.grow()
        if 2 * (n_read + 1) > len(self._ends):
            self._target, self._written, self._ends = map(_doubled, (self._target, self._written, self._ends))
        self._bind(n_read)

    @property
    def longest_state(self) -> int:
        """The length of the longest state written down."""
        return int(np.diff(self.states.offsets).max())

    def transitions(self) -> tuple[Int32Array, Int32Array, Int32Array]:
        """Return the finished targets and outputs by state and symbol, and the outputs at the end of a text."""
        n = len(self.states)
        target, written = (array[: n * self.n_symbols].reshape(n, -1) for array in (self._target, self._written))
        return target, written, self._ends[:n]


def _doubled(array: npt.NDArray[T]) -> npt.NDArray[T]:
    return np.concatenate((array, np.zeros_like(array)))


def partition(target: Int32Array, written: Int32Array, ends: Int32Array) -> tuple[Int32Array, int]:
    """Return the coarsest partition of the states into blocks of equal outputs and equal next blocks, and their number.

    `target` and `written`, of shape (states, symbols), are the next states and the numbers of outputs, `ends` the
    outputs at the end of a text. Blocks are split, round by round, by the blocks that their states lead to; they are
    numbered as they come.
    """
    block: Int32Array = np.zeros(len(ends), dtype=np.int32)
    columns = map(np.ascontiguousarray, (target, written, ends))
    n_blocks = check_memory(call(lib.tokdfa_transducer_partition, *columns, len(ends), target.shape[1], out=(block,)))
    return block, n_blocks

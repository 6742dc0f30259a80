"""Comparing the rows of two compact token DFAs, as sets of tokens."""

from __future__ import annotations

import numba as nb
import numpy as np
import numpy.typing as npt

from tokdfa.kernels.types import INTS, Ints

__all__ = ["compare_rows"]

Counts = npt.NDArray[np.int64]


@nb.njit((INTS, INTS, INTS, INTS, INTS, INTS, INTS, INTS, INTS, INTS, nb.int64), cache=True)
def compare_rows(
    first_pointer: Ints,
    first_start: Ints,
    first_stop: Ints,
    first_rank: Ints,
    second_pointer: Ints,
    second_start: Ints,
    second_stop: Ints,
    second_rank: Ints,
    first_row: Ints,
    second_row: Ints,
    n_ranks: int,
) -> tuple[Ints, Counts, Counts]:
    """Compare rows of two automata, whose tokens stand in different orders.

    Parameters
    ----------
    first_pointer, first_start, first_stop : int32 arrays
        What the rows of the first automaton do not allow; see :class:`tokdfa.automata.compact.Rows`.
    first_rank : int32 array, one entry a position
        The rank, in an order common to both, of the token at the position; -1 for tokens not common to both.
    second_pointer, second_start, second_stop, second_rank : int32 arrays
        The same of the second automaton.
    first_row, second_row : int32 arrays
        The pairs of rows to be compared.
    n_ranks : int
        The number of common tokens.

    Returns
    -------
    least : int32 array, one entry a pair
        The least rank that only one of the rows allows; -1 when they are equal.
    only_first, only_second : int64 arrays, one entry a pair
        How many common tokens only the first row allows, and only the second.
    """
    bits = np.zeros((n_ranks + 63) // 64, np.uint64)
    least = np.full(len(first_row), -1, np.int32)
    only_first = np.zeros(len(first_row), np.int64)
    only_second = np.zeros(len(first_row), np.int64)
    one = np.uint64(1)
    for pair in range(len(first_row)):
        # The forbidden tokens of one row, with those of the other turned over: what is left is in one of them only.
        n_first = n_second = 0
        for i in range(first_pointer[first_row[pair]], first_pointer[first_row[pair] + 1]):
            for position in range(first_start[i], first_stop[i]):
                rank = first_rank[position]
                if rank >= 0:
                    bits[rank >> 6] ^= one << np.uint64(rank & 63)
                    n_first += 1
        for i in range(second_pointer[second_row[pair]], second_pointer[second_row[pair] + 1]):
            for position in range(second_start[i], second_stop[i]):
                rank = second_rank[position]
                if rank >= 0:
                    bits[rank >> 6] ^= one << np.uint64(rank & 63)
                    n_second += 1
        n_either = 0
        for place in range(len(bits)):
            word = bits[place]
            if word:
                bits[place] = np.uint64(0)
                for bit in range(64):
                    if word >> np.uint64(bit) & one:
                        if n_either == 0:
                            least[pair] = 64 * place + bit
                        n_either += 1
        only_first[pair] = (n_second - n_first + n_either) // 2
        only_second[pair] = (n_first - n_second + n_either) // 2
    return least, only_first, only_second

"""Folding a dictionary, rule by rule, into the universal token DFA.

State 0 is the initial state, and the k-th live rule makes state k. Whether a state allows a token is decided by going
back in time. At every time, one pair of tokens meets at the border between the text read and the next token. A live
rule merges across the border iff it is the rule of that pair. Going back, the younger token splits into its parts
first.

The tokens that a state does not allow are a row of intervals of positions; equal rows are shared.
"""

from __future__ import annotations

import numpy as np

from tokdfa.arrays import Int32Array, Int64Array
from tokdfa.kernels.library import Struct, lib, readable, writable

__all__ = [
    "LEFT_DEAD",
    "RIGHT_DEAD",
    "arrange",
    "compare_rows",
    "depths",
    "fold",
    "forbidding_state",
    "forbidding_states",
    "gather_rows",
    "history",
    "ranked_rows",
]

LEFT_DEAD = -2
RIGHT_DEAD = -3


def history(pairs: Int64Array, made: Int32Array, birth: Int32Array, head: Int32Array, tail: Int32Array) -> Struct:
    """Return the data for going back in time, from the results of :func:`fold`."""
    return Struct("tokdfa_folding", pairs=pairs, made=made, birth=birth, head=head, tail=tail)


def forbidding_state(folding: Struct, u: int, v: int, time: int) -> int:
    """Return the state, of those up to `time`, whose rule merges across the border of u≀v; 0 if there is none.

    Parameters
    ----------
    folding : Struct
        Of :func:`history`.
    u, v : int
        Live tokens, `u` no younger than `time`.
    time : int
        A state; larger than all of them for no limit.
    """
    return int(lib.tokdfa_forbidding_state(folding.pointer, u, v, time))


def forbidding_states(folding: Struct, u: Int32Array, v: Int32Array, times: Int32Array) -> Int32Array:
    """Return the result of :func:`forbidding_state` for each pair of tokens, as an int32 array.

    Parameters
    ----------
    folding : Struct
        Of :func:`history`.
    u, v, times : int32 arrays of equal length
        The pairs, and the limit of each.
    """
    if not len(u) == len(v) == len(times):
        raise ValueError("a pair has two tokens and a limit")
    states: Int32Array = np.empty(len(u), dtype=np.int32)
    lib.tokdfa_forbidding_states(
        folding.pointer,
        *(readable(array, np.int32) for array in (u, v, times)),
        len(u),
        writable(states, np.int32),
    )
    return states


def fold(
    left: Int32Array, right: Int32Array, product: Int32Array, n_symbols: int, n_tokens: int
) -> tuple[
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
    Int64Array,
    Int32Array,
]:
    """Fold all rules of a proper dictionary.

    Parameters
    ----------
    left, right, product : int32 arrays, one entry per rule
        Token numbers of u, v and uv.
    n_symbols, n_tokens : int
        Tokens below `n_symbols` are symbols.

    Returns
    -------
    parent, removed, rule : int32 arrays, one entry per state
        The state that a state was copied from, the token it lost, the rule that made it; -1 for the initial state.
    state, birth, head, tail : int32 arrays, one entry per token
        The state reached on the token; the state its live rule made (0 for symbols), and the parts in that rule
        (-1 for symbols). State and birth are -1 for dead tokens.
    blocker : int32 array, one entry per rule
        -1 for a live rule; otherwise the earlier rule that merges across the border between u and v, or `LEFT_DEAD`
        or `RIGHT_DEAD` if that part is a dead token.
    pairs : int64 array, made : int32 array
        The live rules as a hash table, u·2³² + v in `pairs` and the state made in `made`; -1 and 0 in free slots.
    """
    n_rules = len(left)
    parent, removed, rule = np.full((3, n_rules + 1), -1, dtype=np.int32)
    state, birth, head, tail = (np.full(n_tokens, -1, dtype=np.int32) for _ in range(4))
    state[:n_symbols] = birth[:n_symbols] = 0
    blocker = np.full(n_rules, -1, dtype=np.int32)
    size = 4
    while size < 2 * n_rules:
        size *= 2
    pairs, made = np.full(size, -1, dtype=np.int64), np.zeros(size, dtype=np.int32)
    job = Struct(
        "tokdfa_fold_job", left=left, right=right, product=product, n_symbols=n_symbols, parent=parent,
        removed=removed, rule=rule, state=state, birth=birth, head=head, tail=tail, blocker=blocker, pairs=pairs,
        made=made,
    )  # fmt: skip
    n = lib.tokdfa_fold(job.pointer)
    return parent[:n].copy(), removed[:n].copy(), rule[:n].copy(), state, birth, head, tail, blocker, pairs, made


def arrange(
    removed: Int32Array, birth: Int32Array, head: Int32Array, product: Int32Array, n_symbols: int
) -> tuple[Int32Array, Int32Array]:
    """Order the tokens such that the tokens that one rule forbids form an interval.

    The order is a depth-first walk of the forest in which a token is a child of the left part of its live rule,
    latest-born children first; dead tokens come last. The state made by the rule u≀v loses v and those descendants of v
    that descend from a child of v born after the rule (or by it, if u = v).

    Parameters
    ----------
    removed, product : int32 arrays, one entry per state
        The token that the state lost, the token that its rule made.
    birth, head : int32 arrays, one entry per token
        As returned by :func:`fold`.
    n_symbols : int
        Tokens below `n_symbols` are symbols.

    Returns
    -------
    position : int32 array, one entry per token
    width : int32 array, one entry per state
        The number of positions that the state loses, from that of its removed token on; 0 for the initial state.
    """
    below, offset = np.zeros((2, len(birth)), dtype=np.int32)
    position: Int32Array = np.full(len(birth), -1, dtype=np.int32)
    width: Int32Array = np.zeros(len(removed), dtype=np.int32)
    lib.tokdfa_arrange(
        readable(removed, np.int32),
        len(removed),
        readable(birth, np.int32),
        len(birth),
        readable(head, np.int32),
        readable(product, np.int32),
        n_symbols,
        *(writable(array, np.int32) for array in (below, offset, position, width)),
    )
    return position, width


def depths(parent: Int32Array) -> Int32Array:
    """Return the number of states above each state."""
    depth: Int32Array = np.empty(len(parent), dtype=np.int32)
    lib.tokdfa_depths(readable(parent, np.int32), len(parent), writable(depth, np.int32))
    return depth


def gather_rows(
    parent: Int32Array, first: Int32Array, width: Int32Array, states: Int32Array, n_live: int, n_tokens: int
) -> tuple[Int32Array, Int32Array, Int32Array, Int32Array]:
    """Collect the forbidden intervals of `states` and number the distinct sets.

    Parameters
    ----------
    parent, first, width : int32 arrays, one entry per state
        State s loses ``width[s]`` positions from ``first[s]`` on.
    states : int32 array
        The states whose rows to gather, ascending, including the initial state 0.
    n_live, n_tokens : int
        No state allows the positions from `n_live` to `n_tokens`.

    Returns
    -------
    row : int32 array, one entry per state
        The row of each state; -1 for states not in `states`. Rows are numbered in the order of their first use.
    pointer : int32 array, one entry per row and one more
        Row r has the intervals ``pointer[r]`` to ``pointer[r + 1]``.
    start, stop : int32 arrays, one entry per interval
        Half-open, ascending within a row, not touching each other.
    """
    buckets = 4
    while buckets < 2 * len(states):
        buckets *= 2
    row: Int32Array = np.full(len(parent), -1, dtype=np.int32)
    pointer: Int32Array = np.zeros(len(states) + 1, dtype=np.int32)
    start, stop = (np.empty(8 * len(states) + 1024, dtype=np.int32) for _ in range(2))
    fields = {
        "parent": parent, "first": first, "width": width, "states": states, "n_live": n_live, "n_tokens": n_tokens,
        "table": np.full(buckets, -1, dtype=np.int32), "row": row, "pointer": pointer,
        # A state has one interval for itself and one for each state above it.
        "own": np.empty(int(depths(parent).max()) + 1, dtype=np.int64),
    }  # fmt: skip
    done = n_rows = 0
    while True:
        job = Struct("tokdfa_row_job", **fields, start=start, stop=stop, done=done, n_rows=n_rows)
        done = lib.tokdfa_gather_rows(job.pointer)
        n_rows = job.pointer.n_rows
        if done == len(states):
            break
        start, stop = (np.concatenate((array, np.empty_like(array))) for array in (start, stop))
    used = pointer[n_rows]
    return row, pointer[: n_rows + 1].copy(), start[:used].copy(), stop[:used].copy()


PAIRS_AT_ONCE = 1 << 12
"""The number of pairs of rows to compare in one call: some hundredths of a second."""


def ranked_rows(pointer: Int32Array, start: Int32Array, stop: Int32Array, rank: Int32Array) -> Struct:
    """Return the rows of an automaton whose tokens have ranks.

    Parameters
    ----------
    pointer, start, stop : int32 arrays
        The tokens that the rows do not allow; see :class:`tokdfa.automata.compact.Rows`.
    rank : int32 array, one entry per position
        The rank, in an order common to two automata, of the token at the position; -1 for tokens not common to both.
    """
    return Struct("tokdfa_ranked_rows", pointer=pointer, start=start, stop=stop, rank=rank)


def compare_rows(
    first: Struct, second: Struct, first_row: Int32Array, second_row: Int32Array, n_ranks: int
) -> tuple[Int32Array, Int64Array, Int64Array]:
    """Compare rows of two automata whose tokens are in different orders.

    Parameters
    ----------
    first, second : Struct
        The rows of both automata, of :func:`ranked_rows`.
    first_row, second_row : int32 arrays
        The pairs of rows to compare.
    n_ranks : int
        The number of common tokens.

    Returns
    -------
    least : int32 array, one entry per pair
        The least rank that only one of the rows allows; -1 if they are equal.
    only_first, only_second : int64 arrays, one entry per pair
        The number of common tokens that only the first row allows, and that only the second allows.
    """
    if len(first_row) != len(second_row):
        raise ValueError("rows are compared pair by pair")
    bits = np.zeros((n_ranks + 511) // 512 * 8, dtype=np.uint64)
    least: Int32Array = np.empty(len(first_row), dtype=np.int32)
    only_first, only_second = np.empty((2, len(first_row)), dtype=np.int64)
    # Python answers signals between the calls.
    for begin in range(0, len(first_row), PAIRS_AT_ONCE):
        part = slice(begin, begin + PAIRS_AT_ONCE)
        lib.tokdfa_compare_rows(
            first.pointer,
            second.pointer,
            readable(first_row[part], np.int32),
            readable(second_row[part], np.int32),
            len(first_row[part]),
            writable(bits, np.uint64),
            len(bits),
            writable(least[part], np.int32),
            writable(only_first[part], np.int64),
            writable(only_second[part], np.int64),
        )
    return least, only_first, only_second

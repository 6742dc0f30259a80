"""Folding a dictionary, rule by rule, into the universal token DFA; the rows of its states, and comparing rows.

State 0 is the initial state, and the k-th live rule makes state k. The tokens that a state does not allow are a row of
intervals of positions; equal rows are shared.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tokdfa.base.arrays import Int32Array, Int64Array
from tokdfa.kernels.library import Struct, call, lib, slots_for

LEFT_DEAD, RIGHT_DEAD = -2, -3


def history(pairs: Int64Array, made: Int32Array, birth: Int32Array, head: Int32Array, tail: Int32Array) -> Struct:
    """Return the data for going back in time, from the results of :func:`fold`."""
    return Struct("tokdfa_folding", pairs=pairs, made=made, birth=birth, head=head, tail=tail)


def forbidding_state(folding: Struct, u: int, v: int, time: int) -> int:
    """Return the state up to `time` with the rule that merges across the boundary of u≀v; 0 if there is none.

    Both are live tokens, and `u` is not younger than `time`; a time larger than all states does not limit them.
    """
    return int(lib.tokdfa_forbidding_state(folding.pointer, u, v, time))


def fold(
    left: Int32Array, right: Int32Array, product: Int32Array, n_symbols: int, n_tokens: int
) -> tuple[npt.NDArray[Any], ...]:
    """Fold all rules of a proper dictionary, from u and v to uv; tokens below `n_symbols` are symbols.

    Returns the fields of :class:`tokdfa.automata.dictionary.Folding`, which explains them, in order; `blocker` has
    `LEFT_DEAD` or `RIGHT_DEAD` where that part is a dead token.
    """
    n_rules = len(left)
    parent, removed, rule = np.full((3, n_rules + 1), -1, dtype=np.int32)
    state, birth, head, tail = (np.full(n_tokens, -1, dtype=np.int32) for _ in range(4))
    state[:n_symbols] = birth[:n_symbols] = 0
    blocker = np.full(n_rules, -1, dtype=np.int32)
    size = slots_for(n_rules)
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
    """Order the tokens such that the tokens that one rule forbids form an interval; return positions and widths.

    The order is a depth-first walk of the forest in which a token is a child of the left part of its live rule,
    latest-born children first; dead tokens come last. The state of the rule u≀v loses v and the descendants of v that
    descend from a child of v born after the rule (or by it, if u = v): `width` positions from the position of v on, 0
    for the initial state. `product` has the token that the rule of each state made.
    """
    below, offset = np.zeros((2, len(birth)), dtype=np.int32)
    position: Int32Array = np.full(len(birth), -1, dtype=np.int32)
    width: Int32Array = np.zeros(len(removed), dtype=np.int32)
    job = Struct(
        "tokdfa_arrangement", removed=removed, birth=birth, head=head, product=product, n_symbols=n_symbols,
        below=below, offset=offset, position=position, width=width,
    )  # fmt: skip
    lib.tokdfa_arrange(job.pointer)
    return position, width


def depths(parent: Int32Array) -> Int32Array:
    """Return the number of states above each state."""
    depth: Int32Array = np.empty(len(parent), dtype=np.int32)
    call(lib.tokdfa_depths, parent, len(parent), out=(depth,))
    return depth


def gather_rows(
    parent: Int32Array, first: Int32Array, width: Int32Array, states: Int32Array, n_live: int, n_tokens: int
) -> tuple[Int32Array, Int32Array, Int32Array, Int32Array]:
    """Collect the forbidden intervals of `states`, ascending, 0 among them, and number the distinct sets.

    State s loses ``width[s]`` positions from ``first[s]`` on; no state allows the positions `n_live` to `n_tokens`.
    Returns int32 arrays: the `row` of each state, in the order of their first use, -1 for states not asked for; and the
    intervals from ``start[i]`` to ``stop[i]`` of row r, ``pointer[r]`` to ``pointer[r + 1]``, half-open, ascending, not
    touching each other.
    """
    row: Int32Array = np.full(len(parent), -1, dtype=np.int32)
    pointer: Int32Array = np.zeros(len(states) + 1, dtype=np.int32)
    start, stop = (np.empty(8 * len(states) + 1024, dtype=np.int32) for _ in range(2))
    fields = {
        "parent": parent, "first": first, "width": width, "states": states, "n_live": n_live, "n_tokens": n_tokens,
        "table": np.full(slots_for(len(states)), -1, dtype=np.int32), "row": row, "pointer": pointer,
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
    """Return rows of :class:`tokdfa.automata.compact.Rows` with ranks of tokens in an order common to two automata.

    `rank` has the rank of the token at each position; -1 for tokens not common to both.
    """
    return Struct("tokdfa_ranked_rows", pointer=pointer, start=start, stop=stop, rank=rank)


def compare_rows(
    first: Struct, second: Struct, first_row: Int32Array, second_row: Int32Array, n_ranks: int
) -> tuple[Int32Array, Int64Array, Int64Array]:
    """Compare pairs of rows of two automata, both of :func:`ranked_rows`, with `n_ranks` common tokens.

    Returns for each pair the least rank that only one of the rows allows, -1 if they are equal; and the number of
    common tokens that only the first row allows, and that only the second does.
    """
    if len(first_row) != len(second_row):
        raise ValueError("rows are compared pair by pair")
    bits = np.zeros((n_ranks + 511) // 512 * 8, dtype=np.uint64)
    least: Int32Array = np.empty(len(first_row), dtype=np.int32)
    only_first, only_second = np.empty((2, len(first_row)), dtype=np.int64)
    # Python answers signals between the calls.
    for begin in range(0, len(first_row), PAIRS_AT_ONCE):
        part = slice(begin, begin + PAIRS_AT_ONCE)
        pairs = Struct(
            "tokdfa_row_pairs", first_row=first_row[part], second_row=second_row[part], bits=bits, least=least[part],
            only_first=only_first[part], only_second=only_second[part],
        )  # fmt: skip
        lib.tokdfa_compare_rows(first.pointer, second.pointer, pairs.pointer)
    return least, only_first, only_second

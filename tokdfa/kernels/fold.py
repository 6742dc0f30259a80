"""Folding a dictionary, rule by rule, into the universal token DFA.

State 0 is the initial one, and the k-th live rule makes state k. Whether a state allows a token is decided by going
back in time: at every time one pair of tokens meets at the border between what was read and what comes, a live rule
merges across the border iff that pair is its own, and going back the younger token falls into its parts first.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from tokdfa.kernels.types import INTS, LONGS, Ints, Longs

__all__ = ["arrange", "depths", "fold", "forbidding_state"]

LEFT_DEAD = -2
RIGHT_DEAD = -3


@nb.njit((LONGS, nb.int64, nb.int64), cache=True)
def slot(pairs: Longs, u: int, v: int) -> int:
    """Return the place of the pair u≀v in a hash table: where it stands, or the free place where it would."""
    pair = (u << 32) | v
    mask = len(pairs) - 1
    place = int((np.uint64(pair) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & mask
    while pairs[place] >= 0 and pairs[place] != pair:
        place = (place + 1) & mask
    return place


@nb.njit((LONGS, INTS, INTS, INTS, INTS, nb.int64, nb.int64, nb.int64), cache=True)
def forbidding_state(pairs: Longs, made: Ints, birth: Ints, head: Ints, tail: Ints, u: int, v: int, time: int) -> int:
    """Return the state, of those up to `time`, whose rule merges across the border of u≀v; 0 when there is none.

    Both tokens are live, and `u` is no younger than `time`.
    """
    while birth[v] > time:
        v = head[v]
    while True:
        state = int(made[slot(pairs, u, v)])
        if 0 < state <= time:
            return state
        if birth[u] > birth[v]:
            time = birth[u] - 1
            u = tail[u]
        elif birth[v] > 0:
            # Up to and with the rule that made v: if v is uu, it would have taken this u first.
            time = birth[v]
            v = head[v]
        else:
            return 0


@nb.njit((INTS, INTS, INTS, nb.int64, nb.int64), cache=True)
def fold(
    left: Ints, right: Ints, product: Ints, n_symbols: int, n_tokens: int
) -> tuple[Ints, Ints, Ints, Ints, Ints, Ints, Ints, Ints, Longs, Ints]:
    """Fold all rules of a proper dictionary.

    Parameters
    ----------
    left, right, product : int32 arrays, one entry a rule
        Token numbers of u, v and uv.
    n_symbols, n_tokens : int
        Tokens below `n_symbols` are symbols.

    Returns
    -------
    parent, removed, rule : int32 arrays, one entry a state
        The state that a state was copied from, the token it lost, the rule that made it; -1 for the initial state.
    state, birth, head, tail : int32 arrays, one entry a token
        The state reached on the token; the state its live rule made (0 for symbols), and the parts in that rule
        (-1 for symbols). State and birth are -1 for dead tokens.
    blocker : int32 array, one entry a rule
        -1 for a live rule; otherwise the earlier rule that merges across the border between u and v, or `LEFT_DEAD`
        or `RIGHT_DEAD` when that part is a dead token.
    pairs : int64 array, made : int32 array
        The live rules as a hash table, u·2³² + v in `pairs` and the state made in `made`; -1 and 0 where it is free.
    """
    parent = np.full(len(left) + 1, -1, np.int32)
    removed = np.full(len(left) + 1, -1, np.int32)
    rule = np.full(len(left) + 1, -1, np.int32)
    state = np.full(n_tokens, -1, np.int32)
    birth = np.full(n_tokens, -1, np.int32)
    head = np.full(n_tokens, -1, np.int32)
    tail = np.full(n_tokens, -1, np.int32)
    blocker = np.full(len(left), -1, np.int32)
    state[:n_symbols] = 0
    birth[:n_symbols] = 0
    size = 4
    while size < 2 * len(left):
        size *= 2
    pairs = np.full(size, -1, np.int64)
    made = np.zeros(size, np.int32)
    n_states = 1
    for index in range(len(left)):
        u, v, uv = left[index], right[index], product[index]
        if birth[u] < 0:
            blocker[index] = LEFT_DEAD
        elif birth[v] < 0:
            blocker[index] = RIGHT_DEAD
        else:
            culprit = forbidding_state(pairs, made, birth, head, tail, u, v, n_states - 1)
            if culprit > 0:
                blocker[index] = rule[culprit]
            else:
                place = slot(pairs, u, v)
                pairs[place] = (np.int64(u) << 32) | v
                made[place] = n_states
                parent[n_states] = state[u]
                removed[n_states] = v
                rule[n_states] = index
                birth[uv] = n_states
                head[uv] = u
                tail[uv] = v
                # For u = v the product is reached where u led before this rule.
                state[uv] = state[v]
                state[u] = n_states
                n_states += 1
    return (
        parent[:n_states].copy(), removed[:n_states].copy(), rule[:n_states].copy(),
        state, birth, head, tail, blocker, pairs, made,
    )  # fmt: skip


@nb.njit((INTS, INTS, INTS, INTS, nb.int64), cache=True)
def arrange(removed: Ints, birth: Ints, head: Ints, product: Ints, n_symbols: int) -> tuple[Ints, Ints]:
    """Order the tokens so that what one rule forbids is an interval.

    The order is a depth-first walk of the forest in which a token hangs below the left part of its live rule, children
    latest-born first; dead tokens come last. The state made by the rule u≀v loses v and those tokens below v that hang
    there through a child of v born after the rule (or by it, when u = v).

    Parameters
    ----------
    removed, product : int32 arrays, one entry a state
        The token that the state lost, the token that its rule made.
    birth, head : int32 arrays, one entry a token
        As :func:`fold` returns them.
    n_symbols : int
        Tokens below `n_symbols` are symbols.

    Returns
    -------
    position : int32 array, one entry a token
    width : int32 array, one entry a state
        The state loses the positions from that of its removed token on, this many; 0 for the initial state.
    """
    below = np.zeros(len(birth), np.int32)  # How many tokens hang below a token, as far as they are born.
    offset = np.zeros(len(birth), np.int32)
    position = np.full(len(birth), -1, np.int32)
    width = np.zeros(len(removed), np.int32)
    for state in range(len(removed) - 1, 0, -1):
        uv = product[state]
        offset[uv] = below[head[uv]]
        below[head[uv]] += 1 + below[uv]
        width[state] = 1 + below[removed[state]]
    last = 0
    for symbol in range(n_symbols):
        position[symbol] = last
        last += 1 + below[symbol]
    for state in range(1, len(removed)):
        uv = product[state]
        position[uv] = position[head[uv]] + 1 + offset[uv]
    for token in range(n_symbols, len(birth)):
        if birth[token] < 0:
            position[token] = last
            last += 1
    return position, width


@nb.njit((INTS,), cache=True)
def depths(parent: Ints) -> Ints:
    """Return for each state the number of states above it."""
    depth = np.zeros(len(parent), np.int32)
    for state in range(1, len(parent)):
        depth[state] = depth[parent[state]] + 1
    return depth

"""Folding a dictionary, rule by rule, into the universal token DFA.

The DFA is held as a forest of states: state 0 is the initial one, and the k-th live rule makes state k. Whether a
state allows a token is a walk that goes up through the states and down through the left parts of the token.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from tokdfa.kernels.types import INTS, Ints

__all__ = ["allows", "arrange", "depths", "fold", "forbidding_state"]

LEFT_DEAD = -2
RIGHT_DEAD = -3


@nb.njit((INTS, INTS, INTS, INTS, nb.int32, nb.int32), cache=True)
def forbidding_state(parent: Ints, removed: Ints, birth: Ints, left: Ints, state: int, token: int) -> int:
    """Return the state on the way up from `state` that lost `token` or its left part, or 0 when `state` allows it.

    `token` is live. A state made after the token has the transitions of its parent but for what it removed; the rule
    u≀u also takes its own product uu. A state made before the token gained it together with the transition on the
    token's left part.
    """
    while state > 0:
        if state < birth[token]:
            token = left[token]
        elif removed[state] == token or (birth[token] == state and left[token] == removed[state]):
            return state
        else:
            state = parent[state]
    return 0


@nb.njit((INTS, INTS, INTS, INTS, nb.int32, nb.int32), cache=True)
def allows(parent: Ints, removed: Ints, birth: Ints, left: Ints, state: int, token: int) -> bool:
    """Tell whether `state` has a transition on `token`; a dead token (birth -1) has none anywhere."""
    return bool(birth[token] >= 0) and forbidding_state(parent, removed, birth, left, state, token) == 0


@nb.njit((INTS, INTS, INTS, nb.int64, nb.int64), cache=True)
def fold(
    left: Ints, right: Ints, product: Ints, n_symbols: int, n_tokens: int
) -> tuple[Ints, Ints, Ints, Ints, Ints, Ints, Ints]:
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
    state, birth, part : int32 arrays, one entry a token
        The state reached on the token, the state its live rule made (0 for symbols), the left part in that rule
        (-1 for symbols). State and birth are -1 for dead tokens.
    blocker : int32 array, one entry a rule
        -1 for a live rule; otherwise the earlier rule that merges across the border between u and v, or `LEFT_DEAD`
        or `RIGHT_DEAD` when that part is a dead token.
    """
    parent = np.full(len(left) + 1, -1, np.int32)
    removed = np.full(len(left) + 1, -1, np.int32)
    rule = np.full(len(left) + 1, -1, np.int32)
    state = np.full(n_tokens, -1, np.int32)
    birth = np.full(n_tokens, -1, np.int32)
    part = np.full(n_tokens, -1, np.int32)
    blocker = np.full(len(left), -1, np.int32)
    state[:n_symbols] = 0
    birth[:n_symbols] = 0
    n_states = 1
    for index in range(len(left)):
        u, v, uv = left[index], right[index], product[index]
        if birth[u] < 0:
            blocker[index] = LEFT_DEAD
        elif birth[v] < 0:
            blocker[index] = RIGHT_DEAD
        else:
            culprit = forbidding_state(parent, removed, birth, part, state[u], v)
            if culprit > 0:
                blocker[index] = rule[culprit]
            else:
                parent[n_states] = state[u]
                removed[n_states] = v
                rule[n_states] = index
                birth[uv] = n_states
                part[uv] = u
                # For u = v the product is reached where u led before this rule.
                state[uv] = state[v]
                state[u] = n_states
                n_states += 1
    return parent[:n_states].copy(), removed[:n_states].copy(), rule[:n_states].copy(), state, birth, part, blocker


@nb.njit((INTS, INTS, INTS, INTS, INTS, nb.int64), cache=True)
def arrange(removed: Ints, birth: Ints, part: Ints, rule: Ints, product: Ints, n_symbols: int) -> tuple[Ints, Ints]:
    """Order the tokens so that what one rule forbids is an interval.

    The order is a depth-first walk of the forest in which a token hangs below the left part of its live rule, children
    latest-born first; dead tokens come last. The state made by the rule u≀v loses v and those tokens below v that hang
    there through a child of v born after the rule (or by it, when u = v).

    Returns
    -------
    position : int32 array, one entry a token
    width : int32 array, one entry a state
        The state loses the positions from that of its removed token on, this many; 0 for the initial state.
    """
    below = np.zeros(len(birth), np.int32)  # Size of what hangs below a token, as far as it is born.
    offset = np.zeros(len(birth), np.int32)
    position = np.full(len(birth), -1, np.int32)
    width = np.zeros(len(removed), np.int32)
    for state in range(len(removed) - 1, 0, -1):
        uv = product[rule[state]]
        u, v = part[uv], removed[state]
        offset[uv] = below[u]
        below[u] += 1 + below[uv]
        width[state] = 1 + below[v]
    last = 0
    for symbol in range(n_symbols):
        position[symbol] = last
        last += 1 + below[symbol]
    for state in range(1, len(removed)):
        uv = product[rule[state]]
        position[uv] = position[part[uv]] + 1 + offset[uv]
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

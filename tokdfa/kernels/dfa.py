"""Inner loops over explicit DFAs: breadth-first search, the coarsest partition, the first difference.

A DFA is given by rows of transitions: those of state p are ``tokens[offsets[p]:offsets[p + 1]]``, ascending, with their
targets beside them.
"""

from __future__ import annotations

from typing import TypeAlias

import numba as nb
import numpy as np
import numpy.typing as npt

from tokdfa.kernels.types import INTS, LONGS, Ints, Longs

__all__ = ["breadth_first", "coarsest_partition", "first_difference", "group"]

Flags: TypeAlias = npt.NDArray[np.bool_]

FLAGS = nb.types.Array(nb.boolean, 1, "C", readonly=True)


@nb.njit((LONGS, INTS, INTS), cache=True)
def breadth_first(offsets: Longs, targets: Ints, starts: Ints) -> Ints:
    """Return the states reached from `starts` (distinct states), in breadth-first order."""
    n_states = len(offsets) - 1
    order = np.empty(n_states, np.int32)
    seen = np.zeros(n_states, np.bool_)
    found = 0
    for state in starts:
        seen[state] = True
        order[found] = state
        found += 1
    head = 0
    while head < found:
        state = order[head]
        head += 1
        for i in range(offsets[state], offsets[state + 1]):
            target = targets[i]
            if not seen[target]:
                seen[target] = True
                order[found] = target
                found += 1
    return order[:found].copy()


@nb.njit((INTS, nb.int64), cache=True)
def group(keys: Ints, n_keys: int) -> tuple[Longs, Ints]:
    """Return offsets and positions such that the positions with key k are ``positions[offsets[k]:offsets[k + 1]]``."""
    offsets = np.zeros(n_keys + 1, np.int64)
    for key in keys:
        offsets[key + 1] += 1
    for key in range(n_keys):
        offsets[key + 1] += offsets[key]
    place = offsets[:-1].copy()
    positions = np.empty(len(keys), np.int32)
    for i in range(len(keys)):
        positions[place[keys[i]]] = i
        place[keys[i]] += 1
    return offsets, positions


# A refinable partition: `elements` lists the members part by part, `place` is its inverse, `part` the part of a
# member. Part s stands at first[s] to end[s], and its marked members come first.


@nb.njit(cache=True)
def _mark(
    elements: Ints, place: Ints, part: Ints, first: Ints, marked: Ints, touched: Ints, n_touched: int, element: int
) -> int:
    s = part[element]
    i = place[element]
    j = first[s] + marked[s]
    other = elements[j]
    elements[i] = other
    place[other] = i
    elements[j] = element
    place[element] = j
    if marked[s] == 0:
        touched[n_touched] = s
        n_touched += 1
    marked[s] += 1
    return n_touched


@nb.njit(cache=True)
def _split(
    elements: Ints, part: Ints, first: Ints, end: Ints, marked: Ints, touched: Ints, n_touched: int, n_parts: int
) -> int:
    """Split every touched part into marked and unmarked members; the smaller half becomes the new part."""
    for t in range(n_touched):
        s = touched[t]
        middle = first[s] + marked[s]
        if middle < end[s]:
            if marked[s] <= end[s] - middle:
                first[n_parts] = first[s]
                end[n_parts] = middle
                first[s] = middle
            else:
                first[n_parts] = middle
                end[n_parts] = end[s]
                end[s] = middle
            for i in range(first[n_parts], end[n_parts]):
                part[elements[i]] = n_parts
            n_parts += 1
        marked[s] = 0
    return n_parts


@nb.njit((INTS, INTS, INTS, FLAGS, nb.int64), cache=True)
def coarsest_partition(sources: Ints, tokens: Ints, targets: Ints, final: Flags, n_tokens: int) -> Ints:
    """Return for each state the number of its class of states with equal languages.

    Every state must lead to a final one. Blocks of states and cords (sets of transitions on one token) split each
    other in turn, smaller halves first: O(m log n) for m transitions, missing ones being free.
    """
    n, m = len(final), len(sources)
    size = max(n, m, 1)
    touched = np.empty(size, np.int32)

    states = np.arange(n).astype(np.int32)
    state_place = states.copy()
    block = np.zeros(n, np.int32)
    block_first = np.zeros(n + 1, np.int32)
    block_end = np.zeros(n + 1, np.int32)
    block_marked = np.zeros(n + 1, np.int32)
    block_end[0] = n
    n_touched = 0
    for state in range(n):
        if final[state]:
            n_touched = _mark(states, state_place, block, block_first, block_marked, touched, n_touched, state)
    n_blocks = _split(states, block, block_first, block_end, block_marked, touched, n_touched, 1)

    by_token, cords = group(tokens, n_tokens)
    cord_place = np.empty(m, np.int32)
    cord = np.empty(m, np.int32)
    cord_first = np.zeros(m + 1, np.int32)
    cord_end = np.zeros(m + 1, np.int32)
    cord_marked = np.zeros(m + 1, np.int32)
    n_cords = 0
    for token in range(n_tokens):
        if by_token[token] < by_token[token + 1]:
            cord_first[n_cords] = by_token[token]
            cord_end[n_cords] = by_token[token + 1]
            for i in range(by_token[token], by_token[token + 1]):
                cord_place[cords[i]] = i
                cord[cords[i]] = n_cords
            n_cords += 1
    into, incoming = group(targets, n)

    # The cords begin as if block 0 had split them already: what does not lead into another block leads there.
    next_block, next_cord = 1, 0
    while next_block < n_blocks or next_cord < n_cords:
        if next_block < n_blocks:
            n_touched = 0
            for s in range(block_first[next_block], block_end[next_block]):
                for i in range(into[states[s]], into[states[s] + 1]):
                    n_touched = _mark(cords, cord_place, cord, cord_first, cord_marked, touched, n_touched, incoming[i])
            n_cords = _split(cords, cord, cord_first, cord_end, cord_marked, touched, n_touched, n_cords)
            next_block += 1
        else:
            n_touched = 0
            for i in range(cord_first[next_cord], cord_end[next_cord]):
                n_touched = _mark(
                    states, state_place, block, block_first, block_marked, touched, n_touched, sources[cords[i]]
                )
            n_blocks = _split(states, block, block_first, block_end, block_marked, touched, n_touched, n_blocks)
            next_cord += 1
    return block


@nb.njit(cache=True)
def _find(parent: Ints, state: int) -> int:
    while parent[state] != state:
        parent[state] = parent[parent[state]]
        state = parent[state]
    return state


@nb.njit((LONGS, INTS, INTS, FLAGS, nb.int32, nb.int32), cache=True)
def first_difference(offsets: Longs, tokens: Ints, targets: Ints, final: Flags, p: int, q: int) -> tuple[bool, Ints]:
    """Tell whether the languages of states `p` and `q` differ, and by which shortest token sequence.

    The last state of the automaton is a sink without transitions, not final. Pairs that should be equal are merged
    in a union-find forest, breadth first. A pair skipped as already implied cannot hide a shorter difference, for one
    of the merged pairs that imply it, none of them later, is told apart by the same sequence.
    """
    n = len(final)
    sink = n - 1
    parent = np.arange(n).astype(np.int32)
    left = np.empty(n, np.int32)
    right = np.empty(n, np.int32)
    origin = np.empty(n, np.int32)
    label = np.empty(n, np.int32)
    left[0], right[0], origin[0], label[0] = p, q, -1, -1
    parent[p] = q
    head, tail = 0, 1
    while head < tail:
        p, q = left[head], right[head]
        if final[p] != final[q]:
            length = 0
            i = head
            while origin[i] >= 0:
                length += 1
                i = origin[i]
            path = np.empty(length, np.int32)
            i = head
            while origin[i] >= 0:
                length -= 1
                path[length] = label[i]
                i = origin[i]
            return True, path
        i, j = offsets[p], offsets[q]
        while i < offsets[p + 1] or j < offsets[q + 1]:
            in_p = i < offsets[p + 1] and (j == offsets[q + 1] or tokens[i] <= tokens[j])
            in_q = j < offsets[q + 1] and (i == offsets[p + 1] or tokens[j] <= tokens[i])
            token = tokens[i] if in_p else tokens[j]
            p_next = targets[i] if in_p else sink
            q_next = targets[j] if in_q else sink
            i += in_p
            j += in_q
            p_root, q_root = _find(parent, p_next), _find(parent, q_next)
            if p_root != q_root:
                parent[p_root] = q_root
                left[tail], right[tail], origin[tail], label[tail] = p_next, q_next, head, token
                tail += 1
        head += 1
    return False, np.empty(0, np.int32)

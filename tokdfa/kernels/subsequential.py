"""The subsequential transducer of a dictionary with all its states: construction, and the coarsest partition.

A state is a sequence of places where the last token may begin, the end of the text first: the tokens before it that
are not written yet, the node of the trie that spells what has been read of it, and the state of the token DFA before
it. It is written down as ``number of tokens, tokens, node, state`` for each place, one state behind the other.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from tokdfa.kernels.types import INTS

__all__ = [
    "COUNTS",
    "DONE",
    "LONGEST",
    "NO_ROOM",
    "N_OUTPUTS",
    "N_READ",
    "N_STATES",
    "partition",
    "rehash",
    "write_out",
]

# How far a construction is: the states, of which so many have their transitions, and the different outputs.
COUNTS = 3
N_STATES, N_READ, N_OUTPUTS = range(COUNTS)

DONE, NO_ROOM = 0, 1

# The longest a state may be when it is written down.
LONGEST = 1 << 16

_FLAGS = nb.types.Array(nb.boolean, 2, "C", readonly=True)
_CHILDREN = nb.types.Array(nb.int32, 2, "C", readonly=True)
_NUMBERS = nb.int32[::1]
_PLACES = nb.int64[::1]


@nb.njit(inline="always")
def _mix(hashed, value):  # type: ignore[no-untyped-def]
    mixed = (hashed ^ np.uint64(value)) * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ (mixed >> np.uint64(29))


@nb.njit(nb.int64(_NUMBERS, nb.int64, _NUMBERS, _PLACES, nb.int64, _NUMBERS), cache=True)
def _find(word, size, pool, offsets, n, table):  # type: ignore[no-untyped-def]
    """Return the number of a word among those in `pool`; a new one is appended, or -1 returned if there is no room."""
    hashed = np.uint64(size)
    for i in range(size):
        hashed = _mix(hashed, word[i])
    mask = len(table) - 1
    slot = np.int64(hashed >> np.uint64(20)) & mask
    while table[slot]:
        number = np.int64(table[slot]) - 1
        first = offsets[number]
        if offsets[number + 1] - first == size:
            i = 0
            while i < size and pool[first + i] == word[i]:
                i += 1
            if i == size:
                return number
        slot = (slot + 1) & mask
    if 2 * n >= len(table) or n + 2 > len(offsets) or offsets[n] + size > len(pool):
        return np.int64(-1)
    table[slot] = n + 1
    for i in range(size):
        pool[offsets[n] + i] = word[i]
    offsets[n + 1] = offsets[n] + size
    return np.int64(n)


@nb.njit(nb.void(_NUMBERS, _PLACES, nb.int64, _NUMBERS), cache=True)
def rehash(pool, offsets, n, table):  # type: ignore[no-untyped-def]
    """Put the first `n` words of `pool` into an empty hash table."""
    mask = len(table) - 1
    for number in range(n):
        hashed = np.uint64(offsets[number + 1] - offsets[number])
        for i in range(offsets[number], offsets[number + 1]):
            hashed = _mix(hashed, pool[i])
        slot = np.int64(hashed >> np.uint64(20)) & mask
        while table[slot]:
            slot = (slot + 1) & mask
        table[slot] = number + 1


@nb.njit(
    nb.int64(
        _CHILDREN, INTS, _FLAGS, _FLAGS, INTS,
        _PLACES, _NUMBERS, _PLACES, _NUMBERS, _NUMBERS, _PLACES, _NUMBERS, _NUMBERS, _NUMBERS, _NUMBERS,
    ),
    cache=True, nogil=True,
)  # fmt: skip
def write_out(  # type: ignore[no-untyped-def]
    child, token, allowed, goes_on, reached,
    counts, pool, offsets, table, outputs, output_offsets, output_table, target, written, ends,
):  # fmt: skip
    """Go on with the construction until all states have their transitions, or there is no room for more.

    Parameters
    ----------
    child : int32 array of shape (nodes, symbols)
        The trie of the live tokens, node 0 the root; -1 where there is no child.
    token : int32 array, one entry a node
        The token that a node spells, or -1.
    allowed : bool array of shape (states of the token DFA, tokens)
    goes_on : bool array of shape (states of the token DFA, nodes)
        Whether a token that begins with what the node spells, and is longer, is allowed.
    reached : int32 array, one entry a token
        The state of the token DFA behind it.
    counts : int64 array of shape (COUNTS,)
    pool, offsets, table : int32, int64 and int32 arrays
        The states written down, and a hash table of one more than their numbers. The first state is there.
    outputs, output_offsets, output_table : int32, int64 and int32 arrays
        The different outputs in the same way. The empty one is there, and is number 0.
    target, written : int32 arrays, an entry for each state and each symbol
        The next state, and the number of what is written.
    ends : int32 array, one entry a state
        The number of what is written at the end of a text.

    Returns
    -------
    int
        DONE or NO_ROOM.
    """
    n_symbols = child.shape[1]
    state_word = np.empty(LONGEST, np.int32)
    output_word = np.empty(LONGEST, np.int32)
    longest = LONGEST // 4
    first_of, size_of = np.empty(longest, np.int64), np.empty(longest, np.int64)
    node_of, dfa_of = np.empty(longest, np.int32), np.empty(longest, np.int32)
    while counts[N_READ] < counts[N_STATES]:
        here = counts[N_READ]
        begin, stop = offsets[here], offsets[here + 1]
        if (here + 1) * n_symbols > len(target) or 4 * (stop - begin) + 64 > LONGEST:
            return NO_ROOM
        size = np.int64(pool[begin])
        for i in range(size):
            output_word[i] = pool[begin + 1 + i]
        output = _find(output_word, size, outputs, output_offsets, counts[N_OUTPUTS], output_table)
        if output < 0:
            return NO_ROOM
        counts[N_OUTPUTS] = max(counts[N_OUTPUTS], output + 1)
        ends[here] = output
        for symbol in range(n_symbols):
            n = 0
            end_first = end_size = np.int64(0)
            end_token = np.int64(-1)
            at = begin
            while at < stop:
                size = np.int64(pool[at])
                node, dfa = pool[at + 1 + size], pool[at + 2 + size]
                below = child[node, symbol]
                if below >= 0:
                    last = token[below]
                    if last >= 0 and allowed[dfa, last]:
                        end_first, end_size, end_token = at + 1, size, np.int64(last)
                    if goes_on[dfa, below]:
                        first_of[n], size_of[n], node_of[n], dfa_of[n] = at + 1, size, below, dfa
                        n += 1
                at += size + 3
            common = end_size + 1
            for i in range(n):
                shared = np.int64(0)
                bound = min(common, size_of[i])
                while shared < bound:
                    other = pool[end_first + shared] if shared < end_size else end_token
                    if pool[first_of[i] + shared] != other:
                        break
                    shared += 1
                common = min(common, shared)
            for i in range(common):
                output_word[i] = pool[end_first + i] if i < end_size else end_token
            output = _find(output_word, common, outputs, output_offsets, counts[N_OUTPUTS], output_table)
            if output < 0:
                return NO_ROOM
            counts[N_OUTPUTS] = max(counts[N_OUTPUTS], output + 1)
            state_word[0] = end_size + 1 - common
            place = np.int64(1)
            for i in range(common, end_size + 1):
                state_word[place] = pool[end_first + i] if i < end_size else end_token
                place += 1
            state_word[place], state_word[place + 1] = 0, reached[end_token]
            place += 2
            for k in range(n):
                state_word[place] = size_of[k] - common
                place += 1
                for i in range(common, size_of[k]):
                    state_word[place] = pool[first_of[k] + i]
                    place += 1
                state_word[place], state_word[place + 1] = node_of[k], dfa_of[k]
                place += 2
            number = _find(state_word, place, pool, offsets, counts[N_STATES], table)
            if number < 0:
                return NO_ROOM
            counts[N_STATES] = max(counts[N_STATES], number + 1)
            target[here * n_symbols + symbol] = number
            written[here * n_symbols + symbol] = output
        counts[N_READ] += 1
    return DONE


@nb.njit(nb.types.Tuple((nb.int32[::1], nb.int64))(INTS, INTS, INTS, nb.int64), cache=True, nogil=True)  # type: ignore[no-untyped-call]
def partition(target, written, ends, n_symbols):  # type: ignore[no-untyped-def]
    """Return the coarsest partition of the states into blocks of equal outputs and equal next blocks.

    Blocks are split, round by round, by the blocks that their states lead to.

    Parameters
    ----------
    target, written, ends : int32 arrays
        See :func:`write_out`.
    n_symbols : int

    Returns
    -------
    block : int32 array, one entry a state
        Blocks are numbered as they come.
    n_blocks : int
    """
    n = len(ends)
    size = 16
    while size < 2 * n:
        size *= 2
    block = np.zeros(n, np.int32)
    following = np.zeros(n, np.int32)
    first = np.zeros(n, np.int64)  # a state of each block
    n_blocks = np.int64(1)
    while True:
        table = np.zeros(size, np.int32)
        n_new = np.int64(0)
        for state in range(n):
            row = state * n_symbols
            hashed = _mix(np.uint64(block[state]), ends[state])
            for i in range(row, row + n_symbols):
                hashed = _mix(hashed, (np.int64(written[i]) << 32) | np.int64(block[target[i]]))
            slot = np.int64(hashed >> np.uint64(20)) & (size - 1)
            while table[slot]:
                other = first[table[slot] - 1]
                same = block[other] == block[state] and ends[other] == ends[state]
                i = 0
                while same and i < n_symbols:
                    one, two = row + i, other * n_symbols + i
                    same = written[one] == written[two] and block[target[one]] == block[target[two]]
                    i += 1
                if same:
                    break
                slot = (slot + 1) & (size - 1)
            if table[slot] == 0:
                first[n_new] = state
                n_new += 1
                table[slot] = n_new
            following[state] = table[slot] - 1
        for state in range(n):
            block[state] = following[state]
        if n_new == n_blocks:
            return block, n_blocks
        n_blocks = n_new

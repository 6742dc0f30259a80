"""Whether two orders of the same pairs merge alike: where they agree but for blocks, each block is a phase of its own.

Gemma has a token for each run of up to 31 spaces. One file has the pairs of longer runs first, in another all of them
are equally strong, and the order of all other pairs is the same. In both, the pairs of runs come before all others, and
no other pair makes a run: merging first merges runs until no pair of these is left. Whether that gives the same runs is
seen at pairs of tokens of the block (see `tokenizers.neighbours`), and all that follows is the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, offsets_of
from tokdfa.kernels.merging.merging import merge_pieces, pair_table

# Pairs of tokens of one block that are merged.
_MOST_PAIRS = 1 << 18


class Steps(NamedTuple):
    """The pairs that make tokens, the strongest first, one a token: int32 arrays of token numbers, and of ranks."""

    made: Int32Array
    left: Int32Array
    right: Int32Array
    rank: Int32Array


def merge_alike(a: Steps, b: Steps) -> bool:
    """Return whether merging by these pairs, of one rank the leftmost, is known to be the same for two orders.

    The pairs of one rank are in the order of their tokens in both.
    """
    if len(a.made) != len(b.made):
        return False
    if all(map(np.array_equal, a, b)):
        return True
    n_tokens = 1 + max((int(part.max(initial=-1)) for steps in (a, b) for part in steps[:3]), default=0)
    index = np.full(n_tokens, -1, dtype=np.int64)
    index[b.made] = np.arange(len(b.made))
    order = index[a.made]
    if order.min(initial=0) < 0 or not all(np.array_equal(a[part], b[part][order]) for part in (1, 2)):
        return False
    return _phases_are_alike(a, b, order, n_tokens)


def _phases_are_alike(a: Steps, b: Steps, order: Int64Array, n_tokens: int) -> bool:
    """Return whether the blocks in which two orders differ are phases that merge alike; `order` has indices of b."""
    # A block ends where both have had the same pairs, and weaker ones follow.
    rises = np.append((np.diff(a.rank) > 0) & (np.diff(b.rank) > 0), True)
    ends = np.flatnonzero((np.maximum.accumulate(order) == np.arange(len(order))) & rises) + 1
    block_of = np.full(n_tokens, -1, dtype=np.int64)
    block_of[a.made] = np.searchsorted(ends, np.arange(len(order)), side="right")
    bounds = np.append(0, ends)
    differs = np.add.reduceat(_unlike(a, b), bounds[:-1]) > 0
    if not differs.any():
        return True
    last = int(np.flatnonzero(differs)[-1])
    # Up to the last of these blocks, none uses what a later one makes: when it is done, it never begins again.
    so_far = slice(0, int(ends[last]))
    own = block_of[a.made[so_far]]
    if any((block_of[parts[so_far]] > own).any() for parts in (a.left, a.right)):
        return False
    within = [slice(int(bounds[block]), int(bounds[block + 1])) for block in np.flatnonzero(differs).tolist()]
    return all(_merge_pairs_alike(*(Steps(*(part[block] for part in steps)) for steps in (a, b))) for block in within)


def _unlike(a: Steps, b: Steps) -> BoolArray:
    """Return where two orders differ: in the tokens, or in whether a pair is weaker than the one before."""
    unlike: BoolArray = a.made != b.made
    unlike[1:] |= (np.diff(a.rank) > 0) != (np.diff(b.rank) > 0)
    return unlike


def _merge_pairs_alike(a: Steps, b: Steps) -> bool:
    """Return whether two orders of a block give the same tokens for all words of one or two of its tokens."""
    pair_of = {made: (left, right) for made, left, right, _ in np.stack(a).T.tolist()}
    symbols = sorted({part for pair in pair_of.values() for part in pair} - pair_of.keys())
    number = {token: index for index, token in enumerate([*symbols, *pair_of])}
    if len(number) ** 2 > _MOST_PAIRS:
        return False
    words = {symbol: [number[symbol]] for symbol in symbols}
    while len(words) < len(number):
        found = {made: words[u] + words[v] for made, (u, v) in pair_of.items() if u in words and v in words}
        if not found.keys() - words.keys():
            return False
        words |= found
    every = [one + other for one in words.values() for other in (*words.values(), [])]
    text, offsets = np.array([symbol for word in every for symbol in word], dtype=np.int32), offsets_of(every)
    merged = []
    for steps in (a, b):
        columns = ([number[token] for token in part.tolist()] for part in (steps.left, steps.right, steps.made))
        left, right, made = (np.array(column, dtype=np.int32) for column in columns)
        merged.append(merge_pieces(text, offsets, pair_table(left, right, np.ascontiguousarray(steps.rank), made)))
    return all(map(np.array_equal, *merged))

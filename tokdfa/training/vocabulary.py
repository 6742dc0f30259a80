"""The size of the vocabulary as merges are made."""

from __future__ import annotations

import numpy as np

from tokdfa.arrays import Int64Array
from tokdfa.training.greedy import GreedyTrace

__all__ = ["vocabulary_sizes"]


def vocabulary_sizes(trace: GreedyTrace) -> Int64Array:
    """Return the number of different tokens in the corpus before the first merge and after each merge.

    Parameters
    ----------
    trace : GreedyTrace
        The trace that :func:`~tokdfa.training.greedy.trace_greedy` returns.

    Returns
    -------
    int64 array, one entry per rule and one more

    Notes
    -----
    BLOG: a merge adds its product and removes each part that occurs nowhere else, so the size changes by +1, 0 or -1.
    """
    dictionary = trace.dictionary
    occurrences = np.zeros(len(dictionary.alphabet), np.int64)
    occurrences[: len(trace.occurrences)] = trace.occurrences
    sizes = [int(np.count_nonzero(occurrences))]
    rules = (dictionary.left.tolist(), dictionary.right.tolist(), dictionary.product.tolist(), trace.gain.tolist())
    for left, right, product, gain in zip(*rules, strict=True):
        occurrences[left] -= gain
        occurrences[right] -= gain
        occurrences[product] += gain
        sizes.append(sizes[-1] + 1 - sum(occurrences[part] == 0 for part in {left, right}))
    return np.array(sizes, np.int64)

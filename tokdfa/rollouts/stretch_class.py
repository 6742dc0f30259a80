"""The classes of stretches, by which of their ids the model sampled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tokdfa.arrays import BoolArray, Int64Array, running_sum
from tokdfa.meanings import Meaning

__all__ = ["Counts", "Shares", "StretchClass", "classes_of"]


class StretchClass(Meaning):
    """The class of a stretch that is not canonical. The values are stable: ``--json`` and the pages print them.

    Attributes
    ----------
    meaning : str
        One sentence that describes the class.

    Examples
    --------
    >>> [each.value for each in tokdfa.StretchClass]
    ['bugs', 'drift', 'junctions']
    """

    BUG = "bugs", "No id of the stretch was sampled: whoever encoded this text did not use this tokenizer."
    DRIFT = "drift", "All ids of the stretch were sampled: decoding and encoding again would change them."
    JUNCTION = "junctions", "Some ids were sampled and some not: encoding the text again would change frozen ids."


class Counts(NamedTuple):
    """A number for each class of stretches.

    Examples
    --------
    >>> tokdfa.check_rollout(tokdfa.default_tokenizer(), [64, 261, 1193], prompt=2).counts
    Counts(bugs=0, drift=0, junctions=1)
    """

    bugs: int = 0
    drift: int = 0
    junctions: int = 0


class Shares(NamedTuple):
    """The shares of ids in bugs, among those not sampled; in drift, among those sampled; in junctions, among all.

    Examples
    --------
    >>> tokdfa.check_rollout(tokdfa.default_tokenizer(), [64, 261, 1193, 64], prompt=1).shares.drift
    0.6666666666666666
    """

    bugs: float = 0.0
    drift: float = 0.0
    junctions: float = 0.0


def classes_of(bounds: Int64Array, sampled: BoolArray, low: Int64Array, high: Int64Array) -> Int64Array:
    """Return the number of the class of each stretch: 0 for a bug, 1 for drift, 2 for a junction.

    A stretch without ids, where the tokenizer would add some, takes the class of the two ids that it is between.

    Parameters
    ----------
    bounds : int64 array of shape (stretches, 2)
    sampled : bool array
        For each id whether the model sampled it.
    low, high : int64 arrays
        For each stretch, where its rollout begins and ends.
    """
    begin, stop = bounds.T
    is_empty = begin == stop
    begin, stop = np.maximum(begin - is_empty, low), np.minimum(stop + is_empty, high)
    until = running_sum(sampled.view(np.uint8))
    n_sampled = until[stop] - until[begin]
    found: Int64Array = np.where(n_sampled == 0, 0, np.where(n_sampled == stop - begin, 1, 2))
    return found

"""The stretches of rollouts that differ from the encoding of their text, and their classes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array, Int64Array, running_sum
from tokdfa.base.verdict import DescribedEnum

__all__ = [
    "ENCODED",
    "NOT_ENCODABLE",
    "NOT_UTF8",
    "OUT_OF_RANGE",
    "Counts",
    "Shares",
    "StretchClass",
    "Stretches",
    "classes_of",
    "in_order",
    "joined",
    "nothing",
    "without_ids",
]

ENCODED, NOT_UTF8, NOT_ENCODABLE, OUT_OF_RANGE = 0, 1, 2, 3
"""Why a stretch is wrong: its text has other ids; no text has these ids; encoding is an error; no token has the id."""


class Stretches(NamedTuple):
    """Stretches of ids that differ from the canonical ids of their text, in order.

    The canonical ids y of ids x are the encoding of the text of x. A boundary is shared if a token of x and a token of
    y end there. Between two neighbouring boundaries that both share there is a stretch of x and a stretch of y, and
    they differ if their ids do. Equal ids are stretches of one token each, so differences are cut as finely as
    possible. There are four exceptions:

    - Special tokens that `encode` never gives split the text, and the parts between them are encoded separately.
      Documents are encoded separately too.
    - Ids that are not UTF-8 have no text. Neighbouring ones are a stretch without canonical ids, and the ids before and
      after them are encoded separately.
    - An id that the tokenizer does not have is a stretch without canonical ids, and cuts the text as they do.
    - If the canonical ids spell another text, because the tokenizer normalizes it, no boundary is known to be shared
      except in the longest common prefix and suffix, and where the tokenizer always cuts the text.

    Attributes
    ----------
    bounds : int64 array of shape (stretches, 2)
        The first id of each and the one after the last, as indices in the given ids.
    canonical : int32 array
        The canonical ids of all stretches, one after the other.
    offsets : int64 array
        Stretch i has the canonical ids ``canonical[offsets[i]:offsets[i + 1]]``.
    outcomes : int8 array
        ENCODED, NOT_UTF8, NOT_ENCODABLE or OUT_OF_RANGE.
    """

    bounds: Int64Array
    canonical: Int32Array
    offsets: Int64Array
    outcomes: np.ndarray[tuple[int], np.dtype[np.int8]]

    def moved(self, places: int) -> Stretches:
        """Return the same stretches with all bounds moved."""
        return self._replace(bounds=self.bounds + places)

    def chosen(self, low: int, high: int) -> Stretches:
        """Return the stretches from `low` to `high`."""
        first, last = self.offsets[low], self.offsets[high]
        return Stretches(
            self.bounds[low:high],
            self.canonical[first:last],
            self.offsets[low : high + 1] - first,
            self.outcomes[low:high],
        )

    def where(self, keep: BoolArray) -> Stretches:
        """Return some of the stretches."""
        sizes = np.diff(self.offsets)
        canonical = self.canonical[np.repeat(keep, sizes)]
        return Stretches(self.bounds[keep], canonical, running_sum(sizes[keep]), self.outcomes[keep])


def nothing() -> Stretches:
    """Return no stretches."""
    return Stretches(np.zeros((0, 2), np.int64), np.zeros(0, np.int32), np.zeros(1, np.int64), np.zeros(0, np.int8))


def joined(parts: Iterable[Stretches]) -> Stretches:
    """Return the stretches of all parts, which are in order."""
    found = [*parts]
    if not found:
        return nothing()
    if len(found) == 1:
        return found[0]
    sizes = np.concatenate([np.diff(part.offsets) for part in found])
    return Stretches(
        np.concatenate([part.bounds for part in found]),
        np.concatenate([part.canonical for part in found]),
        running_sum(sizes),
        np.concatenate([part.outcomes for part in found]),
    )


def without_ids(bounds: Int64Array, outcome: int) -> Stretches:
    """Return stretches without canonical ids."""
    n = len(bounds)
    offsets = np.zeros(n + 1, dtype=np.int64)
    return Stretches(bounds, np.zeros(0, dtype=np.int32), offsets, np.full(n, outcome, dtype=np.int8))


def in_order(found: Stretches, boundaries: Int64Array | None = None) -> Stretches:
    """Return stretches in order; join neighbours that are not UTF-8, unless one of `boundaries` is between them."""
    order = np.argsort(found.bounds[:, 0], kind="stable")
    bounds, outcomes = found.bounds[order], found.outcomes[order]
    sizes, canonical = np.diff(found.offsets), found.canonical
    if (order[1:] < order[:-1]).any():
        parts = [canonical[found.offsets[at] : found.offsets[at + 1]] for at in order.tolist()]
        canonical, sizes = np.concatenate((canonical[:0], *parts)), sizes[order]
    is_bad = outcomes == NOT_UTF8
    goes_on = np.append(False, is_bad[1:] & is_bad[:-1] & (bounds[1:, 0] == bounds[:-1, 1]))[: len(bounds)]
    if boundaries is not None:
        goes_on &= ~np.isin(bounds[:, 0], boundaries)
    if not goes_on.any():
        return Stretches(bounds, canonical, running_sum(sizes), outcomes)
    first, last = ~goes_on, np.append(~goes_on[1:], True)
    # Stretches that become one have no canonical ids.
    return Stretches(
        np.column_stack((bounds[first, 0], bounds[last, 1])), canonical, running_sum(sizes[first]), outcomes[first]
    )


class StretchClass(DescribedEnum):
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
    """The shares of ids in bugs, among ids not sampled; in drift, among sampled ids; in junctions, among all.

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
    `bounds` are of shape (stretches, 2), `sampled` is for each id, and `low` and `high`, where its rollout begins and
    ends, for each stretch.
    """
    begin, stop = bounds.T
    is_empty = begin == stop
    begin, stop = np.maximum(begin - is_empty, low), np.minimum(stop + is_empty, high)
    until = running_sum(sampled.view(np.uint8))
    n_sampled = until[stop] - until[begin]
    found: Int64Array = np.where(n_sampled == 0, 0, np.where(n_sampled == stop - begin, 1, 2))
    return found

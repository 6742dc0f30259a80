"""Masks of the ids that can come next, with one bit an id."""

from __future__ import annotations

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array, Uint8Array, Uint32Array
from tokdfa.kernels.library import Struct, lib, readable, writable

__all__ = ["DEAD_END", "GOES_ON", "OPEN", "followers_of", "forbid", "forbidding", "next_ids"]


OPEN = 0
GOES_ON = 1
DEAD_END = 2
"""The verdicts on a state: not known for all rows alike; that a stream goes on from it whatever the row forbids; that
none does."""


def followers_of(pointer: Int32Array, start: Int32Array, stop: Int32Array, id_at: Int32Array) -> Struct:
    """Return the rows of what may not follow.

    Parameters
    ----------
    pointer, start, stop : int32 arrays
        Row r forbids the positions ``start[i]`` to ``stop[i]`` for i from ``pointer[r]`` to ``pointer[r + 1]``.
    id_at : int32 array
        The id at each position; -1 for none.
    """
    return Struct("tokdfa_followers", pointer=pointer, start=start, stop=stop, id_at=id_at)


def forbid(followers: Struct, row: int, fragile: Uint32Array, mask: Uint32Array) -> None:
    """Take the ids of `fragile` that a row forbids out of `mask`; both have one bit an id."""
    lib.tokdfa_forbid(followers.pointer, row, readable(fragile, np.uint32), writable(mask, np.uint32))


def forbidding(followers: Struct, rows: Int32Array, position: int) -> BoolArray:
    """Return for each row whether it forbids the id at a position."""
    forbids = np.empty(len(rows), dtype=np.bool_)
    lib.tokdfa_forbidding(followers.pointer, readable(rows, np.int32), len(rows), position, writable(forbids, np.bool_))
    return forbids


def next_ids(
    ids: Int32Array,
    texts: Int32Array,
    *,
    class_of: Int32Array,
    spelled: Int32Array,
    allowed: Int32Array,
    cut: Int32Array,
    place_of: Int32Array,
    verdicts: Uint8Array,
    n_words: int,
) -> tuple[Uint32Array, Uint32Array, Int32Array]:
    """Return masks of the ids after which a stream goes on, as far as verdicts settle it.

    Parameters
    ----------
    ids, texts : int32 arrays
        Ids, and the states of the language of texts after each.
    class_of, spelled : int32 arrays, one entry an id
        Its class; and -1 if nothing goes on after it, 0, or a positive number if verdicts do not settle it.
    allowed, cut : int32 arrays, one entry a class
        The state of the pre-tokenizer after an id of the class that is not forbidden, and that after one that is; 0 for
        none.
    place_of : int32 array, one entry a state of the pre-tokenizer
        The row of its verdicts; -1 for none.
    verdicts : uint8 array of shape (rows, states of the texts)
        `OPEN`, `GOES_ON` or `DEAD_END`.
    n_words : int
        The number of words of a mask.

    Returns
    -------
    allowed, fragile : uint32 arrays
        The ids after which a stream goes on if they are not forbidden; and those of them after which none does if they
        are.
    open : int32 array
        The places in `ids` of those that are not settled.
    """
    masks = np.zeros((2, n_words), dtype=np.uint32)
    open_ = np.empty(len(ids), dtype=np.int32)
    job = Struct(
        "tokdfa_next_job", class_of=class_of, spelled=spelled, allowed=allowed, cut=cut, place_of=place_of,
        verdicts=verdicts, n_texts=verdicts.shape[1],
    )  # fmt: skip
    n = lib.tokdfa_next_ids(
        job.pointer,
        readable(ids, np.int32),
        readable(texts, np.int32),
        len(ids),
        writable(masks[0], np.uint32),
        writable(masks[1], np.uint32),
        writable(open_, np.int32),
    )
    return masks[0], masks[1], open_[:n].copy()

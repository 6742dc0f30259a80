"""Ids as they come from outside: made integer arrays, or refused."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tokdfa.errors import TokenStreamError

__all__ = ["IntegerArray", "checked_ids", "id_array"]

IntegerArray: TypeAlias = npt.NDArray[np.integer[Any]]


def id_array(ids: npt.ArrayLike) -> IntegerArray:
    """Return ids as an array of integers in one dimension, of any width; not copied if they are one.

    Raises
    ------
    TokenStreamError
        If they are not integers in one dimension.
    """
    try:
        array = np.asarray(ids)
    except (ValueError, OverflowError):
        raise TokenStreamError("ids are integers in one dimension", value=ids) from None
    if array.ndim != 1:
        raise TokenStreamError("ids come in one dimension", value=array.shape, hint="flatten the array")
    if array.size == 0:
        return np.empty(0, dtype=np.int32)
    if array.dtype.kind not in "iu":
        raise TokenStreamError("ids are integers", value=array.dtype.name)
    return array


def checked_ids(ids: npt.ArrayLike, n_ids: int, *, first: int = 0) -> npt.NDArray[np.int32]:
    """Return ids as a contiguous int32 array, refusing what cannot be ids.

    Parameters
    ----------
    ids : array_like of int
    n_ids : int
        Ids go from 0 to ``n_ids - 1``.
    first : int
        The place of the first of them in its stream, for the message.

    Raises
    ------
    TokenStreamError
        If they are not integers in one dimension, or one is negative or too large; says which.
    """
    array = id_array(ids)
    if array.size and (array.min() < 0 or array.max() >= n_ids):
        place = int(np.argmax((array < 0) | (array >= n_ids)))
        what = "negative id" if array[place] < 0 else "id out of range"
        hint = f"ids go from 0 to {n_ids - 1}" if n_ids else "there are no ids"
        raise TokenStreamError(what, value=int(array[place]), where=f"token {first + place}", hint=hint)
    return np.ascontiguousarray(array, dtype=np.int32)

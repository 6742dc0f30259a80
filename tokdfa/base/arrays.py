"""Names of array types, and the conversion of ids from outside into integer arrays, or an error.

Arrays that a kernel reads or writes are contiguous and in the machine's byte order.
"""

from __future__ import annotations

from collections.abc import Collection, Sized
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from tokdfa.base.errors import TokenStreamError

_TRUTH_VALUES = frozenset({bool, np.bool_})

BoolArray: TypeAlias = npt.NDArray[np.bool_]
Float32Array: TypeAlias = npt.NDArray[np.float32]
Float64Array: TypeAlias = npt.NDArray[np.float64]
Int32Array: TypeAlias = npt.NDArray[np.int32]
Int64Array: TypeAlias = npt.NDArray[np.int64]
IntegerArray: TypeAlias = npt.NDArray[np.integer[Any]]
Uint8Array: TypeAlias = npt.NDArray[np.uint8]
Uint16Array: TypeAlias = npt.NDArray[np.uint16]
Uint32Array: TypeAlias = npt.NDArray[np.uint32]
Uint64Array: TypeAlias = npt.NDArray[np.uint64]


def id_array(ids: npt.ArrayLike) -> IntegerArray:
    """Return ids as a one-dimensional array of integers of any width; such an array is not copied.

    A TokenStreamError says if they are not integers in one dimension, or which one is masked.
    """
    if type(ids) is np.ndarray and ids.ndim == 1 and ids.dtype.kind in "iu" and ids.size:
        return ids
    # numpy.ma takes long to import, and only an instance of a subclass can be masked.
    is_subclass = isinstance(ids, np.ndarray) and type(ids) is not np.ndarray
    if is_subclass and isinstance(ids, np.ma.MaskedArray) and np.ma.is_masked(ids):
        index = int(np.argmax(ids.mask))
        raise TokenStreamError("an id is masked", where=f"token {index}", hint="leave it out, with .compressed()")
    if isinstance(ids, (bytes, bytearray)):
        raise TokenStreamError("ids must be integers, not bytes", value=ids, hint="np.frombuffer(…, dtype) reads them")
    try:
        array = np.asarray(ids)
    except (ValueError, OverflowError):
        hint = "a stream is one list; give several one by one" if isinstance(ids, (list, tuple)) else None
        raise TokenStreamError("ids must be integers in one dimension", value=ids, hint=hint) from None
    if array.ndim == 0:
        hint = "encode(text) gives the ids of a text, tokdfa.stores.iter_ids(path) those in a file"
        what = "ids must be integers in one dimension"
        raise TokenStreamError(what, value=ids, hint=hint if isinstance(ids, str) else None)
    if array.ndim != 1:
        what = "ids must be in one dimension"
        raise TokenStreamError(what, value=array.shape, hint="a stream is one list; give several one by one")
    if array.size == 0:
        return np.empty(0, dtype=np.int32)
    if array.dtype.kind == "O":
        odd = next((at for at, id in enumerate(array) if not _fits(id)), None)
        if odd is not None:
            raise TokenStreamError("ids must be integers of at most 64 bits", value=array[odd], where=f"token {odd}")
    if array.dtype.kind not in "iu":
        raise TokenStreamError("ids must be integers", value=array.dtype.name)
    # In a list of integers, numpy reads a truth value as 0 or 1.
    if isinstance(ids, (list, tuple)) and not _TRUTH_VALUES.isdisjoint(map(type, ids)):
        index = next(at for at, id in enumerate(ids) if type(id) in _TRUTH_VALUES)
        raise TokenStreamError("ids must be integers", value=ids[index], where=f"token {index}")
    return array


def _fits(id: object) -> bool:
    return isinstance(id, (int, np.integer)) and not isinstance(id, bool) and -(2**63) <= int(id) < 2**64


def checked_ids(ids: npt.ArrayLike, n_ids: int, *, first: int = 0) -> Int32Array:
    """Return ids as a new contiguous int32 array; a TokenStreamError says which value is not from 0 to ``n_ids - 1``.

    The array is always a copy: the ids that are read later are the checked ones, even if other threads write meanwhile.
    The message counts from `first`, the index of the first id in its stream.
    """
    given = id_array(ids)
    array = np.array(given, dtype=given.dtype.newbyteorder("="), order="C", copy=True, subok=False)
    if array.size and (array.min() < 0 or array.max() >= n_ids):
        index = int(np.argmax((array < 0) | (array >= n_ids)))
        what = "negative id" if array[index] < 0 else "id out of range"
        hint = f"ids go from 0 to {n_ids - 1}" if n_ids else "there are no ids"
        raise TokenStreamError(what, value=int(array[index]), where=f"token {first + index}", hint=hint)
    return array.astype(np.int32, copy=False)


def distinct(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the distinct numbers of an array, ascending, as ``np.unique`` does, which imports masked arrays for it.

    They are sorted, which is faster than the hash table that newer versions of numpy have.
    """
    ordered = np.sort(values, axis=None)
    is_first = np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]
    return cast("npt.NDArray[Any]", ordered[is_first])


def running_sum(counts: npt.NDArray[np.integer[Any]]) -> Int64Array:
    """Return the prefix sums of `counts`: 0, the first count, the sum of the first two, and so on."""
    sums = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=sums[1:])
    return sums


def ranges(begins: IntegerArray, stops: IntegerArray) -> tuple[Int64Array, Int64Array]:
    """Return the numbers in all ranges, one range after the other, and where each range begins among them."""
    offsets = running_sum(stops - begins)
    numbers: Int64Array = np.arange(offsets[-1]) + np.repeat(begins - offsets[:-1], stops - begins)
    return numbers, offsets


def offsets_of(words: Collection[Sized]) -> Int64Array:
    """Return where each of some words begins if they come one after the other, and where the last one ends."""
    return running_sum(np.fromiter(map(len, words), dtype=np.int64, count=len(words)))

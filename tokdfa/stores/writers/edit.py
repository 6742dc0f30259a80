"""The edits that writers ask for: new ids, the starts of documents, and new values of lists parallel to the ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from tokdfa.base.arrays import Int32Array, Int64Array, IntegerArray
from tokdfa.base.errors import TokenStreamError
from tokdfa.stores.store import MASK, Dtype

BATCH = 1 << 20
"""The number of ids of the documents that are edited at once, about."""

MASKS = (MASK, "attention_mask", "assistant_masks", "special_tokens_mask", "token_type_ids")
"""The names of lists with a value for each id, which new ids take over from the replaced ones."""


class Edited(NamedTuple):
    """The new ids of some documents."""

    ids: Int32Array
    starts: Int64Array  # Where each document begins among them
    changed: Int64Array  # The documents with other ids, ascending
    # Takes the values for the old ids, and the name of them, and returns those for the new ids.
    carry: Callable[[npt.NDArray[Any], str], npt.NDArray[Any]]

    def documents(self) -> Iterator[Int32Array]:
        """Yield the new ids of each document."""
        ends = np.append(self.starts[1:], len(self.ids))
        return (self.ids[begin:end] for begin, end in zip(self.starts.tolist(), ends.tolist(), strict=True))


class Edit(Protocol):
    """An edit of the ids of a store; errors say where."""

    def documents(self, ids: IntegerArray, starts: Int64Array, where: str) -> Edited:
        """Return the new ids of whole documents; `where` says which they are."""

    def stream(self, chunks: Iterable[IntegerArray], where: str) -> Iterator[Int32Array]:
        """Yield the new ids of a stream without documents."""


def as_type(ids: Int32Array, dtype: Dtype, where: str) -> IntegerArray:
    """Return new ids as the integers of a file; refused if one is too large for them."""
    largest = np.iinfo(dtype).max
    if len(ids) and int(ids.max()) > largest:
        what = f"a new id does not fit the integers of the file, {dtype.name}"
        raise TokenStreamError(what, value=int(ids.max()), where=where)
    return ids.astype(dtype)


def new_values(
    edited: Edited, name: str, values: npt.NDArray[Any], lengths: npt.ArrayLike, own: Int64Array, where: str
) -> npt.NDArray[Any] | None:
    """Return the new values of another list of the documents; None if it stays as it is.

    `lengths` has the length of the list in each document, and `own` the number of the old ids.
    """
    is_mask = name.rpartition(".")[2] in MASKS
    if not np.array_equal(lengths, own):
        if is_mask and len(edited.changed):
            raise TokenStreamError("the mask must have a value for each id", value=name, where=where)
        return None
    if is_mask:
        return edited.carry(values, name)
    if len(edited.changed) and len(values):
        what = "a list has a value for each id, and it is not known which values new ids have"
        hint = f"leave it out first; lists that are carried over are {', '.join(MASKS)}"
        raise TokenStreamError(what, value=name, where=where, hint=hint)
    return None

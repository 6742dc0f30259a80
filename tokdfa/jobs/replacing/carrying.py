"""The values of lists that are parallel to ids, such as masks, carried over to new ids; and errors that say where."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from tokdfa.base.arrays import Int64Array, IntegerArray, ranges, running_sum
from tokdfa.base.errors import TokdfaError, TokenStreamError
from tokdfa.jobs.replacing.result import Replacement
from tokdfa.stores.writers.edit import Edited


@contextmanager
def located(where: str) -> Iterator[None]:
    """Have errors that name a token name the part of the file, too."""
    try:
        yield
    except TokdfaError as error:
        at = where if error.where is None or error.where.startswith(where) else f"{where}, {error.where}"
        value = {} if error.value is None else {"value": error.value}
        raise type(error)(error.what, **value, where=at, hint=error.hint) from None


def edited(ids: IntegerArray, starts: Int64Array, found: Replacement, where: str) -> Edited:
    """Return some documents in which something was replaced, as a writer asks for them."""
    assert found.starts is not None
    rows = found.changes.rows
    # The document of a change has old ids of it, or else new ones.
    of_old = np.searchsorted(starts, rows[:, 0], side="right") - 1
    of_new = np.searchsorted(found.starts, rows[:, 2], side="right") - 1
    document = np.where(rows[:, 0] < rows[:, 1], of_old, of_new)
    bounds = np.append(starts, len(ids))
    sources = partial(_carried, rows, bounds[document], bounds[document + 1], len(found.ids), where)
    return Edited(found.ids, found.starts, np.unique(document), sources)


def _carried(
    rows: Int64Array, first: Int64Array, last: Int64Array, n_new: int, where: str, values: npt.NDArray[Any], name: str
) -> npt.NDArray[Any]:
    """Return the values of new ids: of ids that stay their own, and of a change the one that its old ids share.

    Of a change without old ids, the ids on both sides must share it. `first` and `last` bound the document of each.
    Example: values 0 0 1 1, ids 1 to 2 become three others: 0 | 0 1 share nothing, so that is refused.
    """
    start, stop, new_start, new_stop = rows.T
    is_inserted = start == stop
    low = np.where(is_inserted, np.maximum(start - 1, first), start)
    high = np.where(is_inserted, np.minimum(stop + 1, last), stop)
    jumps = running_sum((values[1:] != values[:-1]).astype(np.int64))
    has_new = new_start < new_stop
    shares = (low < high) & (jumps[np.minimum(low, len(jumps) - 1)] == jumps[np.maximum(high - 1, 0)])
    wrong = np.flatnonzero(has_new & ~shares)
    if len(wrong):
        at = int(wrong[0])
        what = "the ids that are replaced do not share one value of a list next to them, so new ids have none"
        raise TokenStreamError(what, value=name, where=f"{where}, tokens {start[at]} to {stop[at]}")
    growth = running_sum(new_stop - new_start - (stop - start))
    after = np.concatenate(([0], new_stop, [n_new]))
    sources = np.arange(n_new) - np.repeat(growth, np.diff(after))
    sources[ranges(new_start, new_stop)[0]] = np.repeat(low, new_stop - new_start)
    carried: npt.NDArray[Any] = values[sources]
    return carried

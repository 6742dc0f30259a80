"""A rollout: its ids, and which of them the model sampled."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tokdfa.base.arrays import BoolArray, IntegerArray
from tokdfa.base.errors import TokenStreamError

__all__ = ["Rollout"]

_IGNORED = -100
"""The label of ids that do not count in training, as torch has it; the label of any other id is the id itself."""

Documents = int | npt.ArrayLike | None
"""The id that separates documents, or the index of the first id of each; None for one document."""


class Rollout(NamedTuple):
    """The ids of a rollout, and which of them the model sampled; see :func:`check_rollout`.

    Examples
    --------
    >>> rollout = tokdfa.Rollout([64, 261, 1193], mask=[0, 1, 1])
    >>> tokdfa.check_rollout(tokdfa.default_tokenizer(), *rollout).counts.drift
    1
    """

    ids: npt.ArrayLike
    mask: npt.ArrayLike | None = None
    prompt: int = 0
    documents: Documents = None


def sampled_ids(mask: npt.ArrayLike | None, prompt: int, ids: IntegerArray) -> BoolArray | None:
    """Return, for each of some ids, whether the model sampled it; None if it sampled all.

    A mask as long as the ids decides alone; otherwise it is as long as the ids after the prompt. One with a -100 has
    labels: each is -100, or the id itself, which then was sampled. Without a mask all ids after the prompt were
    sampled.
    """
    n = len(ids)
    prompt = checked_prompt(prompt, n)
    if mask is None:
        if not prompt:
            return None
        sampled: BoolArray = np.ones(n, dtype=np.bool_)
        sampled[:prompt] = False
        return sampled
    given = _array(mask)
    if len(given) not in (n, n - prompt):
        lengths = str(n) if not prompt else f"{n}, or {n - prompt} without the prompt"
        raise TokenStreamError("the mask has another length than the ids", value=len(given), hint=f"expected {lengths}")
    has_labels = given.dtype.kind in "if" and (given == _IGNORED).any()
    flags = by_labels(given, ids[n - len(given) :]) if has_labels else _flags(given)
    return flags if len(flags) == n else np.concatenate((np.zeros(prompt, dtype=np.bool_), flags))


def checked_prompt(prompt: int, n: int) -> int:
    """Return the number of ids of the prompt, an integer from 0 to `n`."""
    try:
        length = operator.index(prompt)
    except TypeError:
        length = -1
    if isinstance(prompt, (bool, np.bool_)) or length < 0:
        raise TokenStreamError("the length of the prompt must be an integer from 0 on", value=prompt)
    if length > n:
        raise TokenStreamError("the prompt is longer than the ids", value=length, hint=f"there are {n}")
    return length


def _array(mask: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return a mask as an array of numbers or truth values in one dimension."""
    try:
        array = np.asarray(mask)
    except (ValueError, TypeError, OverflowError):
        raise TokenStreamError("the mask must be 0 and 1 in one dimension", value=mask) from None
    if array.ndim != 1:
        raise TokenStreamError("the mask must be in one dimension", value=array.shape)
    if array.dtype.kind not in "iufb" and array.size:
        raise TokenStreamError("the mask must be 0 and 1", value=array.dtype.name)
    return array


def by_labels(labels: npt.NDArray[Any], ids: npt.NDArray[Any]) -> BoolArray:
    """Return, for each of some ids, whether it is its own label; others must be labelled -100."""
    flags: BoolArray = labels != _IGNORED
    wrong = np.flatnonzero(flags & (labels != ids))
    if len(wrong):
        at = int(wrong[0])
        what = f"a label must be {_IGNORED} or the id itself, here {ids[at]}"
        raise TokenStreamError(what, value=labels[at].item(), where=f"token {at} of the mask")
    return flags


def _flags(array: npt.NDArray[Any]) -> BoolArray:
    flags: BoolArray = array != 0
    wrong = np.flatnonzero(flags & (array != 1))
    if len(wrong):
        at = int(wrong[0])
        raise TokenStreamError("the mask must be 0 and 1", value=array[at].item(), where=f"token {at} of the mask")
    return flags

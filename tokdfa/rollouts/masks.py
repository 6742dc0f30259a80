"""Masks of rollouts: which ids the model sampled."""

from __future__ import annotations

import operator

import numpy as np
import numpy.typing as npt

from tokdfa.arrays import BoolArray
from tokdfa.errors import TokenStreamError

__all__ = ["checked_prompt", "sampled_ids"]


def sampled_ids(mask: npt.ArrayLike | None, prompt: int, n: int) -> BoolArray | None:
    """Return, for each of `n` ids, whether the model sampled it; None if it sampled all.

    Parameters
    ----------
    mask : array_like of 0 and 1, optional
        As long as the ids, and then it decides alone; or as long as the ids after the prompt. By default all ids after
        the prompt were sampled.
    prompt : int
        The number of ids of the prompt.
    n : int

    Raises
    ------
    TokenStreamError
        If the prompt is longer than the ids, the mask has another length, or a value that is neither 0 nor 1; the error
        says which.
    """
    prompt = checked_prompt(prompt, n)
    if mask is None:
        if not prompt:
            return None
        sampled: BoolArray = np.ones(n, dtype=np.bool_)
        sampled[:prompt] = False
        return sampled
    given = _flags(mask)
    if len(given) == n:
        return given
    if len(given) != n - prompt:
        lengths = str(n) if not prompt else f"{n}, or {n - prompt} without the prompt"
        raise TokenStreamError("the mask has another length than the ids", value=len(given), hint=f"expected {lengths}")
    return np.concatenate((np.zeros(prompt, dtype=np.bool_), given))


def checked_prompt(prompt: int, n: int) -> int:
    """Return the number of ids of the prompt.

    Raises
    ------
    TokenStreamError
        If it is no integer from 0 to `n`.
    """
    try:
        length = operator.index(prompt)
    except TypeError:
        length = -1
    if isinstance(prompt, (bool, np.bool_)) or length < 0:
        raise TokenStreamError("the length of the prompt must be an integer from 0 on", value=prompt)
    if length > n:
        raise TokenStreamError("the prompt is longer than the ids", value=length, hint=f"there are {n}")
    return length


def _flags(mask: npt.ArrayLike) -> BoolArray:
    try:
        array = np.asarray(mask)
    except (ValueError, TypeError, OverflowError):
        raise TokenStreamError("the mask must be 0 and 1 in one dimension", value=mask) from None
    if array.ndim != 1:
        raise TokenStreamError("the mask must be in one dimension", value=array.shape)
    if array.dtype == np.bool_ or not array.size:
        return np.asarray(array, dtype=np.bool_)
    if array.dtype.kind not in "iuf":
        raise TokenStreamError("the mask must be 0 and 1", value=array.dtype.name)
    flags: BoolArray = array != 0
    wrong = np.flatnonzero(flags & (array != 1))
    if len(wrong):
        place = int(wrong[0])
        raise TokenStreamError(
            "the mask must be 0 and 1", value=array[place].item(), where=f"token {place} of the mask"
        )
    return flags

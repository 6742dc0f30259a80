"""A rollout: its ids, and which of them the model sampled; and what errors call its parts."""

from __future__ import annotations

from typing import NamedTuple

import numpy.typing as npt

__all__ = ["Documents", "Names", "Rollout"]

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


class Names(NamedTuple):
    """What errors call the ids, the mask and the prompt of a rollout; empty for nothing."""

    ids: str = ""
    mask: str = ""
    prompt: str = ""

"""The judge of whole streams of a Unigram tokenizer, word by word."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tokdfa.arrays import IntegerArray
from tokdfa.validation.judges.rest import WHOLE, Rest

if TYPE_CHECKING:
    from tokdfa.unigram.segmenter import Acceptor

__all__ = ["WholeAcceptor"]


MOST = 1 << 18
"""The most ids that are copied to be judged at once."""


class WholeAcceptor:
    """Whether streams are canonical, from one call to the kernels each.

    Parameters
    ----------
    acceptor : Acceptor
        That of the tokenizer.
    n_ids : int
        Ids go from 0 to one less than this.
    """

    def __init__(self, acceptor: Acceptor, n_ids: int) -> None:
        self._acceptor = acceptor
        self._n_ids = np.uint64(n_ids)

    def unjudged(self, ids: IntegerArray) -> Rest | None:
        """Return the part of a stream that is not known to be canonical: all of it, or None for nothing.

        Parameters
        ----------
        ids : integer array
            Any integers, in one dimension.
        """
        if not 0 < len(ids) <= MOST or ids.min() < 0 or ids.max() >= self._n_ids:
            return WHOLE
        own = ids.astype(np.int32)
        return None if self._acceptor.accept(own)[0] == len(own) else WHOLE

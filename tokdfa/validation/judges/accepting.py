"""The judge of whole streams of a Unigram tokenizer, word by word."""

from __future__ import annotations

import numpy as np

from tokdfa.arrays import IntegerArray
from tokdfa.tokenizers.unigram import UnigramTokenizer
from tokdfa.validation.judges.walk import WHOLE, Rest

__all__ = ["WholeAcceptor"]


MOST = 1 << 18
"""The most ids that are copied to be judged at once."""


class WholeAcceptor:
    """Whether streams are canonical, from one call to the kernels each.

    Parameters
    ----------
    tokenizer : UnigramTokenizer
        One with an acceptor.
    """

    def __init__(self, tokenizer: UnigramTokenizer) -> None:
        acceptor = tokenizer.acceptor
        assert acceptor is not None
        self._acceptor = acceptor
        self._n_ids = np.uint64(tokenizer.n_ids)

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

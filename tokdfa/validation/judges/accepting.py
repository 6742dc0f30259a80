"""The judge of whole streams of a Unigram tokenizer, word by word."""

from __future__ import annotations

import numpy as np

from tokdfa.arrays import IntegerArray
from tokdfa.tokenizers.unigram import UnigramTokenizer

__all__ = ["WholeAcceptor"]


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

    def accepts(self, ids: IntegerArray) -> bool:
        """Return whether a stream is canonical; False if it is not, or this does not decide it, or it has no id.

        Parameters
        ----------
        ids : integer array
            Any integers, in one dimension.
        """
        if not len(ids) or ids.min() < 0 or ids.max() >= self._n_ids:
            return False
        own = ids.astype(np.int32)
        return self._acceptor.accept(own)[0] == len(own)

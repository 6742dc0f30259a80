"""The ids of sentences given as strings, by the segmentation of a Unigram model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tokdfa.base.arrays import Int32Array
from tokdfa.tokenizers.models.unigram.segmenter import BEGINNING, Segmenter


def segmented(segmenter: Segmenter, sentences: Sequence[str]) -> Int32Array:
    """Return the ids of sentences: the whole of a text for SentencePiece, pre-tokens for tokenizers."""
    parts = [sentence.encode("utf-8") for sentence in sentences]
    ends = np.cumsum(np.fromiter(map(len, parts), dtype=np.int64, count=len(parts)))
    return segmenter.encode_on(b"".join(parts), ends, BEGINNING)[0]

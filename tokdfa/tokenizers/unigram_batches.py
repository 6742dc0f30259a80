"""Several texts of a Unigram tokenizer in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tokdfa.encoding.batches import EncodedDocuments
from tokdfa.errors import AlphabetError

if TYPE_CHECKING:
    from tokdfa.arrays import Int32Array
    from tokdfa.tokenizers.unigram import UnigramTokenizer

__all__ = ["encode_together"]


def encode_together(tokenizer: UnigramTokenizer, texts: list[str]) -> EncodedDocuments | None:
    """Return the ids of several texts; None if there is no short way for them, or one of them is no text to encode.

    They are normalized and segmented in one pass, except those that must be normalized first, one by one.
    """
    segmenter = tokenizer.texts
    if segmenter is None:
        return None
    try:
        data = [*map(str.encode, texts)]
    except (TypeError, UnicodeEncodeError):
        return None
    parts: list[Int32Array] = []
    offsets = [np.zeros(1, dtype=np.int64)]
    first = n = 0
    while True:
        ids, ends = segmenter.encode_texts(data, first)
        parts.append(ids)
        offsets.append(ends + n)
        first, n = first + len(ends), n + len(ids)
        if first == len(data):
            break
        # This one must be normalized first.
        try:
            parts.append(tokenizer.encode(texts[first]))
        except AlphabetError:
            return None
        first, n = first + 1, n + len(parts[-1])
        offsets.append(np.array([n]))
    return EncodedDocuments(parts[0] if len(parts) == 1 else np.concatenate(parts), np.concatenate(offsets))

"""Encoding texts side by side: each thread writes the ids of its batches where they belong in the result."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import numpy as np

from tokdfa.kernels.encode.texts import WorkQueue
from tokdfa.kernels.encode.utf8 import FoundTexts
from tokdfa.kernels.library import Struct
from tokdfa.tokenizers.encoding.batches import EncodedDocuments
from tokdfa.tokenizers.encoding.on_threads import on_threads
from tokdfa.tokenizers.encoding.text_encoder import TextEncoder

# The buffer of the result has an entry for each byte. More bytes than this are not encoded side by side.
_MOST = 1 << 28
# The bytes of a batch: so few that no thread waits long for the others at the end, and so many that the call of the
# kernel for several texts is worth it.
_PARCELS_A_THREAD, _SMALL, _LARGE = 16, 1 << 14, 1 << 18


def encode_side_by_side(
    texts: FoundTexts,
    idle: Callable[[], AbstractContextManager[TextEncoder | None]],
    n_threads: int,
    added: Struct | None = None,
    *,
    ids_a_byte: int = 1,
    most: int = _MOST,
) -> EncodedDocuments | None:
    """Return the ids of texts; None if one of them is refused, or if they are more than may be encoded at once.

    Parameters
    ----------
    texts : FoundTexts
    idle : callable
        Gives an encoder that no other thread uses, as long as a ``with`` statement lasts.
    n_threads : int
        The number of threads, the calling one included.
    added : Struct, optional
        The added tokens to be found, ``tokdfa_added_tokens``.
    ids_a_byte : int
        How many ids a text has at most for each of its bytes.
    most : int
        The most bytes of UTF-8 of all texts.
    """
    n, total = len(texts.texts), int(texts.offsets[-1])
    if total > most:
        return None
    size = _parcel_size(total, n_threads)
    # Each batch ends with the first text that makes it large enough.
    ends = dict.fromkeys(texts.offsets.searchsorted(np.arange(size, total, size)).tolist())
    queue = WorkQueue(texts, [0, *(end for end in ends if end < n), n], ids_a_byte)

    def work() -> bool:
        with idle() as encoder:
            if encoder is None:
                queue.refuse()
            else:
                encoder.run.look_for(added)
            return encoder is not None and encoder.run.encode_queue(queue)

    if all(on_threads(work, min(n_threads, len(queue)))):
        return EncodedDocuments(*queue.result())
    return None


def _parcel_size(total: int, n_threads: int) -> int:
    """Return how many bytes of this total a thread encodes at a time."""
    return _LARGE if n_threads == 1 else min(max(total // (_PARCELS_A_THREAD * n_threads), _SMALL), _LARGE)

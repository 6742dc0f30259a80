"""Text put after ids at hand: the ids that stay, and those that follow them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tokdfa.base.arrays import Int32Array
from tokdfa.base.errors import TokenStreamError
from tokdfa.tokenizers.encoding.encoding import n_alike, utf8_of

if TYPE_CHECKING:
    from tokdfa.tokenizers.protocol import AnyTokenizer

# The first number of ids at the end that are searched for a cut.
_NEAR = 1 << 6


def append(tokenizer: AnyTokenizer, ids: npt.ArrayLike, text: str | bytes, *, repair: bool) -> tuple[int, Int32Array]:
    """Return the number of ids that stay, and those that follow them; see :meth:`AnyTokenizer.append`."""
    more, checked = utf8_of(text).decode(), tokenizer.decoder.check(ids)
    verdict = tokenizer.validate(checked)
    # Special tokens that are not found in texts separate texts of their own.
    separators = np.flatnonzero(tokenizer.round_trip.cuts[checked])
    first = int(separators[-1]) + 1 if len(separators) else 0
    if verdict:
        return _after_last_cut(tokenizer, checked, first, more)
    if not repair:
        what, hint = f"the ids are not canonical: {verdict.reason}", "repair=True replaces them from there on"
        raise TokenStreamError(what, where=f"token {verdict.index}", hint=hint)
    parts: list[Int32Array] = []
    for low, high in pairwise((-1, *separators.tolist(), len(checked))):
        part = tokenizer.decode(checked[low + 1 : high])
        is_last = high == len(checked)
        parts += (tokenizer.encode(part + more if is_last else part), checked[high : high + 1])
    whole = np.concatenate(parts)
    kept = n_alike(checked, whole)
    return kept, whole[kept:]


def _after_last_cut(tokenizer: AnyTokenizer, ids: Int32Array, first: int, more: str) -> tuple[int, Int32Array]:
    """Return how many canonical ids stay before more text, and the ids that follow; only the end is encoded again.

    The text begins at the index `first`.
    """
    at = _last_cut(tokenizer, ids, first)
    decoder = tokenizer.decoder if at == first else tokenizer.decoder.later
    tail = ids[at:]
    new = (tokenizer if at == first else tokenizer.later).encode(decoder.text_of(tail).text + more)
    n_kept = n_alike(tail, new)
    return at + n_kept, new[n_kept:].copy()


def _last_cut(tokenizer: AnyTokenizer, ids: Int32Array, first: int) -> int:
    """Return the last index from a first one on where the text of ids is always cut; the first one if none is known.

    Sums of scores may extend across a cut.
    """
    near, boundaries = _NEAR, tokenizer.boundaries
    while boundaries.why_none is None and tokenizer.segmenter is None:
        low = max(len(ids) - near, first)
        found = np.flatnonzero(boundaries.always_cut(ids[low:], begins=low == first))
        if len(found):
            return low + int(found[-1]) + 1
        if low == first:
            break
        near *= 64
    return first

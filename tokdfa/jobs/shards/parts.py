"""Parts of a stream that threads judge separately, with the same result."""

from __future__ import annotations

import numpy as np

from tokdfa.base.arrays import Int32Array
from tokdfa.base.errors import TokdfaError
from tokdfa.jobs.validation.engine import engine_of
from tokdfa.stores.store import Store
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["AFTER", "bounds_of"]

AFTER = 64
"""The number of ids after a part that are judged with it: how text is split may depend on two symbols."""

_BEFORE = 1 << 12
_CLOSE = 16


def bounds_of(tokenizer: AnyTokenizer, store: Store, parts: int) -> list[int]:
    """Return the steps at which parts of a store begin, ascending, and its end.

    Parameters
    ----------
    tokenizer : AnyTokenizer
    store : Store
    parts : int
        The number of parts wanted; there may be fewer.

    Returns
    -------
    list of int
        Parts begin with documents, if the store has any. Otherwise the text is cut where they begin, whatever follows,
        and no special token that it spells goes across.

    Raises
    ------
    TokenStreamError, OSError
        If the store cannot be read there.
    """
    wanted = [store.n_steps * part // parts for part in range(1, parts)]
    if store.has_documents:
        found = [store.boundary(step) for step in wanted]
    elif store.n_ids == store.n_steps and tokenizer.derived(engine_of).walk is not None:
        found = [_safe(tokenizer, store, step) for step in wanted]
    else:
        found = []
    return [*sorted({0, *found}), store.n_steps]


def _safe(tokenizer: AnyTokenizer, store: Store, step: int) -> int:
    """Return the last safe cut before an id; 0 if there is none near."""
    first = max(step - _BEFORE, 0)
    chunks = [chunk.ids for chunk in store.iter_chunks(first, step + AFTER)]
    try:
        ids = tokenizer.decoder.check(np.concatenate(chunks))
    except TokdfaError:
        return 0
    place = step - first
    while place > 0:
        place = tokenizer.boundaries.last_in_ids(ids, place, begins=not first)
        if place and not _is_spelled_near(tokenizer, ids[place : place + AFTER]):
            return first + place
        place -= 1
    return 0


def _is_spelled_near(tokenizer: AnyTokenizer, ids: Int32Array) -> bool:
    """Return whether ids spell a special token that begins so early that it is reported from before them on."""
    if not tokenizer.found_specials:
        return False
    data = tokenizer.decode_bytes(ids)
    contents = (special.content.encode() for special in tokenizer.found_specials)
    return any(data.find(content, 0, _CLOSE + len(content)) >= 0 for content in contents)

"""Places at which a stream without documents can be cut, and its parts judged separately with the same result."""

from __future__ import annotations

import numpy as np

from tokdfa.arrays import Int32Array
from tokdfa.errors import TokdfaError
from tokdfa.stores.store import Store
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.tokenizer import Tokenizer
from tokdfa.validation.judges.choice import documents_walk, model_of

__all__ = ["AFTER", "bounds_of"]

AFTER = 64
"""The number of ids after a cut that are judged with what is before it: how text is split may depend on two symbols."""

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
        Parts begin with documents, if the store has any. Otherwise the text is certainly cut where they begin, whatever
        surrounds it, and no special token that it spells goes across.

    Raises
    ------
    TokenStreamError, OSError
        If the store cannot be read there.
    """
    wanted = [store.n_steps * part // parts for part in range(1, parts)]
    if store.has_documents:
        found = [store.border(step) for step in wanted]
    elif store.n_ids == store.n_steps and documents_walk(tokenizer) is not None and isinstance(tokenizer, Tokenizer):
        found = [_certain(tokenizer, store, step) for step in wanted]
    else:
        found = []
    return [*sorted({0, *found}), store.n_steps]


def _certain(tokenizer: Tokenizer, store: Store, step: int) -> int:
    """Return the last certain cut before an id; 0 if there is none near."""
    first = max(step - _BEFORE, 0)
    chunks = [chunk.ids for chunk in store.iter_chunks(first, step + AFTER)]
    try:
        ids = tokenizer.decoder.check(np.concatenate(chunks))
    except TokdfaError:
        return 0
    model = model_of(tokenizer)
    table = model.table
    stop = step - first
    while table is not None and 0 < stop < len(ids):
        stop = table.last_certain(ids, stop)
        if stop and not _is_spelled_across(tokenizer, ids, stop, 4 * model.longest_special + _CLOSE):
            return first + stop
        stop -= 1
    return 0


def _is_spelled_across(tokenizer: Tokenizer, ids: Int32Array, place: int, reach: int) -> bool:
    """Return whether the bytes spell a special token across a place, or close after it.

    What is wrong with one that begins within two symbols is reported from before the place on.
    """
    if not tokenizer.finds_specials:
        return False
    before = tokenizer.decode_bytes(ids[max(place - reach, 0) : place])
    after = tokenizer.decode_bytes(ids[place : place + reach])
    for special in tokenizer.specials:
        content = special.content.encode()
        near = before[len(before) - min(len(content) - 1, len(before)) :] + after[: len(content) - 1 + _CLOSE]
        if content in near:
            return True
    return False

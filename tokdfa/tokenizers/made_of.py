"""What a byte pair tokenizer is made of, as a value that can be compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tokdfa.tokenizers.tokenizer import Tokenizer

__all__ = ["made_of"]


def made_of(tokenizer: Tokenizer) -> tuple[object, ...]:
    """Return the parts of a tokenizer as they are written; see :attr:`Tokenizer.made_of`."""
    merges = () if tokenizer.merges is None else tokenizer.merges
    arrays = (
        *tokenizer.spellings,
        tokenizer.token_to_id,
        tokenizer.dictionary.left,
        tokenizer.dictionary.right,
        *merges,
    )
    splitting = None if tokenizer.pretokenizer is None else tokenizer.pretokenizer.splitting
    settings = (
        tokenizer.dictionary.alphabet.kind,
        tokenizer.dictionary.alphabet.n_symbols,
        tokenizer.suffix,
        tokenizer.spells_bytes,
        tokenizer.whole_piece,
        tokenizer.finds_specials,
        tuple((special.id, special.content, special.level) for special in tokenizer.specials),
        None if splitting is None else (splitting, splitting.table),
        None if tokenizer.is_plain else (tokenizer.specials, tokenizer.rewrites),
    )
    return (*(array.astype(np.int64).tobytes() for array in arrays), repr(settings))

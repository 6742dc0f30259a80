"""A digest of the parts of a byte pair tokenizer."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tokdfa.tokenizers.tokenizer import Tokenizer

__all__ = ["digest_of"]


def digest_of(tokenizer: Tokenizer) -> str:
    """Return a SHA-256, in hexadecimal, of the parts of a tokenizer; see :attr:`Tokenizer.digest`."""
    digest = hashlib.sha256(b"tokdfa tokenizer\n")
    merges = () if tokenizer.merges is None else tokenizer.merges
    arrays = (
        *tokenizer.spellings,
        tokenizer.token_to_id,
        tokenizer.dictionary.left,
        tokenizer.dictionary.right,
        *merges,
    )
    for array in arrays:
        digest.update(len(array).to_bytes(8, "little") + array.astype(np.int64).tobytes())
    settings = (
        tokenizer.dictionary.alphabet.kind,
        tokenizer.dictionary.alphabet.n_symbols,
        tokenizer.suffix,
        tokenizer._spelled_bytes,
        tokenizer.whole_piece,
        tokenizer.finds_specials,
        [(special.id, special.content, special.level) for special in tokenizer.specials],
        None if tokenizer.pretokenizer is None else tokenizer.pretokenizer.splitting,
    )
    digest.update(repr(settings).encode("utf-8", "surrogatepass"))
    if not tokenizer.is_plain:
        digest.update(repr((tokenizer.specials, tokenizer.rewrites)).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()

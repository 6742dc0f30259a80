"""Small tokenizers over bytes, by their rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tokdfa import Dictionary
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.formats.contents import Contents
from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer
from tokdfa.tokenizers.pretokenizers.steps import Split, Splitting
from tokdfa.tokenizers.tokenizer import Tokenizer

__all__ = ["tokenizer_of"]


def tokenizer_of(
    rules: Sequence[tuple[bytes, bytes]],
    pattern: str | Splitting | None = None,
    specials: Sequence[str | Special] = (),
    finds_specials: bool = False,
    **more: object,
) -> Tokenizer:
    """Return a tokenizer of a tiktoken file, unless more fields of its contents are given.

    Its ids are the numbers of the tokens. Special tokens that are given by their text come after those, one by one.
    """
    dictionary = Dictionary(rules, bytes(range(256)))
    n = len(dictionary.alphabet)
    contents = Contents(
        format="tiktoken",
        dictionary=dictionary,
        ids=np.arange(n, dtype=np.int32),
        specials=tuple(
            Special(n + place, special) if isinstance(special, str) else special
            for place, special in enumerate(specials)
        ),
        finds_specials=finds_specials,
    )
    contents = replace(contents, **more)  # type: ignore[arg-type]
    splitting = Splitting("tiktoken", (Split(pattern),)) if isinstance(pattern, str) else pattern
    return Tokenizer(contents, None if splitting is None else PreTokenizer(splitting))

"""Ids that were cut to 16 bits: none is 65,536 or more, where text of the tokenizer has such ids.

Most cut ids are canonical beside their neighbours, so violations show few of them. What shows is what is missing: ids
that merge late are rare, but a few hundred tokens of text have some from 65,536 on if they have some just below it.
"""

from __future__ import annotations

import numpy as np

from tokdfa.identification.counting import Counts
from tokdfa.identification.sample import Stretch
from tokdfa.tokenizers.protocol import AnyTokenizer

__all__ = ["is_cut_to_16_bits", "may_be_cut"]

_BITS = 1 << 16
# A vocabulary that has fewer ids from 65,536 on may seldom use them; some of them are special tokens.
_FEWEST = 2000
# Other ids of the upper half of 16 bits that must occur if the integers are wider. In texts of cl100k, o200k and
# Llama 3.1 at most 150 occur before one from 65,536 on, repeated ones counted.
_UPPER = 200


def may_be_cut(tokenizer: AnyTokenizer, stretches: tuple[Stretch, ...]) -> bool:
    """Return whether no id has more than 16 bits, though the vocabulary has many, and the integers or the ids tell."""
    if tokenizer.n_ids < _BITS + _FEWEST:
        return False
    if any(int(stretch.ids.max(initial=0)) >= _BITS for stretch in stretches):
        return False
    if all(stretch.ids.dtype.itemsize == 2 for stretch in stretches):
        return True
    ids = np.unique(np.concatenate([stretch.ids[stretch.begin : stretch.end] for stretch in stretches]))
    return int(np.count_nonzero(ids >= _BITS // 2)) >= _UPPER


def is_cut_to_16_bits(tokenizer: AnyTokenizer, stretches: tuple[Stretch, ...], counts: Counts) -> bool:
    """Return whether ids from 65,536 on were cut to their lower 16 bits, in ids that the tokenizer has made.

    If a version of it with fewer ids made them, nearly all violations are where this one has an id from 65,536 on: 92 %
    or more for parts of cl100k and o200k. If ids of Gemma 2 are cut, which has most ids there, up to 79 % are.
    """
    if not may_be_cut(tokenizer, stretches):
        return False
    wanted = sum(max(violation.canonical_ids or (0,)) >= _BITS for violation, _ in counts.found)
    return 10 * wanted <= 9 * len(counts.found)

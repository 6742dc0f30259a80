"""The pair from which merging makes each token, which alone determines the result of merging."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from tokdfa.arrays import running_sum
from tokdfa.errors import UnsupportedFeatureError
from tokdfa.kernels.merging.merging import derivations
from tokdfa.tokenizers.tokenizer import Tokenizer

__all__ = ["Derived", "derived_merges", "merging_fields"]

Derived = list[tuple[bytes, int]]
"""Tokens in the order of the priorities of the pairs that make them, each with the length of the first of the pair."""


def derived_merges(tokenizer: Tokenizer) -> Derived:
    """Return the tokens that merging makes, in order, with the lengths of the first parts.

    Notes
    -----
    Merging makes a token from one pair only: while a word is merged, the steps within the bytes of the token are those
    of merging these bytes on their own. So there is one pair a token, whatever the rules are.
    """
    words: list[Any] = [*tokenizer.dictionary.alphabet, *tokenizer.extra_tokens]
    merger = tokenizer.piece_ids.merger
    symbols, lengths = tokenizer.piece_ids.symbols(words)
    last, _ = derivations(symbols, running_sum(lengths), merger.table)
    made = np.flatnonzero((last[:, 0] == 1) & (last[:, 1] >= 0))
    made = made[np.argsort(last[made, 3], kind="stable")]
    return [(words[token], len(words[left])) for token, left in zip(made.tolist(), last[made, 1].tolist(), strict=True)]


def merging_fields(derived: list[Derived]) -> list[list[Any]]:
    """Return the part of a certificate about merging, by one or two tokenizers.

    Raises
    ------
    UnsupportedFeatureError
        If they do not take the same steps.
    """
    for one, other in pairwise(derived):
        if one != other:
            different = [token for (token, _), mine in zip(one, other, strict=False) if mine[0] != token]
            raise UnsupportedFeatureError(
                "there is no certificate for tokenizers that merge in different steps, if with the same results",
                value=next(iter(different), None),
            )
    return [[token.hex(), size] for token, size in derived[0]]

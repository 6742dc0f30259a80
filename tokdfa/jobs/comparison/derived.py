"""The pair that makes each token, by which tokenizers with different rules may be seen to merge alike.

Merging makes a token from one pair only: while a word is merged, the steps within the token are the same as when the
token is merged on its own. With the rules a≀b, ab≀c, b≀c and a≀bc, "abc" is always ab≀c, and a≀bc never applies. So
rules that make no token are left aside, and one pair a token remains. If two tokenizers have the same pairs in the same
order, each step of one is the step of the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tokdfa.automata.alphabet import Word
from tokdfa.base.arrays import running_sum
from tokdfa.kernels.merging.merging import derivations
from tokdfa.tokenizers.tokenizer import Tokenizer


class Derived(NamedTuple):
    """A token, the number of symbols of the first part of its pair, and its rank, which pairs of one priority share."""

    token: Word
    size: int
    rank: int


def derived_merges(tokenizer: Tokenizer) -> list[Derived]:
    """Return the tokens that merging makes, the strongest pair first; with any rules."""
    words: list[Word] = [*tokenizer.dictionary.alphabet, *tokenizer.extra_tokens]
    symbols, lengths = tokenizer.piece_ids.symbols(words)
    last, _ = derivations(symbols, running_sum(lengths), tokenizer.piece_ids.merger.table)
    made = np.flatnonzero((last[:, 0] == 1) & (last[:, 1] >= 0))
    made = made[np.argsort(last[made, 3], kind="stable")]
    ranks = running_sum(np.diff(last[made, 3]) != 0)[: len(made)]
    rows = zip(made.tolist(), last[made, 1].tolist(), ranks.tolist(), strict=True)
    return [Derived(words[token], len(words[left]), rank) for token, left, rank in rows]


def given_ids(tokenizer: Tokenizer) -> dict[Word, int]:
    """Return the ids of all tokens that texts have among their ids, by word; special tokens are left aside."""
    live = np.flatnonzero(tokenizer.is_live).tolist()
    return {tokenizer.token(number): int(tokenizer.token_to_id[number]) for number in live}

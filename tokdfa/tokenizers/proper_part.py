"""The proper part of an improper dictionary, and where merging differs from it.

Merging by priority uses the rules in ascending order, unless a merge creates a pair that is stronger than itself. As
long as this does not happen, merging does what a proper dictionary does: the one whose rules are the last steps by
which tokens are made in ascending order. What merges into a token within a word also does so on its own, in the same
steps, so differences can be seen at tokens and at pairs of them. Steps that make different tokens and are equally
strong are used from left to right, whatever they make, and no order of rules does that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from tokdfa.arrays import BoolArray, Int32Array, IntegerArray, running_sum
from tokdfa.errors import LimitExceededError
from tokdfa.tokenizers.checked_dictionary import CheckedDictionary
from tokdfa.tokenizers.decoder import spellings
from tokdfa.tokenizers.formats.contents import NumberedWords, number_bytes, number_words

if TYPE_CHECKING:
    from tokdfa.alphabet import Word
    from tokdfa.encoding.merger import Merger
    from tokdfa.encoding.piece_ids import PieceIds
    from tokdfa.tokenizers.models.byte_pairs import BytePairs

__all__ = ["ProperPart", "merge_otherwise", "proper_part"]

MAX_PAIRS = 1 << 22


@dataclass(frozen=True, eq=False)
class ProperPart:
    """The proper part of a dictionary, and where merging may differ from it.

    Attributes
    ----------
    dictionary : CheckedDictionary
        The proper part.
    number : int32 array, one entry a token of the tokenizer
        Its number in that dictionary; -1 for tokens that it does not make.
    late : int32 array
        The tokens that merging makes, but not in ascending order, or by steps that are as strong as others.
    pairs : int32 array of shape (pairs, 2)
        Neighbours that the proper part allows and merging does not.
    parts : int32 array of shape (tokens, 2)
        The two parts from which merging makes each token in its last step; -1 for symbols, and for other tokens.
    priority : int32 array, one entry a token
        The priority of that last step.
    merger : Merger
        The merger of the tokenizer's words.

    Notes
    -----
    Merging gives for a word what the proper part gives, unless the former gives a late token or the latter one of the
    pairs. Without late tokens and such pairs both are the same function.
    """

    dictionary: CheckedDictionary
    number: Int32Array
    late: Int32Array
    pairs: Int32Array
    parts: Int32Array
    priority: Int32Array
    merger: Merger

    @property
    def is_everything(self) -> bool:
        """Whether the proper part gives for every word what merging gives."""
        return not len(self.late) and not len(self.pairs)


def proper_part(tokenizer: BytePairs) -> ProperPart:
    """Return the proper part of a tokenizer's dictionary; LimitExceededError if there are too many pairs to look at."""
    merger = tokenizer.piece_ids.merger
    words = (*tokenizer.dictionary.alphabet, *tokenizer.extra_tokens)
    last, ascending = tokenizer.piece_ids.last_steps
    comes_about = last[:, 0] == 1
    is_proper: BoolArray = comes_about & ascending & ~_made_in_ties(merger, last)
    made = np.flatnonzero(is_proper & (last[:, 1] >= 0))
    made = made[np.argsort(last[made, 3], kind="stable")].astype(np.int32)
    rules = np.column_stack((last[made, 1], last[made, 2], made))
    numbering = _numbered(tokenizer, words, rules)
    number = np.where(is_proper, numbering.number, -1).astype(np.int32)
    late = np.flatnonzero(comes_about & ~is_proper).astype(np.int32)
    # Where merging first descends, it makes a late token from two proper ones, which are the last parts of that token.
    first = last[late, 1:3]
    candidates = _meeting(first[is_proper[first].all(axis=1)], last, is_proper)
    allowed = candidates[_allows(numbering.dictionary, numbering.number[candidates])]
    pairs = allowed[merge_otherwise(tokenizer.piece_ids, words, allowed)]
    parts = np.where(comes_about[:, None], last[:, 1:3], np.int32(-1))
    return ProperPart(numbering.dictionary, number, late, pairs, parts, last[:, 3], merger)


def _made_in_ties(merger: Merger, last: Int32Array) -> BoolArray:
    """Return the tokens that some step makes which is as strong as one that makes another token."""
    _, _, priority, product = merger.merges
    made = np.unique(np.column_stack((priority, product)), axis=0)
    strengths, numbers = np.unique(made[:, 0], return_counts=True)
    found: BoolArray = np.isin(last[:, 3], strengths[numbers > 1]) & (last[:, 1] >= 0)
    while found.any():
        parts = np.append(found, False)[last[:, 1:3]].any(axis=1)
        if not (parts & ~found).any():
            break
        found |= parts
    return found


def _numbered(tokenizer: BytePairs, words: Sequence[Word], rules: Int32Array) -> NumberedWords:
    alphabet = tokenizer.dictionary.alphabet
    if alphabet.kind == "bytes":
        return number_bytes(spellings(cast("Sequence[bytes]", words[256:])), rules)
    return number_words(words, rules, alphabet.n_symbols)


def _meeting(pairs: Int32Array, last: Int32Array, is_proper: BoolArray) -> Int32Array:
    """Return all pairs of proper tokens at whose border one of `pairs` may have been while they were made.

    The left one was then the end of the left token, and the right one the beginning of the right token.
    """
    ending = _on_spine(last[:, 2], is_proper, pairs[:, 0])
    beginning = _on_spine(last[:, 1], is_proper, pairs[:, 1])
    found: list[Int32Array] = [np.zeros((0, 2), dtype=np.int32)]
    total = 0
    for left, right in pairs.tolist():
        lefts, rights = ending[left], beginning[right]
        total += len(lefts) * len(rights)
        if total > MAX_PAIRS:
            raise LimitExceededError(f"more than {MAX_PAIRS} pairs of tokens may merge differently")
        found.append(np.column_stack((np.repeat(lefts, len(rights)), np.tile(rights, len(lefts)))))
    return np.unique(np.concatenate(found), axis=0).astype(np.int32)


def _on_spine(part: Int32Array, is_proper: BoolArray, wanted: Int32Array) -> dict[int, Int32Array]:
    """Return, for each token of `wanted`, itself and the proper tokens with it as an outermost part, at any depth."""
    found: dict[int, list[int]] = {token: [] for token in wanted.tolist()}
    tokens = np.flatnonzero(is_proper)
    spine: IntegerArray = tokens.copy()
    is_wanted = np.zeros(len(part), dtype=np.bool_)
    is_wanted[wanted] = True
    while len(tokens):
        hit = is_wanted[spine]
        for token, inner in zip(tokens[hit].tolist(), spine[hit].tolist(), strict=True):
            found[inner].append(token)
        spine = part[spine]
        tokens, spine = tokens[spine >= 0], spine[spine >= 0]
    return {token: np.array(known, dtype=np.int32) for token, known in found.items()}


def _allows(dictionary: CheckedDictionary, pairs: Int32Array) -> BoolArray:
    """Return which pairs of its tokens may be side by side."""
    from tokdfa.automata.compact import CompactTokenDFA
    from tokdfa.automata.pairs import PairTest

    forbidden = PairTest(CompactTokenDFA(dictionary)).forbidden(np.ascontiguousarray(pairs.reshape(-1), np.int32))
    allowed: BoolArray = ~forbidden[1::2]
    return allowed


def merge_otherwise(piece_ids: PieceIds, words: Sequence[Word], pairs: Int32Array) -> BoolArray:
    """Return which pairs of tokens merging does not give for the word of both."""
    symbols, lengths = piece_ids.symbols([words[number] for number in pairs.ravel().tolist()])
    merged = piece_ids.merger.merge(symbols, running_sum(lengths[0::2] + lengths[1::2]))
    first = np.minimum(merged.offsets[:-1], max(len(merged.tokens) - 2, 0))
    same: BoolArray = np.diff(merged.offsets) == 2
    if len(merged.tokens) >= 2:
        same &= (merged.tokens[first] == pairs[:, 0]) & (merged.tokens[first + 1] == pairs[:, 1])
    otherwise: BoolArray = ~same
    return otherwise

"""The tokens that merging gives, and which of them may stand side by side within a piece.

That these two tell everything is Observation 2 of *Constructing a BPE Tokenization DFA* for proper dictionaries. For
merging by priority, of equals the leftmost, it holds whatever the priorities are: while a word merges, what happens
within two tokens of the outcome that stand side by side is what happens when the word of these two merges by itself, in
the same order; so if merging went across a border of tokens, it would first do so within two neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import groupby
from typing import TypeAlias, cast

import numpy as np
import numpy.typing as npt

from tokdfa.automata.compact import CompactTokenDFA, Rows
from tokdfa.errors import LimitExceededError, UnsupportedFeatureError
from tokdfa.tokenizers.proper_part import ProperPart, merge_otherwise
from tokdfa.tokenizers.tokenizer import Tokenizer
from tokdfa.transducers.one_pass import agrees_with_leftmost

__all__ = ["Neighbours", "neighbours"]

Int32Array: TypeAlias = npt.NDArray[np.int32]
Flags: TypeAlias = npt.NDArray[np.bool_]

MAX_PAIRS = 1 << 24


class Neighbours:
    """The live tokens of a tokenizer over bytes, and what each forbids behind it.

    Parameters
    ----------
    words : sequence of bytes
        All tokens that are numbered.
    ids : int32 array
        Their ids, -1 for none.
    position : int32 array
        Their positions in the rows.
    rows : Rows
        What each token forbids; tokens that are not live have the row -1. `of_state` is of no meaning.
    """

    def __init__(self, words: Sequence[bytes], ids: Int32Array, position: Int32Array, rows: Rows) -> None:
        self.words = words
        self.ids = ids
        self.position = position
        self.rows = rows

    @cached_property
    def live(self) -> Int32Array:
        """The numbers of the live tokens, ascending."""
        return np.flatnonzero(self.rows.of_token >= 0).astype(np.int32)

    @cached_property
    def number_of(self) -> dict[bytes, int]:
        """The numbers of the live tokens by their words."""
        return {self.words[number]: number for number in self.live.tolist()}


@lru_cache(maxsize=4)
def neighbours(tokenizer: Tokenizer) -> Neighbours:
    """Return the neighbours of a tokenizer whose dictionary is over bytes.

    Raises
    ------
    UnsupportedFeatureError
        If the dictionary is not over bytes, or Algorithm 1 does something else with its proper part than merging does.
    LimitExceededError
        If there are too many pairs to look at.
    """
    if not tokenizer.is_bytewise:
        raise UnsupportedFeatureError("which tokens may be neighbours is known of dictionaries over bytes")
    dictionary = tokenizer.dictionary
    if tokenizer.merges is None and dictionary.is_proper() and agrees_with_leftmost(dictionary):
        words = cast("Sequence[bytes]", dictionary.alphabet)
        dfa = tokenizer.dfa
        return Neighbours(words, tokenizer.token_to_id[: len(words)], dfa.position, dfa.rows)
    part = tokenizer.proper_part
    if not agrees_with_leftmost(part.dictionary):
        raise UnsupportedFeatureError("of equal tokens Algorithm 1 merges others than the leftmost")
    return _with_late_tokens(tokenizer, part)


def _with_late_tokens(tokenizer: Tokenizer, part: ProperPart) -> Neighbours:
    """Return the neighbours of an improper dictionary: of its proper part, but for what that does not tell."""
    every = cast("Sequence[bytes]", (*tokenizer.dictionary.alphabet, *tokenizer.extra_tokens))
    dfa = CompactTokenDFA(part.dictionary)
    n_proper = len(dfa.position)
    number = part.number.copy()
    number[part.late] = np.arange(n_proper, n_proper + len(part.late))
    token = np.empty(n_proper + len(part.late), dtype=np.int32)
    token[number[number >= 0]] = np.flatnonzero(number >= 0)
    words = [*cast("Sequence[bytes]", part.dictionary.alphabet), *(every[late] for late in part.late.tolist())]
    pairs = np.concatenate((part.pairs, _forbidden_beside_late(part, every)))
    position = np.concatenate((dfa.position, np.arange(n_proper, len(words), dtype=np.int32)))
    rows = _with_pairs(dfa.rows, len(part.late), number[pairs], position)
    return Neighbours(words, tokenizer.token_to_id[token], position, rows)


def _forbidden_beside_late(part: ProperPart, words: Sequence[bytes]) -> Int32Array:
    """Return the pairs of tokens, one of them late, that merging does not leave side by side."""
    live = np.flatnonzero((part.number >= 0) | np.isin(np.arange(len(part.number)), part.late)).astype(np.int32)
    left, right, _, _ = part.merger.merges
    ends, begins = _Spines(live, part.parts[:, 1]), _Spines(live, part.parts[:, 0])
    found: list[Int32Array] = [np.zeros((0, 2), dtype=np.int32)]
    total = 0
    for late in part.late.tolist():
        # What merges at the border is what has been the end of the one and the beginning of the other meanwhile.
        before = ends.having(left[np.isin(right, begins.of(late))])
        behind = begins.having(right[np.isin(left, ends.of(late))])
        total += len(before) + len(behind)
        if total > MAX_PAIRS:
            raise LimitExceededError(f"more than {MAX_PAIRS} pairs of tokens may merge otherwise")
        pairs = np.concatenate(
            (
                np.column_stack((before, np.full_like(before, late))),
                np.column_stack((np.full_like(behind, late), behind)),
            )
        )
        found.append(pairs[merge_otherwise(part.merger, words, pairs)])
    return np.unique(np.concatenate(found), axis=0)


class _Spines:
    """What tokens have at one of their ends while they come about: the token itself, its outermost part, and so on.

    Parameters
    ----------
    tokens : int32 array
        The tokens that are looked for.
    part : int32 array
        For each token its outermost part, -1 for symbols.
    """

    def __init__(self, tokens: Int32Array, part: Int32Array) -> None:
        self._part = part
        found, inner = [tokens], [tokens]
        while len(found[-1]):
            deeper = part[inner[-1]]
            found.append(found[-1][deeper >= 0])
            inner.append(deeper[deeper >= 0])
        self._tokens, self._inner = np.concatenate(found), np.concatenate(inner)

    def of(self, token: int) -> list[int]:
        """Return what a token has there."""
        spine = [token]
        while (deeper := int(self._part[spine[-1]])) >= 0:
            spine.append(deeper)
        return spine

    def having(self, wanted: Int32Array) -> Int32Array:
        """Return the tokens that have one of `wanted` there."""
        is_wanted = np.zeros(len(self._part), dtype=np.bool_)
        is_wanted[wanted] = True
        return np.unique(self._tokens[is_wanted[self._inner]])


def _with_pairs(rows: Rows, n_late: int, pairs: Int32Array, position: Int32Array) -> Rows:
    """Return rows that forbid further pairs, some of them with tokens at the end that had no rows."""
    more = {
        left: tuple(position[[right for _, right in those]].tolist())
        for left, those in groupby(sorted(map(tuple, pairs.tolist())), key=lambda pair: pair[0])
    }
    # Behind the others an empty row, for late tokens that forbid nothing.
    spans = np.column_stack((rows.start, rows.stop))
    parts, ends = [spans], [*rows.pointer.tolist(), int(rows.pointer[-1])]
    of_token = np.append(rows.of_token, np.full(n_late, len(rows.pointer) - 1, dtype=np.int32))
    numbers: dict[tuple[int, tuple[int, ...]], int] = {}
    for token, places in more.items():
        key = int(of_token[token]), tuple(sorted(places))
        if key not in numbers:
            numbers[key] = len(ends) - 1
            old = spans[ends[key[0]] : ends[key[0] + 1]]
            single = np.array([(place, place + 1) for place in key[1]], dtype=np.int32)
            row = np.concatenate((old, single))
            parts.append(row[np.argsort(row[:, 0], kind="stable")])
            ends.append(ends[-1] + len(row))
        of_token[token] = numbers[key]
    start, stop = np.ascontiguousarray(np.concatenate(parts).T, dtype=np.int32)
    return Rows(np.array(ends, dtype=np.int32), start, stop, rows.of_state, of_token)

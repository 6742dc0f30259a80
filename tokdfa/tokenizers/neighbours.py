"""The tokens that merging gives, and which of them may be neighbours within a piece.

For proper dictionaries, that these two determine everything is Observation 2 of *Constructing a BPE Tokenization DFA*.
For merging by priority, ties going to the leftmost, it holds for any priorities. While a word merges, the merges within
two neighbouring tokens of the outcome are the merges of the word of these two on its own, in the same order. So if
merging crossed a boundary of tokens, it would do so within two neighbours first.

Merging by priority uses the rules in ascending order, unless a merge creates a pair that is stronger than itself. As
long as this does not happen, merging agrees with a proper dictionary: its rules are the last steps by which tokens are
made in ascending order. Symbols that merge into a token within a word also do so on their own, in the same steps, so
differences can be seen at tokens and at pairs of them. Steps that make different tokens and are equally strong are used
from left to right, regardless of the tokens they make, and no order of rules does that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np

from tokdfa.automata.alphabet import Word
from tokdfa.automata.compact import CompactTokenDFA, PairTest, Rows
from tokdfa.automata.dictionary import Rule
from tokdfa.automata.semantics import agrees_with_leftmost
from tokdfa.base.arrays import BoolArray, Int32Array, distinct, ranges, running_sum
from tokdfa.base.budget import Budget
from tokdfa.base.errors import LimitExceededError, UnsupportedFeatureError
from tokdfa.tokenizers.decoder import spellings
from tokdfa.tokenizers.encoding.piece_ids import PieceIds
from tokdfa.tokenizers.formats.checked_dictionary import CheckedDictionary, NumberedWords, number_bytes, number_words
from tokdfa.tokenizers.spines import Spines, spines

if TYPE_CHECKING:
    from tokdfa.tokenizers.encoding.merger import Merger
    from tokdfa.tokenizers.models.byte_pairs import BytePairs

MAX_PAIRS = 1 << 24
# As many pairs are looked at to find the proper part.
_MOST_MEETING = 1 << 22


class Neighbours:
    """The live tokens of a tokenizer, and the tokens that each forbids after it.

    `words` are all tokens that are numbered; `ids` (int32) has their ids, -1 for none, and `position` (int32) their
    positions in the rows. `rows` has the tokens that each token forbids: tokens that are not live have the row -1, and
    its `of_state` has no meaning.
    """

    def __init__(self, words: Sequence[Word], ids: Int32Array, position: Int32Array, rows: Rows) -> None:
        self.words = words
        self.ids = ids
        self.position = position
        self.rows = rows

    @cached_property
    def live(self) -> Int32Array:
        """The numbers of the live tokens, ascending."""
        return np.flatnonzero(self.rows.of_token >= 0).astype(np.int32)

    @cached_property
    def intervals(self) -> tuple[Int32Array, Int32Array, Int32Array]:
        """The pointer, start and stop of `rows`, the intervals of each ascending and apart from each other."""
        pointer, start, stop = self.rows.pointer, self.rows.start, self.rows.stop
        row = np.repeat(np.arange(len(pointer) - 1), np.diff(pointer))
        # A row's positions come after all positions of the row before it, so that no interval reaches the next row.
        shift = row * (int(stop.max(initial=0)) + 1)
        reached = np.maximum.accumulate(stop + shift)
        begins = np.flatnonzero(np.append(True, (start + shift)[1:] > reached[:-1])[: len(start)])
        if len(begins) == len(start):
            return pointer, start, stop
        ends = np.append(begins[1:], len(stop)) - 1
        counts = np.bincount(row[begins], minlength=len(pointer) - 1)
        return running_sum(counts).astype(np.int32), start[begins], (reached - shift)[ends].astype(np.int32)

    @cached_property
    def number_of(self) -> dict[Word, int]:
        """The numbers of the live tokens by their words."""
        return {self.words[number]: number for number in self.live.tolist()}


def neighbours(tokenizer: BytePairs) -> Neighbours:
    """Return the neighbours of a tokenizer: within one piece, over its kind of symbols.

    They are refused (UnsupportedFeatureError) where Algorithm 1 differs from merging on the proper part of the
    dictionary, and given up (LimitExceededError) where too many pairs have to be looked at.
    """
    dictionary = tokenizer.dictionary
    if tokenizer.merges is None and dictionary.properness() and agrees_with_leftmost(dictionary):
        words = dictionary.alphabet
        dfa = tokenizer.dfa
        return Neighbours(words, tokenizer.token_to_id[: len(words)], dfa.position, dfa.rows)
    part = tokenizer.proper_part
    if not agrees_with_leftmost(part.dictionary):
        raise UnsupportedFeatureError("Algorithm 1 does not merge the leftmost of equal pairs here")
    return _with_late_tokens(tokenizer, part)


def _with_late_tokens(tokenizer: BytePairs, part: ProperPart) -> Neighbours:
    """Return the neighbours of an improper dictionary: of its proper part, corrected where merging differs."""
    every = tokenizer.piece_ids.words
    dfa = CompactTokenDFA(part.dictionary)
    n_proper = len(dfa.position)
    number = part.number.copy()
    number[part.late] = np.arange(n_proper, n_proper + len(part.late))
    token = np.empty(n_proper + len(part.late), dtype=np.int32)
    token[number[number >= 0]] = np.flatnonzero(number >= 0)
    words = [*part.dictionary.alphabet, *(every[late] for late in part.late.tolist())]
    pairs = np.concatenate((part.pairs, _forbidden_beside_late(tokenizer.piece_ids, part)))
    position = np.concatenate((dfa.position, np.arange(n_proper, len(words), dtype=np.int32)))
    rows = _with_pairs(dfa.rows, len(part.late), number[pairs], position)
    return Neighbours(words, tokenizer.token_to_id[token], position, rows)


def _forbidden_beside_late(piece_ids: PieceIds, part: ProperPart) -> Int32Array:
    """Return the pairs of tokens, one of them late, that merging does not leave side by side."""
    sides = Spines(part, 1), Spines(part, 0)
    found: list[Int32Array] = [np.zeros((0, 2), dtype=np.int32)]
    total = 0
    budget = Budget(max_seconds=math.inf, what="the automaton of merging")
    for late in part.late.tolist():
        budget.check_time()
        before, behind = sides[0].that_merge_with(late), sides[1].that_merge_with(late)
        both_late = sides[1].late_that_may_merge_with(late)
        total += len(before) + len(behind) + len(both_late)
        if total > MAX_PAIRS:
            raise LimitExceededError(f"more than {MAX_PAIRS} pairs of tokens may merge differently")
        of_late = np.column_stack((np.full(len(both_late), late, dtype=np.int32), both_late))
        found.append(of_late[merge_otherwise(piece_ids, of_late)])
        found.append(np.column_stack((before, np.full(len(before), late, dtype=np.int32))))
        found.append(np.column_stack((np.full(len(behind), late, dtype=np.int32), behind)))
    return np.concatenate(found)


def _distinct_pairs(pairs: Int32Array) -> Int32Array:
    """Return the distinct pairs of numbers from 0 on, ascending: an array of shape (pairs, 2)."""
    codes = distinct(pairs[:, 0].astype(np.int64) << 32 | pairs[:, 1])
    return np.column_stack((codes >> 32, codes & 0xFFFFFFFF)).astype(np.int32)


def _with_pairs(rows: Rows, n_late: int, pairs: Int32Array, position: Int32Array) -> Rows:
    """Return rows that forbid further pairs, some of them with tokens at the end that had no rows."""
    # Positions next to each other are one interval.
    codes = np.sort(pairs[:, 0].astype(np.int64) << 32 | position[pairs[:, 1]])
    is_first = np.append(True, np.diff(codes) != 1)[: len(codes)]
    first, last = codes[is_first], codes[np.append(is_first[1:], True)[: len(codes)]]
    added = np.column_stack((first, last + 1)) & 0xFFFFFFFF
    added = added.astype(np.int32)
    tokens, begins = np.unique(first >> 32, return_index=True)
    # After the others comes an empty row, for late tokens that forbid nothing.
    spans = np.column_stack((rows.start, rows.stop))
    parts, ends = [spans], [*rows.pointer.tolist(), int(rows.pointer[-1])]
    of_token = np.append(rows.of_token, np.full(n_late, len(rows.pointer) - 1, dtype=np.int32))
    numbers: dict[tuple[int, bytes], int] = {}
    ends_of = np.append(begins, len(added))[1:]
    for token, begin, end in zip(tokens.tolist(), begins.tolist(), ends_of.tolist(), strict=True):
        key = int(of_token[token]), added[begin:end].tobytes()
        if key not in numbers:
            numbers[key] = len(ends) - 1
            row = np.concatenate((spans[ends[key[0]] : ends[key[0] + 1]], added[begin:end]))
            parts.append(row[np.argsort(row[:, 0], kind="stable")])
            ends.append(ends[-1] + len(row))
        of_token[token] = numbers[key]
    start, stop = np.ascontiguousarray(np.concatenate(parts).T, dtype=np.int32)
    return Rows(np.array(ends, dtype=np.int32), start, stop, rows.of_state, of_token)


class PairAutomaton:
    """The token DFA of the rules of a tokenizer, with tokens given by their ids.

    Made by :attr:`AnyTokenizer.pair_automaton`. Methods that need states raise ImproperDictionaryError if the rules are
    not proper.
    """

    def __init__(self, tokenizer: BytePairs) -> None:
        self._tokenizer = tokenizer

    @property
    def dfa(self) -> CompactTokenDFA:
        """The automaton, over token numbers."""
        return self._tokenizer.dfa

    @property
    def n_live_tokens(self) -> int:
        """The number of tokens that occur in some tokenization."""
        return self.dfa.n_live_tokens

    def rule(self, number: int) -> Rule:
        """Return a rule by its number."""
        return self._tokenizer.dictionary[number]

    def word(self, id: int) -> Word | None:
        """Return the word of an id; None for special tokens."""
        number = int(self._tokenizer.id_to_token[id])
        return None if number < 0 else self._tokenizer.token(number)

    def state_of(self, id: int) -> int | None:
        """Return the state that a token leads to; None for tokens that no rule mentions, dead and special ones."""
        number = int(self._tokenizer.id_to_token[id])
        return self.dfa.state_of(number) if 0 <= number < len(self.dfa.alphabet) else None

    def n_allowed(self, id: int) -> int:
        """Return the number of tokens that may follow a token."""
        state = self.state_of(id)
        return 0 if state is None else int(np.count_nonzero(self.dfa.allowed_mask(state)))


@dataclass(frozen=True, eq=False)
class ProperPart:
    """The proper part of a dictionary, and where merging may differ from it.

    Merging gives the same tokens for a word as the proper part, unless the former gives a late token or the latter one
    of the pairs. Without late tokens and such pairs both are the same function.

    `number` (int32) has the number of each token of the tokenizer in `dictionary`, the proper part; -1 for tokens that
    it does not make. `late` (int32) are the tokens that merging makes, but not in ascending order, or by steps that are
    as strong as others; `pairs` (int32, of shape (pairs, 2)) are neighbours that the proper part allows and merging
    does not. `parts` (int32, of shape (tokens, 2)) are the two parts from which `merger` makes each token in its last
    step, -1 for symbols and for other tokens, and `priority` (int32) is the priority of that step.
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
        """Whether the proper part gives the same tokens as merging for every word."""
        return not len(self.late) and not len(self.pairs)


def proper_part(tokenizer: BytePairs) -> ProperPart:
    """Return the proper part of a tokenizer's dictionary; LimitExceededError if there are too many pairs to look at."""
    merger = tokenizer.piece_ids.merger
    words = tokenizer.piece_ids.words
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
    pairs = allowed[merge_otherwise(tokenizer.piece_ids, allowed)]
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
    return number_words(alphabet.kind, words, rules, alphabet.n_symbols)


def _meeting(pairs: Int32Array, last: Int32Array, is_proper: BoolArray) -> Int32Array:
    """Return all pairs of proper tokens such that one of `pairs` may have met where they meet, while they were made."""
    ending = _on_spine(last[:, 2], is_proper, pairs[:, 0])
    beginning = _on_spine(last[:, 1], is_proper, pairs[:, 1])
    found: list[Int32Array] = [np.zeros((0, 2), dtype=np.int32)]
    total = 0
    for left, right in pairs.tolist():
        lefts, rights = ending[left], beginning[right]
        total += len(lefts) * len(rights)
        if total > _MOST_MEETING:
            raise LimitExceededError(f"more than {_MOST_MEETING} pairs of tokens may merge differently")
        found.append(np.column_stack((np.repeat(lefts, len(rights)), np.tile(rights, len(lefts)))))
    return _distinct_pairs(np.concatenate(found))


def _on_spine(part: Int32Array, is_proper: BoolArray, wanted: Int32Array) -> dict[int, Int32Array]:
    """Return, for each token of `wanted`, itself and the proper tokens with it as an outermost part, at any depth."""
    tokens, inner, _ = spines(part, is_proper)
    order = np.argsort(inner, kind="stable")
    tokens, inner = tokens[order], inner[order]
    found = np.unique(wanted)
    bounds = zip(found.tolist(), *(np.searchsorted(inner, found + n).tolist() for n in (0, 1)), strict=True)
    return {token: tokens[low:high] for token, low, high in bounds}


def _allows(dictionary: CheckedDictionary, pairs: Int32Array) -> BoolArray:
    """Return which pairs of its tokens may be side by side."""
    forbidden = PairTest(CompactTokenDFA(dictionary)).forbidden(np.ascontiguousarray(pairs.reshape(-1), np.int32))
    allowed: BoolArray = ~forbidden[1::2]
    return allowed


def merge_otherwise(piece_ids: PieceIds, pairs: Int32Array) -> BoolArray:
    """Return which pairs of tokens merging does not give for the word of both."""
    symbols, offsets = piece_ids.symbols_of_tokens
    tokens = pairs.ravel()
    numbers, bounds = ranges(offsets[tokens], offsets[tokens + 1])
    merged = piece_ids.merger.merge(symbols[numbers], bounds[::2].copy())
    first = np.minimum(merged.offsets[:-1], max(len(merged.tokens) - 2, 0))
    same: BoolArray = np.diff(merged.offsets) == 2
    if len(merged.tokens) >= 2:
        same &= (merged.tokens[first] == pairs[:, 0]) & (merged.tokens[first + 1] == pairs[:, 1])
    otherwise: BoolArray = ~same
    return otherwise

r"""The pair that makes each token, by which tokenizers with different rules may be seen to merge alike.

Merging makes a token from one pair only: while a word is merged, the steps within the token are the same as when the
token is merged on its own. With the rules a≀b, ab≀c, b≀c and a≀bc, "abc" is always ab≀c, and a≀bc never applies. So
rules that make no token are left aside, and one pair a token remains. If two tokenizers have the same pairs in the same
order, each step of one is the step of the other.

Tokens that no piece has are left aside, too. If texts are cut at the special token "\n\n", no piece has that in it, so
it makes no difference whether the rule \n≀\n is there. Nor does it matter whether a tab that merges with nothing is a
character of its own or the byte token <0x09>, as long as both have one id.
"""

from __future__ import annotations

import re
from functools import cached_property

import numpy as np

from tokdfa.automata.alphabet import Word
from tokdfa.base.arrays import BoolArray, Int32Array, running_sum
from tokdfa.jobs.comparison.phases import Steps, merge_alike
from tokdfa.tokenizers.encoding.symbols import Fallback
from tokdfa.tokenizers.formats.contents import Contents
from tokdfa.tokenizers.tokenizer import Tokenizer


def derived_merges(tokenizer: Tokenizer) -> Steps:
    """Return the pairs by which merging makes tokens, the strongest first; with any rules."""
    last, _ = tokenizer.piece_ids.last_steps
    made = np.flatnonzero((last[:, 0] == 1) & (last[:, 1] >= 0)).astype(np.int32)
    made = made[np.argsort(last[made, 3], kind="stable")]
    rank = running_sum(np.diff(last[made, 3]) != 0)[: len(made)].astype(np.int32)
    return Steps(made, last[made, 1], last[made, 2], rank)


class MetTokens:
    """The tokens of two tokenizers that pieces of texts can have; `taken` are texts that no piece has in it."""

    def __init__(self, a: Tokenizer, b: Tokenizer, taken: frozenset[str]) -> None:
        self._sides = _Side(a, taken), _Side(b, taken)

    @cached_property
    def counterpart(self) -> Int32Array:
        """The number in the second of each token of the first that can be spelled; -1 without one."""
        one, other = self._sides
        numbers = one.tokenizer.piece_ids.words.numbers_in(other.tokenizer.piece_ids.words)
        for name, number in one.symbols.items():
            if number >= 0 and numbers[number] < 0:
                numbers[number] = other.symbols.get(name, -1)
        return numbers

    @property
    def merge_alike(self) -> bool:
        """Whether the same pairs make the same tokens of the same symbols, in an order that comes to the same."""
        one, other = (side.symbols.keys() for side in self._sides)
        return one == other and merge_alike(*map(self._steps, self._sides))

    @property
    def give_same_ids(self) -> bool:
        """Whether they give the same tokens, and with the same ids; special tokens are left aside."""
        a, b = (side.tokenizer for side in self._sides)
        given = [side.tokenizer.is_live[: len(side.is_met)] & side.is_met for side in self._sides]
        one, other = np.flatnonzero(given[0]), self.counterpart[given[0]]
        if len(one) != np.count_nonzero(given[1]) or not (other >= 0).all() or not given[1][other].all():
            return False
        return np.array_equal(a.token_to_id[one], b.token_to_id[other])

    def _steps(self, side: _Side) -> Steps:
        """Return the pairs that make tokens that pieces have, by the numbers of the second side."""
        made, left, right, rank = derived_merges(side.tokenizer)
        kept = side.is_met[made]
        *tokens, rank = (part[kept] for part in (made, left, right, rank))
        if side is self._sides[0]:
            tokens = [self.counterpart[part] for part in tokens]
        order = np.lexsort((tokens[0], rank))
        return Steps(*(np.ascontiguousarray(part[order]) for part in (*tokens, rank)))


class _Side:
    """One of two tokenizers, and which of its symbols and tokens pieces have."""

    def __init__(self, tokenizer: Tokenizer, taken: frozenset[str]) -> None:
        self.tokenizer = tokenizer
        self._taken = taken

    @cached_property
    def symbols(self) -> dict[Word, int]:
        """The symbols that pieces have, and their numbers; the byte of an ASCII character is named by the character."""
        alphabet, contents = self.tokenizer.dictionary.alphabet, self.tokenizer.contents
        if alphabet.kind == "bytes":
            return dict(zip(alphabet.symbols, range(alphabet.n_symbols), strict=True))
        symbols: dict[Word, int] = dict(zip(alphabet.letters, range(alphabet.n_symbols), strict=True))
        if not (contents.suffix or contents.prefix):
            self._leave_aside(symbols, contents)
        return symbols

    def _leave_aside(self, symbols: dict[Word, int], contents: Contents) -> None:
        """Take out the symbols that no piece has."""
        fallback = contents.fallback or Fallback()
        # Nothing names other symbols of several characters. A character that is a symbol never becomes its byte.
        met = {*contents.atoms, fallback.unknown, *(fallback.bytes or ())[0x80:]}
        for character, byte in zip(map(chr, range(0x80)), fallback.bytes or (), strict=False):
            if byte in symbols and character not in symbols:
                symbols[character] = symbols[byte]
        for name in [name for name in symbols if (len(name) > 1 and name not in met) or name in self._taken]:
            del symbols[name]

    @cached_property
    def is_met(self) -> BoolArray:
        """For each token that can be spelled, whether a piece may have it."""
        alphabet, words = self.tokenizer.dictionary.alphabet, self.tokenizer.piece_ids.words
        symbols, offsets = words.in_symbols()
        is_odd = np.zeros(len(words) + 1, dtype=np.bool_)
        is_odd[: alphabet.n_symbols] = True
        is_odd[[*self.symbols.values()]] = False
        n_odd = running_sum(is_odd[symbols].astype(np.int8))
        is_met: BoolArray = n_odd[offsets[1:]] == n_odd[offsets[:-1]]
        if self._taken and alphabet.kind != "bytes":
            texts = words.texts
            found = re.finditer("|".join(map(re.escape, self._taken)), "\0".join(texts))
            begins = running_sum(np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)) + 1)
            at = np.searchsorted(begins, [match.start() for match in found], side="right") - 1
            is_met[at[at >= alphabet.n_symbols]] = False
        return is_met

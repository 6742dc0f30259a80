"""The tokens of a tokenizer as words over bytes, and which of them may be neighbours within a piece."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple, cast

import numpy as np

from tokdfa.automata.alphabet import Word
from tokdfa.base.arrays import BoolArray, Int32Array, IntegerArray, Uint8Array, running_sum
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.jobs.splices.rewrites import Rewrites, Symbols
from tokdfa.regex.unicode.utf8 import BYTE_OF, BYTES_OF_UTF8
from tokdfa.tokenizers.neighbours import Neighbours


class Level(NamedTuple):
    """The nodes of a trie at one depth, in the order of words."""

    byte: Uint8Array  # The bytes that lead to them
    word: Int32Array  # The numbers of the words that end there, -1 for none
    # One longer: where their children begin on the next level; the children of the last one end at the last number.
    below: Int32Array


def trie_levels(words: Sequence[bytes]) -> list[Level]:
    """Return the levels of the trie of words that ascend, none of them twice or empty; it takes time linear in them.

    Examples
    --------
    >>> from tokdfa.jobs.splices.tokens import trie_levels
    >>> [(bytes(level.byte), level.word.tolist()) for level in trie_levels([b"a", b"ab", b"b"])]
    [(b'ab', [0, 2]), (b'b', [1])]
    """
    lengths = np.fromiter(map(len, words), dtype=np.int32, count=len(words))
    offsets = np.cumsum(lengths, dtype=np.int64) - lengths
    data = np.frombuffer(b"".join(words), dtype=np.uint8)
    node_of = np.zeros(len(words), dtype=np.int32)
    alive = np.arange(len(words), dtype=np.int32)
    levels: list[Level] = []
    depth = 0
    while len(alive):
        byte, above = data[offsets[alive] + depth], node_of[alive]
        is_new = np.append(True, (byte[1:] != byte[:-1]) | (above[1:] != above[:-1]))
        first = np.flatnonzero(is_new)
        node = np.cumsum(is_new, dtype=np.int32) - 1
        node_of[alive] = node
        depth += 1
        ends = lengths[alive] == depth
        word = np.full(len(first), -1, dtype=np.int32)
        word[node[ends]] = alive[ends]
        if levels:
            levels[-1].below[1:] = np.cumsum(np.bincount(above[first], minlength=len(levels[-1].byte)))
        levels.append(Level(byte[first], word, np.zeros(len(first) + 1, dtype=np.int32)))
        alive = alive[~ends]
    return levels


class Tokens:
    """The tokens that merging gives, as bytes of the texts that they represent, in order.

    `numbers` are their numbers in `of`, and `unknown` characters without a symbol, which never merge; `fuses` is
    whether several of these side by side become one.
    """

    def __init__(
        self,
        words: Sequence[bytes],
        numbers: Int32Array,
        of: Neighbours,
        unknown: Sequence[bytes] = (),
        *,
        fuses: bool = False,
    ) -> None:
        every = [*words, *unknown]
        order = sorted(range(len(every)), key=every.__getitem__)
        rows = of.rows
        n_rows = len(rows.pointer) - 1
        no_place = np.full(len(unknown), -1, dtype=np.int32)
        self.words = [every[place] for place in order]
        kinds = np.concatenate((rows.of_token[numbers], np.full(len(unknown), n_rows, dtype=np.int32)))
        # Tokens of one kind have the same tokens after them.
        self.kinds: list[int] = kinds[order].tolist()
        self._position: Int32Array = np.concatenate((of.position[numbers], no_place))[order]
        pointer, self._start, self._stop = of.intervals
        self._pointer = np.append(pointer, pointer[-1:])
        self._n_places = int(max(self._stop.max(initial=0), of.position.max(initial=0) + 1))
        self.fuses = fuses
        self._unknown = n_rows

    @cached_property
    def levels(self) -> list[Level]:
        """The trie of the words, level by level."""
        return trie_levels(self.words)

    @cached_property
    def lengths(self) -> Int32Array:
        """The number of bytes of each word."""
        return np.fromiter(map(len, self.words), dtype=np.int32, count=len(self.words))

    def forbidden(self, kind: int, tokens: IntegerArray) -> BoolArray:
        """Return, for each of these tokens, whether it never follows a token of this kind within a piece."""
        begin, end = self._pointer[kind], self._pointer[kind + 1]
        if begin == end:
            return np.zeros(len(tokens), dtype=np.bool_)
        place = self._position[tokens]
        start, stop = self._start[begin:end], self._stop[begin:end]
        index = np.searchsorted(start, place, side="right") - 1
        found: BoolArray = (index >= 0) & (place < stop[index])
        return found

    def joined(self, kind: int, tokens: IntegerArray) -> BoolArray:
        """Return, for each of these tokens, whether it becomes another one after a token of this kind in a piece."""
        if self.fuses and kind == self._unknown:
            unknown: BoolArray = self._position[tokens] < 0
            return unknown
        return self.forbidden(kind, tokens)

    def followed(self, kinds: Int32Array, tokens: IntegerArray) -> tuple[BoolArray, BoolArray]:
        """Return whether each token follows a token of one of some different kinds, and is joined to one of them."""
        counts = (self._pointer[kinds + 1] - self._pointer[kinds]).astype(np.int64)
        # The intervals of the rows, one after the other.
        within = np.arange(int(counts.sum())) - np.repeat(running_sum(counts)[:-1], counts)
        intervals = np.repeat(self._pointer[kinds], counts) + within
        place = self._position[tokens]
        if len(tokens) < 64:
            # The intervals that begin at an index or before it, minus the ones that end there or before it.
            begun = np.searchsorted(np.sort(self._start[intervals]), place, side="right")
            forbid = begun - np.searchsorted(np.sort(self._stop[intervals]), place, side="right")
        else:
            size = self._n_places + 1
            changes = np.bincount(self._start[intervals], minlength=size)
            changes -= np.bincount(self._stop[intervals], minlength=size)
            forbid = np.cumsum(changes)[place]
        forbid[place < 0] = 0
        joined: BoolArray = forbid > 0
        if self.fuses and (kinds == self._unknown).any():
            joined |= place < 0
        return forbid < len(kinds), joined


def byte_tokens(of: Neighbours) -> Tokens:
    """Return the tokens of a dictionary over bytes."""
    texts = cast("Sequence[bytes]", of.words)
    numbers = [number for number in of.live.tolist() if BYTES_OF_UTF8.issuperset(texts[number])]
    _check_ids(of, numbers)
    return Tokens([texts[number] for number in numbers], np.array(numbers, dtype=np.int32), of)


def character_tokens(of: Neighbours, rewrites: Rewrites, symbols: Symbols, unknown: Sequence[str] = ()) -> Tokens:
    """Return the tokens of a dictionary over characters, and some characters that it does not have."""
    texts: list[bytes] = []
    numbers: list[int] = []
    for number in of.live.tolist():
        text = _text(of.words[number], symbols.of_bytes)
        spelled = None if text is None else rewrites.spelled(text) if isinstance(text, str) else text
        if spelled is not None:
            texts.append(spelled.encode() if isinstance(spelled, str) else spelled)
            numbers.append(number)
    _check_ids(of, numbers)
    others = [symbol.encode() for symbol in unknown]
    return Tokens(texts, np.array(numbers, dtype=np.int32), of, others, fuses=symbols.fuses)


def _text(word: Word, of_bytes: bool) -> str | bytes | None:
    """Return the text of a token; None if it is a symbol of several characters."""
    if any(len(cast(str, symbol)) != 1 for symbol in word):
        return None
    text = "".join(cast("tuple[str, ...]", word))
    if not of_bytes:
        return text
    data = bytes(map(BYTE_OF.__getitem__, text))
    return data if BYTES_OF_UTF8.issuperset(data) else None


def _check_ids(of: Neighbours, numbers: list[int]) -> None:
    if (of.ids[numbers] < 0).any():
        raise UnsupportedFeatureError("some tokens that merging gives have no ids")

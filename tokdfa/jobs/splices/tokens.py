"""The tokens of a tokenizer as words over bytes, which may be neighbours within a piece, and symbols before merging.

Before symbols merge, spaces are rewritten, and characters without a token are replaced or refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple, cast

import numpy as np

from tokdfa.automata.alphabet import Word
from tokdfa.base.arrays import BoolArray, Int32Array, IntegerArray, Uint8Array, running_sum
from tokdfa.base.errors import UnsupportedFeatureError
from tokdfa.regex.unicode.utf8 import BYTE_OF, BYTES_OF_UTF8, CHARACTER_OF
from tokdfa.tokenizers.neighbours import Neighbours
from tokdfa.tokenizers.normalizers.sentencepiece import SPACE, SentencePieceNormalizer
from tokdfa.tokenizers.normalizers.steps import Prepend, Replace, steps_of
from tokdfa.tokenizers.pretokenizers.steps import Splitting
from tokdfa.tokenizers.tokenizer import Tokenizer

_N_POINTS = 0x110000


@dataclass(frozen=True)
class Prefix:
    """The space that is put before texts."""

    always: bool  # Whether it is also put before texts that begin with a space
    everywhere: bool  # Whether it is also put after each special token, and not only at the beginning of a text
    before_specials: bool = False  # Whether it is also put before a special token that begins the text


@dataclass(frozen=True)
class Rewrites:
    """The rewriting of spaces."""

    space: str = " "  # The character that they become
    prefix: Prefix | None = None

    @staticmethod
    def of(tokenizer: Tokenizer, splitting: Splitting) -> Rewrites:
        """Return the rewriting of spaces by a tokenizer."""
        normalizer = tokenizer.rewriting.normalizer
        space, put = " ", ""
        always = False
        for step in steps_of(normalizer):
            if isinstance(step, Prepend):
                put, always = step.prefix + put, True
            elif isinstance(step, Replace) and step.literal and step.pattern == " " and len(step.content) == 1:
                space, put = (step.content if space == " " else space), put.replace(" ", step.content)
            elif isinstance(step, SentencePieceNormalizer) and step.table is None and not step.trims_spaces:
                shown = SPACE if step.shows_spaces else " "
                always |= step.puts_space
                put = (" " * step.puts_space + put).replace(" ", shown)
                space = shown if space == " " else space
            else:
                raise UnsupportedFeatureError("the normalizer does more than replace spaces", value=step)
        if splitting.metaspace is not None:
            put = put.replace(" ", splitting.metaspace)
            space = splitting.metaspace if space == " " else space
            if space != splitting.metaspace:
                raise UnsupportedFeatureError("spaces become one character and then another", value=splitting)
        if put not in ("", space):
            raise UnsupportedFeatureError("more than a space is put before texts", value=put)
        within = [special for special in tokenizer.found_specials if special.text and special.level]
        if put and within:
            what = "a special token is found only after a space was put before the text"
            raise UnsupportedFeatureError(what, value=within[0].content)
        atoms = tokenizer.rewrites[2]
        if put:
            return Rewrites(space, Prefix(True, not atoms, bool(atoms)))
        if splitting.prefix_space is not None:
            return Rewrites(space, Prefix(False, not splitting.prefix_once))
        return Rewrites(space)

    @property
    def spaces(self) -> str:
        """The characters that become the space."""
        return " " if self.space == " " else f" {self.space}"

    def spelled(self, text: str) -> str | None:
        """Return the text that a token represents; None if it is in no text."""
        if self.space == " ":
            return text
        return None if " " in text else text.replace(self.space, " ")


PLAIN_TEXT = Rewrites()
"""What does nothing to texts."""


class Symbols:
    """Which characters a tokenizer has symbols for; refused where that depends on their neighbours."""

    def __init__(self, tokenizer: Tokenizer, rewrites: Rewrites) -> None:
        self._alphabet = tokenizer.dictionary.alphabet
        self._rewrites = rewrites
        _, fallback, self.atoms, self._prefix = tokenizer.rewrites
        self._suffix = tokenizer.suffix
        self._spells = None if fallback is None or fallback.bytes is None else fallback.bytes
        self._replaced = None if fallback is None else fallback.unknown
        # Whether the last symbol of a piece is marked, and whether all but the first one are.
        self.marks = bool(self._suffix), bool(self._prefix)
        self.is_marked = any(self.marks)
        # Of shape (0x110000,): the code points without a symbol of their own, which become the same wherever they are
        # and never merge; and those among them that no encoded text has.
        self.unknown: BoolArray = np.zeros(_N_POINTS, dtype=np.bool_)
        self.refused: BoolArray = self.unknown
        # Whether several such symbols side by side become one.
        self.fuses = False
        if fallback is not None and fallback.drops:
            raise UnsupportedFeatureError("characters without a token are dropped")
        # Whether the symbols are letters that represent bytes.
        is_bytewise = tokenizer.why_not("bytes") is None
        self.of_bytes = tokenizer.why_not("letters") is None and not is_bytewise
        if self.of_bytes:
            for (before, after), byte in product([("", ""), *self._marks], sorted(BYTES_OF_UTF8)):
                if before + CHARACTER_OF[byte] + after not in self._known:
                    raise UnsupportedFeatureError("a byte has no token", value=byte)
        if is_bytewise or self.of_bytes:
            return
        self.unknown = self._unknown()
        if self.is_marked:
            self._check_marks()
        if self._spells is not None and None not in self._spells:
            # A character that is spelled by its bytes and a mark is not the one without a mark.
            return
        if self._spells is not None and self._replaced is not None and any(self._spells):
            raise UnsupportedFeatureError("only some bytes have tokens, and other symbols one for unknown ones")
        if self._replaced is not None:
            self.fuses = bool(fallback and fallback.fuses)
            return
        self.refused = self.unknown.copy()
        if self._spells is not None:
            points = np.flatnonzero(self.refused)
            known = {byte for byte, symbol in enumerate(self._spells) if symbol is not None}
            spelled = [each for each in points.tolist() if known.issuperset(chr(each).encode("utf-8", "surrogatepass"))]
            self.refused[spelled] = False
            if self.is_marked and spelled:
                # With a mark they have other bytes than without, so they are not the same wherever they are.
                if not all(known.issuperset(part.encode()) for mark in self._marks for part in mark):
                    raise UnsupportedFeatureError("only some bytes have tokens, and symbols are marked by others")
                self.unknown[spelled] = False

    @property
    def _marks(self) -> list[tuple[str, str]]:
        """The marks put before and after a symbol, except none."""
        suffix = self._suffix if self._suffix and self._suffix not in self._known else ""
        prefix = self._prefix or ""
        return [mark for mark in {(prefix, ""), ("", suffix), (prefix, suffix)} if any(mark)]

    @cached_property
    def _known(self) -> frozenset[str]:
        symbols = self._alphabet.symbols
        return frozenset("".join(cast("tuple[str, ...]", word)) for word in symbols)

    def _unknown(self, before: str = "", after: str = "") -> BoolArray:
        found: BoolArray = np.ones(_N_POINTS, dtype=np.bool_)
        for symbol in self._known:
            core = symbol[len(before) : len(symbol) - len(after)]
            if len(core) == 1 and symbol == before + core + after:
                found[ord(core)] = False
        if self._rewrites.space != " ":
            found[ord(" ")] = found[ord(self._rewrites.space)]
        return found

    def _check_marks(self) -> None:
        if self._spells is not None and None not in self._spells:
            self.unknown = np.zeros(_N_POINTS, dtype=np.bool_)
            return
        for mark in self._marks:
            odd = np.flatnonzero(self._unknown(*mark) != self.unknown)
            if len(odd):
                what = "a character has a token only at the end of a piece, or only elsewhere"
                raise UnsupportedFeatureError(what, value=chr(int(odd[0])))


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
        no_position = np.full(len(unknown), -1, dtype=np.int32)
        self.words = [every[position] for position in order]
        kinds = np.concatenate((rows.of_token[numbers], np.full(len(unknown), n_rows, dtype=np.int32)))
        # Tokens of one kind have the same tokens after them.
        self.kinds: list[int] = kinds[order].tolist()
        self._position: Int32Array = np.concatenate((of.position[numbers], no_position))[order]
        pointer, self._start, self._stop = of.intervals
        self._pointer = np.append(pointer, pointer[-1:])
        self._n_positions = int(max(self._stop.max(initial=0), of.position.max(initial=0) + 1))
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
        position = self._position[tokens]
        start, stop = self._start[begin:end], self._stop[begin:end]
        index = np.searchsorted(start, position, side="right") - 1
        found: BoolArray = (index >= 0) & (position < stop[index])
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
        position = self._position[tokens]
        if len(tokens) < 64:
            # The intervals that begin at an index or before it, minus the ones that end there or before it.
            begun = np.searchsorted(np.sort(self._start[intervals]), position, side="right")
            forbid = begun - np.searchsorted(np.sort(self._stop[intervals]), position, side="right")
        else:
            size = self._n_positions + 1
            changes = np.bincount(self._start[intervals], minlength=size)
            changes -= np.bincount(self._stop[intervals], minlength=size)
            forbid = np.cumsum(changes)[position]
        forbid[position < 0] = 0
        joined: BoolArray = forbid > 0
        if self.fuses and (kinds == self._unknown).any():
            joined |= position < 0
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

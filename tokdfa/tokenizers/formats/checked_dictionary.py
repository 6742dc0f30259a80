"""Dictionaries and token alphabets made from parts that a loader has checked, and their numbering."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain, repeat
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from tokdfa.automata.alphabet import Kind, TokenAlphabet, Word, unchecked
from tokdfa.automata.dictionary import Dictionary
from tokdfa.base.arrays import Int32Array, Int64Array, Uint8Array, offsets_of
from tokdfa.tokenizers.decoder import Spellings, gathered, spellings, words_of

_BYTES: tuple[Word, ...] = tuple(bytes([byte]) for byte in range(256))


class _LateTokens(TokenAlphabet):
    """A token alphabet of parts that are not checked again, and become words when these are first asked for."""

    @cached_property
    def _numbers(self) -> dict[Word, int]:  # type: ignore[override]
        return {word: number for number, word in enumerate(self._words)}


class ByteTokens(_LateTokens):
    """A token alphabet over all 256 bytes; the further `tokens` are distinct and of two bytes or more."""

    def __init__(self, tokens: Sequence[bytes] | Spellings) -> None:
        self.kind = "bytes"
        self.n_symbols = 256
        self._tokens = tokens

    def __reduce__(self) -> tuple[type[ByteTokens], tuple[tuple[Word, ...]]]:
        return ByteTokens, (self._words[256:],)

    def __len__(self) -> int:
        tokens = self._tokens
        return 256 + (len(tokens.offsets) - 1 if isinstance(tokens, Spellings) else len(tokens))

    @cached_property
    def _words(self) -> tuple[Word, ...]:  # type: ignore[override]
        tokens = self._tokens
        return (*_BYTES, *(words_of(tokens) if isinstance(tokens, Spellings) else tokens))

    @property
    def symbols(self) -> tuple[Word, ...]:
        return _BYTES

    def in_symbols(self) -> tuple[Int32Array, Int64Array]:
        text, offsets = self.spelled_with(*spellings(()))
        return text.astype(np.int32), offsets

    def followed_by(self, words: Sequence[Word]) -> TokenAlphabet:
        text, offsets = self.spelled_with(*spellings(cast("Sequence[bytes]", words)))
        return ByteTokens(Spellings(text[256:], offsets[256:] - 256)) if words else self

    def spelled_with(self, text: Uint8Array, offsets: Int64Array) -> Spellings:
        """Return the bytes of all tokens, and of further words, which lie one after the other."""
        tokens = self._tokens if isinstance(self._tokens, Spellings) else spellings(self._tokens)
        every = np.arange(256)
        # Written where they belong, because copies of a large vocabulary take time.
        n = len(self)
        bounds = np.empty(n + len(offsets), dtype=np.int64)
        bounds[:256] = every
        np.add(tokens.offsets, 256, out=bounds[256 : n + 1])
        np.add(offsets, bounds[n], out=bounds[n:])
        return Spellings(np.concatenate((every.astype(np.uint8), tokens.text, text)), bounds)


class CheckedDictionary(Dictionary):
    """A dictionary over an alphabet that numbers the tokens as the rules do.

    After the symbols come the tokens in the order in which the rules first mention them. `left`, `right` and `product`
    are int32 arrays of one entry a rule, the numbers of u, v and uv, which are not checked again.
    """

    def __init__(self, alphabet: TokenAlphabet, left: Int32Array, right: Int32Array, product: Int32Array) -> None:
        self.alphabet = alphabet
        self.left, self.right, self.product = (np.ascontiguousarray(row, np.int32) for row in (left, right, product))
        for row in (self.left, self.right, self.product):
            row.setflags(write=False)


class SymbolTokens(_LateTokens):
    """A token alphabet over strings, or over tuples of symbols.

    `tokens` are spelled over the base alphabet `symbols`: distinct, each character a symbol.
    """

    def __init__(self, kind: Literal["characters", "symbols"], symbols: Sequence[str], tokens: Sequence[str]) -> None:
        self.kind = self._kind = kind
        self.n_symbols = len(symbols)
        self._spelled = (symbols, tokens)

    def __reduce__(self) -> tuple[type[SymbolTokens], tuple[str, Sequence[str], Sequence[str]]]:
        return SymbolTokens, (self.kind, *self._spelled)

    def __len__(self) -> int:
        return self.n_symbols + len(self._spelled[1])

    @cached_property
    def symbols(self) -> tuple[Word, ...]:
        """The base alphabet, each symbol as a word of length one; the words of tokens are not made for it."""
        symbols, _ = self._spelled
        return tuple(symbols) if self.kind == "characters" else tuple((symbol,) for symbol in symbols)

    @property
    def letters(self) -> Sequence[str]:
        return self._spelled[0]

    @property
    def texts(self) -> Sequence[str]:
        symbols, tokens = self._spelled
        return [*symbols, *tokens]

    @property
    def _has_words(self) -> bool:
        """Whether the words are there, or take no memory."""
        return self.kind == "characters" or "_words" in vars(self)

    def __getitem__(self, index: int | slice) -> Any:
        if self._has_words or isinstance(index, slice):
            return super().__getitem__(index)
        number, (symbols, tokens) = range(len(self))[index], self._spelled
        return (symbols[number],) if number < self.n_symbols else tuple(tokens[number - self.n_symbols])

    def __iter__(self) -> Iterator[Word]:
        symbols, tokens = self._spelled
        return super().__iter__() if self._has_words else chain(((each,) for each in symbols), map(tuple, tokens))

    def in_symbols(self) -> tuple[Int32Array, Int64Array]:
        symbols, tokens = self._spelled
        single = np.flatnonzero([len(symbol) == 1 for symbol in symbols])
        codes, known = (
            np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype="<u4")
            for texts in (tokens, map(symbols.__getitem__, single.tolist()))
        )
        table = np.full(max(int(part.max(initial=0)) for part in (codes, known)) + 1, len(self), dtype=np.int32)
        table[known] = single
        first = np.arange(self.n_symbols)
        offsets = np.append(first, offsets_of(tokens) + self.n_symbols)
        return np.concatenate((first.astype(np.int32), table[codes])), offsets

    def followed_by(self, words: Sequence[Word]) -> TokenAlphabet:
        symbols, tokens = self._spelled
        texts = map("".join, cast("Sequence[str | tuple[str, ...]]", words))
        return SymbolTokens(self._kind, symbols, [*tokens, *texts]) if words else self

    def numbers_in(self, other: TokenAlphabet) -> Int32Array:
        if not isinstance(other, SymbolTokens) or other.kind != self.kind:
            return super().numbers_in(other)
        if self == other:
            return np.arange(len(self), dtype=np.int32)
        found = []
        for mine, theirs, first in zip(self._spelled, other._spelled, (0, other.n_symbols), strict=True):
            number_of = dict(zip(theirs, range(first, first + len(theirs)), strict=True))
            found.append(np.fromiter(map(number_of.get, mine, repeat(-1)), dtype=np.int32, count=len(mine)))
        return np.concatenate(found)

    def __eq__(self, other: object) -> bool:
        is_alike = isinstance(other, SymbolTokens) and other.kind == self.kind
        return self._spelled == other._spelled if is_alike else super().__eq__(other)  # type: ignore[attr-defined]

    __hash__ = TokenAlphabet.__hash__

    @cached_property
    def _words(self) -> tuple[Word, ...]:  # type: ignore[override]
        symbols, tokens = self._spelled
        if self.kind == "characters":
            return (*symbols, *tokens)
        return (*((symbol,) for symbol in symbols), *map(tuple, tokens))


class NumberedWords(NamedTuple):
    """A dictionary, the tokens that it does not mention, and the number of each word."""

    dictionary: CheckedDictionary
    extra: tuple[Word, ...]
    number: Int32Array


def number_bytes(words: Spellings, rules: Int32Array) -> NumberedWords:
    """Number the words of a byte-level file as a Dictionary numbers its tokens.

    The words are distinct, of two bytes or more; word i is token 256 + i in `rules`, an int32 array of shape (rules, 3)
    of left part, right part and product. Bytes are tokens 0 to 255.
    """
    mentioned, extra, number = _numbering(rules, 256 + len(words.offsets) - 1, 256)
    tokens = ByteTokens(gathered(words, mentioned - 256))
    rest = tuple(words_of(gathered(words, extra - 256)))
    return NumberedWords(CheckedDictionary(tokens, *number[rules.T]), rest, number)


def number_words(kind: Kind, words: Sequence[Word], rules: Int32Array, n_symbols: int) -> NumberedWords:
    """Number distinct words, the symbols first, as a Dictionary numbers its tokens; see `number_bytes`."""
    mentioned, extra, number = _numbering(rules, len(words), n_symbols)
    alphabet = unchecked(kind, n_symbols, (*words[:n_symbols], *(words[i] for i in mentioned.tolist())))
    rest = tuple(words[i] for i in extra.tolist())
    return NumberedWords(CheckedDictionary(alphabet, *number[rules.T]), rest, number)


def number_spellings(
    kind: Literal["characters", "symbols"], spelled: Sequence[str], rules: Int32Array, n_symbols: int
) -> NumberedWords:
    """Number distinct strings, the symbols first, as a Dictionary numbers its tokens; see :class:`SymbolTokens`."""
    mentioned, extra, number = _numbering(rules, len(spelled), n_symbols)
    alphabet = SymbolTokens(kind, spelled[:n_symbols], [spelled[i] for i in mentioned.tolist()])
    rest = [spelled[i] for i in extra.tolist()]
    words = tuple(rest if kind == "characters" else map(tuple, rest))
    return NumberedWords(CheckedDictionary(alphabet, *number[rules.T]), words, number)


def _numbering(rules: Int32Array, n_tokens: int, n_symbols: int) -> tuple[Int64Array, Int64Array, Int32Array]:
    """Return the tokens that rules mention, in that order, those that they do not, and the number of each token.

    The symbols are the tokens below `n_symbols`, and keep their numbers.
    """
    mentions = rules.ravel()
    first = np.full(n_tokens, len(mentions), dtype=np.int64)
    # Written backwards, so that the first mention is the one that stays.
    first[mentions[::-1]] = np.arange(len(mentions) - 1, -1, -1)
    is_mentioned = first[n_symbols:] < len(mentions)
    mentioned, extra = (np.flatnonzero(mask) + np.int64(n_symbols) for mask in (is_mentioned, ~is_mentioned))
    mentioned = mentioned[np.argsort(first[mentioned])]
    number = np.empty(n_tokens, dtype=np.int32)
    number[np.concatenate((np.arange(n_symbols), mentioned, extra))] = np.arange(n_tokens, dtype=np.int32)
    return mentioned, extra, number

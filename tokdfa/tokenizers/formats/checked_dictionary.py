"""Dictionaries and token alphabets made from parts that a loader has checked."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Literal

import numpy as np

from tokdfa.automata.alphabet import TokenAlphabet, Word
from tokdfa.automata.dictionary import Dictionary
from tokdfa.base.arrays import Int32Array, Int64Array, Uint8Array
from tokdfa.tokenizers.decoder import Spellings, spellings, words_of

_BYTES: tuple[Word, ...] = tuple(bytes([byte]) for byte in range(256))


class ByteTokens(TokenAlphabet):
    """A token alphabet over all 256 bytes.

    The further `tokens` are distinct and of two bytes or more, which is not checked again. Those of an array become
    words when they are first asked for.
    """

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
        """The 256 bytes."""
        return _BYTES

    def spelled_with(self, text: Uint8Array, offsets: Int64Array) -> Spellings:
        """Return the bytes of all tokens, and of further words, which lie one after the other."""
        tokens = self._tokens if isinstance(self._tokens, Spellings) else spellings(self._tokens)
        every = np.arange(256)
        # Written where they belong, because copies of a large vocabulary take time.
        n = len(self)
        places = np.empty(n + len(offsets), dtype=np.int64)
        places[:256] = every
        np.add(tokens.offsets, 256, out=places[256 : n + 1])
        np.add(offsets, places[n], out=places[n:])
        return Spellings(np.concatenate((every.astype(np.uint8), tokens.text, text)), places)

    @cached_property
    def _numbers(self) -> dict[Word, int]:  # type: ignore[override]
        return {word: number for number, word in enumerate(self._words)}


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


def in_order_of_mention(rules: Int32Array, n_tokens: int, n_symbols: int = 256) -> Int32Array:
    """Return the tokens that `rules` mention, symbols left out, in the order of their first mention.

    The rules are an int32 array of shape (rules, 3): left part, right part and product. Symbols are the tokens below
    `n_symbols`, and all tokens are below `n_tokens`.
    """
    mentions = rules.ravel()
    first = np.full(n_tokens, len(mentions), dtype=np.int64)
    # Written backwards, so that the first mention is the one that stays.
    first[mentions[::-1]] = np.arange(len(mentions) - 1, -1, -1)
    mentioned = np.flatnonzero(first[n_symbols:] < len(mentions)) + n_symbols
    return mentioned[np.argsort(first[mentioned])].astype(np.int32)


class SymbolTokens(TokenAlphabet):
    """A token alphabet over strings, or over tuples of symbols, that makes its words on first use.

    `tokens` are spelled over the base alphabet `symbols`: distinct, of two characters or more, and each character a
    symbol. None of this is checked again.
    """

    def __init__(self, kind: Literal["characters", "symbols"], symbols: Sequence[str], tokens: Sequence[str]) -> None:
        self.kind = kind
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
        """The base alphabet, each symbol as a string."""
        return self._spelled[0]

    @cached_property
    def _words(self) -> tuple[Word, ...]:  # type: ignore[override]
        symbols, tokens = self._spelled
        if self.kind == "characters":
            return (*symbols, *tokens)
        return (*((symbol,) for symbol in symbols), *map(tuple, tokens))

    @cached_property
    def _numbers(self) -> dict[Word, int]:  # type: ignore[override]
        return {word: number for number, word in enumerate(self._words)}

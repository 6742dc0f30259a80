"""T^D evaluated from left to right in linear time, for dictionaries of any size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

import numpy as np

from tokdfa.automata.alphabet import TokenAlphabet, Word
from tokdfa.automata.dictionary import Dictionary
from tokdfa.base.arrays import Int32Array, Int64Array, Uint8Array, Uint64Array, running_sum
from tokdfa.base.errors import AlphabetError, LimitExceededError
from tokdfa.kernels.encode import one_pass as kernels
from tokdfa.kernels.encode.one_pass import NO_NUMBER, index_rules
from tokdfa.kernels.library import Struct

MAX_TOKENS = NO_NUMBER - 1

_SURROGATES = range(0xD800, 0xE000)


class ByteCode:
    """A code of words over any alphabet as bytes that can be decoded from left to right.

    Bytes are encoded as themselves and characters as their UTF-8. Symbols of several characters are numbered, and the
    number is encoded as the UTF-8 of the character with that code point.
    """

    def __init__(self, alphabet: TokenAlphabet) -> None:
        self._alphabet = alphabet
        self._characters: dict[str, str] = {}
        if alphabet.kind == "symbols":
            numbers = (n if n < _SURROGATES.start else n + len(_SURROGATES) for n in range(alphabet.n_symbols))
            self._characters = {
                cast(str, symbol[0]): chr(n) for symbol, n in zip(alphabet.symbols, numbers, strict=True)
            }

    def encode(self, word: Word) -> bytes:
        """Return the code of a word over the alphabet."""
        if isinstance(word, bytes):
            return word
        text = word if isinstance(word, str) else "".join(self._characters[symbol] for symbol in word)
        return text.encode("utf-8", "surrogatepass")

    def tokens(self, extra: Sequence[bytes] = ()) -> tuple[Uint8Array, Int64Array]:
        """Return the codes of all tokens, and of further words that are codes already, one after the other.

        Word i is ``text[offsets[i]:offsets[i + 1]]``.
        """
        # Alphabets from files have it in this form, and make words of it only for those who ask.
        spelled_with = getattr(self._alphabet, "spelled_with", None)
        if spelled_with is not None:
            return cast("tuple[Uint8Array, Int64Array]", spelled_with(*joined(extra)))
        words = self._alphabet if self._alphabet.kind == "bytes" else map(self.encode, self._alphabet)
        return joined([*cast("Iterable[bytes]", words), *extra])

    def checked(self, text: Word | Iterable[str]) -> bytes:
        """Return the code of a word, after checking that it is one of the alphabet's kind without a foreign symbol."""
        word = self._alphabet.word(text)
        if self._alphabet.kind != "bytes" or self._alphabet.n_symbols < 256:
            foreign = set(_units(word)).difference(*map(_units, self._alphabet.symbols))
            if foreign:
                offset = next(i for i, symbol in enumerate(_units(word)) if symbol in foreign)
                what = "the symbol is not in the base alphabet"
                raise AlphabetError(what, value=word[offset : offset + 1], where=f"offset {offset}")
        return self.encode(word)


def _units(word: Word) -> Iterable[str | int]:
    return cast("Iterable[str | int]", word)


def joined(words: Sequence[bytes]) -> tuple[Uint8Array, Int64Array]:
    """Return words one after the other: word i is ``text[offsets[i]:offsets[i + 1]]``."""
    offsets = running_sum(np.fromiter(map(len, words), dtype=np.int64, count=len(words)))
    return np.frombuffer(b"".join(words), dtype=np.uint8), offsets


def rules_table(
    left: Int32Array, right: Int32Array, product: Int32Array, number: Int32Array
) -> tuple[Uint64Array, Int32Array]:
    """Return the tables of rules between numbered tokens; see :func:`tokdfa.kernels.encode.one_pass.index_rules`."""
    if len(number) > MAX_TOKENS:
        raise LimitExceededError(f"more than {MAX_TOKENS} tokens", value=len(number))
    return index_rules(left, right, product, number)


class OnePass:
    """The function T^D of a proper dictionary, evaluated in one pass over the text.

    `tables` is the struct that the kernels read, ``tokdfa_token_tables``. An improper dictionary is an
    ImproperDictionaryError, one with 2^21 - 1 tokens or more a LimitExceededError.

    It computes the function of the subsequential transducer of *Constructing a BPE Tokenization DFA* (Theorem 4), in
    linear time as Corollary 3 states, without the states. Every prefix of a word has one last token, which must be
    allowed after the last token of the text before it; the pair test of the compact token DFA decides whether it is.
    """

    def __init__(self, dictionary: Dictionary) -> None:
        folding = dictionary.folding
        self.dictionary = dictionary
        self.code = ByteCode(dictionary.alphabet)
        found = kernels.index_words(*self.code.tokens(), folding.birth >= 0)
        # Births come after the symbols.
        last_symbol = dictionary.alphabet.n_symbols - 1
        n_tokens = len(dictionary.alphabet)
        birth = np.maximum(folding.birth, 0) + np.int32(last_symbol)
        number = np.where(folding.birth > 0, birth, np.arange(n_tokens, dtype=np.int32))
        live = folding.rule[1:]
        left, right, product = (row[live] for row in (dictionary.left, dictionary.right, dictionary.product))
        rules, of_symbols = rules_table(left, right, product, number)
        state = np.maximum(folding.state, 0)
        records = found.records
        records[:, kernels.STATE] = state + np.int32(last_symbol)
        records[:, kernels.READ] = np.append(np.int32(-1), dictionary.left[live])[state]
        records[:, kernels.BIRTH] = birth
        records[:, kernels.HEAD] = folding.head
        records[:, kernels.TAIL] = folding.tail
        records[:, kernels.NUMBER] = number
        self._number = number
        self._tables = (found, rules, of_symbols, symbols_of_bytes(dictionary.alphabet))
        self.tables: Struct = self.with_ids(np.arange(n_tokens, dtype=np.int32))

    def with_ids(self, ids: Int32Array) -> Struct:
        """Return the tables with these ids for the tokens, instead of their numbers."""
        ids = np.array(ids[: len(self.dictionary.alphabet)], dtype=np.int32)
        of_numbers = np.full(len(ids) + 1, -1, dtype=np.int32)
        live = self.dictionary.folding.birth >= 0
        of_numbers[self._number[live]] = ids[live]
        return kernels.tables_of(*self._tables, ids, of_numbers)

    def tokenize(self, word: Word | Iterable[str]) -> Int32Array:
        """Return T^D(word) as token numbers; a symbol outside the base alphabet is an error, with its offset."""
        tokens = kernels.tokenize(self.tables, self.code.checked(word))
        # All symbols have been checked.
        assert tokens is not None
        return tokens

    def __call__(self, word: Word | Iterable[str]) -> tuple[Word, ...]:
        """Return T^D(word), spelled."""
        return self.dictionary.alphabet.spell(self.tokenize(word).tolist())

    def __repr__(self) -> str:
        return f"<OnePass of {len(self.dictionary)} rules>"


def symbols_of_bytes(alphabet: TokenAlphabet) -> Int32Array:
    """Return the token of each byte, -1 for foreign bytes; an empty array for other alphabets."""
    if alphabet.kind != "bytes":
        return np.zeros(0, dtype=np.int32)
    symbol = np.full(256, -1, dtype=np.int32)
    symbol[list(b"".join(cast("tuple[bytes, ...]", alphabet.symbols)))] = np.arange(alphabet.n_symbols)
    return symbol

"""T^D evaluated from left to right in linear time, for dictionaries of any size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias, cast

import numpy as np
import numpy.typing as npt

from tokdfa.alphabet import TokenAlphabet, Word
from tokdfa.dictionary import Dictionary
from tokdfa.errors import AlphabetError, LimitExceededError
from tokdfa.kernels import one_pass as kernels
from tokdfa.kernels.rules import NO_NUMBER, find_rules, room_for_rules

__all__ = [
    "MAX_TOKENS",
    "ByteCode",
    "OnePass",
    "find_tables",
    "frozen",
    "rules_table",
    "symbols_of_bytes",
]

Int32Array: TypeAlias = npt.NDArray[np.int32]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

MAX_TOKENS = int(NO_NUMBER) - 1

_SURROGATES = range(0xD800, 0xE000)


class ByteCode:
    """Words over any alphabet, written as bytes, such that code words are told apart from left to right.

    Bytes stand for themselves and characters for their UTF-8. Symbols of several characters are numbered, and the
    number, as a character, has its UTF-8.
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
        """Return the code of a word whose symbols are all in the alphabet."""
        if isinstance(word, bytes):
            return word
        text = word if isinstance(word, str) else "".join(self._characters[symbol] for symbol in word)
        return text.encode("utf-8", "surrogatepass")

    def checked(self, text: Word | Iterable[str]) -> bytes:
        """Return the code of a word.

        Raises
        ------
        AlphabetError
            If it is not a word of the alphabet's kind, or a symbol is not in the alphabet; says at which offset.
        """
        word = self._alphabet.word(text)
        if self._alphabet.kind != "bytes" or self._alphabet.n_symbols < 256:
            foreign = set(_units(word)).difference(*map(_units, self._alphabet.symbols))
            if foreign:
                offset = next(i for i, symbol in enumerate(_units(word)) if symbol in foreign)
                raise AlphabetError(
                    "symbol not in the base alphabet", value=word[offset : offset + 1], where=f"offset {offset}"
                )
        return self.encode(word)


def _units(word: Word) -> Iterable[str | int]:
    return cast("Iterable[str | int]", word)


def find_tables(words: Sequence[bytes], live: BoolArray, ids: Int32Array | None = None) -> kernels.Tables:
    """Return the tables in which the words marked as live are found, those of the pair test left empty.

    `ids` are what the words are numbered outside; by default their indices.
    """
    length = np.fromiter(map(len, words), dtype=np.int32, count=len(words))
    offsets = np.zeros(len(words) + 1, dtype=np.int64)
    np.cumsum(length, out=offsets[1:])
    text = np.frombuffer(b"".join(words), dtype=np.uint8)
    slots, bits, edges, ending, shorter = kernels.find_words(text, offsets, live)
    records = np.zeros((len(words), kernels.RECORD), dtype=np.int32)
    records[:, kernels.LENGTH] = length
    records[:, kernels.SHORTER] = shorter
    none = np.zeros(0, dtype=np.int32)
    names = (np.arange(len(words)) if ids is None else ids).astype(np.int32)
    rules, of_symbols = rules_table(none, none, none, n_tokens=0)
    return frozen(kernels.Tables(slots, bits, edges, ending, records.ravel(), rules, of_symbols, none, names, none))


def rules_table(
    left: Int32Array, right: Int32Array, product: Int32Array, *, n_tokens: int
) -> tuple[npt.NDArray[np.int64], Int32Array]:
    """Return the tables of rules between numbers of tokens; see :func:`tokdfa.kernels.rules.find_rules`.

    Raises
    ------
    LimitExceededError
        If there are 2^21 - 1 tokens or more.
    """
    if n_tokens > MAX_TOKENS:
        raise LimitExceededError(f"more than {MAX_TOKENS} tokens", value=n_tokens)
    rules = room_for_rules(len(left))
    of_symbols = find_rules(left, right, product, rules)
    return rules, of_symbols


class OnePass:
    """The function T^D of a proper dictionary, evaluated in one pass over the text.

    Parameters
    ----------
    dictionary : Dictionary

    Attributes
    ----------
    dictionary : Dictionary
    tables : Tables
        What the kernels read.

    Raises
    ------
    ImproperDictionaryError
        If the dictionary is not proper.
    LimitExceededError
        If it has 2^21 - 1 tokens or more.

    Notes
    -----
    It is what the subsequential transducer of *Constructing a BPE Tokenization DFA* (Theorem 4) computes, and linear
    as Corollary 3 promises, without its states: every prefix of a word has one last token, which must be allowed
    behind the last token of what is before it, and the pair test of the compact token DFA tells whether it is.
    """

    def __init__(self, dictionary: Dictionary) -> None:
        folding = dictionary.folding
        self.dictionary = dictionary
        self.code = ByteCode(dictionary.alphabet)
        words = [*map(self.code.encode, dictionary.alphabet)]
        tables = find_tables(words, folding.birth >= 0)
        # Births behind the symbols.
        last_symbol = dictionary.alphabet.n_symbols - 1
        birth = np.maximum(folding.birth, 0) + np.int32(last_symbol)
        number = np.where(folding.birth > 0, birth, np.arange(len(words), dtype=np.int32))
        live = folding.rule[1:]
        left, right, product = (number[row[live]] for row in (dictionary.left, dictionary.right, dictionary.product))
        rules, of_symbols = rules_table(left, right, product, n_tokens=len(words))
        state = np.maximum(folding.state, 0)
        read = np.append(np.int32(-1), dictionary.left[live])[state]
        records = tables.records.reshape(-1, kernels.RECORD).copy()
        columns = (kernels.STATE, kernels.READ, kernels.BIRTH, kernels.HEAD, kernels.TAIL, kernels.NUMBER)
        state += np.int32(last_symbol)
        records[:, columns] = np.stack((state, read, birth, folding.head, folding.tail, number), axis=1)
        self._number = number
        self.tables = self._named(
            tables._replace(
                records=records.ravel(),
                rules=rules,
                of_symbols=of_symbols,
                symbol=symbols_of_bytes(dictionary.alphabet),
            ),
            tables.ids,
        )

    def with_ids(self, ids: Int32Array) -> kernels.Tables:
        """Return the tables with these ids for the tokens, instead of their numbers."""
        return self._named(self.tables, np.array(ids[: len(self.dictionary.alphabet)], dtype=np.int32))

    def _named(self, tables: kernels.Tables, ids: Int32Array) -> kernels.Tables:
        of_numbers = np.full(len(ids) + 1, -1, dtype=np.int32)
        live = self.dictionary.folding.birth >= 0
        of_numbers[self._number[live]] = ids[live]
        return frozen(tables._replace(ids=ids, ids_of_numbers=of_numbers))

    def tokenize(self, word: Word | Iterable[str]) -> Int32Array:
        """Return T^D(word), as token numbers.

        Raises
        ------
        AlphabetError
            If `word` has a symbol outside the base alphabet; says at which offset.
        """
        text = np.frombuffer(self.code.checked(word), dtype=np.uint8)
        out = np.empty(len(text), dtype=np.int32)
        if not len(text):
            return out
        left = np.zeros((len(text) >> 6) + 1, dtype=np.uint64)
        # Cut off in place: a copy of a long one takes as long as a part of the work.
        out.resize(kernels.tokenize(self.tables, text, 0, len(text), out, 0, left), refcheck=False)
        return out

    def __call__(self, word: Word | Iterable[str]) -> tuple[Word, ...]:
        """Return T^D(word), spelled."""
        return self.dictionary.alphabet.spell(self.tokenize(word).tolist())

    def __repr__(self) -> str:
        return f"<OnePass of {len(self.dictionary)} rules>"


def symbols_of_bytes(alphabet: TokenAlphabet) -> Int32Array:
    """Return the token of each byte, -1 for foreign ones; nothing for other alphabets."""
    if alphabet.kind != "bytes":
        return np.zeros(0, dtype=np.int32)
    symbol = np.full(256, -1, dtype=np.int32)
    symbol[list(b"".join(cast("tuple[bytes, ...]", alphabet.symbols)))] = np.arange(alphabet.n_symbols)
    return symbol


def frozen(tables: kernels.Tables) -> kernels.Tables:
    """Return tables after making their arrays read-only, as kernels want them."""
    for array in tables:
        array.setflags(write=False)
    return tables

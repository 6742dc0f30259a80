"""Base alphabets, words over them, and token alphabets.

A *word* is an element of the free monoid over a base alphabet. Words can have three Python types. All algorithms treat
them alike because they share ``+``, ``len``, slicing, equality, order and hashing:

``bytes``
    the symbols are the 256 bytes;
``str``
    the symbols are characters (code points);
``tuple[str, ...]``
    the symbols are strings of any length, such as ``</w>``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, repeat
from typing import TYPE_CHECKING, Literal, TypeAlias, cast, overload

from tokdfa.base.errors import AlphabetError
from tokdfa.base.suggestions import SuggestsNames

if TYPE_CHECKING:
    from tokdfa.base.arrays import Int32Array, Int64Array
    from tokdfa.regex.trie import TokenTrie

__all__ = ["TokenAlphabet", "Word", "concatenate", "iter_symbols", "quoted", "show"]

Word: TypeAlias = bytes | str | tuple[str, ...]
Kind: TypeAlias = Literal["bytes", "characters", "symbols"]

_EMPTY: dict[Kind, Word] = {"bytes": b"", "characters": "", "symbols": ()}
_TYPES: dict[Kind, type] = {"bytes": bytes, "characters": str, "symbols": tuple}


def concatenate(words: Iterable[Word], kind: Kind) -> Word:
    """Return the concatenation of `words`; the empty word of `kind` if there are none."""
    if kind == "bytes":
        return b"".join(cast(Iterable[bytes], words))
    if kind == "characters":
        return "".join(cast(Iterable[str], words))
    return tuple(symbol for word in words for symbol in word)  # type: ignore[misc]


def iter_symbols(word: Word) -> Iterator[Word]:
    """Yield the symbols of `word`, each as a word of length one."""
    return (word[i : i + 1] for i in range(len(word)))


def show(word: Word) -> str:
    """Return `word` as printable text; bytes that are not UTF-8 are shown as escapes."""
    if isinstance(word, tuple):
        return "".join(word) if all(map(str.isprintable, word)) else repr("".join(word))[1:-1]
    if isinstance(word, bytes):
        try:
            word = word.decode("utf-8")
        except UnicodeDecodeError:
            return repr(word)[2:-1]
    return word if word.isprintable() else repr(word)[1:-1]


def quoted(word: Word) -> str:
    """Return `word` in quotes, with Python's escapes; UTF-8 bytes are shown as text."""
    if isinstance(word, tuple):
        return repr("".join(word))
    if isinstance(word, bytes):
        try:
            return repr(word.decode("utf-8"))
        except UnicodeDecodeError:
            return repr(word)[1:]
    return repr(word)


class TokenAlphabet(SuggestsNames, Sequence[Word]):
    """A token alphabet Γ over a base alphabet Σ: distinct words, numbered, the symbols first.

    Immutable. Automata work on token numbers; this class maps them to words and back.

    Parameters
    ----------
    symbols : str, bytes or sequence of words
        The base alphabet, in order. The symbols of a string are its characters, and the symbols of bytes are single
        bytes. Otherwise every element is one symbol: a string (of any length) or a word of length one.
    tokens : iterable of words
        The other tokens, each of two or more symbols.

    Raises
    ------
    AlphabetError
        If a symbol or token occurs twice, is empty, or uses a symbol that is not in the alphabet.

    Notes
    -----
    Berglund, Martens, van der Merwe, *Constructing a BPE Tokenization DFA*, section 2. The paper also requires that
    every longer token be the concatenation of two tokens. Proper dictionaries guarantee this, and nothing here
    depends on it.

    Examples
    --------
    >>> alphabet = tokdfa.TokenAlphabet("ab", ["ab", "aba"])
    >>> alphabet.n_symbols, len(alphabet), alphabet.number("aba")
    (2, 4, 3)
    >>> alphabet.spell([3, 1])
    ('aba', 'b')
    """

    def __init__(self, symbols: str | bytes | Iterable[Word], tokens: Iterable[Word] = ()) -> None:
        self.kind: Kind
        self.kind, base = _read_symbols(symbols)
        self.n_symbols = len(base)
        words = list(base)
        numbers = {word: number for number, word in enumerate(base)}
        if len(numbers) != len(base):
            twice = next(word for number, word in enumerate(base) if numbers[word] != number)
            raise AlphabetError("the symbol is given twice", value=twice)
        for word in tokens:
            _check_token(word, self.kind, numbers)
            numbers[word] = len(words)
            words.append(word)
        self._words: tuple[Word, ...] = tuple(words)
        self._numbers = numbers

    @property
    def symbols(self) -> tuple[Word, ...]:
        """The base alphabet, each symbol as a word of length one."""
        return self._words[: self.n_symbols]

    @property
    def letters(self) -> Sequence[str]:
        """The base alphabet of characters or of symbols, in order, each as a string."""
        return ["".join(cast("str | tuple[str, ...]", symbol)) for symbol in self.symbols]

    @property
    def texts(self) -> Sequence[str]:
        """The tokens of an alphabet of characters or of symbols, each as a string."""
        return ["".join(cast("str | tuple[str, ...]", word)) for word in self]

    def number(self, token: Word) -> int:
        """Return the number of `token`; over bytes, a string is its UTF-8. Another token is an AlphabetError."""
        try:
            return self._numbers[token]
        except (KeyError, TypeError):
            word = self._utf8(token)
            if word in self._numbers:
                return self._numbers[word]
            raise AlphabetError("not a token of this alphabet", value=token, hint=self._hint(token)) from None

    def _utf8(self, text: object) -> bytes | None:
        """Return the UTF-8 of a string over bytes, which can mean nothing else; None for all else."""
        if self.kind != "bytes" or not isinstance(text, str):
            return None
        try:
            return text.encode()
        except UnicodeEncodeError:
            return None

    def _hint(self, token: object) -> str | None:
        if self.kind == "bytes" and isinstance(token, str) and "Ġ" in token:
            spaced = token.replace("Ġ", " ")
            if self._utf8(spaced) in self._numbers:
                return f"write the space itself: {spaced!r}; Ġ stands for it in merges.txt"
        if self.kind != "bytes" and isinstance(token, bytes):
            return f"the tokens here are over {self.kind}"
        return None

    def numbers(self, tokenization: Iterable[Word | int]) -> tuple[int, ...]:
        """Return a tokenization as token numbers: spelled tokens are looked up as by `number`, numbers are checked."""
        numbers = []
        for token in tokenization:
            if isinstance(token, int):
                if not 0 <= token < len(self._words):
                    what = "token number out of range"
                    raise AlphabetError(what, value=token, hint=f"0 to {len(self._words) - 1} are tokens")
                numbers.append(int(token))
            else:
                numbers.append(self.number(token))
        return tuple(numbers)

    def spell(self, tokenization: Iterable[int]) -> tuple[Word, ...]:
        """Return the words of the tokens of a tokenization."""
        return tuple(self._words[number] for number in tokenization)

    def text(self, tokenization: Iterable[Word | int]) -> Word:
        """Return π(tokenization), the concatenation of its tokens."""
        return concatenate(self.spell(self.numbers(tokenization)), self.kind)

    def base_tokenization(self, word: Word | Iterable[str]) -> tuple[int, ...]:
        """Return `word` as single symbols, by number; for a foreign symbol, an AlphabetError gives its offset."""
        word = self.word(word)
        numbers = []
        for offset, symbol in enumerate(iter_symbols(word)):
            number = self._numbers.get(symbol)
            if number is None:
                raise AlphabetError("the symbol is not in the base alphabet", value=symbol, where=f"offset {offset}")
            numbers.append(number)
        return tuple(numbers)

    def word(self, text: Word | Iterable[str]) -> Word:
        """Return `text` as a word of this type, or raise an AlphabetError; over bytes, a string is its UTF-8."""
        if isinstance(text, _TYPES[self.kind]):
            return cast(Word, text)
        if self.kind == "symbols" and not isinstance(text, (str, bytes)):
            return tuple(text)
        if (word := self._utf8(text)) is not None:
            return word
        raise AlphabetError(f"expected a word over {self.kind}, not {type(text).__name__}", value=text)

    def trie(self) -> TokenTrie:
        """Return the trie of the tokens, over the numbers of the symbols."""
        from tokdfa.regex.trie import TokenTrie

        return TokenTrie(*self.in_symbols())

    def in_symbols(self) -> tuple[Int32Array, Int64Array]:
        """Return the tokens spelled by the numbers of their symbols: token i is ``symbols[offsets[i]:offsets[i + 1]]``.

        Symbols outside the base alphabet, which tokens of `followed_by` may have, have the number of no token.
        """
        import numpy as np

        from tokdfa.base.arrays import offsets_of

        offsets = offsets_of(self)
        # The one symbol of a word of bytes is an integer.
        number = {symbol[0]: number for number, symbol in enumerate(self.symbols)}
        spelled = chain.from_iterable(cast("Iterable[Sequence[str]]", self._words))
        symbols = map(number.get, spelled, repeat(len(self)))
        return np.fromiter(symbols, dtype=np.int32, count=int(offsets[-1])), offsets

    def followed_by(self, words: Sequence[Word]) -> TokenAlphabet:
        """Return this alphabet with further tokens, which are not checked, at the end."""
        return unchecked(self.kind, self.n_symbols, (*self._words, *words)) if words else self

    def numbers_in(self, other: TokenAlphabet) -> Int32Array:
        """Return the number in another alphabet of each token, -1 for tokens that it does not have."""
        import numpy as np

        numbers = map(other._numbers.get, self._words, repeat(-1))
        return np.fromiter(numbers, dtype=np.int32, count=len(self))

    def extended(self, token: Word) -> TokenAlphabet:
        """Return this alphabet with `token` added at the end, or the alphabet itself if it already has `token`."""
        return self if token in self._numbers else TokenAlphabet(self.symbols, (*self._words[self.n_symbols :], token))

    @cached_property
    def longest(self) -> int:
        """The length in symbols of the longest token; 0 if there are none."""
        return max(map(len, self._words), default=0)

    @overload
    def __getitem__(self, index: int) -> Word: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Word, ...]: ...
    def __getitem__(self, index: int | slice) -> Word | tuple[Word, ...]:
        return self._words[index]

    def __getstate__(self) -> tuple[Kind, int, tuple[Word, ...]]:
        return self.kind, self.n_symbols, self._words

    def __setstate__(self, state: tuple[Kind, int, tuple[Word, ...]]) -> None:
        self.kind, self.n_symbols, self._words = state
        self._numbers = {word: number for number, word in enumerate(self._words)}

    def __len__(self) -> int:
        return len(self._words)

    def __contains__(self, token: object) -> bool:
        return token in self._numbers

    def __iter__(self) -> Iterator[Word]:
        return iter(self._words)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TokenAlphabet):
            return NotImplemented
        return self.n_symbols == other.n_symbols and self._words == other._words

    def __hash__(self) -> int:
        return hash((self.n_symbols, self._words))

    def __repr__(self) -> str:
        return f"<TokenAlphabet over {self.kind}: {self.n_symbols} symbols, {len(self._words)} tokens>"


def unchecked(kind: Kind, n_symbols: int, words: tuple[Word, ...]) -> TokenAlphabet:
    """Return the token alphabet of distinct words, the symbols first."""
    alphabet = TokenAlphabet.__new__(TokenAlphabet)
    alphabet.__setstate__((kind, n_symbols, words))
    return alphabet


def one_character_spellings(alphabet: TokenAlphabet) -> list[str]:
    """Return the tokens as strings with one character a symbol: bytes as Latin-1, longer symbols by their numbers."""
    if alphabet.kind == "bytes":
        return [cast(bytes, word).decode("latin-1") for word in alphabet]
    if alphabet.kind == "characters":
        return [cast(str, word) for word in alphabet]
    character = {symbol: chr(number) for number, symbol in enumerate(alphabet.letters)}
    return ["".join(map(character.__getitem__, cast("tuple[str, ...]", word))) for word in alphabet]


def _read_symbols(symbols: str | bytes | Iterable[Word]) -> tuple[Kind, list[Word]]:
    if isinstance(symbols, (str, bytes)):
        return ("bytes" if isinstance(symbols, bytes) else "characters"), list(iter_symbols(symbols))
    items = list(symbols)
    for item in items:
        if not isinstance(item, (str, bytes, tuple)) or len(item) == 0:
            raise AlphabetError("a symbol must be a non-empty string or a single byte", value=item)
    if items and all(isinstance(item, bytes) for item in items):
        if any(len(item) != 1 for item in items):
            raise AlphabetError("a symbol of a byte alphabet must be one byte", value=max(items, key=len))
        return "bytes", items
    if all(isinstance(item, str) and len(item) == 1 for item in items):
        return "characters", items
    as_words: list[Word] = [(item,) if isinstance(item, str) else item for item in items]
    for word in as_words:
        if not (isinstance(word, tuple) and len(word) == 1 and isinstance(word[0], str) and word[0]):
            raise AlphabetError("the symbols of an alphabet must be all bytes or all strings", value=word)
    return "symbols", as_words


def _check_token(word: Word, kind: Kind, numbers: dict[Word, int]) -> None:
    if not isinstance(word, _TYPES[kind]):
        raise AlphabetError(f"a token over {kind} is a {_TYPES[kind].__name__}", value=word)
    for symbol in iter_symbols(word):
        if symbol not in numbers:
            raise AlphabetError(f"token {quoted(word)} uses a symbol that is not in the base alphabet", value=symbol)
    if len(word) < 2:
        raise AlphabetError("a token that is not a symbol must have two symbols or more", value=word)
    if word in numbers:
        raise AlphabetError("the token is given twice", value=word)

"""Merges as a file lists them, and the pieces of a corpus as the trainer of that file saw them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np

from tokdfa.automata.alphabet import Kind, TokenAlphabet, Word
from tokdfa.automata.dictionary import Dictionary
from tokdfa.base.errors import TrainingError, UnsupportedFeatureError
from tokdfa.kernels.train.merging import Wanted
from tokdfa.tokenizers.formats import read
from tokdfa.tokenizers.formats.contents import Contents
from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer, pretokenizer

Pair: TypeAlias = tuple[Word, Word]

_RANKED = ("tiktoken", "tekken", "sentencepiece")
# SentencePiece's words begin with the mark of a space; none extends beyond a line.
_WORDS = "▁[^▁\n]*|[^▁\n]+"


@dataclass(frozen=True, slots=True)
class ListedMerges:
    """Merges in their order: the product of each, and its parts.

    A file of ranked tokens has no parts: those that the stronger tokens leave are the only ones that can be merged.
    There are none, None, if these do not leave two. `symbols` are the listed symbols, and None if these are all bytes.
    """

    pairs: tuple[Pair | None, ...]
    products: tuple[Word, ...]
    symbols: frozenset[Word] | None
    contents: Contents | None = None

    def __len__(self) -> int:
        return len(self.products)

    @classmethod
    def read(cls, source: Any) -> ListedMerges:
        """Return the merges of a file, a folder, a dictionary or a list of pairs."""
        if isinstance(source, Dictionary):
            return cls._of_pairs(_pairs(source), source.alphabet)
        if not isinstance(source, (str, Path)):
            pairs = [(u, v) for u, v in source]
            return cls._of_pairs(pairs, Dictionary(pairs).alphabet)
        contents = read(source)
        if not isinstance(contents, Contents):
            what = f"this needs merges of pairs, but the file is {contents.algorithm}"
            raise UnsupportedFeatureError(what, where=str(source))
        if contents.prefix:
            raise UnsupportedFeatureError(
                "merges with a prefix are not replayed", value=contents.prefix, where=str(source)
            )
        dictionary = contents.dictionary
        found = cls._of_pairs(_pairs(dictionary), dictionary.alphabet, contents)
        return found._ranked() if contents.format in _RANKED else found

    @classmethod
    def _of_pairs(
        cls, pairs: Sequence[Pair], alphabet: TokenAlphabet, contents: Contents | None = None
    ) -> ListedMerges:
        products = tuple(cast("Any", u) + v for u, v in pairs)
        symbols = None if alphabet.kind == "bytes" else frozenset(alphabet.symbols)
        if symbols is not None and contents is not None:
            symbols |= {word for word in contents.extra if len(word) == 1}
        return cls(tuple(pairs), products, symbols, contents)

    def _ranked(self) -> ListedMerges:
        """Return all tokens by rank, those without parts included."""
        contents = cast("Contents", self.contents)
        words = [*contents.dictionary.alphabet, *contents.extra]
        n, added = contents.dictionary.alphabet.n_symbols, {special.id for special in contents.specials}
        order = sorted((id, word) for id, word in zip(contents.ids[n:].tolist(), words[n:], strict=False) if id >= 0)
        parts = dict(zip(self.products, self.pairs, strict=True))
        products = tuple(word for id, word in order if id not in added and len(word) > 1)
        return ListedMerges(tuple(map(parts.get, products)), products, self.symbols, contents)

    @property
    def is_bytewise(self) -> bool:
        """Whether the symbols are bytes."""
        return self.symbols is None

    @property
    def is_sentencepiece(self) -> bool:
        """Whether the file is a SentencePiece model."""
        return self.contents is not None and self.contents.format == "sentencepiece"

    @property
    def suffix(self) -> str | None:
        """The ending of the last symbol of a piece."""
        return None if self.contents is None else self.contents.suffix

    @property
    def vocabulary(self) -> frozenset[Word] | None:
        """All characters that the trainer kept; None if these are bytes, or the file does not say."""
        has_all = self.contents is not None and self.contents.format in ("tokenizer.json", "sentencepiece")
        return self.symbols if has_all and not self.suffix else None

    def in_kind(self, pieces: Mapping[Any, int]) -> ListedMerges:
        """Return the merges over the symbols of pieces: bytes, characters, or symbols of several characters."""
        kinds: dict[type, Kind] = {bytes: "bytes", str: "characters"}
        kind = next((kinds.get(type(piece), "symbols") for piece in pieces), None)
        if kind is None:
            raise TrainingError("the corpus contains no text")
        if self.is_bytewise != (kind == "bytes") and len(self):
            found, needed = ("bytes", "byte") if self.is_bytewise else ("characters", "character")
            what = f"the merges are over {found}, and the corpus is not read so"
            raise TrainingError(what, hint=f"choose level {needed}")
        if kind == "bytes":
            return self

        def joined(word: Any) -> Any:
            return "".join(word) if kind == "characters" else (*word,) if kind == "symbols" else word

        pairs = tuple(None if pair is None else (joined(pair[0]), joined(pair[1])) for pair in self.pairs)
        symbols = None if self.symbols is None else frozenset(map(joined, self.symbols))
        return ListedMerges(pairs, tuple(map(joined, self.products)), symbols, self.contents)

    def numbered(self, any_tie: bool, symbols: TokenAlphabet) -> Wanted:
        """Return the merges as numbers of tokens: the symbols, then the products in their order; -1 for no token."""
        n = len(symbols)
        # Where a product is listed twice, the first one counts. A token that is not made yet occurs nowhere.
        number: dict[Word | None, int] = dict(
            zip(self.products[::-1], range(n + len(self) - 1, n - 1, -1), strict=True)
        )
        number.update(zip(symbols.symbols, range(n), strict=True))
        parts = [pair or (None, None) for pair in self.pairs]
        left, right = (
            np.fromiter(map(number.get, column, repeat(-1)), np.int32, len(parts))
            for column in (zip(*parts, strict=True) if parts else ((), ()))
        )
        return Wanted(left, right, any_tie)

    def reading(self) -> tuple[str | PreTokenizer | None, Callable[[str], str] | None]:
        """Return the pre-tokenizer and the normalizer that the file itself has, None for none."""
        contents = self.contents
        if contents is None or not contents.says_splitting:
            return None, None
        normalizer = None if contents.rewriting is None else contents.rewriting.normalizer
        if contents.format == "sentencepiece":
            return _WORDS, normalizer
        splitting = contents.splitting
        if splitting is None or splitting.is_nothing:
            return "none", normalizer
        if splitting.prefix_space is not None or splitting.metaspace is not None:
            what = "the pre-tokenizer of the file puts spaces before texts or replaces them"
            raise UnsupportedFeatureError(
                what, hint="name the pieces by a pre-tokenizer without it, over such a corpus"
            )
        return pretokenizer(splitting), normalizer


def _pairs(dictionary: Dictionary) -> list[Pair]:
    word = [*dictionary.alphabet].__getitem__
    return list(zip(map(word, dictionary.left.tolist()), map(word, dictionary.right.tolist()), strict=True))

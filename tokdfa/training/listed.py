"""Merges as a file lists them, and the pieces of a corpus as the trainer of that file saw them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise, repeat
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np

from tokdfa.automata.alphabet import Kind, TokenAlphabet, Word
from tokdfa.automata.dictionary import Dictionary
from tokdfa.base.errors import Argument, Hint, TrainingError, UnsupportedFeatureError
from tokdfa.kernels.train.merging import Wanted
from tokdfa.tokenizers.formats import read
from tokdfa.tokenizers.formats.by_piece import ByPieceContents
from tokdfa.tokenizers.formats.contents import Contents
from tokdfa.tokenizers.formats.wordpiece import WordPieceContents
from tokdfa.tokenizers.pretokenizers.pretokenizer import PreTokenizer, pretokenizer
from tokdfa.tokenizers.pretokenizers.steps import BERT, Splitting

Pair: TypeAlias = tuple[Word, Word]
Rewriter: TypeAlias = Callable[[str], str]
Listing: TypeAlias = Contents | WordPieceContents | ByPieceContents

_WITH_SYMBOLS = ("tokenizer.json", "sentencepiece", "vocab.txt")
_RANKED = ("tiktoken", "tekken", "sentencepiece")
# SentencePiece's words begin with the mark of a space; none extends beyond a line.
_WORDS = "▁[^▁\n]*|[^▁\n]+"


@dataclass(frozen=True, slots=True)
class ListedMerges:
    """Merges in their order: the product of each, and its parts.

    A file of ranked tokens has no parts: those that the stronger tokens leave are the only ones that can be merged.
    There are none, None, if these do not leave two. `symbols` are the listed symbols in the order of their ids, and
    None if these are all bytes.
    """

    pairs: tuple[Pair | None, ...]
    products: tuple[Word, ...]
    symbols: tuple[Word, ...] | None
    contents: Listing | None = None

    def __len__(self) -> int:
        return len(self.products)

    @classmethod
    def read(cls, source: Any, format: str | None = None) -> ListedMerges:
        """Return the merges of a file of a format, a folder, a dictionary or a list of pairs."""
        if isinstance(source, Dictionary):
            return cls._of_pairs(_pairs(source), source.alphabet)
        if not isinstance(source, (str, Path)):
            pairs = [(u, v) for u, v in source]
            return cls._of_pairs(pairs, Dictionary(pairs).alphabet)
        contents = read(source, format)
        if isinstance(contents, (WordPieceContents, ByPieceContents)) and contents.algorithm != "WordLevel":
            return cls._of_entries(contents, str(source))
        if not isinstance(contents, Contents):
            what = f"this needs merges of pairs, but the file is {contents.algorithm}"
            raise UnsupportedFeatureError(what, where=str(source))
        dictionary = contents.dictionary
        if contents.spelled_bytes and dictionary.alphabet.kind != "bytes":
            raise UnsupportedFeatureError("a byte-level vocabulary without some of the bytes", where=str(source))
        found = cls._of_pairs(_pairs(dictionary), dictionary.alphabet, contents)
        return found._ranked() if contents.format in _RANKED else found

    @classmethod
    def _of_pairs(
        cls, pairs: Sequence[Pair], alphabet: TokenAlphabet, contents: Contents | None = None
    ) -> ListedMerges:
        products = tuple(cast("Any", u) + v for u, v in pairs)
        if alphabet.kind == "bytes":
            return cls(tuple(pairs), products, None, contents)
        symbols = alphabet.symbols
        if contents is not None:
            words = [*contents.dictionary.alphabet, *contents.extra]
            numbered = zip(contents.ids.tolist(), words, strict=False)
            symbols = tuple(word for id, word in sorted(each for each in numbered if len(each[1]) == 1) if id >= 0)
        return cls(tuple(pairs), products, symbols, contents)

    @classmethod
    def _of_entries(cls, contents: WordPieceContents | ByPieceContents, where: str) -> ListedMerges:
        """Return the entries of WordPiece that texts contain, in the order of the merges."""
        vocabulary = contents.vocabulary
        if vocabulary.opening or not vocabulary.prefix:
            what = "the entries do not show where words begin by a prefix, so they are not replayed"
            raise UnsupportedFeatureError(what, value=vocabulary.opening, where=where)
        others = {special.content for special in contents.specials} | {vocabulary.unknown}
        entries = [entry for _, entry in sorted((id, entry) for entry, id in vocabulary.items())]
        words = [_word(entry, vocabulary.prefix) for entry in entries if entry not in others]
        products = [word for word in words if len(word) > 1]
        symbols = tuple(word for word in words if len(word) == 1)
        return cls(tuple(_parts(products)), tuple(products), symbols, contents)

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
    def says_splitting(self) -> bool:
        """Whether the file says how texts are split."""
        return self.contents is not None and self.contents.says_splitting

    @property
    def is_sentencepiece(self) -> bool:
        """Whether the file is a SentencePiece model."""
        return self.contents is not None and self.contents.format == "sentencepiece"

    @property
    def suffix(self) -> str | None:
        """The ending of the last symbol of a piece."""
        return self.contents.suffix if isinstance(self.contents, Contents) else None

    @property
    def prefix(self) -> str:
        """The prefix of each symbol of a piece but the first."""
        contents = self.contents
        if contents is None:
            return ""
        return (contents.prefix or "") if isinstance(contents, Contents) else contents.vocabulary.prefix

    @property
    def vocabulary(self) -> frozenset[Word] | None:
        """All symbols that the trainer kept; None if these are bytes, or the file does not say."""
        has_all = self.contents is not None and self.contents.format in _WITH_SYMBOLS
        return frozenset(self.symbols) if has_all and self.symbols is not None else None

    @property
    def _may_be_characters(self) -> bool:
        """Whether the symbols are read as bytes though the file does not say so: a merges.txt of ASCII alone."""
        is_open = self.is_bytewise and self.contents is not None and self.contents.format == "merges"
        return is_open and all(map(bytes.isascii, cast("Any", self.products)))

    def in_kind(self, pieces: Mapping[Any, int]) -> ListedMerges:
        """Return the merges over the symbols of pieces: bytes, characters, or symbols of several characters."""
        kinds: dict[type, Kind] = {bytes: "bytes", str: "characters"}
        kind = next((kinds.get(type(piece), "symbols") for piece in pieces), None)
        if kind is None:
            raise TrainingError("the corpus contains no text")
        if len(self) and self._may_be_characters and kind != "bytes":
            spelled = [(u.decode(), v.decode()) for u, v in cast("Any", self.pairs)]
            return replace(self._of_pairs(spelled, Dictionary(spelled).alphabet), contents=self.contents).in_kind(
                pieces
            )
        if self.is_bytewise != (kind == "bytes") and len(self):
            found, needed = ("bytes", "byte") if self.is_bytewise else ("characters", "character")
            what = f"the merges are over {found}, and the corpus is not read so"
            raise TrainingError(what, hint=Hint("choose ", Argument("level", needed)))
        if kind == "bytes":
            return self

        def joined(word: Any) -> Any:
            return "".join(word) if kind == "characters" else (*word,) if kind == "symbols" else word

        pairs = tuple(None if pair is None else (joined(pair[0]), joined(pair[1])) for pair in self.pairs)
        symbols = None if self.symbols is None else tuple(map(joined, self.symbols))
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

    def reading(self, form: Rewriter | None = None) -> tuple[str | PreTokenizer | None, Rewriter | None]:
        """Return the pre-tokenizer of the file itself, and the function that rewrites each line; None for none.

        A `form` takes the place of the file's normalizer. The spaces that a pre-tokenizer puts before a text or
        replaces are rewritten first, and the pre-tokenizer is without them.
        """
        contents = self.contents
        if contents is None or not self.says_splitting:
            return None, form
        if isinstance(contents, WordPieceContents):
            return pretokenizer(Splitting("tokenizers", BERT)), form or contents.normalizer
        normalizer = form or (None if contents.rewriting is None else contents.rewriting.normalizer)
        if contents.format == "sentencepiece":
            return _WORDS, None if normalizer is None else partial(_without_end, normalizer)
        splitting = contents.splitting
        if splitting is None or splitting.is_nothing:
            return "none", normalizer
        if splitting.prefix_space is None and splitting.metaspace is None:
            return pretokenizer(splitting), normalizer
        if splitting.prefix_space or splitting.metaspace_at:
            what = "the pre-tokenizer of the file splits texts, and puts spaces before the parts or replaces spaces"
            raise UnsupportedFeatureError(
                what, hint="name the pieces by a pre-tokenizer without it, over such a corpus"
            )
        plain = replace(splitting, prefix_space=None, metaspace=None, prefix_once=False)
        return pretokenizer(plain), partial(_spaced, pretokenizer(splitting), normalizer)


def _without_end(normalizer: Rewriter, line: str) -> str:
    """Return a line rewritten without its line end, as SentencePiece reads lines."""
    text = line.removesuffix("\n")
    return (normalizer(text) if text else "") + line[len(text) :]


def _spaced(splitter: PreTokenizer, normalizer: Rewriter | None, line: str) -> str:
    return splitter.spelled(line if normalizer is None else normalizer(line))


def _word(entry: str, prefix: str) -> tuple[str, ...]:
    """Return the symbols of an entry of WordPiece: ``##ab`` has ##a and ##b, and ``ab`` has a and ##b."""
    if entry.startswith(prefix) and entry != prefix:
        return tuple(prefix + symbol for symbol in entry[len(prefix) :])
    return (*entry[:1], *(prefix + symbol for symbol in entry[1:]))


def _parts(products: Sequence[tuple[str, ...]]) -> Iterator[tuple[Any, Any] | None]:
    """Yield the two tokens that the products before leave of each, None if they do not leave two.

    After t≀##h and ##e≀##r, the product th≀##er is left of t, ##h, ##e, ##r.
    """
    rank: dict[tuple[Any, Any], int] = {}
    for product in products:
        tokens: list[Any] = [(symbol,) for symbol in product]
        while len(tokens) > 2:
            best = min(pairwise(tokens), key=lambda pair: rank.get(pair, len(rank)))
            if best not in rank:
                break
            tokens = _merged(tokens, best)
        parts = (tokens[0], tokens[1]) if len(tokens) == 2 else None
        # A token that nothing makes keeps its place.
        rank[parts or (product, None)] = len(rank)
        yield parts


def _merged(tokens: list[Any], pair: tuple[Any, Any]) -> list[Any]:
    found: list[Any] = []
    at = 0
    while at < len(tokens):
        is_pair = tuple(tokens[at : at + 2]) == pair
        found.append(pair[0] + pair[1] if is_pair else tokens[at])
        at += 1 + is_pair
    return found


def _pairs(dictionary: Dictionary) -> list[Pair]:
    word = [*dictionary.alphabet].__getitem__
    return list(zip(map(word, dictionary.left.tolist()), map(word, dictionary.right.tolist()), strict=True))

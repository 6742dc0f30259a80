"""The contents of a tokenizer file, in one shape for all formats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, cast

import numpy as np

from tokdfa.automata.alphabet import Word
from tokdfa.automata.dictionary import Dictionary
from tokdfa.base.arrays import Int32Array
from tokdfa.base.errors import FileFormatError
from tokdfa.base.locks import SHARED
from tokdfa.regex.unicode.utf8 import BYTES_OF_UTF8
from tokdfa.tokenizers.encoding.special import Special, odd_ones
from tokdfa.tokenizers.encoding.symbols import Fallback, Merges
from tokdfa.tokenizers.pretokenizers.steps import Splitting

if TYPE_CHECKING:
    from tokdfa.regex.unicode.normalization import Normalizer
    from tokdfa.tokenizers.decoding import DecodeStep
    from tokdfa.tokenizers.formats.by_piece import ByPieceContents
    from tokdfa.tokenizers.formats.rwkv import LongestMatchContents
    from tokdfa.tokenizers.formats.unigram import UnigramContents
    from tokdfa.tokenizers.formats.wordpiece import WordPieceContents


AnyContents: TypeAlias = "Contents | UnigramContents | WordPieceContents | LongestMatchContents | ByPieceContents"
"""The contents of the file of a tokenizer of any algorithm."""

# Tables over all ids are arrays; the limit keeps a one-line file from asking for gigabytes.
LARGEST_ID = (1 << 24) - 1

# Formats with a known library, which merges leftmost: their rules may be improper.
LEFTMOST_FORMATS = ("tokenizer.json", "tiktoken", "tekken", "gguf")
# The formats of byte pairs that always say how text is split.
_RECORDING = ("tokenizer.json", "sentencepiece", "gguf")


@dataclass(frozen=True, slots=True)
class Rewriting:
    """The rewriting of texts before they are split into pieces, and after ids are spelled.

    The normalizer is applied to the text between the special tokens of level 0. `decoding` are the steps that make a
    text from the spellings of tokens; by default the spellings are concatenated.
    """

    normalizer: Normalizer | None = None
    decoding: tuple[DecodeStep, ...] | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SplitContents:
    """The common part of the contents of tokenizers that segment each pre-token by a model.

    `format` is its name, as ``--format`` takes it. `splitting` is the pre-tokenizer, if the file names one, and
    `own_splitting` the name of the model's own, which no other can replace. With `spelled_bytes`, pre-tokens become
    letters of GPT-2's byte alphabet, and the model's symbols represent bytes. `finds_specials` is whether `specials`
    are found in texts, as by `tokenizers` and unlike tiktoken's encode_ordinary. `ignored` names the other steps of the
    file that `encode` leaves out. `library` is the version of the object that was read, such as ``tokenizers==0.23.3``.
    """

    own_splitting: ClassVar[str | None] = None

    format: str
    splitting: Splitting | None = None
    spelled_bytes: bool = False
    specials: tuple[Special, ...] = field(default=())
    finds_specials: bool = False
    ignored: tuple[str, ...] = ()
    library: str | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Contents(SplitContents):
    """The contents of the file of a tokenizer that merges pairs.

    Tokens are numbered: those of `dictionary`; `extra` tokens, which no rule mentions; and `foreign` ones, as decoding
    spells them, which a byte-level vocabulary does not write in the byte alphabet, so that they occur in no
    tokenization. `ids` (int32) has the id of each, -1 for none. If `whole_piece`, a piece that is itself a token is
    emitted without merging. `merges` are all merging pairs, if improper rules do not determine them. `suffix` is
    appended to the last symbol of a piece, such as ``</w>``, and `prefix` put before every other but the first, such as
    ``##``. The `atoms`, symbols of several characters, are found in every piece, the longest at each offset, and never
    merge. `fallback` replaces symbols outside the alphabet; without it, a text with such symbols is refused, also if
    the library drops them (`drops_unknown`), unless the text was decoded only to be encoded again.
    """

    algorithm: ClassVar[str] = "byte pair"

    dictionary: Dictionary
    ids: Int32Array
    extra: tuple[Word, ...] = ()
    foreign: tuple[bytes, ...] = ()
    whole_piece: bool = False
    merges: Merges | None = None
    suffix: str | None = None
    prefix: str | None = None
    atoms: tuple[str, ...] = ()
    fallback: Fallback | None = None
    drops_unknown: bool = False
    rewriting: Rewriting | None = None

    @property
    def is_plain(self) -> bool:
        """Whether texts are encoded unchanged, and ids spell them one after the other, except for a suffix."""
        return (
            self.rewriting is None
            and self.fallback is None
            and not (self.atoms or self.prefix)
            and not odd_ones(self.specials)
        )

    @property
    def says_splitting(self) -> bool:
        """Whether the file says how text is split, if only that it is not."""
        return self.splitting is not None or self.format in _RECORDING

    @property
    def characters(self) -> list[str]:
        """The symbols of one character, in the order of the file; none over bytes."""
        symbols = self.dictionary.alphabet.symbols
        return ["".join(symbol) for symbol in symbols if not isinstance(symbol, bytes) and len("".join(symbol)) == 1]


class LateContents(Contents):
    """Contents with rules that take long to find, which is done when something asks for them.

    All that can be wrong with them has been checked. Threads may share it.
    """

    __slots__ = ("_find",)

    @classmethod
    def of(cls, find: Callable[[], Mapping[str, Any]], known: Mapping[str, Any]) -> LateContents:
        """Return contents where `find` returns dictionary, ids, extra and merges; the other fields are known."""
        made = cls(dictionary=cast("Dictionary", None), ids=np.empty(0, dtype=np.int32), **known)
        for name in _FOUND:
            object.__delattr__(made, name)
        object.__setattr__(made, "_find", find)
        return made

    # Called only for missing attributes.
    def __getattr__(self, name: str) -> Any:
        if name not in _FOUND:
            raise AttributeError(name)
        find = self._find
        if find is not None:
            found = find()
            with SHARED:
                # Threads that ask at the same time find the same; they share the result that is put in first.
                if self._find is not None:
                    for field_name, value in found.items():
                        object.__setattr__(self, field_name, value)
                    object.__setattr__(self, "_find", None)
        return object.__getattribute__(self, name)


_FOUND = ("dictionary", "ids", "extra", "merges")


def has_bytes(present: Iterable[int]) -> bool:
    """Return whether every byte that UTF-8 text can have is there."""
    return set(present) >= BYTES_OF_UTF8  # a tokenizer may lack the others


def check_bytes(present: Iterable[int], path: Path) -> None:
    """Raise FileFormatError unless every byte that UTF-8 text can have is a token."""
    missing = sorted(BYTES_OF_UTF8.difference(present))
    if missing:
        what = f"{len(missing)} of the bytes that text can have are not tokens, the first of them 0x{missing[0]:02x}"
        raise FileFormatError(what, where=str(path))

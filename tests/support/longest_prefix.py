"""A tokenizer of a kind that the package does not have: only the methods that the base class of models asks for."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array
from tokdfa.base.errors import AlphabetError
from tokdfa.tokenizers.boundaries.protocol import Boundaries
from tokdfa.tokenizers.decoder import Decoder, Spellings, spellings
from tokdfa.tokenizers.encoding.stream import HeldStream
from tokdfa.tokenizers.models.model import Model
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.spelled import Spelled


class LongestPrefixes(Model):
    """Takes the longest of some words at each place of a text."""

    algorithm = "longest prefix"
    semantics = "longest prefix"

    def __init__(self, words: list[str]) -> None:
        self.words = words

    @property
    def is_token(self) -> BoolArray:
        return np.ones(len(self.words), dtype=np.bool_)

    @property
    def sizes(self) -> dict[str, int]:
        return {"words": len(self.words)}

    @property
    def strings(self) -> list[str]:
        return [*self.words]

    def fingerprint_parts(self, tokenizer: AnyTokenizer) -> dict[str, str]:
        return {"dictionary": hashlib.sha256(repr(self.words).encode()).hexdigest()}

    def made_of(self, tokenizer: AnyTokenizer) -> tuple[object, ...]:
        return tuple(self.words)

    def facts(self, tokenizer: AnyTokenizer) -> dict[str, Any]:
        return {"format": tokenizer.format, "ids": tokenizer.n_ids, "tokens": tokenizer.n_tokens}

    def boundaries(self, tokenizer: AnyTokenizer) -> Boundaries:
        return Boundaries("nothing is known of what its algorithm joins")

    def direct(self, tokenizer: AnyTokenizer) -> None:
        return None

    def encode(self, tokenizer: AnyTokenizer, text: str) -> Int32Array:
        ids = []
        place = 0
        while place < len(text):
            fitting = [word for word in self.words if text.startswith(word, place)]
            if not fitting:
                raise AlphabetError("no word begins here", value=text[place], where=f"character {place}")
            ids.append(self.words.index(max(fitting, key=len)))
            place += len(self.words[ids[-1]])
        return np.array(ids, dtype=np.int32)

    def stream(self, tokenizer: AnyTokenizer) -> HeldStream:
        return HeldStream(lambda text, _: tokenizer.encode(text))

    def id_spellings(self, tokenizer: AnyTokenizer) -> Spellings:
        return spellings([word.encode() for word in self.words])

    def spelled(self, tokenizer: AnyTokenizer) -> Spelled:
        return Spelled(tokenizer.id_spellings)

    def decoder(self, tokenizer: AnyTokenizer) -> Decoder:
        return Decoder(tokenizer.id_spellings, tokenizer.means_something)


class LongestPrefix(AnyTokenizer):
    """A tokenizer with this model, which changes no texts and has no special tokens."""

    format = "test"
    pretokenizer = None
    specials = ()
    finds_specials = True
    is_plain = False
    ignored = ()
    library = None
    form = None

    def __init__(self, words: list[str]) -> None:
        super().__init__(LongestPrefixes(words))

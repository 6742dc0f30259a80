"""A tokenizer of a kind that the package does not have: what the base class asks for, and nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from tokdfa.base.arrays import BoolArray, Int32Array
from tokdfa.base.errors import AlphabetError
from tokdfa.tokenizers.decoder import Decoder, Spellings, spellings
from tokdfa.tokenizers.encoding.special import Special
from tokdfa.tokenizers.encoding.stream import HeldStream
from tokdfa.tokenizers.protocol import AnyTokenizer
from tokdfa.tokenizers.spelled import Spelled


class LongestPrefix(AnyTokenizer):
    """Takes the longest of some words at each place of a text."""

    algorithm = "longest prefix"
    semantics = "longest prefix"
    format = "test"
    pretokenizer = None
    specials = ()
    finds_specials = True
    is_plain = False
    ignored = ()

    def __init__(self, words: list[str]) -> None:
        self.words = words

    @property
    def n_ids(self) -> int:
        return len(self.words)

    @property
    def n_tokens(self) -> int:
        return len(self.words)

    @property
    def means_something(self) -> BoolArray:
        return np.ones(self.n_ids, dtype=np.bool_)

    @property
    def sizes(self) -> dict[str, int]:
        return {"words": len(self.words)}

    @property
    def fingerprint_parts(self) -> dict[str, str]:
        return {"dictionary": hashlib.sha256(repr(self.words).encode()).hexdigest()}

    @property
    def made_of(self) -> tuple[object, ...]:
        return tuple(self.words)

    def facts(self) -> dict[str, Any]:
        return {"format": self.format, "ids": self.n_ids, "tokens": self.n_tokens}

    def segments(self, text: str) -> Iterator[tuple[str | Special, bool]]:
        yield text, True

    def encode(self, text: str) -> Int32Array:
        ids = []
        place = 0
        while place < len(text):
            fitting = [word for word in self.words if text.startswith(word, place)]
            if not fitting:
                raise AlphabetError("no word begins here", value=text[place], where=f"character {place}")
            ids.append(self.words.index(max(fitting, key=len)))
            place += len(self.words[ids[-1]])
        return np.array(ids, dtype=np.int32)

    def stream(self) -> HeldStream:
        return HeldStream(lambda text, _: self.encode(text))

    @cached_property
    def id_spellings(self) -> Spellings:
        return spellings([word.encode() for word in self.words])

    @property
    def spelled(self) -> Spelled:
        return Spelled(self.id_spellings)

    @cached_property
    def decoder(self) -> Decoder:
        return Decoder(self.id_spellings, self.means_something)

"""Random small tokenizers over a few symbols, as files, with the library that judges them on all short texts."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import tokenizers

import tokdfa
from tests.support.random_files import KINDS
from tests.support.random_seams import over_bytes, over_characters, without_prefix
from tests.support.random_steps import SYMBOLS
from tests.support.tokenizer_files import added_token
from tokdfa.base.errors import AlphabetError, FileFormatError, UnsupportedFeatureError
from tokdfa.tokenizers.protocol import AnyTokenizer

FLAGS = ("lstrip", "rstrip", "single_word", "normalized")


class Peer:
    """The library with a tokenizer.json."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self._library = tokenizers.Tokenizer.from_str(json.dumps(fields))
        self._library.no_padding()
        self._library.no_truncation()
        self._known: dict[str, tuple[int, ...] | None] = {}

    def ids(self, text: str) -> tuple[int, ...] | None:
        """Return the ids of a text; None where the library panics, or lacks an unknown token that it needs."""
        if text not in self._known:
            self._known[text] = self._encode(text)
        return self._known[text]

    def tokens(self, text: str) -> tuple[str | None, ...] | None:
        """Return the spelling of the ids of a text; None where `ids` does."""
        ids = self.ids(text)
        return None if ids is None else tuple(map(self._library.id_to_token, ids))

    def _encode(self, text: str) -> tuple[int, ...] | None:
        try:
            return tuple(self._library.encode(text, add_special_tokens=False).ids)
        except BaseException as error:
            if type(error).__name__ != "PanicException" and "issing" not in str(error):
                raise
            return None


@dataclass
class Small:
    """A tokenizer.json over a few symbols.

    Attributes
    ----------
    kind : str
    fields : dict
        The tokenizer.json.
    symbols : str
        The symbols of the texts.
    """

    kind: str
    fields: dict[str, Any]
    symbols: str

    @cached_property
    def tokenizer(self) -> AnyTokenizer:
        """The tokenizer as it is judged; raises where it is refused."""
        return tokdfa.load(json.dumps(self.fields).encode())

    @cached_property
    def peer(self) -> Peer:
        """The library with the same file."""
        return Peer(self.fields)

    @cached_property
    def later(self) -> Peer:
        """The library with a file that puts nothing before a text."""
        return Peer(without_prefix(self.fields))

    @property
    def contents(self) -> list[str]:
        """The contents of the added tokens."""
        return [token["content"] for token in self.fields["added_tokens"]]

    def texts(self, longest: int) -> list[str]:
        """Return all texts of up to `longest` symbols."""
        return texts_of(self.symbols, longest)

    def encodes(self, *texts: str) -> bool:
        """Return whether texts are encoded, where the library would drop a symbol that has no token."""
        try:
            return all(self.tokenizer.encode(text) is not None for text in texts)
        except (AlphabetError, UnsupportedFeatureError):
            return False


def texts_of(symbols: Sequence[str], longest: int) -> list[str]:
    """Return all texts of up to `longest` symbols."""
    return ["".join(some) for n in range(longest + 1) for some in product(symbols, repeat=n)]


def in_order(texts: Iterable[str]) -> list[str]:
    """Return texts by their bytes, then in order."""
    return sorted(texts, key=lambda text: (len(text.encode()), text.encode()))


def _wild(kind: str) -> Callable[[random.Random], tuple[dict[str, Any], str]]:
    def made(drawn: random.Random) -> tuple[dict[str, Any], str]:
        return KINDS[kind](drawn), "".join(drawn.sample(SYMBOLS, 3))

    return made


def with_flags(drawn: random.Random, fields: dict[str, Any], symbols: str) -> None:
    """Add tokens with any flags, some of them words of the vocabulary, or text that others spell."""
    vocab = fields["model"]["vocab"]
    tokens = fields["added_tokens"]
    often = drawn.choice([0, 0, 0.3])
    for token in tokens:
        token["special"] = drawn.random() < 0.5
    for _ in range(drawn.choice([0, 1, 2])):
        letters = [*symbols, *symbols, "<", ">", "\u0120"]
        content = "".join(drawn.choices(letters, k=drawn.randint(1, 3)))
        if drawn.random() < 0.3:
            content = drawn.choice([*vocab])
        if content in {token["content"] for token in tokens} or content.isspace():
            continue
        last = max((token["id"] for token in tokens), default=-1)
        number = vocab.get(content, last + 1 if last >= len(vocab) else len(vocab))
        flags = {flag: drawn.random() < (0.5 if flag == "normalized" else often) for flag in FLAGS}
        tokens.append(added_token(number, content, special=drawn.random() < 0.5, **flags))


def small(drawn: random.Random, kinds: Iterable[str] = ()) -> Small:
    """Return a random tokenizer of one of some kinds."""
    kind = drawn.choice([*kinds] or [*MAKERS])
    fields, symbols = MAKERS[kind](drawn)
    if kind in ("bytes", "characters") and drawn.random() < 0.4:
        with_flags(drawn, fields, symbols)
    return Small(kind, fields, symbols)


MAKERS: dict[str, Callable[[random.Random], tuple[dict[str, Any], str]]] = {
    "bytes": over_bytes,
    "characters": over_characters,
    "bytes with any steps": _wild("bytes"),
    "characters with any steps": _wild("characters"),
}


def loads(made: Small) -> bool:
    """Return whether a tokenizer is loaded, and not refused."""
    try:
        made.tokenizer, made.peer  # noqa: B018
    except (UnsupportedFeatureError, FileFormatError):
        return False
    return True

"""From a piece of text to its symbols in a dictionary over characters, and the pairs of symbols that merge."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, cast

from tokdfa.base.arrays import Int32Array

if TYPE_CHECKING:
    from tokdfa.tokenizers.formats.contents import Contents


class Merges(NamedTuple):
    """Every pair that merges, as int32 arrays of token numbers; smaller priorities are stronger."""

    left: Int32Array
    right: Int32Array
    priority: Int32Array
    product: Int32Array


@dataclass(frozen=True, slots=True)
class Fallback:
    """The replacement of a symbol outside the alphabet.

    It becomes the symbols of its bytes if all of them have one in `bytes`; otherwise the symbol `unknown`, and several
    such symbols side by side become one if it `fuses`. A symbol with neither is left out if it `drops`, so that its
    neighbours may merge; otherwise it is refused.
    """

    bytes: tuple[str | None, ...] | None = None
    unknown: str | None = None
    fuses: bool = False
    drops: bool = False


class SymbolReader:
    """A reader of pieces as symbols: characters, the first and the last of them marked if the file says so.

    `contents` belong to a tokenizer that is not over bytes, and `known` is its base alphabet.
    """

    def __init__(self, contents: Contents, known: Container[str]) -> None:
        self._known = known
        self._prefix = contents.prefix
        self._suffix = contents.suffix
        self._fallback = contents.fallback
        longest_first = sorted(contents.atoms, key=len, reverse=True)
        self._atom = re.compile(f"({'|'.join(map(re.escape, longest_first))})") if longest_first else None

    def read(self, piece: str) -> list[str]:
        """Return the symbols of a piece; symbols outside the alphabet are replaced, if the file has a replacement."""
        symbols = [*self._split(piece)]
        if self._prefix:
            symbols[1:] = [self._prefix + symbol for symbol in symbols[1:]]
        if self._suffix and self._suffix in self._known:
            symbols.append(self._suffix)
        elif self._suffix and symbols:
            symbols[-1] += self._suffix
        if self._fallback is not None and not all(symbol in self._known for symbol in set(symbols)):
            symbols = [*self._replaced(symbols, self._fallback)]
        return symbols

    def _split(self, piece: str) -> Iterable[str]:
        if self._atom is None:
            return piece
        parts = self._atom.split(piece)
        return chain.from_iterable((part,) if at % 2 else part for at, part in enumerate(parts))

    def _replaced(self, symbols: Iterable[str], fallback: Fallback) -> Iterator[str]:
        # The library puts an unknown symbol only before the next known one, and so after the bytes of others.
        waits = False
        for symbol in symbols:
            if symbol in self._known:
                if waits:
                    yield cast(str, fallback.unknown)
                waits = False
                yield symbol
                continue
            spelled = _bytes_of(symbol, fallback)
            if None not in spelled:
                yield from cast("list[str]", spelled)
            elif fallback.unknown is not None:
                if waits and not fallback.fuses:
                    yield fallback.unknown
                waits = True
            elif not fallback.drops:
                yield symbol
        if waits:
            yield cast(str, fallback.unknown)


def _bytes_of(symbol: str, fallback: Fallback) -> list[str | None]:
    """Return the symbols of the bytes of a symbol, None for bytes that have no symbol."""
    if fallback.bytes is None:
        return [None]
    return [fallback.bytes[byte] for byte in symbol.encode("utf-8", "surrogatepass")]

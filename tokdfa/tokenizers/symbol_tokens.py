"""Token alphabets over characters and other symbols, made of what a loader has checked."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Literal

from tokdfa.alphabet import TokenAlphabet, Word

__all__ = ["SymbolTokens"]


class SymbolTokens(TokenAlphabet):
    """A token alphabet whose words are made when they are first asked for.

    Parameters
    ----------
    kind : {"characters", "symbols"}
        Whether the words are strings, or tuples of symbols.
    symbols, tokens : sequence of str
        The base alphabet, and the further tokens spelled over it: distinct, and of two characters or more, each of
        which is a symbol. None of this is checked again.
    """

    def __init__(self, kind: Literal["characters", "symbols"], symbols: Sequence[str], tokens: Sequence[str]) -> None:
        self.kind = kind
        self.n_symbols = len(symbols)
        self._spelled = (symbols, tokens)

    def __reduce__(self) -> tuple[type[SymbolTokens], tuple[str, Sequence[str], Sequence[str]]]:
        return SymbolTokens, (self.kind, *self._spelled)

    def __len__(self) -> int:
        return self.n_symbols + len(self._spelled[1])

    @cached_property
    def _words(self) -> tuple[Word, ...]:  # type: ignore[override]
        symbols, tokens = self._spelled
        if self.kind == "characters":
            return (*symbols, *tokens)
        return (*((symbol,) for symbol in symbols), *map(tuple, tokens))

    @cached_property
    def _numbers(self) -> dict[Word, int]:  # type: ignore[override]
        return {word: number for number, word in enumerate(self._words)}
